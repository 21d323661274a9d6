"""What is under way when a process ends is answered once all the same, and soon."""

import signal
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.chaos.book import name_of, names_in, question_about
from tests.wire.bot_process import PATIENCE, copied
from tests.wire.discord import Message, Slow
from tests.wire.discord_bot import BotProcess, Trial, a_trial, is_finished
from tests.wire.monitored import Pages
from tests.wire.on_postgres import BookOnPostgres, book_on_postgres
from tests.wire.pace import Figure

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL"),
    pytest.mark.xdist_group("outages_restart"),
    pytest.mark.postgres,
]

LEASE = 4.0
"""Seconds, as the pair's settings say."""
POST, EDIT = "POST /channels/{channel_id}/messages", "PATCH /channels/{channel_id}/messages"
NEVER = 60.0


@dataclass
class Pair:
    """A replica over a database, beside which a second one is started when it is wanted."""

    trial: Trial
    book: BookOnPostgres
    asked: int = 0

    async def ask(self) -> tuple[Message, str]:
        """Ask about a buoy that nobody has asked about, and return the question and its name."""
        self.asked += 1
        name, trial = name_of(self.asked), self.trial
        text = f"{trial.mention} {question_about(name)}"
        return await trial.world.say(trial.user(), trial.channel(), text), name

    async def answered_once(self, question: Message, name: str) -> None:
        """Wait for the answer, and check that it is the only message of the bot there."""
        answer = await self.trial.answer_to(question)
        assert set(names_in(answer.text)) <= {name}
        await self.trial.until(lambda: len(self.trial.from_bot(answer.channel)) == 1 or None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(models: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    folder = tmp_path_factory.mktemp("restart")
    async with (
        book_on_postgres(folder / "template", models) as book,
        a_trial(book.template.data, folder / "one", settings=book.settings) as trial,
    ):
        yield Pair(trial, book)


async def test_a_question_waits_for_a_discord_that_is_slow_to_log_in(pair: Pair) -> None:
    faults, bot = pair.trial.server.faults, pair.trial.bot
    before = await Pages(bot).value("events_claimed_total")
    faults.rest(Slow(NEVER), POST)
    question, name = await pair.ask()
    await Pages(bot).reaches(before + 1, "events_claimed_total")
    await bot.kill()
    faults.heal()
    faults.rest(Slow(LEASE + 6.0), "GET /users/@me")
    await bot.start()
    await pair.answered_once(question, name)
    assert "is tried again" not in bot.log
    assert "nobody foresaw" not in bot.log


async def test_the_first_acknowledgement_comes_soon_after_the_start(
    pair: Pair, figure: Figure
) -> None:
    trial = pair.trial
    assert await trial.bot.stop() == 0
    begun = time.monotonic()
    await trial.bot.start()
    asked = await trial.world.slash(
        trial.user(), trial.channel(), "ask", question=question_about(name_of(0))
    )
    await asked.response(PATIENCE)
    seconds = time.monotonic() - begun
    figure(f"first acknowledgement {seconds:.1f} s after the start")
    await trial.result_of(asked)


async def test_another_replica_goes_on_with_a_killed_ones_work(
    pair: Pair, tmp_path: Path, figure: Figure
) -> None:
    trial = pair.trial
    first = trial.bot
    faults = trial.server.faults
    before = await Pages(first).value("events_claimed_total")
    faults.rest(Slow(NEVER), POST)
    question, name = await pair.ask()
    await Pages(first).reaches(before + 1, "events_claimed_total")
    other = await _replica(pair, tmp_path)
    faults.heal()
    try:
        await first.kill()
        killed = time.monotonic()
        await Pages(other).reaches(1, "events_claimed_total")
        seconds = time.monotonic() - killed
        figure(f"taken over {seconds:.1f} s after the kill, with a lease of {LEASE:.0f} s")
        await pair.answered_once(question, name)
    finally:
        assert await other.stop() == 0
        await first.start()


async def test_what_is_being_answered_is_finished_before_the_end(
    pair: Pair, figure: Figure
) -> None:
    trial = pair.trial
    before = await Pages(trial.bot).value("events_claimed_total")
    trial.server.faults.rest(Slow(1.0), EDIT, times=None)
    asked = [await pair.ask() for _ in range(4)]
    await Pages(trial.bot).reaches(before + len(asked), "events_claimed_total")
    told = time.monotonic()
    trial.bot.signal(signal.SIGTERM)
    assert await trial.bot.ended() == 0
    seconds = time.monotonic() - told
    figure(f"ended {seconds:.1f} s after SIGTERM")
    trial.server.faults.heal()
    done = sum(_is_answered(trial, question) for question, _ in asked)
    await trial.bot.start()
    for question, name in asked:
        await pair.answered_once(question, name)
    again = await Pages(trial.bot).value("events_claimed_total")
    figure(f"{done} of {len(asked)} were answered before the end, {again:.0f} claimed again")
    assert again == len(asked) - done


def _is_answered(trial: Trial, question: Message) -> bool:
    return question.thread is not None and any(map(is_finished, trial.from_bot(question.thread)))


async def _replica(pair: Pair, folder: Path) -> BotProcess:
    """Start a second replica, which stands by."""
    copied(pair.book.template.data, folder)
    replica = BotProcess(folder, pair.trial.server, pair.book.settings)
    await replica.launch()
    await replica.says("this one stands by")
    return replica
