"""Many who ask in one channel at once: one of them too much, all together too much."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.chaos.happenings.commands import ask_here, ask_there
from tests.chaos.history import Way
from tests.chaos.plan import CROWD, Talk

if TYPE_CHECKING:
    from tests.chaos.people import People

USER_PER_MINUTE, CHANNEL_PER_MINUTE = 6, 16
"""What a run lets a person and a channel ask in a minute."""
_LOUDEST = {CROWD: 10}
"""How much the loudest asks; of a small crowd: all but three questions."""
_COMMAND_EVERY = 2
"""So many of a crowd have one that asks by a command."""
_PRIVATE_EVERY = 2
"""So many commands of the loudest have one whose answer they alone are to see; the last one is."""
_OFFLINE = 90.0
"""Seconds that a crowd waits for a bot that is offline."""
_ECHOES = 2
"""So many ask what somebody in the crowd has asked before them, word for word."""


async def crowded(people: "People", talk: Talk) -> None:
    """Let a crowd ask in a channel of its own, without waiting for any answer."""
    size = len(talk.names)
    loudest = _LOUDEST.get(size, size - 3)
    is_loudest = [True] * loudest + [False] * (size - loudest)
    people.random.shuffle(is_loudest)
    names = [*talk.names[: size - _ECHOES], *talk.names[:_ECHOES]]
    crowd = [*zip(names, is_loudest, private_ones(is_loudest), strict=True)]
    if talk.on_discord:
        await _crowd_there(people, talk.conversation, crowd)
    else:
        await _crowd_here(people, talk.conversation, crowd)


async def _crowd_there(
    people: "People", first: int, crowd: Sequence[tuple[str, bool, bool]]
) -> None:
    place, loudest = people.scene.new_channel_there(), people.scene.newcomer_there()
    for number, (name, is_loudest, is_private) in enumerate(crowd, first):
        user = loudest if is_loudest else people.scene.newcomer_there()
        if _is_by_command(number - first):
            # A command to a bot that is offline fails at once, and no limit is met.
            await people.ground.discord.gateway.connected(timeout=_OFFLINE)
            asking = ask_there(people, user, place, name, number, Way.CROWD, is_private=is_private)
            await asking
        else:
            await people.say_there(user, place, name, number, Way.CROWD)


async def _crowd_here(
    people: "People", first: int, crowd: Sequence[tuple[str, bool, bool]]
) -> None:
    loudest, *others = [people.scene.newcomer_here() for _ in range(1 + len(crowd))]
    place = people.scene.new_channel_here(loudest, *others)
    for number, (name, is_loudest, is_private) in enumerate(crowd, first):
        user = loudest if is_loudest else others.pop()
        if _is_by_command(number - first):
            asking = ask_here(people, user, place, name, number, Way.CROWD, is_private=is_private)
            await asking
        else:
            await people.say_here(user, place, name, number, way=Way.CROWD)


def private_ones(is_loudest: Sequence[bool]) -> list[bool]:
    """Return of each question of a crowd whether it is asked privately: some of the loudest's.

    Args:
        is_loudest: Of each question, whether the loudest asks it.
    """
    commands = [n for n, loud in enumerate(is_loudest) if loud and _is_by_command(n)]
    private = commands[::-1][::_PRIVATE_EVERY]
    return [number in private for number in range(len(is_loudest))]


def _is_by_command(number: int) -> bool:
    """Return whether one of a crowd asks with `/ask`, and not by a mention."""
    return number % _COMMAND_EVERY == 0
