"""What Slack sends is read as far as it has the form that Slack documents."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.acceptor import UnreadableEvent
from adapters.slack.inbound import (
    Origin,
    id_of,
    incoming_from_message,
    kind_of,
    readable_body,
    readable_message,
)
from adapters.slack.mrkdwn import all_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["type", "elements", "text", "blocks", "message", "message_blocks", "is_share", "style"]
)
RICH = st.recursive(
    st.none() | st.just("rich_text") | st.just("rich_text_list") | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
    max_leaves=12,
)
ORIGIN = Origin("T1", None, "U0")
GOOD = {
    "type": "message",
    "channel": "C1",
    "user": "U1",
    "ts": "1700000000.000100",
    "text": "<@U0> why?",
}
ELSE = ("edited", "files", "team", "user_team", "thread_ts", "parent_user_id", "channel_type")


@pytest.mark.costly
@given(JSON)
def test_any_body_is_read_or_refused(payload: Any) -> None:
    try:
        body = readable_body(payload)
    except UnreadableEvent:
        assert not isinstance(payload, dict)
        return
    assert isinstance(kind_of(body), str)
    id_of(body)


@pytest.mark.costly
@given(st.sampled_from(ELSE), JSON)
def test_a_question_is_heard_whatever_else_is_odd(field: str, value: Any) -> None:
    body = readable_body({"event": {**GOOD, field: value}})
    incoming = incoming_from_message(body["event"], ORIGIN)
    assert incoming is not None
    assert incoming.addressed
    assert incoming.text == "why?"


@pytest.mark.costly
@given(st.lists(RICH), st.lists(RICH))
def test_blocks_and_attachments_of_any_form_raise_nothing(blocks: Any, attachments: Any) -> None:
    message = readable_message({**GOOD, "blocks": blocks, "attachments": attachments})
    assert isinstance(all_of(message), str)
    incoming = incoming_from_message({**message, "channel": "C1"}, ORIGIN)
    assert incoming is not None
    assert incoming.addressed


@pytest.mark.parametrize("ts", [None, 7, 1.5, "", "soon", "9" * 12, "-1", "1700000000.0000001", {}])
def test_a_message_without_its_time_is_refused(ts: Any) -> None:
    with pytest.raises(UnreadableEvent):
        readable_message({**GOOD, "ts": ts})


def test_what_is_as_documented_is_left_as_it_is() -> None:
    payload = {
        "type": "block_actions",
        "user": {"id": "U1", "team_id": "T1", "username": "ann"},
        "team": {"id": "T1", "domain": "course"},
        "actions": [{"action_id": "gl:stop", "value": "x", "action_ts": "1700000000.000100"}],
        "container": {"type": "message", "message_ts": "1700000000.000100", "is_ephemeral": False},
        "something_new": {"deep": [1, None]},
    }
    assert readable_body(payload) == payload


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_read_so_that_it_can_be_stored(text: str) -> None:
    read = readable_message({**GOOD, "text": text})["text"]
    read.encode()
    assert "\0" not in read
