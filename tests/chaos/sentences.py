"""What the bot's own sentences say of a question: a refusal, an apology, or nothing yet."""

from collections.abc import Iterator
from enum import StrEnum

from core.domain import i18n
from core.domain.errors import BotError, QuestionTooShort, RateLimited, ServiceError, Stopped


class Said(StrEnum):
    """What a sentence of the bot's says of a question."""

    REFUSAL = "it is not answered here, or not in this form"
    POINTER = "it is to be asked in another way"
    BACK = "it is answered where somebody asked it before"
    NOTICE = "its asker asks too much at the moment"
    APOLOGY = "it could not be answered"
    SLOW = "it is not noted yet, and may have to be asked again"
    WAITING = "it is noted, and others come before it"
    ELSEWHERE = "its answer stands where the link leads to"
    FOLLOWS = "its answer follows, for its asker alone"
    PASSED_ON = "what the staff have of it, for who pressed the button below its answer"


def said(text: str) -> Said | None:
    """Return what a message says that shows no answer; None: no sentence that is known."""
    shown = _letters(text)
    return next((known for sentence, known in _KNOWN if sentence in shown), None)


def is_meanwhile(text: str) -> bool:
    """Return whether a message tells only that something else follows, or where it stands."""
    return said(text) in (Said.SLOW, Said.WAITING, Said.ELSEWHERE, Said.FOLLOWS)


def _letters(text: str) -> str:
    """Return a text's letters alone: platforms set marks of their own, and numbers vary."""
    return "".join(character for character in text.casefold() if character.isalpha())


def _sentences() -> Iterator[tuple[str, Said]]:
    for text in (
        i18n.text("asking-not-here"),
        i18n.text("asking-not-admitted"),
        i18n.text("course-none-yet-tell"),
        i18n.text("course-unset-tell"),
        i18n.text("asking-staff-only"),
    ):
        yield text, Said.REFUSAL
    yield i18n.text("asking-how"), Said.POINTER
    yield i18n.text("course-which"), Said.POINTER
    yield i18n.text("speaking-crowd"), Said.BACK
    yield i18n.text("speaking-crowd-gone"), Said.BACK
    yield QuestionTooShort(1, 3).user_message, Said.REFUSAL
    yield RateLimited(1.0).user_message, Said.NOTICE
    yield Stopped().user_message, Said.NOTICE
    yield i18n.text("asking-slow"), Said.SLOW
    yield i18n.text("asking-still-waiting"), Said.WAITING
    yield i18n.text("slack-answered-in-thread"), Said.ELSEWHERE
    yield i18n.text("slack-private-working"), Said.FOLLOWS
    for name in ("help-passed-on", "help-taken", "help-answered-already", "help-dismissed"):
        yield i18n.text(name), Said.PASSED_ON
    failures: list[type[BotError]] = [BotError, *_kinds_of(ServiceError)]
    for failure in failures:
        yield failure.user_message, Said.APOLOGY
    yield i18n.text("asking-too-old"), Said.APOLOGY


def _kinds_of(error: type[BotError]) -> Iterator[type[BotError]]:
    yield error
    for kind in error.__subclasses__():
        yield from _kinds_of(kind)


_KNOWN = tuple((_letters(text), known) for text, known in _sentences())
