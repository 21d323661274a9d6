"""What a platform of lines remembers to be pressed."""

from typing import Any, cast

import pytest

from adapters.actions.text_platform import _MOST_KEPT, _Latest
from adapters.chat.incoming_message import IncomingMessage
from core.domain.errors import RequestError
from tests.line_chat.adapter import LineChat

UNUSED = cast("Any", None)


def test_the_latest_of_a_user_comes_before_that_of_all_and_can_be_forgotten() -> None:
    latest = _Latest[str]()
    latest.keep("room", "", "for all")
    latest.keep("room", "ann", "for ann")
    assert (latest.of("room", "ann"), latest.of("room", "ben")) == ("for ann", "for all")
    latest.forget("ann")
    assert latest.of("room", "ann") == "for all"


def test_only_so_many_are_remembered() -> None:
    latest = _Latest[int]()
    for number in range(_MOST_KEPT + 5):
        latest.keep("room", str(number), number)
    assert len(latest) == _MOST_KEPT
    assert latest.of("room", "4") is None


class Loud(LineChat):
    """A room in which everything is read by all."""

    writes_alone = False


def test_what_one_user_alone_may_read_is_refused_where_all_read_everything() -> None:
    asked = IncomingMessage("line:1", "line", "server", "room", (), 1, "ann", "Why?", {})
    quiet, loud = (kind(UNUSED, UNUSED, UNUSED, UNUSED) for kind in (LineChat, Loud))
    assert quiet.alone(asked).address == {"ephemeral": True, "asker": "ann"}
    with pytest.raises(RequestError) as refused:
        loud.alone(asked)
    assert "write to you alone" in refused.value.user_message
