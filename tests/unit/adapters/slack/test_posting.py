"""Finding the messages of an answer again."""

from typing import Any
from uuid import UUID

from adapters.chat.buttons import Button
from adapters.slack.notices import message_id, metadata, parts_of, strays, timestamp
from adapters.slack.outbound import Post, blocks_of_post

ME, KEY, REQUEST = "UBOT", "slack:T1:C1:1.000001", UUID(int=7)


def message(ts: str, **fields: Any) -> dict[str, Any]:
    return {"ts": ts, "user": ME, **fields}


def stop(request_id: UUID) -> dict[str, Any]:
    return {"blocks": blocks_of_post(Post("x", buttons=(Button.STOP,), request_id=request_id))}


THREAD = [
    message("1.0", user="UANN", metadata=metadata(KEY, 0)),
    message("2.0", metadata=metadata(KEY, 0)),
    message("3.0", metadata=metadata(KEY, 1)),
    message("4.0", metadata=metadata("slack:T1:C1:other", 0), **stop(REQUEST)),
    message("5.0", metadata=metadata(KEY, 1)),
    message("6.0", **stop(REQUEST)),
    message("7.0", **stop(UUID(int=8))),
    message("8.0", metadata={"event_type": "other", "event_payload": {"key": KEY}}),
    message("9.0"),
]


def test_parts_are_known_by_what_slack_keeps_beside_them_and_the_first_one_counts() -> None:
    assert parts_of(THREAD, ME, KEY, REQUEST) == {0: "2.0", 1: "3.0"}


def test_a_stream_that_has_not_ended_is_known_by_its_button() -> None:
    assert parts_of(THREAD[5:], ME, KEY, REQUEST) == {0: "6.0"}
    assert parts_of(THREAD[5:], ME, KEY, None) == {}


def test_strays_are_what_answers_the_event_beside_the_known_messages() -> None:
    assert strays(THREAD, ME, KEY, {REQUEST}, {"2.0", "3.0"}) == ["5.0", "6.0"]


def test_a_message_is_known_by_its_channel_too() -> None:
    assert timestamp(message_id("C1", "2.000001")) == "2.000001"
