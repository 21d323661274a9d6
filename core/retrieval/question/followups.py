"""Weighs how much a question leans on a quote, a section, or what people said around it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.embeddings.base import Vectors
from core.models import EXPLAIN_QUOTE, QuoteLocation, QuoteStatus, RetrievalToolInput
from core.retrieval.scoring import ScoredChunk
from core.text.logistic import probability, shipped

WEIGHTS = Path(__file__).with_name("leaning.json")
"""What `python -m tests.bench.fit_leaning` writes."""
UNKNOWN = 0.5
"""How much a question is taken to lean where no weights fit: both readings count alike."""


@dataclass(frozen=True, slots=True)
class LeaningQuestion:
    """A question, and what it may lean on."""

    question: str
    context: str | None = None
    """The text that says what is asked, if the question leans; none: it stands alone."""
    previous: str = ""
    """What it leans on then: the question before it, the quote or the section's heading."""
    always: bool = False
    """Whether both texts count alike, whatever they say: the quote is the book's."""
    of_section: bool = False
    """Whether the context is the heading of the section that is searched."""


def read_asked(
    asked: RetrievalToolInput,
    earlier: Sequence[str],
    section: str | None,
    location: QuoteLocation | None,
) -> LeaningQuestion:
    """Return a question with what was said around it, its quote, or the section searched."""
    question, quote = asked.query_text, asked.selected_text
    if quote is not None:
        if question == EXPLAIN_QUOTE:
            return LeaningQuestion(quote)
        is_foreign = location is not None and location.status is QuoteStatus.NOT_FOUND
        return LeaningQuestion(question, quote, quote, always=not is_foreign)
    before = [*earlier[-2:]] or ([section] if section else [])
    if not before:
        return LeaningQuestion(question)
    joined = "\n".join([*before, question])
    return LeaningQuestion(question, joined, before[-1], of_section=not earlier)


def leaning_figures(
    alone: Sequence[ScoredChunk],
    together: Sequence[ScoredChunk],
    vectors: Vectors,
    words: int,
) -> dict[str, float]:
    """Return what tells a leaning question: what it finds alone and together with its context.

    Args:
        alone: What the question finds by itself, best first; one chunk at least.
        together: What it finds after its context; one chunk at least.
        vectors: (2, dimensions) of the question and of what was said before it.
        words: How many terms of the question count.
    """
    best = max(one.score for one in alone)
    return {
        "score": best,
        "cosine": max(one.evidence.cosine for one in alone),
        "coverage": alone[0].evidence.coverage,
        "words": math.log1p(words),
        "gain": max(one.score for one in together) - best,
        "likeness": float(vectors[0] @ vectors[1]),
    }


def leaning(figures: dict[str, float]) -> float:
    """Return how much a question leans on its context, 0 to 1."""
    return probability(shipped(WEIGHTS).log_odds(figures))
