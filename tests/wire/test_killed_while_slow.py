"""A replica is killed while their database is slow: the other one answers, once each."""

import asyncio
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.chaos.book import name_of, names_in, question_about
from tests.chaos.proxy import Proxy
from tests.chaos.toxics import Latency
from tests.wire.bot_process import copied
from tests.wire.discord import Message, Slow
from tests.wire.discord_bot import BotProcess, a_trial
from tests.wire.monitored import Pages
from tests.wire.on_postgres import BookOnPostgres, book_on_postgres

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="runs a PostgreSQL server"),
    pytest.mark.xdist_group("killed_while_slow"),
    pytest.mark.postgres,
    pytest.mark.slow,
]

QUESTIONS = 6
SLOW = Latency(0.03, 0.01)
"""Seconds by which each packet of the database is late: a question takes some hundred."""
_STORING = 0.3
"""Seconds after which some of the questions are on their way into the database."""


async def test_what_a_killed_replica_had_taken_is_answered_once(
    models: Path, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        book = await stack.enter_async_context(book_on_postgres(tmp_path / "template", models))
        proxy = await stack.enter_async_context(Proxy(book.server.port))
        way = book.settings["DATABASE__URL"].replace(f":{book.server.port}/", f":{proxy.port}/")
        settings = book.settings | {"DATABASE__URL": way}
        trial = await stack.enter_async_context(
            a_trial(book.template.data, tmp_path / "bot", settings=settings)
        )
        asked = 0
        for is_answering in (False, True):
            spare = BotProcess(tmp_path / f"spare-{asked}", trial.server, settings)
            await _started(spare, book)
            stack.push_async_callback(_ended, spare)
            killed = spare if is_answering else trial.bot  # this one is told what is asked
            proxy.poison(SLOW)
            trial.server.faults.rest(Slow(1.0), "/messages", times=None)
            questions = list[Message]()
            for _ in range(QUESTIONS):
                asked += 1
                words = f"{trial.mention} {question_about(name_of(asked))}"
                questions.append(await trial.world.say(trial.user(), trial.channel(), words))
            if is_answering:
                await Pages(spare).reaches(1, "answers_in_flight")
            else:
                await asyncio.sleep(_STORING)
            killed.signal(signal.SIGKILL)
            await killed.ended()
            for question in questions:
                answer = await trial.answer_to(question)
                assert names_in(answer.text) == names_in(question.text)
            proxy.heal()
            trial.server.faults.heal()
            await asyncio.sleep(2.0)  # until whatever is told twice would have been
            for question in questions:
                answer = await trial.answer_to(question)
                assert trial.from_bot(answer.channel) == [answer]


async def _started(bot: BotProcess, book: BookOnPostgres) -> None:
    """Start one more replica, which stands by, and wait until it is ready."""
    copied(book.template.data, bot.folder)
    await bot.launch()
    await bot.says("this one stands by")
    await Pages(bot).becomes("/readyz", 200)


async def _ended(bot: BotProcess) -> None:
    if bot.is_running:
        await bot.kill()
