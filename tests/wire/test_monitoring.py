"""A running bot tells how it fares, while its database comes and goes."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chaos.book import name_of, names_in, question_about
from tests.command_line import CommandLine, Finished
from tests.postgres import PostgresServer
from tests.wire.discord_bot import Trial, a_trial
from tests.wire.monitored import Pages
from tests.wire.on_postgres import book_on_postgres
from tests.wire.pace import Figure

pytestmark = [
    pytest.mark.costly,
    pytest.mark.skipif(sys.platform == "win32", reason="runs a PostgreSQL server"),
    pytest.mark.postgres,
    pytest.mark.slow,
]


@dataclass(frozen=True)
class Watched:
    """A bot that was started before its database, what it is asked, and what it tells."""

    trial: Trial
    postgres: PostgresServer
    pages: Pages

    async def ask(self, number: int) -> None:
        """Ask about a buoy, and check that the answer is about it."""
        question = question_about(name_of(number))
        answer = await self.trial.ask(self.trial.user(), self.trial.channel(), question)
        assert name_of(number) in names_in(answer.text)


@asynccontextmanager
async def a_bot_that_was_not_started(folder: Path, models: Path) -> AsyncIterator[Watched]:
    """Give a bot beside its running database while the block lasts."""
    async with (
        book_on_postgres(folder / "template", models) as book,
        a_trial(book.template.data, folder / "bot", settings=book.settings, start=False) as trial,
    ):
        yield Watched(trial, book.server, Pages(trial.bot))


async def test_a_bot_tells_how_it_fares_while_its_database_comes_and_goes(
    tmp_path: Path, models: Path, figure: Figure
) -> None:
    async with a_bot_that_was_not_started(tmp_path, models) as watched:
        await _waits_for_its_database(watched, figure)
        await _counts_what_is_asked(watched)
        await _lives_without_its_database(watched, figure)
        done = await asyncio.to_thread(_with_an_unknown_database, watched, tmp_path / "other")
        assert done.code == 78
        assert "GLOSSATOR_DATABASE__URL" in done.err
        assert "nowhere" in done.err


async def _waits_for_its_database(watched: Watched, figure: Figure) -> None:
    await asyncio.to_thread(watched.postgres.crash)
    await watched.trial.bot.launch()
    await watched.trial.bot.says("monitoring at")
    await watched.trial.bot.says("waiting for the database; I try again in", times=2)
    assert await watched.pages.status("/healthz") == 200
    assert await watched.pages.status("/readyz") == 503
    assert await watched.pages.status("/metrics") == 200
    await asyncio.to_thread(watched.postgres.start)
    back = time.monotonic()
    await watched.pages.becomes("/readyz", 200)
    seconds = time.monotonic() - back
    figure(f"ready {seconds:.1f} s after the database came up")


async def _counts_what_is_asked(watched: Watched) -> None:
    await watched.ask(1)
    pages, discord = watched.pages, {"platform": "discord"}
    await pages.reaches(1, "events_ended_total", outcome="done", **discord)
    assert await pages.value("events_accepted_total", outcome="new", **discord) == 1
    assert await pages.value("events_claimed_total", **discord) == 1
    for measure in ("accepting", "waiting", "delivering"):
        assert await pages.value(f"{measure}_seconds_count", **discord) == 1
    assert await pages.value("answers_total", course="", outcome="answered") == 1
    assert await pages.value("claims_total", outcome="kept") >= 1
    assert await pages.value("first_words_seconds_count") == 1
    assert await pages.value("retrieving_seconds_count", course="") == 1
    assert await pages.value("platform_connected", **discord) == 1
    assert await pages.value("queued_events") == 0
    assert await pages.value("answers_in_flight") == 0


async def _lives_without_its_database(watched: Watched, figure: Figure) -> None:
    trial, pages = watched.trial, watched.pages
    await asyncio.to_thread(watched.postgres.crash)
    await pages.becomes("/readyz", 503)
    channel, user = trial.channel(), trial.user()
    question = question_about(name_of(2))
    asked = await trial.world.say(user, channel, f"{trial.mention} {question}")
    await trial.bot.says("an event waits for the database")
    assert await pages.status("/healthz") == 200
    assert await pages.status("/metrics") == 200
    assert trial.from_bot(channel) == [], "nothing is promised"
    await asyncio.to_thread(watched.postgres.start)
    back = time.monotonic()
    answer = await trial.answer_to(asked)
    seconds = time.monotonic() - back
    figure(f"answered {seconds:.1f} s after the database came back")
    assert name_of(2) in names_in(answer.text)
    await pages.becomes("/readyz", 200)


def _with_an_unknown_database(watched: Watched, folder: Path) -> Finished:
    folder.mkdir()
    line = CommandLine(folder).setting(
        DISCORD__TOKEN="a.token.nobody-asks-for", DATABASE__URL=f"{watched.postgres.url}nowhere"
    )
    return line.run("run")
