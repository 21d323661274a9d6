"""How sure an answer may be, and how it is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.assurance import (
    COVERED,
    WEIGHTS,
    answer_figures,
    confidence_of,
    coverage_figures,
    is_close,
    is_covered,
    located_of,
    outcome_of,
)
from core.domain import AgentConfiguration, EvidenceSignals, Outcome
from core.domain.text_features import shipped
from core.index.terms import Bm25Encoder, TermStatistics

HEAP = "A heap is a tree."
_units = st.floats(0.0, 1.0)


def _signals(share: float, coverage: float = 0.5, best: float = 0.7) -> EvidenceSignals:
    return EvidenceSignals(document_share=share, coverage=coverage, best_score=best)


@given(_units, _units)
def test_it_is_a_probability_and_never_certain(share: float, coverage: float) -> None:
    assert 0.0 < located_of(_signals(share, coverage)) < 1.0


@given(_units, _units, _units)
def test_more_evidence_in_one_document_never_lowers_it(
    share: float, more: float, coverage: float
) -> None:
    low, high = sorted((share, more))
    assert located_of(_signals(low, coverage)) <= located_of(_signals(high, coverage))


@pytest.mark.costly
@given(_units, _units, _units)
def test_covering_more_of_the_question_never_lowers_it(
    share: float, coverage: float, more: float
) -> None:
    low, high = sorted((coverage, more))
    assert located_of(_signals(share, low)) <= located_of(_signals(share, high))


def test_a_document_that_stands_alone_and_covers_the_question_is_nearly_sure() -> None:
    assert located_of(_signals(1.0, 1.0)) > 0.9


def test_evidence_spread_over_many_documents_is_more_often_wrong_than_right() -> None:
    assert located_of(_signals(0.2, 0.4)) < 0.5


def test_no_evidence_at_all_is_hardly_ever_right() -> None:
    assert located_of(EvidenceSignals()) < 0.2


@given(_units, _units)
def test_a_writer_that_loses_claims_is_never_trusted_more(share: float, supported: float) -> None:
    assert located_of(_signals(share), supported) <= located_of(_signals(share))


def _figures(answer: str = HEAP, passages: int = 1) -> dict[str, float]:
    encoder = Bm25Encoder("en")
    statistics = TermStatistics.count([encoder.terms(HEAP)])
    asked = "What is a heap?"
    return answer_figures(_signals(0.9), asked, answer, passages, statistics, encoder.terms)


def test_the_shipped_weights_are_for_the_figures_of_an_answer() -> None:
    assert list(shipped(WEIGHTS).names) == list(_figures())


def test_what_is_asked_about_is_held_or_not() -> None:
    assert (_figures()["held"], _figures("Bees dance.")["held"]) == (1.0, 0.0)


@given(_units, _units)
def test_an_answer_is_never_surer_than_its_place_or_its_claims(
    located: float, supported: float
) -> None:
    sure = confidence_of(_figures(), located, supported)
    assert 0.0 <= sure <= min(located, supported)


@pytest.mark.parametrize(
    ("located", "outcome"),
    [
        (0.99, Outcome.ANSWERED),
        (0.60, Outcome.ANSWERED),
        (0.59, Outcome.PARTIAL),
        (0.20, Outcome.PARTIAL),
        (0.19, Outcome.ABSTAINED),
        (0.00, Outcome.ABSTAINED),
    ],
)
def test_the_place_decides_how_an_answer_is_told(located: float, outcome: Outcome) -> None:
    bands = AgentConfiguration(answered_from=0.6, partial_from=0.2)
    assert outcome_of(located, bands) is outcome


@pytest.mark.parametrize(
    ("best_score", "coverage", "words", "covered"),
    [
        (0.8, 1.0, 1, True),
        (0.6, 1.0, 4, True),
        (0.9, 0.9, 5, True),
        (0.9, 0.5, 2, False),
        (0.7, 0.7, 4, False),
        (0.0, 0.0, 0, False),
    ],
)
def test_what_is_like_the_question_and_has_its_words_covers_it(
    best_score: float, coverage: float, words: int, covered: bool
) -> None:
    signals = EvidenceSignals(best_score=best_score, coverage=coverage, question_words=words)
    assert is_covered(signals) is covered


@pytest.mark.parametrize(
    ("score", "coverage", "share", "shown"),
    [
        (0.41, 1.0, 0.0, True),
        (0.42, 0.5, 0.8, True),
        (0.41, 0.5, 0.7, False),
        (0.31, 1.0, 0.2, False),
        (0.09, 1.0, 1.0, False),
    ],
)
def test_evidence_below_the_mark_is_shown_where_words_and_documents_agree(
    score: float, coverage: float, share: float, shown: bool
) -> None:
    signals = EvidenceSignals(best_score=score, coverage=coverage, document_share=share)
    assert is_close(signals, 0.5) is shown


def test_a_stricter_course_asks_more_of_evidence_below_its_mark() -> None:
    signals = EvidenceSignals(best_score=0.47, coverage=1.0)
    assert is_close(signals, 0.5)
    assert not is_close(signals, 0.9)


def test_what_was_asked_for_by_its_place_is_covered() -> None:
    assert is_covered(EvidenceSignals(best_score=1.0, coverage=1.0, document_share=1.0))


@given(_units, _units, st.integers(0, 20))
def test_more_likeness_more_words_found_and_longer_questions_never_cover_less(
    best_score: float, coverage: float, words: int
) -> None:
    signals = EvidenceSignals(best_score=best_score, coverage=coverage, question_words=words)
    odds = shipped(COVERED).log_odds(coverage_figures(signals))
    assert is_covered(signals) is (odds >= 0)
    for better in (
        {"best_score": (1 + best_score) / 2},
        {"coverage": (1 + coverage) / 2},
        {"question_words": words + 1},
    ):
        figures = coverage_figures(signals.model_copy(update=better))
        assert shipped(COVERED).log_odds(figures) >= odds
