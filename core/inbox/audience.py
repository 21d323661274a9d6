"""How an event is settled, and who reads what settles it: the same on every platform."""

from enum import StrEnum

from core.errors import BotError, RateLimited, RequestError, Stopped
from core.models import Outcome


class Audience(StrEnum):
    """Who reads what is sent about a question."""

    PLACE = "place"
    """Everybody who reads where the question was asked."""
    ASKER = "asker"
    """The asker alone where the platform can; else a reply to the message, never a new thread."""


class Settlement(StrEnum):
    """What became of an event that is done with; the inbox keeps it with the event."""

    ANSWERED = "answered"
    """What was asked has its answer; that the book does not say it is an answer, too."""
    REFUSED = "refused"
    """The asker got a notice that says what to change to get an answer."""
    NOTICED = "noticed"
    """The asker got a notice of a limit, or of what they did themselves, such as stopping."""
    APOLOGISED = "apologised"
    """The asker got a notice that there is no answer, for a reason on the bot's side."""
    POINTED = "pointed"
    """The asker got a notice that says how, or for which course, to ask."""
    POINTED_BACK = "pointed back"
    """The asker was shown where the answer stands, or what was said of it."""
    OFFERED = "offered"
    """A reaction offers to answer; the question is kept until it is taken up or vanishes."""
    THANKED = "thanked"
    """A reaction acknowledges that the bot was thanked."""
    PASSED_OVER = "passed over"
    """Nothing was sent: a notice of this minute said why already."""
    REPLACED = "replaced"
    """Nothing was sent: a later edit or the deletion of the same question counts instead."""
    REMOVED = "removed"
    """A deletion was carried out: what had been posted is gone."""

    @property
    def audience(self) -> Audience:
        """Who reads what is sent: an answer is for the place, all else for the asker."""
        return Audience.PLACE if self is Settlement.ANSWERED else Audience.ASKER


def settled_by(error: BotError) -> Settlement:
    """Return what telling an asker of a failure settles their event as."""
    if isinstance(error, RateLimited | Stopped):
        return Settlement.NOTICED
    return Settlement.REFUSED if isinstance(error, RequestError) else Settlement.APOLOGISED


def settled_with(outcome: Outcome | None) -> Settlement:
    """Return what a finished response settles an event as, by its outcome.

    That the book does not cover a question is an answer for all who read it.
    """
    return Settlement.APOLOGISED if outcome is Outcome.ERROR else Settlement.ANSWERED
