"""What is noted of a collection, how collections are brought together, and what is counted."""

from collections import Counter

import numpy as np
import pytest

from core.index.base import FORMAT
from core.index.terms import (
    Outline,
    OutlineWriter,
    TermStatistics,
    changed,
    count_words,
    words_from_bytes,
    words_to_bytes,
)
from core.ingestion.building import run_to_merge
from core.storage.catalogue import Segment
from tests.contracts.index_points import DIMENSIONS, course


def outline(documents: int, chunks: int) -> Outline:
    writer = OutlineWriter(DIMENSIONS)
    points = course(documents=documents, chunks=chunks)
    writer.add(sorted(points, key=lambda point: point.number))
    return writer.finish()


def equal(one: Outline, other: Outline) -> bool:
    arrays = ("units", "chapter", "position", "means")
    same = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)
    return same and (one.files, one.chapters) == (other.files, other.chapters)


def test_an_outline_comes_back_as_it_was_written() -> None:
    written = outline(3, 5)
    assert equal(Outline.from_bytes(written.to_bytes()), written)
    assert written.units.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert written.position.tolist() == [0, 1, 2, 3, 4] * 3
    assert np.allclose(np.linalg.norm(written.means.astype(float), axis=1), 1.0, atol=1e-2)


def test_an_outline_of_nothing_comes_back() -> None:
    nothing = OutlineWriter(DIMENSIONS).finish()
    assert equal(Outline.from_bytes(nothing.to_bytes()), nothing)


def test_how_near_a_unit_is_takes_more_than_one_chunk_to_say() -> None:
    pages, single = outline(2, 3), outline(1, 1)
    joined, _ = Outline.joined([pages, single])
    question = joined.means[1].astype(np.float32)

    nearness = joined.nearness(question, np.array([2, 1, 0, 1]))

    assert np.isnan(nearness).tolist() == [True, False, False, False]
    assert nearness[1] == nearness[3] == pytest.approx(1.0, abs=1e-2)
    assert nearness[2] < nearness[1]


def test_a_long_file_is_taken_apart_by_its_headings() -> None:
    assert len(set(outline(1, 100).units.tolist())) == 100  # each chunk has a heading of its own


def test_outlines_are_joined_with_chapters_in_common() -> None:
    one, other = outline(2, 3), outline(3, 4)
    joined, starts = Outline.joined([one, other])
    assert starts == [0, 6]
    assert [joined.files[unit] for unit in joined.units[6:]] == [
        other.files[unit] for unit in other.units
    ]
    names = [joined.chapters[place] for place in joined.chapter]
    assert names[:6] == [one.chapters[place] for place in one.chapter]
    assert names[6:] == [other.chapters[place] for place in other.chapter]
    assert len(joined.chapters) == len(set(joined.chapters)) == 3


@pytest.mark.parametrize(
    ("sizes", "merged"),
    [
        ([(1_000, 1_000)], 0),
        ([(1_000, 1_000), (30, 30)], 0),
        ([(1_000, 1_000), (30, 30), (30, 30)], 2),
        ([(1_000, 1_000), (100, 100), (30, 30)], 2),
        ([(1_000, 1_000), (200, 200), (30, 30)], 0),
        ([(1_000, 1_000), (260, 260)], 2),
        ([(1_000, 700)], 1),
        ([(1_000, 700), (30, 30)], 2),
        ([(1_000, 1_000), (200, 120), (30, 30)], 2),
    ],
)
def test_collections_are_merged_as_they_grow_alike_or_hollow(
    sizes: list[tuple[int, int]], merged: int
) -> None:
    segments = [Segment(f"c-{n}", FORMAT, stored) for n, (stored, _) in enumerate(sizes)]
    run = run_to_merge(segments, [visible for _, visible in sizes])
    assert list(run) == segments[len(segments) - merged :]


def test_a_chunk_is_written_again_a_few_times_at_most() -> None:
    segments: list[Segment] = [Segment("base", FORMAT, 10_000)]
    written = 0
    for n in range(1_000):
        segments.append(Segment(f"c-{n}", FORMAT, 10))
        while run := run_to_merge(segments, [one.chunks for one in segments]):
            size = sum(one.chunks for one in run)
            written += size
            segments = [*segments[: -len(run)], Segment(f"m-{n}", FORMAT, size)]
    assert len(segments) <= 8
    assert written / (10_000 + 10_000) < 12


def test_statistics_follow_what_is_added_and_removed() -> None:
    chunks = [(1, 2, 3), (2, 3), (3, 9), (7,)]
    before = TermStatistics.count(chunks[:3])
    after = before.changed(TermStatistics.count(chunks[3:]), TermStatistics.count(chunks[:1]))
    assert after.to_bytes() == TermStatistics.count(chunks[1:]).to_bytes()


def test_words_are_counted_in_lower_case_and_come_back() -> None:
    words = count_words(["The keeper's lamp. The lamp!", "Größe 42 e-mail"])
    assert words == {
        "the": 2, "keeper's": 1, "lamp": 2, "grösse": 1, "e-mail": 1
    }  # fmt: skip
    assert words_from_bytes(words_to_bytes(words)) == words
    assert changed(words, Counter({"lamp": 1}), Counter({"the": 2})) == {
        "lamp": 3, "keeper's": 1, "grösse": 1, "e-mail": 1
    }  # fmt: skip
    assert words_from_bytes(b"") == {}
