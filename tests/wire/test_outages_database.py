"""A database that is slow, silent or goes on and off costs time, and no question."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.chaos.book import name_of, names_in, question_about
from tests.chaos.proxy import Proxy
from tests.chaos.toxics import Latency, Timeout
from tests.wire.discord import Message
from tests.wire.discord_bot import Trial, a_trial
from tests.wire.monitored import Pages
from tests.wire.on_postgres import book_on_postgres
from tests.wire.pace import Figure, outage

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform == "win32", reason="runs a PostgreSQL server"),
    pytest.mark.xdist_group("outages_database"),
    pytest.mark.postgres,
]

SILENT = Timeout(120.0)
LONG = outage(25.0)
"""Seconds; pauses between tries that grow without a limit are longer than 10 s by then."""


@dataclass
class Away:
    """A bot with a proxy between it and its database."""

    trial: Trial
    proxy: Proxy
    asked: int = 0

    async def say(self) -> Message:
        self.asked += 1
        trial, question = self.trial, question_about(name_of(self.asked))
        return await trial.world.say(trial.user(), trial.channel(), f"{trial.mention} {question}")

    async def said_to(self, question: Message) -> list[list[str]]:
        """Wait for an answer, and return the names in each message that the bot posts there."""
        answer = await self.trial.answer_to(question)
        return [names_in(message.text) for message in self.trial.from_bot(answer.channel)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def away(models: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Away]:
    folder = tmp_path_factory.mktemp("database")
    async with (
        book_on_postgres(folder / "template", models) as book,
        Proxy(book.server.port) as proxy,
    ):
        way = book.settings["DATABASE__URL"].replace(f":{book.server.port}/", f":{proxy.port}/")
        settings = book.settings | {"DATABASE__URL": way}
        async with a_trial(book.template.data, folder / "bot", settings=settings) as trial:
            yield Away(trial, proxy)
            assert "never retrieved" not in trial.bot.log


async def test_a_slow_database_costs_time_and_no_answer(away: Away, figure: Figure) -> None:
    seconds = []
    for poison in (None, Latency(0.02, 0.005)):
        if poison is not None:
            away.proxy.poison(poison)
        begun = time.monotonic()
        try:
            question = await away.say()
            assert await away.said_to(question) == [names_in(question.text)]
        finally:
            away.proxy.heal()
        seconds.append(time.monotonic() - begun)
    usual, slow = seconds
    figure(f"answered in {slow:.1f} s, each packet 20 ms late, else in {usual:.1f} s")


async def test_a_silent_database_is_told_to_orchestrators_and_promises_nothing(
    away: Away, figure: Figure
) -> None:
    pages = Pages(away.trial.bot)
    away.proxy.poison(SILENT)
    question = await away.say()
    await pages.becomes("/readyz", 503)
    assert await pages.status("/healthz") == 200
    assert away.trial.from_bot(question.channel) == []
    assert question.thread is None
    away.proxy.heal()
    back = time.monotonic()
    assert await away.said_to(question) == [names_in(question.text)]
    seconds = time.monotonic() - back
    figure(f"answered {seconds:.1f} s after the database spoke again")
    await pages.becomes("/readyz", 200)


async def test_a_question_of_a_long_outage_is_answered_after_it(away: Away, figure: Figure) -> None:
    await away.proxy.down()
    question = await away.say()
    await asyncio.sleep(LONG)
    await away.proxy.up()
    back = time.monotonic()
    assert await away.said_to(question) == [names_in(question.text)]
    seconds = time.monotonic() - back
    figure(f"answered {seconds:.1f} s after {LONG:.0f} s without a database")


async def test_a_database_that_goes_on_and_off_gets_one_answer_a_question(
    away: Away, figure: Figure
) -> None:
    asked = []
    for _ in range(4):
        asked.append(await away.say())
        await asyncio.sleep(0.4)
        await away.proxy.down()
        await asyncio.sleep(0.4)
        await away.proxy.up()
    healed = time.monotonic()
    for question in asked:
        assert await away.said_to(question) == [names_in(question.text)]
    seconds = time.monotonic() - healed
    figure(f"all answered {seconds:.1f} s after the database stayed")


async def test_a_bot_ends_though_its_database_is_silent(away: Away, figure: Figure) -> None:
    bot = away.trial.bot
    before = await away.say()
    await away.trial.until(lambda: before.thread, "the beginning of an answer")
    away.proxy.poison(SILENT)
    during = await away.say()
    told = time.monotonic()
    assert await bot.stop() == 0, bot.log
    seconds = time.monotonic() - told
    figure(f"ended {seconds:.1f} s after SIGTERM")
    away.proxy.heal()
    await bot.start()
    for question in (before, during):
        assert await away.said_to(question) == [names_in(question.text)]
