"""A Slack that answers late or not at all costs time, and no question."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from adapters.slack.oauth import EVENTS, SCOPES
from tests.books import COVERED, COVERED_FACT
from tests.chaos.ground import through
from tests.chaos.proxy import Proxy
from tests.wire.bot_process import copied
from tests.wire.monitored import Pages
from tests.wire.pace import outage
from tests.wire.slack import Limits, Message, ServerError, SlackServer, Slow
from tests.wire.slack_bot import COMMANDS, BotProcess, Trial

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform == "win32", reason="resets connections"),
    pytest.mark.xdist_group("outages_slack"),
]

LEASE = 4.0
PUT_OFF = 60.0
"""Seconds within which what was missed is looked for once more."""
NEVER = 60.0
GONE_FOR, BACK_FOR = 7.0, 2.0
"""Seconds: the SDK looks after its socket every five."""
POST = "chat.postMessage"


@dataclass(frozen=True)
class Away:
    """A bot with a proxy between it and Slack."""

    trial: Trial
    proxy: Proxy

    async def say(self) -> Message:
        trial = self.trial
        ann = trial.user()
        return await trial.world.say(ann, trial.channel(ann), f"{trial.mention} {COVERED}")

    async def answered_once(self, question: Message, healed: float) -> None:
        """Wait for the answer, and check that it is all that the bot says there."""
        answer = await self.trial.answer_to(question)
        print(f"\nanswered {time.monotonic() - healed:.1f} s after Slack was back")
        assert COVERED_FACT in answer.shown
        assert self.trial.from_bot(question.channel) == [answer]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def away(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Away]:
    folder = tmp_path_factory.mktemp("outages")
    copied(one_course, folder)
    async with (
        SlackServer(Limits.relaxed()) as server,
        Proxy(urlsplit(server.api_url).port or 0) as proxy,
    ):
        app = server.world.app
        app.commands, app.events, app.scopes = COMMANDS, EVENTS, SCOPES
        server.world.installation.scopes = SCOPES
        server.sockets.url = through(proxy, server.sockets.url)
        settings = {
            "SLACK__API_URL": through(proxy, server.api_url),
            "INBOX__LEASE": f"{LEASE:.0f}",
            "MONITORING__PORT": "0",
        }
        trial = Trial(server, BotProcess(folder, server, settings))
        try:
            await trial.bot.start()
            yield Away(trial, proxy)
            assert await trial.bot.stop() == 0
            trial.check_manners()
        finally:
            if trial.bot.is_running:
                await trial.bot.kill()


async def test_a_question_waits_for_a_slack_that_is_slow_to_say_who_we_are(away: Away) -> None:
    faults, bot = away.trial.server.faults, away.trial.bot
    faults.api(Slow(NEVER), POST)
    question = await away.say()
    await Pages(bot).reaches(1, "events_claimed_total")
    await bot.kill()
    faults.heal()
    faults.api(Slow(LEASE + 6.0), "auth.test")
    await bot.start()
    await away.answered_once(question, time.monotonic())
    assert "is tried again" not in bot.log
    assert "nobody foresaw" not in bot.log


async def test_what_was_accepted_is_answered_when_slack_is_back(away: Away) -> None:
    pages, faults = Pages(away.trial.bot), away.trial.server.faults
    before = await pages.value("events_claimed_total")
    faults.api(ServerError(503), POST, times=None)
    question = await away.say()
    await pages.reaches(before + 1, "events_claimed_total")
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
    assert away.trial.from_bot(question.channel) == []
    await away.proxy.up()
    await away.answered_once(question, time.monotonic())


async def test_what_is_asked_of_a_slack_that_comes_and_goes_is_answered_once(away: Away) -> None:
    questions = []
    for _ in range(3):
        await away.proxy.down()
        questions.append(await away.say())
        await asyncio.sleep(GONE_FOR)
        await away.proxy.up()
        await asyncio.sleep(BACK_FOR)
        questions.append(await away.say())
    steady = time.monotonic()
    await away.trial.world.until(  # a look back that met an outage is put off for a while
        lambda: all(away.trial.from_bot(one.channel) for one in questions) or None, PUT_OFF
    )
    for question in questions:
        await away.answered_once(question, steady)
    await Pages(away.trial.bot).becomes("/readyz", 200)
    await away.trial.quiet()
    assert [len(away.trial.from_bot(one.channel)) for one in questions] == [1] * 6
