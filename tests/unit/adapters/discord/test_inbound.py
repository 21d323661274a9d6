"""What a question is, once Discord's own codes are taken out of it."""

from types import SimpleNamespace
from typing import Any, cast

import discord
import pytest

from adapters.discord.inbound import _is_staff, _plain, category_of, heard_message, where


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
    member = discord.Member.__new__(discord.Member)
    assert not _is_staff(member, thread)


def test_a_channel_that_was_fetched_tells_a_threads_category_and_kind() -> None:
    forum = discord.ForumChannel.__new__(discord.ForumChannel)
    forum.category_id = 7
    place = where(thread_without_parent(), 1, 3, forum)
    assert place.places == ("3", "2", "7", "1")
    assert place.in_forum


@pytest.mark.parametrize(("bot", "webhook"), [(True, None), (False, 5), (True, 5)])
def test_no_bot_and_no_webhook_is_heard(bot: bool, webhook: int | None) -> None:
    said: Any = SimpleNamespace(
        author=SimpleNamespace(bot=bot),
        webhook_id=webhook,
        type=discord.MessageType.default,
    )
    assert heard_message(said, cast("discord.ClientUser", None)) is None
