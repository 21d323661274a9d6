"""Questions by `/ask`: answered to all, answered to the asker alone, and refused."""

from typing import TYPE_CHECKING, Any

from adapters.slack.inbound import trigger_key
from tests.chaos.book import question_about
from tests.chaos.history import Asked, Spot, Way
from tests.chaos.plan import Talk
from tests.wire import discord, slack

if TYPE_CHECKING:
    from tests.chaos.people import People

_KINDS = 3
"""To all, to the asker alone, and where the bot is switched off."""


async def commanded(people: "People", talk: Talk) -> None:
    """Ask by a command; the kinds come in turn on each platform."""
    kind = talk.number // 2 % _KINDS
    is_private, is_off = kind == 1, kind == 2
    scene, (name,), number = people.scene, talk.names, talk.conversation
    if talk.on_discord:
        user, place = scene.somebody_there(), scene.off_there if is_off else scene.somewhere_there()
        asked = await ask_there(people, user, place, name, number, is_private=is_private)
    else:
        here = scene.off_here if is_off else scene.somewhere_here()
        somebody = scene.somebody_here()
        asked = await ask_here(people, somebody, here, name, number, is_private=is_private)
    await people.wait_for(asked)


async def ask_there(
    people: "People",
    user: discord.User,
    place: discord.Channel,
    name: str,
    conversation: int,
    way: Way = Way.COMMAND,
    *,
    is_private: bool = False,
) -> Asked:
    """Ask by a command on Discord."""
    options: dict[str, Any] = {"private": True} if is_private else {}
    question = question_about(name)
    deed = await people.scene.there.slash(user, place, "ask", question=question, **options)
    spot = Spot(str(user.id), str(place.id))
    key = f"discord:i:{deed.id}"
    return people.note(Asked(key, name, conversation, way, spot, deed, is_private))


async def ask_here(
    people: "People",
    user: slack.User,
    place: slack.Channel,
    name: str,
    conversation: int,
    way: Way = Way.COMMAND,
    *,
    is_private: bool = False,
) -> Asked:
    """Ask by a command on Slack."""
    text = f"private {question_about(name)}" if is_private else question_about(name)
    deed = await people.scene.here.slash(user, place, "/ask", text)
    spot = Spot(user.id, place.id)
    key = trigger_key(deed.trigger_id)
    return people.note(Asked(key, name, conversation, way, spot, deed, is_private))
