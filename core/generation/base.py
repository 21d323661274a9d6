"""The Protocol every writer of answers speaks, and what it is given."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.index.terms import TermStatistics
from core.models import ConversationTurn, QuoteLocation, RetrievedChunk


def _no_terms(text: str) -> Sequence[int]:
    return ()


@dataclass(frozen=True, slots=True)
class GenerationTask:
    """Everything an answer may be written from."""

    question: str
    evidence: Sequence[RetrievedChunk]
    """Best first. A writer may cite these and nothing else."""
    reads: Sequence[tuple[int, int]] = ()
    """For each chunk the part of its text that a writer reads and may quote; empty: all of it."""
    history: Sequence[ConversationTurn] = ()
    """The latest turns of the session, oldest first."""
    selected_text: str | None = None
    quote_location: QuoteLocation | None = None
    language: str = "en"
    """BCP 47 tag of the book's language."""
    statistics: TermStatistics = field(
        default_factory=lambda: TermStatistics.count(()), compare=False
    )
    """How rare the words of the book are; empty: every word counts alike."""
    encode_terms: Callable[[str], Sequence[int]] = field(default=_no_terms, compare=False)
    """Gives the term ids of a text in the book's language, each once."""
    temperature: float = 0.5
    max_tokens: int = 1_024


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a draft with the passage it rests on; nothing of it is checked yet."""

    text: str
    chunk_number: int
    """Position in `GenerationTask.evidence`, from 0."""
    quote: str
    """The words of that chunk that carry the sentence."""


class Generator(Protocol):
    """Writes a draft answer, sentence by sentence."""

    @property
    def name(self) -> str:
        """The model's name as it appears in an answer."""
        ...

    def generate(self, task: GenerationTask) -> AsyncGenerator[Claim, None]:
        """Yield the claims of the answer in reading order; none at all: nothing to say.

        Raises:
            GenerationError: when the writer fails; what was yielded before stays valid.
        """
        ...
