"""How sure an answer may be, and how it is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.assurance import (
    WEIGHTS,
    Leading,
    answer_figures,
    confidence_of,
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


def _figures(answer: str = HEAP, likeness: float = 0.6) -> dict[str, float]:
    encoder = Bm25Encoder("en")
    statistics = TermStatistics.count([encoder.terms(HEAP)])
    leading = Leading(answer, likeness, "Trees")
    asked = "What is a heap?"
    return answer_figures(_signals(0.9), asked, answer, leading, statistics, encoder.terms)


def test_the_shipped_weights_are_for_the_figures_of_an_answer() -> None:
    assert list(shipped(WEIGHTS).names) == list(_figures())


@pytest.mark.parametrize("name", ["held", "first"])
def test_what_is_asked_about_is_held_or_not(name: str) -> None:
    assert (_figures()[name], _figures("Bees dance.")[name]) == (1.0, 0.0)


@given(_units)
def test_an_answer_is_never_surer_than_the_claims_that_passed(supported: float) -> None:
    assert 0.0 <= confidence_of(_figures(), supported) <= supported


@given(_units, _units)
def test_words_more_like_the_question_never_make_an_answer_less_sure(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert confidence_of(_figures(likeness=low)) <= confidence_of(_figures(likeness=high))


@pytest.mark.parametrize(
    ("confidence", "outcome"),
    [
        (0.99, Outcome.ANSWERED),
        (0.60, Outcome.ANSWERED),
        (0.59, Outcome.PARTIAL),
        (0.20, Outcome.PARTIAL),
        (0.19, Outcome.ABSTAINED),
        (0.00, Outcome.ABSTAINED),
    ],
)
def test_one_figure_decides_how_an_answer_is_told(confidence: float, outcome: Outcome) -> None:
    bands = AgentConfiguration(answered_from=0.6, partial_from=0.2)
    assert outcome_of(confidence, bands) is outcome
