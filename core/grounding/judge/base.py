"""The Protocol of what estimates whether cited sentences say what a claim says."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from core.providers.base import ChatEnd, ignore

Report = Callable[[ChatEnd], None]
"""Is given each call of a judging model, which has to be paid for."""


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A sentence of an answer and the sentences of the book that it rests on."""

    text: str
    sentences: tuple[str, ...]
    """What it cites, at least one, in the order of the book."""
    headings: tuple[str, ...] = ()
    """The titles above the cited sentences, outermost first."""
    around: tuple[str, ...] = ()
    """What the book says next to them."""
    is_translated: bool = False
    """Whether it is surely in another language than they are."""


class Flaw(StrEnum):
    """Why a claim is not shown."""

    UNCITED = "uncited"
    INVENTED_QUOTE = "invented quote"
    NUMBER = "number"
    CODE = "code"
    LINK = "link"
    LANGUAGE = "language"
    MEANING = "meaning"
    PLANTED = "planted"
    LEANS = "leans on a claim that is not shown"


class JudgedBy(StrEnum):
    """What a verdict rests on."""

    CODE = "code"
    """A certain check of `core.grounding.judge.certain`."""
    WORDS = "words"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How likely the cited sentences say what a claim says."""

    probability: float
    """0 to 1."""
    holds: bool
    """Whether the probability reaches the mark that was fitted for this judge."""
    by: JudgedBy


class SupportJudge(Protocol):
    """Estimates whether claims are supported by the sentences that they cite."""

    @property
    def name(self) -> str:
        """The judge's name; marks of different names are never compared."""
        ...

    async def judge(self, claim: CitedClaim, report: Report = ignore) -> Verdict:
        """Return the verdict on a claim.

        A judge that cannot be reached in time lets the words decide, and says so in `by`.
        """
        ...


@runtime_checkable
class AnswerJudge(SupportJudge, Protocol):
    """A judge of claims that can tell of a whole answer, too."""

    @property
    def is_free(self) -> bool:
        """Whether it would begin now; else it is busy with as much as it takes at a time."""
        ...

    async def answers_question(
        self, question: str, answer: str, report: Report = ignore
    ) -> Verdict | None:
        """Return whether an answer gives what the question asks for; None: not known."""
        ...
