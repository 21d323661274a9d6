"""First messages: to a bot that is down, in a channel just made, and a mention alone."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tests.chaos.history import Way
from tests.chaos.plan import Talk

if TYPE_CHECKING:
    from tests.chaos.people import People


async def said_while_away(
    people: "People", talk: Talk, away: Callable[[], Awaitable[None]]
) -> None:
    """Write to the bot for the first time just after all its processes were killed.

    On Discord in a channel: a first direct message of that time is lost, as the handbook says.
    """
    scene, (name,) = people.scene, talk.names
    if talk.on_discord:
        newcomer, place = scene.newcomer_there(), scene.new_channel_there()
        await away()
        _, asked = await people.say_there(newcomer, place, name, talk.conversation, Way.AWAY)
    else:
        user = scene.newcomer_here()
        direct = scene.here.dm(user)
        await away()
        _, asked = await people.say_here(user, direct, name, talk.conversation, way=Way.AWAY)
    await people.wait_for(asked)


async def said_in_new_channel(people: "People", talk: Talk) -> None:
    """Ask in a channel as soon as there is one; on Slack the bot is asked in just before."""
    scene, (name,), way = people.scene, talk.names, Way.NEW_CHANNEL
    if talk.on_discord:
        place = scene.new_channel_there()
        user = scene.somebody_there()
        _, asked = await people.say_there(user, place, name, talk.conversation, way)
    else:
        speaker = scene.somebody_here()
        channel = scene.new_channel_here(speaker)
        await scene.here.leave(scene.here.bot, channel)
        await scene.here.join(scene.here.bot, channel)
        _, asked = await people.say_here(speaker, channel, name, talk.conversation, way=way)
    await people.wait_for(asked)


async def said_nothing(people: "People", talk: Talk) -> None:
    """Mention the bot, and ask nothing."""
    scene, number = people.scene, talk.conversation
    if talk.on_discord:
        there = (scene.somebody_there(), scene.somewhere_there())
        _, asked = await people.say_there(*there, "", number, Way.BARE)
    else:
        here = (scene.somebody_here(), scene.somewhere_here())
        _, asked = await people.say_here(*here, "", number, way=Way.BARE)
    await people.wait_for(asked)
