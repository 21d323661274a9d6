"""The scale that puts raw evidence between 0 and 1, and what is scored on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import EvidenceSignals
from core.index.base import SparseVector
from core.index.terms import Bm25Encoder, TermStatistics
from core.retrieval.ranking import (
    ANSWERABLE,
    USABLE,
    Ranked,
    RawEvidence,
    ScoreScale,
    leading,
    rank,
    raw_evidence,
    scale_for,
    score_all,
    signals_of,
    term_weights,
    terms_in,
    weighted,
)
from tests.samples import chunk
from tests.unit.core.retrieval.test_ranking import found_of, ranked

_SCALES = [scale_for("all-MiniLM-L6-v2"), scale_for("a model that nobody has measured")]
_BM25 = Bm25Encoder()
_evidence = st.builds(RawEvidence, st.floats(-1.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))


def _terms(text: str) -> tuple[int, ...]:
    return _BM25.query(text).indices


def _statistics(*texts: str) -> TermStatistics:
    return TermStatistics.count([_terms(text) for text in texts])


def _weights(statistics: TermStatistics, question: SparseVector) -> dict[int, float]:
    return term_weights(weighted(statistics, question))


def _evidence_of(text: str, weights: dict[int, float]) -> RawEvidence:
    found = chunk(
        content_text=text, page_title="The sea", headings=("The sea", "Tides"), char_end=len(text)
    )
    return raw_evidence(0.5, 1.0, terms_in(found, _terms), weights, sum(weights.values()))


@pytest.mark.parametrize("scale", _SCALES)
@given(evidence=_evidence)
def test_a_score_lies_between_0_and_1(scale: ScoreScale, evidence: RawEvidence) -> None:
    assert 0.0 < scale.score(evidence) < 1.0


@pytest.mark.costly
@pytest.mark.parametrize("scale", _SCALES)
@given(evidence=_evidence, more=_evidence)
def test_no_part_of_the_evidence_ever_lowers_a_score(
    scale: ScoreScale, evidence: RawEvidence, more: RawEvidence
) -> None:
    stronger = RawEvidence(
        max(evidence.cosine, more.cosine),
        max(evidence.bm25, more.bm25),
        max(evidence.coverage, more.coverage),
    )
    assert scale.score(evidence) <= scale.score(stronger) + 1e-12


@pytest.mark.parametrize("scale", _SCALES)
def test_a_chunk_with_all_words_of_the_question_may_be_used(scale: ScoreScale) -> None:
    assert scale.score(RawEvidence(-1.0, 0.0, 1.0)) >= USABLE
    assert scale.score(RawEvidence(-1.0, 0.0, 0.3)) < USABLE


def test_coverage_is_whole_whatever_the_order_of_the_words() -> None:
    weights = {1: 0.1, 2: 0.2, 3: 0.3}
    for terms in ([1, 2, 3], [3, 2, 1], [2, 3, 1, 7]):
        assert raw_evidence(0.5, 1.0, terms, weights, sum(weights.values())).coverage == 1.0
    assert raw_evidence(0.5, 1.0, [1, 3], weights, sum(weights.values())).coverage < 1.0


@given(raw=st.floats(-0.7, 0.99), step=st.floats(1e-3, 0.1))
def test_more_raw_evidence_always_shows_in_the_score(raw: float, step: float) -> None:
    scale = ScoreScale(1.0, 0.0, 0.0, usable_at=0.3, answerable_at=0.38)

    assert scale.score(RawEvidence(raw, 0, 0)) < scale.score(RawEvidence(raw + step, 0, 0))


@pytest.mark.parametrize(("raw", "mark"), [(0.3, USABLE), (0.38, ANSWERABLE), (0.34, 0.4)])
def test_the_marks_are_where_the_scale_was_fitted(raw: float, mark: float) -> None:
    scale = ScoreScale(1.0, 0.0, 0.0, usable_at=0.3, answerable_at=0.38)

    assert scale.score(RawEvidence(raw, 0.0, 0.0)) == pytest.approx(mark)


@pytest.mark.parametrize("mark", [0.3, 0.38])
def test_the_scale_bends_smoothly_at_its_marks(mark: float) -> None:
    scale = ScoreScale(1.0, 0.0, 0.0, usable_at=0.3, answerable_at=0.38)
    before, at, after = (scale.score(RawEvidence(mark + d, 0, 0)) for d in (-1e-6, 0.0, 1e-6))

    assert at - before == pytest.approx(after - at, rel=1e-3)


def test_a_model_that_nobody_has_measured_is_judged_by_words_alone() -> None:
    scale = scale_for("a model that nobody has measured")

    assert scale.score(RawEvidence(-1.0, 0.4, 0.6)) == scale.score(RawEvidence(1.0, 0.4, 0.6))


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    statistics = _statistics("tide moon", "moon", "moon", "harbour")
    tide, moon = _terms("tide")[0], _terms("moon")[0]

    weights = _weights(statistics, _BM25.query("tide and moon"))

    assert weights[tide] > weights[moon] > 0


def test_words_in_a_heading_count_as_covered() -> None:
    weights = _weights(_statistics("a", "b"), _BM25.query("tides of the sea"))

    assert _evidence_of("Water rises twice a day.", weights).coverage == 1.0


def test_coverage_is_the_share_of_the_words_by_rarity() -> None:
    statistics = _statistics("moon", "moon", "moon", "harbour")
    weights = _weights(statistics, _BM25.query("moon lighthouse"))
    moon = _terms("moon")[0]

    evidence = _evidence_of("The moon pulls.", weights)

    assert evidence.coverage == pytest.approx(weights[moon] / sum(weights.values()))
    assert evidence.coverage < 0.5


def test_a_question_of_stop_words_alone_is_covered_by_nothing() -> None:
    weights = _weights(_statistics("moon"), SparseVector((), ()))

    assert _evidence_of("The moon.", weights) == RawEvidence(0.5, 0.0, 0.0)


def test_the_words_that_the_index_has_of_a_chunk_count() -> None:
    assert terms_in(chunk(terms=(7, 9)), _terms) == (7, 9)


def test_the_second_chunk_of_a_leading_document_matters_behind_a_long_row_of_documents() -> None:
    found = found_of([(0.9, 9.0, 1), (0.85, 8.0, 1), *((0.2, 1.0, n) for n in range(2, 90))])

    entries = [one.entry for one in leading(rank(found))]

    assert entries[0] == 0
    assert 1 in entries
    assert len(entries) < 45


def test_the_chunks_that_matter_keep_the_order_of_the_ranking() -> None:
    found = found_of([(0.01 * n, 0.1 * n, n % 7) for n in range(60)])

    places = [ranked(found).index(one) for one in leading(rank(found))]

    assert places == sorted(places)


def test_the_signals_tell_the_best_of_what_was_found() -> None:
    weights = _weights(_statistics("a", "b"), _BM25.query("moon lighthouse"))
    found = found_of([(0.4, 2.0, 1), (0.6, 0.0, 2)])
    ranking = [Ranked(0, 1.0, 0, 0.75), Ranked(1, 0.5, 1, 0.25)]
    scored = score_all(ranking, found, [_terms("moon"), ()], _SCALES[0], weights)

    signals = signals_of(scored, len(weights))

    assert signals.best_score == max(s.score for s in scored)
    assert signals.cosine == 0.6
    assert signals.coverage == pytest.approx(0.5)
    assert signals.document_share == 0.75
    assert signals.question_words == 2


def test_nothing_found_means_no_evidence() -> None:
    assert signals_of([], 3) == EvidenceSignals(question_words=3)
