"""The Protocol every writer of answers speaks, what it is given and what it gives back."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from core.index.terms import TermStatistics, no_terms
from core.models import (
    Again,
    AnswerLength,
    Citation,
    ConversationTurn,
    QuoteLocation,
    RetrievalToolInput,
    RetrievedChunk,
    ThreadMessage,
)
from core.providers.base import ChatEnd, ignore

LONGEST_COMPARED = 1_000
"""Characters of a question or quote that sentences are compared with."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of the book that a writer may read and cite."""

    chunk_number: int
    """Position of its chunk in the evidence, from 0."""
    chunk: RetrievedChunk
    text: str
    """What is read of the chunk."""
    start: int = 0
    """Where it begins in the chunk's text."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of a language model that is over, and what it used."""

    model: str
    query_tokens: int
    response_tokens: int
    """Thinking included."""
    context: str = ""
    """What it was sent of the book and the quote; empty when an earlier call was sent all of it."""
    service: str = ""
    """The table of models whose service was asked; empty: of none."""
    cached_tokens: int = 0
    """How many of those read the service had kept from an earlier call."""
    is_judging: bool = False
    """Whether it judged what another call wrote."""


def call_of(end: ChatEnd, *, is_judging: bool = False) -> ModelCall:
    """Return what a reply used."""
    return ModelCall(
        end.model,
        end.query_tokens,
        end.response_tokens,
        service=end.service,
        cached_tokens=end.cached_tokens,
        is_judging=is_judging,
    )


Search = Callable[[RetrievalToolInput], Awaitable[Sequence[Passage]]]
"""Looks once more into the same course; what it finds may be cited from then on.

Raises RequestError when the arguments name what does not exist, ServiceError on an outage.
"""


@dataclass(frozen=True, slots=True)
class TaskPart:
    """A part of a question that gets an answer of its own."""

    words: str
    """What the asker calls it."""
    question: str
    numbers: tuple[int, ...]
    """The chunks of the evidence that it is answered from; empty: the book says nothing of it."""
    before: str | None = None
    """What of the question it leans on."""


@dataclass(frozen=True, slots=True)
class Fallen:
    """A claim of a first draft that was not shown, and why, in words for its writer."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Revision:
    """What a writer is told when it writes its answer once more."""

    written: str
    """The first draft, as plain text."""
    fallen: tuple[Fallen, ...]


@dataclass(frozen=True, slots=True)
class GenerationTask:
    """Everything an answer may be written from."""

    question: str
    evidence: Sequence[RetrievedChunk]
    """Best first; a search appends to it. A writer may cite these and nothing else."""
    reads: Sequence[tuple[int, int]] = ()
    """For each chunk the part of its text that a writer reads and may quote; empty: all of it."""
    again: Again | None = None
    """For a writer without a model: how the question's answer is wanted again; None: at first."""
    shown: Sequence[Sequence[Citation]] = ()
    """What was cited of that answer, each time that it was shown, oldest first."""
    parts: Sequence[TaskPart] = ()
    """For a writer without a model: what is answered one by one; empty: the question."""
    history: Sequence[ConversationTurn] = ()
    """The latest turns of the session, oldest first."""
    thread: Sequence[ThreadMessage] = ()
    """What people said in the question's thread before the session began, oldest first."""
    section: str | None = None
    """The heading of the section that alone was searched; none for the whole book."""
    leans: bool = False
    """Whether the question is about what was said before it, or about the section."""
    in_order: bool = False
    """Whether what the section says was asked for: the evidence is its text in reading order."""
    selected_text: str | None = None
    quote_location: QuoteLocation | None = None
    language: str = "en"
    """BCP 47 tag of the book's language."""
    statistics: TermStatistics = field(
        default_factory=lambda: TermStatistics.count(()), compare=False
    )
    """How rare the words of the book are; empty: every word counts alike."""
    encode_terms: Callable[[str], Sequence[int]] = field(default=no_terms, compare=False)
    """Gives the term ids of a text in the book's language, each once."""
    asker: Mapping[str, Passage] = field(default_factory=dict)
    """For a model: the texts that people gave, such as the question or pasted code, each as a
    passage that may be cited by its numbers."""
    revision: Revision | None = None
    """For a model: its first draft, and what of it fell."""
    search: Search | None = field(default=None, compare=False)
    """None: there is no second look."""
    model: str | None = None
    """None: the writer's own choice."""
    system_prompt: str | None = None
    """The operator's words about role and tone; they never replace the rules."""
    length: AnswerLength = AnswerLength.NORMAL
    temperature: float | None = None
    """None: the model's own."""
    max_tokens: int = 2_048
    """Of one model call's output."""
    context_window: int = 32_000
    """Tokens of one model call's input."""
    report: Callable[[ModelCall], None] = field(default=ignore, compare=False)
    """Called with each model call that is over, also when no one waits for the rest any more."""
    token_limit: int | None = None
    """Tokens that all model calls for this task may use together."""
    deadline: float | None = None
    """`time.monotonic()` by which the first claim has to be there."""

    def passages(self) -> Iterator[Passage]:
        """Yield what there is to read of the course, in the order of the chunk numbers."""
        for number, chunk in enumerate(self.evidence):
            if not chunk.is_askers:
                start, end = self.reads[number] if self.reads else (0, len(chunk.content_text))
                yield Passage(number, chunk, chunk.content_text[start:end], start)


@dataclass(frozen=True, slots=True)
class QuotedWords:
    """Words of a chunk, letter for letter."""

    chunk_number: int
    text: str
    start: int
    """Where they begin in the chunk's text."""


class ClaimKind(StrEnum):
    """What a claim is, and so what it has to rest on."""

    FACT = "fact"
    """Says what numbered sentences say, of the book or of the asker."""
    LEAD = "lead"
    """Ends in a colon and announces what comes after it."""
    EXAMPLE = "example"
    """The writer's own example, shown as such."""
    QUESTION = "question"
    """Asks the student something: a quiz, or what was meant."""
    TALK = "talk"
    """Says nothing about the subject: a greeting, an offer."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a draft with the words it rests on; nothing of it is judged yet."""

    text: str
    quotes: tuple[QuotedWords, ...] = ()
    """Empty: the writer gave no source for it."""
    kind: ClaimKind = ClaimKind.FACT
    lead: str | None = None
    """The layout in front of it, such as a paragraph break or a bullet; None: no wish."""
    heading: str | None = None
    """The section of the book that stands above it; None: it goes on below the one before."""
    part: str | None = None
    """The part of the question that begins to be answered with it; None: it goes on."""
    cites_unknown: bool = False
    """Whether it names a sentence that there is not."""


@dataclass(frozen=True, slots=True)
class NotCovered:
    """The writer found that the passages do not answer the question, or not all of it."""

    part: str | None = None
    """The part of the question that is said to have no answer; None: which one is not known."""


@dataclass(frozen=True, slots=True)
class CutShort:
    """The writer reached its limit of tokens in mid-answer."""


DraftPart = Claim | NotCovered | CutShort


class Generator(Protocol):
    """Writes a draft answer, sentence by sentence."""

    @property
    def name(self) -> str:
        """The model's name as it appears in an answer."""
        ...

    def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield the claims of the answer in reading order; none at all: nothing to say.

        Raises:
            GenerationError: when the writer fails; what was yielded before must be withdrawn.
        """
        ...
