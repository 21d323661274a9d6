"""The names of the buttons, which find their way back after a restart."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from uuid import UUID

from core.domain import AgentResponse, Outcome
from core.domain.i18n import Message

_PREFIX = "gl"
UUID_PATTERN = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
ANY = re.compile(rf"{_PREFIX}:(?P<button>[a-z]):(?P<request>{UUID_PATTERN})")
"""What the custom ids of all buttons look like."""


class Button(StrEnum):
    """What a button does; the value is part of a custom id and never changes.

    The id is that of an answer's request; of a help request, a verified answer or one of its
    wordings for what staff do with it.
    """

    HELPFUL = "h"
    NOT_HELPFUL = "n"
    EVIDENCE = "e"
    WITHOUT_QUOTE = "q"
    NOT_MEANT = "u"
    """Asks for the question in other words, where a follow-up was understood otherwise."""
    FIND_COURSE = "f"
    """Asks for a word of the course's title, where there are more than a menu holds."""
    SHARE = "s"
    STOP = "x"
    DELETE = "d"
    ASK_STAFF = "k"
    STAFF_ANSWER = "v"
    """Shows the answer of the staff that is offered."""
    TAKE = "t"
    ANSWER = "a"
    DISMISS = "z"
    VERIFY = "c"
    EDIT = "w"
    RETIRE = "r"
    SAME_QUESTION = "y"
    """Its id, and that of the next one, is a wording's of another who was shown the answer."""
    OTHER_QUESTION = "o"
    MORE = "m"
    """Shows the next page of what staff look at; its id holds where it begins."""
    ASSIGNMENT = "i"
    """Asks for an assignment to which students get hints alone; it has NO_ID, as those below."""
    EXPORT = "j"
    """Gives its clicker a file with all that is stored about them."""
    FORGET_ME = "g"
    """Deletes what is stored about its clicker."""

    @property
    def label(self) -> str:
        """What is written on it."""
        return str(_LABELS[self])


_LABELS = {
    Button.HELPFUL: Message("button-helpful"),
    Button.NOT_HELPFUL: Message("button-not-helpful"),
    Button.EVIDENCE: Message("button-evidence"),
    Button.WITHOUT_QUOTE: Message("button-without-quote"),
    Button.NOT_MEANT: Message("button-not-meant"),
    Button.FIND_COURSE: Message("button-find-course"),
    Button.SHARE: Message("button-share"),
    Button.STOP: Message("button-stop"),
    Button.DELETE: Message("button-delete-answer"),
    Button.ASK_STAFF: Message("button-ask-staff"),
    Button.STAFF_ANSWER: Message("button-read-staff-answer"),
    Button.TAKE: Message("button-take"),
    Button.ANSWER: Message("button-answer"),
    Button.DISMISS: Message("button-dismiss"),
    Button.VERIFY: Message("verify-form-title"),
    Button.EDIT: Message("button-edit"),
    Button.RETIRE: Message("button-retire"),
    Button.SAME_QUESTION: Message("button-same-question"),
    Button.OTHER_QUESTION: Message("button-other-question"),
    Button.MORE: Message("button-more"),
    Button.ASSIGNMENT: Message("policy-form-title"),
    Button.EXPORT: Message("privacy-export"),
    Button.FORGET_ME: Message("privacy-delete-all"),
}
NO_ID = UUID(int=0)
"""Of buttons that belong to nothing but who presses them."""
ASKS_FIRST = {
    Button.DELETE: Message("answer-delete-confirm"),
    Button.FORGET_ME: Message("privacy-delete-confirm"),
}
"""What is asked before a button does what cannot be undone, where the platform asks."""


MOST_SHOWN = 3
"""Buttons that stand below an answer; the rest are in a menu."""
REST = f"{_PREFIX}:rest"
"""The name of that menu, before the id of its request."""
REST_OF = re.compile(rf"{REST}:(?P<request>{UUID_PATTERN})")
ON_CARD = (Button.TAKE, Button.ANSWER, Button.DISMISS)
"""What staff can do with a request that waits."""
ON_WORDING = (Button.SAME_QUESTION, Button.OTHER_QUESTION)
"""What staff say of how another asked."""


def buttons_under(
    response: AgentResponse, *, quoted: bool, private: bool, has_evidence: bool
) -> Iterator[Button]:
    """Yield the buttons that an answer has on every platform, the most important first.

    An error has none, nor has what only asks back or greets. A refusal is no answer to vote on.

    Args:
        quoted: Whether the question came with a passage.
        private: Whether the asker alone sees the answer.
        has_evidence: Whether what it cites says more than it shows.
    """
    asks = response.asks_nothing or response.outcome is Outcome.ASKED_BACK
    if response.outcome is Outcome.ERROR or asks:
        return
    if response.understood_as is not None:
        yield Button.NOT_MEANT
    if response.outcome is not Outcome.ABSTAINED:
        yield Button.HELPFUL
        yield Button.NOT_HELPFUL
    if has_evidence:
        yield Button.EVIDENCE
    if quoted:
        yield Button.WITHOUT_QUOTE
    if private:
        yield Button.SHARE
    if response.offered:
        yield Button.STAFF_ANSWER
    if response.outcome is not Outcome.ANSWERED:
        yield Button.ASK_STAFF


def apart(buttons: Sequence[Button]) -> tuple[Sequence[Button], Sequence[Button]]:
    """Return the buttons that are shown, and those in the menu below them."""
    return buttons[:MOST_SHOWN], buttons[MOST_SHOWN:]


def custom_id(button: Button, request_id: UUID) -> str:
    """Return the name of a button under the answer to a request; 41 characters."""
    return f"{_PREFIX}:{button.value}:{request_id}"


def parsed(custom_id: str) -> tuple[Button, UUID] | None:
    """Return what a custom id says; None: it is not one of the bot's."""
    match = ANY.fullmatch(custom_id)
    if match is None or match["button"] not in {*Button}:
        return None
    return Button(match["button"]), UUID(match["request"])
