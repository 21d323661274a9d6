"""Fits the confidence of an answer to how often such answers cite the right place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.wiring import Services
from core.agent import Agent
from core.composition import UNCOVERED_CONFIDENCE
from core.evaluation.metrics import auroc, calibration_error
from core.evaluation.questions import GoldQuestion
from core.models import MAX_QUESTION, AgentRequest, Outcome
from tests.bench.raw_evidence import Floats

FOLDS = 5
_RIDGE = 0.5
_STEPS = 30


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers to many questions: what they rest on, and which are right."""

    features: Floats
    """(n, 2) the leading document's share and the leading chunk's coverage."""
    refused: Floats
    """(n,) 1 for a refusal, which claims next to nothing and is never right."""
    right: Floats
    """(n,) 1 where a cited chunk lies in a document that answers the question."""

    def part(self, chosen: np.ndarray) -> "Answered":
        """Return the answers that `chosen`, a mask or places, names."""
        return Answered(self.features[chosen], self.refused[chosen], self.right[chosen])


async def answer_all(
    opened: Services, course_id: str, questions: Sequence[GoldQuestion]
) -> Answered:
    """Return what the offline agent answers."""
    agent = opened.agent("extractive")
    rows = [await _answer(agent, course_id, question) for question in questions]
    table = np.array(rows)
    return Answered(table[:, :2], table[:, 2], table[:, 3])


async def _answer(
    agent: Agent, course_id: str, question: GoldQuestion
) -> tuple[float, float, float, float]:
    text = question.question[:MAX_QUESTION]
    request = AgentRequest(course_id=course_id, query_text=text, user_id="bench")
    retrieval, response = await agent.rehearse(request)
    files = {chunk.chunk_id: chunk.source_file for chunk in response.grounding_chunks}
    right = any(files[c.chunk_id] in question.relevant for c in response.citations)
    refused = response.outcome is Outcome.ABSTAINED
    signals = retrieval.signals
    return signals.document_share, signals.coverage, float(refused), float(right)
