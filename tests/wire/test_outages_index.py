"""Without its Qdrant server the bot says so, and answers again when the server is back."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from core.domain.errors import VectorIndexError
from tests.books import write_files
from tests.chaos.book import COURSE, COURSE_FILE, book, name_of, names_in, question_about
from tests.chaos.ground import through
from tests.chaos.proxy import Proxy
from tests.chaos.templates import STAND_INS
from tests.chaos.toxics import Latency, Reset, Timeout, Toxic
from tests.command_line import shell
from tests.wire.discord_bot import Trial, a_trial
from tests.wire.monitored import Pages
from tests.wire.pace import Figure, outage
from tests.wire.qdrant_server import QdrantServer

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform == "win32", reason="resets connections"),
    pytest.mark.xdist_group("outages_index"),
]

SILENT = Timeout(120.0)


@dataclass(frozen=True)
class Library:
    """A bot whose index stands behind a proxy."""

    trial: Trial
    proxy: Proxy

    async def ask(self) -> tuple[str, float]:
        """Ask something, and return the answer with the seconds that it took."""
        begun = time.monotonic()
        trial = self.trial
        answer = await trial.ask(trial.user(), trial.channel(), question_about(name_of(1)))
        return answer.text, time.monotonic() - begun


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def library(models: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Library]:
    folder = tmp_path_factory.mktemp("index")
    place = shell(folder, models)
    write_files(folder, {**book(40), "glossator.toml": COURSE_FILE})
    async with QdrantServer() as qdrant, Proxy(urlsplit(qdrant.url).port or 0) as proxy:
        settings = {**STAND_INS, "QDRANT__URL": through(proxy, f"{qdrant.url}/").rstrip("/")}
        ingest = place.setting(**settings)
        done = await asyncio.to_thread(ingest.run, "ingest", "--course", COURSE)
        assert done.code == 0, done.err
        settings["MONITORING__PORT"] = "0"
        async with a_trial(place.data, folder / "bot", settings=settings) as trial:
            yield Library(trial, proxy)


@pytest.mark.parametrize("fault", [None, SILENT, Reset(0.0)], ids=["gone", "silent", "flapping"])
async def test_whoever_asks_without_an_index_is_told_so(
    library: Library, fault: Toxic | None, figure: Figure
) -> None:
    pages = Pages(library.trial.bot)
    if fault is None:
        await library.proxy.down()
    else:
        library.proxy.poison(fault)
    text, seconds = await library.ask()
    figure(f"told {seconds:.1f} s after the question")
    assert VectorIndexError.user_message in text
    assert await pages.status("/readyz") == 503
    assert await pages.status("/healthz") == 200
    await asyncio.sleep(outage(0.0))
    await library.proxy.up()
    library.proxy.heal()
    back = time.monotonic()
    text, _ = await library.ask()
    figure(f"answered {time.monotonic() - back:.1f} s after the index was back")
    assert name_of(1) in names_in(text)
    await pages.becomes("/readyz", 200)


async def test_an_index_that_is_slow_costs_time_and_no_answer(
    library: Library, figure: Figure
) -> None:
    library.proxy.poison(Latency(0.5, 0.1))
    text, seconds = await library.ask()
    library.proxy.heal()
    figure(f"answered in {seconds:.1f} s, each packet half a second late")
    assert name_of(1) in names_in(text)


async def test_a_bot_starts_without_its_index(library: Library) -> None:
    await library.proxy.down()
    assert await library.trial.bot.stop() == 0
    await library.trial.bot.start()
    text, _ = await library.ask()
    assert VectorIndexError.user_message in text
    await library.proxy.up()
    text, _ = await library.ask()
    assert name_of(1) in names_in(text)
