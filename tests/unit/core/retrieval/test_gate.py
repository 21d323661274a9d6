"""The gate looks at more than one mark, and never lets pass what the best score refuses."""

import pytest

from core.models import EvidenceSignals
from core.retrieval.gate import FITTED_ON, answerable, close_below
from core.retrieval.scoring import ANSWERABLE

CLEAR = {
    "cosine": 0.8,
    "coverage": 1.0,
    "share": 0.9,
    "margin": 0.3,
    "missing": 0.0,
    "words": 1.8,
}
NEAR = {**CLEAR, "cosine": 0.35, "coverage": 0.3, "margin": 0.05, "missing": 1.0}


def test_clear_evidence_passes_and_a_missing_rare_word_does_not() -> None:
    assert answerable(0.9, CLEAR, FITTED_ON) > close_below(FITTED_ON) > ANSWERABLE
    assert answerable(0.6, NEAR, FITTED_ON) < ANSWERABLE


def test_what_the_best_score_refuses_stays_refused() -> None:
    level = answerable(0.4, CLEAR, FITTED_ON)
    assert EvidenceSignals(best_score=0.4, answerable=level).mark == 0.4
    assert EvidenceSignals(best_score=0.9, answerable=0.3).mark == 0.3


@pytest.mark.parametrize("figures", [CLEAR, NEAR])
def test_for_other_models_the_score_alone_counts(figures: dict[str, float]) -> None:
    assert answerable(0.7, figures, "gemini-embedding-001") == 0.7
    assert close_below("gemini-embedding-001") == ANSWERABLE
