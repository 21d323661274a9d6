"""A message is read, or it is said why not; no form of any field raises anything else."""

from typing import Any, cast

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.acceptor import UnreadableEvent
from adapters.discord.inbound import KnownSurroundings, incoming_from_message
from adapters.discord.payloads import moment, read_message, snowflake

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
GOOD: dict[str, Any] = {
    "id": "118000000000000003",
    "channel_id": "118000000000000002",
    "guild_id": "118000000000000001",
    "author": {"id": "118000000000000004"},
    "content": "<@118000000000000005> why?",
    "mentions": [{"id": "118000000000000005", "bot": True}],
}
ME = cast("discord.ClientUser", type("Me", (), {"id": 118000000000000005}))
FIELDS = (
    *("type", "member", "mention_roles", "mention_everyone", "message_reference", "nonce"),
    *("referenced_message", "message_snapshots", "edited_timestamp", "poll", "embeds", "flags"),
)


@pytest.mark.costly
@given(st.dictionaries(st.sampled_from(["id", "channel_id", "author", "guild_id", *FIELDS]), JSON))
def test_any_payload_is_read_or_refused(payload: dict[str, Any]) -> None:
    try:
        message = read_message(payload)
    except UnreadableEvent:
        return
    incoming = incoming_from_message(message, ME, KnownSurroundings())
    assert incoming is None or incoming.channel == str(message.channel_id)


@pytest.mark.costly
@given(st.sampled_from([f for f in FIELDS if f != "type"]), JSON)
def test_a_question_is_heard_whatever_else_is_odd(field: str, value: Any) -> None:
    incoming = incoming_from_message(read_message({**GOOD, field: value}), ME, KnownSurroundings())
    assert incoming is not None
    assert incoming.addressed
    assert incoming.text == "why?"
    assert incoming.workspace == GOOD["guild_id"]


@pytest.mark.costly
@given(JSON)
def test_what_is_said_in_a_server_is_never_taken_for_a_direct_message(guild: Any) -> None:
    try:
        message = read_message({**GOOD, "guild_id": guild, "member": {"roles": []}})
    except UnreadableEvent:
        return
    assert message.guild_id is not None


@pytest.mark.parametrize("value", [None, True, 0, -1, "", "-1", "1.0", "٣", "9" * 21, 2**63, 1.5])
def test_what_is_no_id_is_none(value: object) -> None:
    assert snowflake(value) is None


def test_ids_come_as_text_and_as_numbers() -> None:
    assert snowflake("118000000000000003") == snowflake(118000000000000003)


def test_a_mention_is_read_in_the_text_where_the_list_cannot_be() -> None:
    said = read_message({**GOOD, "mentions": None})
    assert [person.id for person in said.mentions] == [118000000000000005]
    assert read_message({**GOOD, "mentions": []}).mentions == ()


def test_timestamps_are_aware_or_absent() -> None:
    assert moment("2026-01-01T00:00:00") == moment("2026-01-01T00:00:00+00:00")
    assert moment("yesterday") is None
    assert moment(7) is None


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_read_so_that_it_can_be_stored(content: str) -> None:
    read = read_message({**GOOD, "content": content}).content
    read.encode()
    assert "\0" not in read
    assert len(read) == len(content)


@pytest.mark.parametrize("end", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_moment_outside_of_all_time_is_none(end: str) -> None:
    assert moment(end) is None
