"""Which questions of a measurement failed, and how."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.evaluation.report import Measured

_SPAN = "span"
"""The kind of question whose reference answers stand in the text word for word."""
_SHOWN_SENTENCES = 3


class FailureKind(StrEnum):
    """What went wrong with a question."""

    REFUSED = "refused"
    """It was refused, though the book answers it."""
    ELSEWHERE = "elsewhere"
    """None of its citations is of a document that holds the answer."""
    NOT_SHOWN = "not_shown"
    """The document is right; the reference answer is not in the first three sentences."""
    ANSWERED = "answered"
    """It was answered, though the book does not answer it."""


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question, what was expected, and what came instead."""

    kind: FailureKind
    measured: Measured
    not_read: str = ""
    """Where the text of the documents that hold the answer lacks its words: what of them was not
    read, for people."""

    @property
    def place(self) -> int | None:
        """The rank of the first document that holds the answer, from 1; none: it was not found."""
        relevant = self.measured.question.relevant
        ranks = (n for n, source in enumerate(self.measured.ranking, 1) if source in relevant)
        return next(ranks, None)

    @property
    def cited(self) -> tuple[str, ...]:
        """The documents that were cited instead, each once, in order."""
        return tuple(dict.fromkeys(source for source, _ in self.measured.cited))


def failed_questions(rows: Sequence[Measured]) -> Iterator[FailedQuestion]:
    """Yield the questions that failed, in order; one of unknown places cannot be elsewhere."""
    for row in rows:
        if (kind := _failure(row)) is not None:
            yield FailedQuestion(kind, row)


def _failure(row: Measured) -> FailureKind | None:
    question = row.question
    if not question.answerable:
        return None if row.refused else FailureKind.ANSWERED
    if row.refused:
        return FailureKind.REFUSED
    if question.relevant and not row.is_right:
        return FailureKind.ELSEWHERE
    is_span = question.kind == _SPAN and question.answers
    if is_span and not row.answered_within(_SHOWN_SENTENCES):
        return FailureKind.NOT_SHOWN
    return None
