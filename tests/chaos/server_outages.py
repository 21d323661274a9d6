"""Outages that hide one of Discord's servers from the bot, within a session."""

import asyncio
import random

from tests.chaos.ground import Ground

NAME = "outage"
EVERY = 60
"""Questions."""
_HIDDEN_FOR = (0.5, 4.0)
"""Seconds."""


def moments(questions: int, seed: int) -> list[int]:
    """Return after how many questions a server is hidden, once at least."""
    chance = random.Random(f"server outages of {seed}")
    first, last = questions // 20, questions * 19 // 20
    return [chance.randint(first, last) for _ in range(max(1, round(questions / EVERY)))]


async def hide_a_server(ground: Ground, chance: random.Random) -> None:
    """Let the gateway tell nothing of a server for some seconds; people go on writing there."""
    world = ground.discord.world
    seen = [guild for guild in world.guilds.values() if guild.id not in world.hidden]
    if not seen:
        return
    guild = chance.choice(seen)
    world.hide(guild)
    try:
        await asyncio.sleep(chance.uniform(*_HIDDEN_FOR))
    finally:
        world.show(guild)
