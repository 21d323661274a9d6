"""Says in words which questions of `glossator eval` failed, and what was found instead."""

from collections.abc import Iterator, Sequence
from typing import Any

from adapters.markdown.splitting import shortened
from bot.cli.counted import counted
from core.evaluation.failures import FailedQuestion, FailureKind
from core.markdown.writing import one_line

_EXCERPT = 160


def sentence_of(failed: FailedQuestion) -> str:
    """Return what went wrong, and the cause where the document was not read as a whole."""
    if not failed.not_read:
        return _failure(failed)
    return (
        f"{_failure(failed)} The words of the answer are not in the text that was read; not read "
        f"were {failed.not_read}."
    )


def _failure(failed: FailedQuestion) -> str:
    expected = " or ".join(failed.measured.question.relevant) or "the book"
    match failed.kind:
        case FailureKind.REFUSED:
            return f"Refused, though {expected} holds the answer; {_found(failed)}."
        case FailureKind.ELSEWHERE:
            cited = ", ".join(failed.cited) or "nothing"
            return f"Answered from {cited} instead of {expected}; {_found(failed)}."
        case FailureKind.NOT_SHOWN:
            answer = failed.measured.question.answers[0]
            return f"Answered from {expected}, without the words “{_short(answer)}”."
        case FailureKind.ANSWERED:
            return "Answered, though the book does not answer it."


def quotes_of(failed: FailedQuestion) -> list[tuple[str, str]]:
    """Return the first sentences that were shown instead, each with its document."""
    return [(source, _short(quote)) for source, quote in failed.measured.cited[:2]]


def lines_of(failures: Sequence[FailedQuestion], asked: int) -> Iterator[str]:
    """Yield the list of the failed questions as lines of text."""
    if not failures:
        yield "No question failed."
        return
    yield f"{len(failures)} of {counted(asked, 'question')} failed:"
    for number, failed in enumerate(failures, 1):
        yield f"\n{number}. {one_line(failed.measured.question.question)}"
        yield f"   {sentence_of(failed)}"
        for source, quote in quotes_of(failed):
            yield f"   “{quote}” ({source})"


def as_fields(failed: FailedQuestion) -> dict[str, Any]:
    """Return a failed question as `--json` prints it."""
    question = failed.measured.question
    return {
        "id": question.id,
        "question": question.question,
        "failure": failed.kind.value,
        "sentence": sentence_of(failed),
        "not_read": failed.not_read or None,
        "relevant": list(question.relevant),
        "rank": failed.place,
        "cited": [{"source": s, "quote": q} for s, q in failed.measured.cited],
    }


def _found(failed: FailedQuestion) -> str:
    if not failed.measured.question.relevant:
        return "where it is, the questions do not say"
    if failed.place is None:
        return "the search did not find it"
    return f"the search found it at place {failed.place}"


def _short(quote: str) -> str:
    return shortened(one_line(quote), _EXCERPT)
