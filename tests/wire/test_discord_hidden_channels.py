"""Channels that the bot may not view: Discord shows that they are there, and nothing more."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.wire.discord import Channel, Message
from tests.wire.discord.entities import ChannelType
from tests.wire.discord.payloads import HIDDEN
from tests.wire.discord.permissions import Permission
from tests.wire.discord_bot import Trial, a_trial
from tests.wire.monitored import Pages

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_hidden"),
]
KINDS = (ChannelType.TEXT, ChannelType.VOICE, ChannelType.FORUM, ChannelType.CATEGORY)


def hide(trial: Trial, channel: Channel) -> None:
    """Take a channel out of the bot's view."""
    everyone = trial.world.everyone(trial.world.guild)
    trial.world.restrict(channel, everyone, deny=Permission.VIEW_CHANNEL)


def show(trial: Trial, channel: Channel) -> None:
    """Let the bot, and everybody, view a channel."""
    everyone = trial.world.everyone(trial.world.guild)
    trial.world.restrict(channel, everyone, allow=Permission.VIEW_CHANNEL)


def reads_of(trial: Trial, channel: Channel) -> int:
    """Return how often the bot asked what a channel is."""
    path = f"/channels/{channel.id}"
    calls = trial.world.history.calls
    return sum(call.method == "GET" and call.path.endswith(path) for call in calls)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    """A bot in a server with a hidden channel of each kind from its start."""
    folder = tmp_path_factory.mktemp("hidden")
    async with a_trial(
        one_course, folder, settings={"MONITORING__PORT": "0"}, start=False
    ) as trial:
        for kind in KINDS:
            hide(trial, trial.channel(kind))
        await trial.bot.start()
        yield trial
        assert await Pages(trial.bot).value("events_unreadable_total") == 0


async def said_in(trial: Trial, channel: Channel) -> Message:
    return await trial.world.say(trial.user(), channel, f"{trial.mention} {COVERED}")


async def test_a_server_with_hidden_channels_is_answered_as_any_other(trial: Trial) -> None:
    sent = trial.world.history.dispatches
    guild = next(one.data for one in sent if one.name == "GUILD_CREATE")
    hidden = [one for one in guild["channels"] if one["flags"] & HIDDEN]
    assert [one["type"] for one in hidden] == [int(kind) for kind in KINDS]
    assert all(one["name"] == "___hidden___" for one in hidden)
    assert hidden[2]["available_tags"] is None
    assert "bitrate" not in hidden[1]
    known = trial.world.channel
    assert COVERED_FACT in (await trial.answer_to(await said_in(trial, known))).text
    assert reads_of(trial, known) == 0, "the server's other channels are known"


async def test_a_visible_channel_of_a_hidden_category_is_known(trial: Trial) -> None:
    category = trial.channel(ChannelType.CATEGORY)
    channel = trial.channel(category=category)
    hide(trial, category)
    assert COVERED_FACT in (await trial.answer_to(await said_in(trial, channel))).text
    assert reads_of(trial, channel) == 0


async def test_a_channel_is_known_from_when_the_bot_may_view_it(trial: Trial) -> None:
    channel, forum = trial.channel(), trial.channel(ChannelType.FORUM)
    for one in (channel, forum):
        hide(trial, one)
    for one in (channel, forum):
        show(trial, one)
    assert COVERED_FACT in (await trial.answer_to(await said_in(trial, channel))).text
    post = await trial.world.open_post(
        trial.user(), forum, "The lamp", f"{trial.mention} {COVERED}"
    )
    answer = await trial.until(lambda: next(iter(trial.from_bot(post)), None))
    await trial.until(lambda: (COVERED_FACT in answer.text) or None)
    assert reads_of(trial, channel) == reads_of(trial, forum) == 0


async def test_what_was_asked_in_a_channel_that_is_hidden_meanwhile_stays(trial: Trial) -> None:
    world, channel = trial.world, trial.channel()
    answer = await trial.answer_to(await said_in(trial, channel))
    hide(trial, channel)
    await trial.quiet(world.channel, trial.user())
    assert not answer.deleted
    show(trial, channel)
    thread = answer.channel
    again = await world.say(trial.user(), thread, f"{trial.mention} {COVERED}")
    assert COVERED_FACT in (await trial.answer_to(again)).text
    assert reads_of(trial, channel) == reads_of(trial, thread) == 0, "its threads are known, too"


async def test_what_is_asked_while_the_bot_is_away_is_found_in_a_channel_just_shown(
    trial: Trial,
) -> None:
    channel, other = trial.channel(), trial.channel()
    for one in (channel, other):
        hide(trial, one)
    await trial.quiet(channel, trial.user())
    await trial.bot.kill()
    show(trial, channel)
    asked = await said_in(trial, channel)
    await trial.bot.start()
    assert COVERED_FACT in (await trial.answer_to(asked)).text
