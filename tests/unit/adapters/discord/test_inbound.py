"""What a question is, once Discord's own codes are taken out of it."""

from types import SimpleNamespace
from typing import Any, cast

import discord
import pytest

from adapters.chat.incoming_message import IncomingMessage
from adapters.discord.inbound import (
    KnownSurroundings,
    _plain,
    category_of,
    incoming_from_message,
    is_guest,
    where,
)
from adapters.discord.payloads import read_message


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("What is a heap <:thinking:118000000000000001>?", "What is a heap?"),
        ("<a:wave:118000000000000001> What is a heap?", "What is a heap?"),
        ("What did <#118000000000000002> say of heaps?", "What did say of heaps?"),
        ("Before <t:1700000000:R>, what is </ask:118000000000000003>?", "Before, what is?"),
        ("Is <@118000000000000004> right?", "Is @someone right?"),
        ("Are <@&118000000000000005> right?", "Are @some-group right?"),
        ("`vec<u8>  <T>`", "`vec<u8>  <T>`"),
    ],
)
def test_codes_that_are_no_text_are_left_out(written: str, said: str) -> None:
    assert _plain(written) == said


def thread_without_parent() -> discord.Thread:
    """Return a thread in a channel that discord.py does not know."""
    guild: Any = SimpleNamespace(get_channel=lambda _: None, id=1, default_role=None)
    thread = discord.Thread.__new__(discord.Thread)
    thread.id, thread.parent_id, thread.guild = 3, 2, guild
    return thread


def test_a_thread_whose_channel_is_unknown_lies_where_its_ids_say() -> None:
    thread = thread_without_parent()
    place = where(thread, 1, 3)
    assert place.places == ("3", "2", "1")
    assert category_of(thread) is None


def test_a_channel_that_was_fetched_tells_a_threads_category_and_kind() -> None:
    forum = discord.ForumChannel.__new__(discord.ForumChannel)
    forum.category_id = 7
    place = where(thread_without_parent(), 1, 3, forum)
    assert place.places == ("3", "2", "7", "1")
    assert place.in_forum


@pytest.mark.parametrize(("bot", "webhook"), [(True, None), (False, 5), (True, 5)])
def test_no_bot_and_no_webhook_is_heard(bot: bool, webhook: int | None) -> None:
    said = read_message(
        {"id": "3", "channel_id": "2", "author": {"id": "1", "bot": bot}, "webhook_id": webhook}
    )
    assert (
        incoming_from_message(said, cast("discord.ClientUser", None), KnownSurroundings()) is None
    )


@pytest.mark.parametrize(
    ("known", "sees", "installed", "guest"),
    [
        (True, True, True, False),
        (False, True, True, True),
        (False, True, False, True),
        (False, False, False, True),
        (False, False, True, False),
    ],
)
def test_a_server_whose_shard_is_not_connected_here_is_none_without_the_bot(
    known: bool, sees: bool, installed: bool, guest: bool
) -> None:
    client = SimpleNamespace(get_guild=lambda _: known or None, sees=lambda _: sees)
    command: Any = SimpleNamespace(
        guild_id=1, client=client, is_guild_integration=lambda: installed
    )
    assert is_guest(command) is guest


ME, ANN, BEN = 10, 11, 12


def said_by_ann(**more: Any) -> IncomingMessage:
    """Return what Ann says in a channel of a server."""
    data = {"id": "3", "channel_id": "2", "guild_id": "1", "author": {"id": str(ANN)}, **more}
    me = cast("discord.ClientUser", SimpleNamespace(id=ME))
    found = incoming_from_message(
        read_message({"content": "And why?", **data}), me, KnownSurroundings()
    )
    assert found is not None
    return found


def reply_to(*authors: int) -> dict[str, Any]:
    [author] = authors
    message = {"id": "4", "channel_id": "2", "author": {"id": str(author)}, "content": "x"}
    return {"referenced_message": message, "message_reference": {"message_id": "4"}}


def mentions(*users: int) -> dict[str, Any]:
    return {"mentions": [{"id": str(user)} for user in users]}


@pytest.mark.parametrize(
    ("more", "to_others"),
    [
        ({}, False),
        (reply_to(ANN), False),
        (reply_to(BEN), True),
        (reply_to(ME), False),
        (mentions(ANN), False),
        (mentions(BEN), True),
        (mentions(ANN, BEN), True),
        (mentions(ANN, ME), False),
        ({**reply_to(ANN), **mentions(ANN)}, False),
        ({**reply_to(ANN), **mentions(BEN)}, True),
        ({**reply_to(BEN), **mentions(ANN)}, True),
        ({"mention_everyone": True}, True),
    ],
)
def test_who_speaks_to_themselves_speaks_to_nobody_else(
    more: dict[str, Any], to_others: bool
) -> None:
    assert said_by_ann(**more).to_others is to_others
