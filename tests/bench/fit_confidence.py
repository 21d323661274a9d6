"""Fits the confidence of an answer to how often such answers cite the right place."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from bot.services import Services
from core.answering.agent import Agent
from core.domain import MAX_QUESTION, AgentRequest, Outcome
from core.retrieval.calibration import Floats
from core.teaching.evaluation.report import GoldQuestion, auroc, calibration_error

FOLDS = 5
_REFUSAL_CLAIMS = 0.1
"""The most confidence that a refusal has."""
_RIDGE = 0.5
_NEWTON_STEPS = 30


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers to n questions: what they rest on, and which are right."""

    features: Floats
    """(n, 2) the leading document's share and the leading chunk's coverage."""
    refused: Floats
    """(n,) 1 for a refusal, which is never right."""
    right: Floats
    """(n,) 1 where a cited chunk lies in a document that answers the question."""
    confidence: Floats
    """(n,) what the product claims."""

    def part(self, chosen: Floats) -> "Answered":
        """Return the answers where `chosen` is not 0."""
        mask = chosen != 0
        return Answered(*(getattr(self, field.name)[mask] for field in fields(self)))


async def answer_all(
    opened: Services, course_id: str, questions: Sequence[GoldQuestion]
) -> Answered:
    """Return what the offline agent answers."""
    agent = opened.agent("extractive")
    rows = np.array([await _answer(agent, course_id, question) for question in questions])
    return Answered(rows[:, :2], rows[:, 2], rows[:, 3], rows[:, 4])


async def _answer(agent: Agent, course_id: str, question: GoldQuestion) -> tuple[float, ...]:
    text = question.question[:MAX_QUESTION]
    request = AgentRequest(course_id=course_id, query_text=text, user_id="bench")
    retrieval, response = await agent.rehearse(request)
    files = {chunk.chunk_id: chunk.source_file for chunk in response.grounding_chunks}
    right = any(files[c.chunk_id] in question.relevant for c in response.citations)
    refused = response.outcome is Outcome.ABSTAINED
    signals = retrieval.signals
    return (
        signals.document_share,
        signals.coverage,
        float(refused),
        float(right),
        response.located,
    )


def fit(books: Sequence[tuple[Answered, float]]) -> Floats:
    """Return the weights of share and coverage, and the offset, by logistic regression.

    Each book comes with what all of its answers together count; refusals do not count.
    """
    given = [(answered.part(1 - answered.refused), mass) for answered, mass in books]
    rows = np.vstack([_with_one(answered.features) for answered, _ in given])
    right = np.concatenate([answered.right for answered, _ in given])
    mass = np.concatenate([np.full(len(a.right), m / len(a.right)) for a, m in given])
    mass *= len(right) / mass.sum()
    ridge = _RIDGE * np.diag([1.0, 1.0, 0.0])
    weights = np.zeros(3)
    for _ in range(_NEWTON_STEPS):
        sure = _logistic(rows @ weights)
        slope = rows.T @ (mass * (sure - right)) + ridge @ weights
        bend = (rows * (mass * sure * (1 - sure))[:, None]).T @ rows + ridge
        weights -= np.linalg.solve(bend, slope)
    return weights


def predict(weights: Floats, answered: Answered) -> Floats:
    """Return the confidence of each answer under fitted weights."""
    sure = _logistic(_with_one(answered.features) @ weights)
    return np.where(answered.refused != 0, np.minimum(sure, _REFUSAL_CLAIMS), sure)


def predict_across_folds(answered: Answered) -> Floats:
    """Return each answer's confidence under weights fitted on the other folds."""
    folds = np.random.default_rng(0).permutation(len(answered.right)) % FOLDS
    sure = np.zeros(len(answered.right))
    for fold in range(FOLDS):
        held_out = folds == fold
        weights = fit([(answered.part(~held_out * 1.0), 1.0)])
        sure[held_out] = predict(weights, answered)[held_out]
    return sure


def quality(confidence: Floats, answered: Answered) -> tuple[float, float]:
    """Return the calibration error and the AUROC of confidences."""
    right = [bool(value) for value in answered.right]
    sure = confidence.tolist()
    return calibration_error(sure, right), auroc(sure, right)


def _with_one(features: Floats) -> Floats:
    return np.column_stack([features, np.ones(len(features))])


def _logistic(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-values)))
