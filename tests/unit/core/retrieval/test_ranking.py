"""Documents are ranked by all of their evidence, whatever order it was found in."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.ranking import Found, Ranked, rank

_entries = st.lists(
    st.tuples(st.floats(-1.0, 1.0), st.floats(0.0, 30.0), st.integers(0, 8)),
    min_size=1,
    max_size=40,
)


def found_of(entries: Sequence[tuple[float, float, int]]) -> Found:
    """Return what a search found: cosine, BM25 and document of each chunk; all of one chapter."""
    cosines, bm25, units = zip(*entries, strict=True)
    size = len(entries)
    return Found(
        np.array(cosines),
        np.array(bm25),
        np.array(units, np.intp),
        np.zeros(size, np.intp),
        np.arange(size),
        lambda documents: np.full(len(documents), np.nan),
    )


def ranked(found: Found) -> list[Ranked]:
    """Return all that was found, best first."""
    order = rank(found)
    return order.at(np.arange(len(order)))


@pytest.mark.costly
@given(entries=_entries, data=st.data())
def test_the_order_in_which_chunks_were_found_makes_no_difference(
    entries: list[tuple[float, float, int]], data: st.DataObject
) -> None:
    found = found_of(entries)
    order = data.draw(st.permutations(range(len(entries))))

    taken = found.taken(np.array(order, np.intp))
    shuffled = [one._replace(entry=order[one.entry]) for one in ranked(taken)]

    assert _rounded(shuffled) == _rounded(ranked(found))


@pytest.mark.costly
@given(entries=_entries)
def test_every_chunk_comes_once_and_the_best_of_each_document_first(
    entries: list[tuple[float, float, int]],
) -> None:
    found = found_of(entries)
    ranking = ranked(found)

    documents = {unit for _, _, unit in entries}
    leaders = [one.entry for one in ranking[: len(documents)]]
    assert leaders == rank(found).leaders.tolist()
    assert {entries[entry][2] for entry in leaders} == documents
    assert sorted(one.entry for one in ranking) == list(range(len(entries)))
    assert [one.document_rank for one in ranking[: len(documents)]] == list(range(len(documents)))
    shares = [one.document_share for one in ranking[: len(documents)]]
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)
    rest = [one.score for one in ranking[len(documents) :]]
    assert rest == sorted(rest, reverse=True)


def test_a_chapter_that_holds_much_of_the_evidence_lifts_its_documents() -> None:
    found = found_of([(0.5, 5.0, 0), (0.5, 5.0, 1), (0.5, 5.0, 2)])

    ranking = ranked(replace(found, chapters=np.array([0, 1, 1])))

    assert [one.entry for one in ranking] == [1, 2, 0]


def test_a_document_that_is_nearer_as_a_whole_comes_before_its_equals() -> None:
    found = found_of([(0.5, 5.0, 0), (0.5, 5.0, 1), (0.5, 5.0, 2)])

    ranking = ranked(replace(found, nearness=np.array([0.1, 0.3, 0.6]).take))

    assert [one.entry for one in ranking] == [2, 1, 0]


def test_a_few_long_documents_among_single_chunks_are_not_shuffled_by_their_means() -> None:
    found = found_of([(0.5, 5.0, unit) for unit in range(4)])
    nearness = np.array([np.nan, 0.1, np.nan, 0.6])

    assert ranked(replace(found, nearness=nearness.take)) == ranked(found)


def test_nothing_found_is_nothing_ranked() -> None:
    nothing = np.empty(0)
    numbers = np.empty(0, np.intp)
    order = rank(Found(nothing, nothing, numbers, numbers, numbers, nothing.take))

    assert len(order) == len(order.leaders) == 0


def _rounded(ranking: Sequence[Ranked]) -> list[tuple[int, float, int, float]]:
    return [
        (one.entry, round(one.score, 6), one.document_rank, round(one.document_share, 6))
        for one in ranking
    ]
