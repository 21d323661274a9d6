"""A Discord that is away, fails or goes on and off costs time, and no question."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.chaos.ground import through
from tests.chaos.proxy import Proxy
from tests.wire.bot_process import copied
from tests.wire.discord import DiscordServer, Limits, Message, ServerError
from tests.wire.discord_bot import BotProcess, Trial
from tests.wire.monitored import Pages
from tests.wire.pace import outage

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform == "win32", reason="resets connections"),
    pytest.mark.xdist_group("outages_discord"),
]

POST = "POST /channels/{channel_id}/messages"


@dataclass(frozen=True)
class Away:
    """A bot with a proxy between it and Discord."""

    trial: Trial
    proxy: Proxy

    async def say(self) -> Message:
        trial = self.trial
        return await trial.world.say(trial.user(), trial.channel(), f"{trial.mention} {COVERED}")

    async def answered_once(self, question: Message, healed: float) -> None:
        """Wait for the answer, and check that it is all that the bot says there."""
        answer = await self.trial.answer_to(question)
        print(f"\nanswered {time.monotonic() - healed:.1f} s after Discord was back")
        assert COVERED_FACT in answer.text
        assert self.trial.from_bot(answer.channel) == [answer]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def away(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Away]:
    folder = tmp_path_factory.mktemp("outages")
    copied(one_course, folder)
    async with (
        DiscordServer(Limits.relaxed()) as server,
        Proxy(urlsplit(server.api_url).port or 0) as proxy,
    ):
        server.gateway.url = through(proxy, server.gateway.url)
        settings = {
            "DISCORD__API_URL": through(proxy, server.api_url),
            "INBOX__LEASE": "4",
            "MONITORING__PORT": "0",
        }
        trial = Trial(server, BotProcess(folder, server, settings))
        try:
            await trial.bot.start()
            yield Away(trial, proxy)
            assert await trial.bot.stop() == 0
            trial.check_manners()
            trial.bot.check_log()
        finally:
            if trial.bot.is_running:
                await trial.bot.kill()


async def test_what_was_accepted_is_answered_when_discord_is_back(away: Away) -> None:
    pages, faults = Pages(away.trial.bot), away.trial.server.faults
    faults.rest(ServerError(503), POST, times=None)
    question = await away.say()
    await pages.reaches(1, "events_claimed_total")
    await away.proxy.down()
    faults.heal()
    await pages.becomes("/readyz", 503)
    assert await pages.status("/healthz") == 200
    await away.proxy.up()
    await away.answered_once(question, time.monotonic())
    await pages.becomes("/readyz", 200)


async def test_what_is_asked_while_nobody_hears_is_found_afterwards(away: Away) -> None:
    await away.proxy.down()
    await Pages(away.trial.bot).becomes("/readyz", 503)
    question = await away.say()
    await asyncio.sleep(outage(0.0))
    assert question.thread is None
    await away.proxy.up()
    await away.answered_once(question, time.monotonic())


async def test_a_discord_that_goes_on_and_off_gets_one_answer_a_question(away: Away) -> None:
    trial, asked = away.trial, list[Message]()
    for _ in range(4):
        asked.append(await away.say())
        await asyncio.sleep(0.4)
        await away.proxy.down()
        await asyncio.sleep(0.4)
        await away.proxy.up()
    healed = time.monotonic()
    for question in asked:
        await away.answered_once(question, healed)
    await trial.quiet(trial.channel(), trial.user())
    places = [question.thread or question.channel for question in asked]
    assert [len(trial.from_bot(place)) for place in places] == [1] * 4
