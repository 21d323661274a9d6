"""What somebody who asks a thousand questions a minute costs the others."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from statistics import quantiles

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database import upgrade
from core.database import create_engine
from core.inbox.base import Acceptance
from core.inbox.limits import Limits
from core.sessions.store import SessionStore
from tests.inbox import PLATFORMS, ScriptedAgent, event, inbox_of, worker_of
from tests.platform import Platform, PlatformAdapter
from tests.wire.pace import QUIET, load_a_core

PEOPLE, A_MINUTE = 10, 1_000
MOST = 1.2
"""Times the p95 of the others, when there is nobody of that kind."""
SECONDS, ROUNDS = 12.0, 3
"""How long everybody asks, in turns with the spammer and without."""


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(f"sqlite:///{tmp_path / 'bot.db'}", synchronous="NORMAL")
    await upgrade(engine)
    yield engine
    await engine.dispose()


async def test_one_user_has_two_answers_under_way_wherever_they_ask(engine: AsyncEngine) -> None:
    inbox = inbox_of(engine)
    for number in range(6):
        await inbox.accept(event(number, user_id="spammer", channel=f"c{number}"))
    claims = [await inbox.claim(timedelta(seconds=15), PLATFORMS) for _ in range(4)]
    assert [job is not None for job in claims] == [True, True, False, False]
    await inbox.accept(event(10, user_id="ann", channel="c9"))
    job = await inbox.claim(timedelta(seconds=15), PLATFORMS)
    assert job is not None
    assert job.arrival.user_id == "ann"


@pytest.mark.slow
async def test_beside_a_spammer_everybody_waits_hardly_longer(engine: AsyncEngine) -> None:
    """It is compared on a quiet machine alone; on a busy one its other programs decide."""
    load = load_a_core()
    waits: dict[bool, list[float]] = {False: [], True: []}
    refused = 0
    for spamming in (False, True) * ROUNDS:
        waited, too_many = await _asked_for(engine, spamming=spamming)
        waits[spamming] += waited
        refused += too_many
    alone, beside = (quantiles(waits[spamming], n=20)[-1] for spamming in (False, True))
    print(
        f"\nfairness: p95 of {PEOPLE} people {alone * 1_000:.0f} ms alone, {beside * 1_000:.0f} ms "
        f"beside one who asks {A_MINUTE} questions a minute ({beside / alone - 1:+.0%}); "
        f"{refused} of those refused; load a core before: {load:.2f}"
    )
    assert refused
    if load >= QUIET:
        pytest.skip(f"a load of {load:.2f} a core: the delay is printed, and not compared")
    assert beside / alone <= MOST


async def _asked_for(engine: AsyncEngine, *, spamming: bool) -> tuple[list[float], int]:
    """Let people ask for a while; return their waits in seconds, and what was refused."""
    limits, numbers = Limits(channel_per_minute=10_000), count(time.time_ns())
    inbox, platform = inbox_of(engine, limits), Platform(delay=0.01)
    agent = ScriptedAgent(SessionStore(engine), pause=0.03)
    worker = worker_of(inbox, agent, PlatformAdapter(platform.call))
    running, until, refused = asyncio.create_task(worker.run()), time.monotonic() + SECONDS, 0
    waits: list[float] = []

    async def person(name: str) -> None:
        while time.monotonic() < until:
            number, begun = next(numbers), time.monotonic()
            user = f"{name}-{number}"  # a new one each time: people keep to their limit
            await inbox.accept(event(number, user_id=user, channel=f"c-{name}"))
            worker.wake()
            await until_answered(platform, number)
            waits.append(time.monotonic() - begun)
            await asyncio.sleep(0.5)

    async def spammer() -> None:
        nonlocal refused
        while spamming and time.monotonic() < until:
            asked = event(next(numbers), user_id="spammer", channel="c-spammer")
            refused += (await inbox.accept(asked)).acceptance is Acceptance.LIMITED
            worker.wake()
            await asyncio.sleep(60 / A_MINUTE)

    await asyncio.gather(spammer(), *(person(f"p{n}") for n in range(PEOPLE)))
    await worker.drain(5)
    await running
    return waits, refused


async def until_answered(platform: Platform, number: int) -> None:
    def is_answered() -> bool:
        return any(text.startswith("This answers") for text in platform.visible(f"q{number}"))

    while True:
        if is_answered():
            return
        await asyncio.sleep(0.005)
