"""What an arrival is marked with: what is asked about the last answer, if that is meant."""

from dataclasses import replace
from typing import Any

import pytest

from adapters.chat.attention import ASKED, Decision, decided_on, meta_of
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.question_context import MessageParts, TextFile
from adapters.chat.speaking import Band, Intent
from core.domain import UnreadPart
from tests.inbox import event
from tests.samples import request

WHERE = Decision(Intent.WHERE, Band.SPEAK)
HEARD = IncomingMessage(
    key="test:1",
    platform="test",
    workspace="w",
    channel="c",
    places=("c", "w"),
    position=1,
    user="ann",
    text="Where is this from?",
    address={},
)


def asked_about(**changes: Any) -> Intent | None:
    """Return what a message asks about the last answer."""
    arrival = event(1, request=request())
    return meta_of(decided_on(arrival, replace(HEARD, **changes), WHERE))


def test_this_is_the_last_answer_where_nothing_else_is_shown() -> None:
    assert asked_about() is Intent.WHERE


brought = pytest.mark.parametrize(
    "brought",
    [
        {"quote": "A cell is small."},
        {"parts": MessageParts(files=(TextFile("https://files.example/notes.md"),))},
        {"parts": MessageParts(unread=(UnreadPart.IMAGE,))},
    ],
)


@brought
def test_this_is_what_the_message_comes_with(brought: dict[str, Any]) -> None:
    assert asked_about(**brought) is None


def test_the_same_words_ask_the_same() -> None:
    arrival = event(1, request=request())
    louder = replace(HEARD, text="where is this FROM")
    one, other = decided_on(arrival, HEARD, ASKED), decided_on(arrival, louder, ASKED)
    assert one.gist == other.gist is not None


def test_one_who_is_answered_in_another_language_asks_something_else() -> None:
    arrival = event(1, request=request())
    german, swiss = (replace(HEARD, locale=one) for one in ("de", "de-CH"))
    one, other = decided_on(arrival, german, ASKED), decided_on(arrival, HEARD, ASKED)
    assert one.gist != other.gist
    assert one.gist == decided_on(arrival, swiss, ASKED).gist
    assert one.address["language"] == "de"


@brought
def test_what_comes_with_something_is_no_question_of_a_crowd(brought: dict[str, Any]) -> None:
    arrival = event(1, request=request())
    assert decided_on(arrival, replace(HEARD, **brought), ASKED).gist is None
