"""Ingestion is killed, doubled and read meanwhile; nobody who asks ever notices."""

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import pytest

from core.index.edge import EdgeIndex
from core.retrieval.editions import EditionReader
from core.storage.catalogue import Catalogue
from core.storage.database import create_engine
from tests.books import COVERED, COVERED_FACT, LIGHTHOUSE, long_book, write_files
from tests.command_line import CommandLine

pytestmark = [
    pytest.mark.costly,
    pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL"),
]

PAGES = 72
"""Of four chunks each: a little more than are embedded at a time."""
ISLAND = "How many puffins were counted on cliff 2 of island 17?"


@pytest.fixture
def arden(glossator: CommandLine) -> CommandLine:
    """A shell with the lighthouse book, ingested."""
    write_files(glossator.folder / "arden", LIGHTHOUSE)
    assert glossator.here("ingest", "arden").code == 0
    return glossator


def generation(shell: CommandLine) -> str:
    [course] = shell.here("courses", "--json").json
    return str(course["edition"]["generation"])


def collections(shell: CommandLine) -> list[str]:
    return sorted(path.name for path in (shell.data / "index").iterdir())


def killed(shell: CommandLine, after: float) -> bool:
    """Start an ingestion, kill it, and return whether it was still running."""
    process = shell.start("ingest", "arden", stderr=subprocess.DEVNULL)
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    return process.returncode == -signal.SIGKILL


def kill_during(shell: CommandLine, moments: Sequence[float]) -> None:
    """Kill an ingestion of a longer book at each moment; the old edition answers throughout."""
    before = generation(shell)
    for after in moments:
        is_complete = not killed(shell, after) or generation(shell) != before
        done = shell.here("ask", COVERED)
        assert done.code == 0, done.err
        assert COVERED_FACT in done.out
        if is_complete:
            break  # there is nothing left to kill


def finish(shell: CommandLine, pages: int) -> dict[str, int]:
    """Complete the ingestion, and check that nothing of the killed ones is left."""
    done = shell.here("ingest", "arden", "--json")
    assert done.code == 0, done.err
    summary = done.json
    assert summary["failed"] == []
    assert len(summary["added"]) + len(summary["unchanged"]) == pages + len(LIGHTHOUSE)
    assert len(collections(shell)) == 1
    assert shell.here("doctor").code == 0
    return {"chunks": summary["chunks"], "embedded": summary["embedded"]}


def remembered(shell: CommandLine) -> int:
    """Return how many vectors are in the cache."""
    import sqlite3

    with sqlite3.connect(shell.data / "glossator.db") as database:
        [count] = database.execute("SELECT count(*) FROM cached_vectors").fetchone()
    database.close()
    return int(count)


# --- kill -9 ------------------------------------------------------------------------------


def test_a_killed_ingestion_is_never_noticed_and_its_vectors_are_kept(
    arden: CommandLine,
) -> None:
    write_files(arden.folder / "arden", long_book(PAGES))
    before = remembered(arden)
    kill_during(arden, [0.5, 1.6])
    _killed_when(arden, lambda: remembered(arden) > before)
    kept = remembered(arden) - before
    assert kept > 0
    assert COVERED_FACT in arden.here("ask", COVERED).out
    counts = finish(arden, PAGES)
    assert counts["embedded"] == counts["chunks"] - kept - before
    assert "puffins" in arden.here("ask", ISLAND).out


def _killed_when(shell: CommandLine, reached: Callable[[], bool]) -> None:
    """Kill an ingestion as soon as something is reached."""
    process = shell.start("ingest", "arden")
    while not reached():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
def test_eight_kills_at_random_moments_leave_nothing_behind(arden: CommandLine) -> None:
    write_files(arden.folder / "arden", long_book(300))
    moments = random.Random(20260301)
    kill_during(arden, [moments.uniform(0.3, 6.0) for _ in range(8)])
    finish(arden, 300)
    assert "puffins" in arden.here("ask", ISLAND).out


@pytest.mark.slow
def test_forty_kills_of_changes_and_compactions_lose_and_double_nothing(
    arden: CommandLine,
) -> None:
    write_files(arden.folder / "arden", long_book(40))
    assert arden.here("ingest", "arden").code == 0
    write_files(arden.folder / "arden", {"islet-0.md": "# Islet 0\n\nIt is bare.\n"})
    started = time.monotonic()
    assert arden.here("ingest", "arden").code == 0
    took = time.monotonic() - started  # one change, as fast as this machine is
    moments = random.Random(20261125)
    kills = 0
    for number in range(40):
        page = f"# Islet {number}\n\nOn islet {number} there are {number + 7} seals in spring.\n"
        write_files(arden.folder / "arden", {f"islet-{number % 25}.md": page})
        kills += killed(arden, moments.uniform(0.3, 1.1) * took)
        done = arden.here("ask", COVERED)
        assert done.code == 0, done.err
        assert COVERED_FACT in done.out
    assert kills >= 10
    assert arden.here("ingest", "arden", "--json").json["failed"] == []
    assert arden.here("doctor").code == 0
    _check_whole(arden, pages=40 + 25 + len(LIGHTHOUSE))


def _check_whole(shell: CommandLine, pages: int) -> None:
    """Check that the edition shows each document once, and the index holds nothing else."""
    import asyncio

    asyncio.run(_whole(shell.data, pages))


async def _whole(data: Path, pages: int) -> None:
    engine, index = create_engine(f"sqlite:///{data / 'glossator.db'}"), EdgeIndex(data / "index")
    edition = await Catalogue(engine).live("arden")
    assert edition is not None
    chunks = [chunk async for chunk in EditionReader(index).scroll(edition)]
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks) == edition.chunks
    assert len({chunk.document_id for chunk in chunks}) == edition.documents == pages
    assert await index.collections() == edition.collections
    await index.close()
    await engine.dispose()


# --- two at once --------------------------------------------------------------------------


def test_the_second_of_two_ingestions_is_told_to_wait(arden: CommandLine) -> None:
    write_files(arden.folder / "arden", long_book(PAGES))
    first = arden.start("ingest", "arden")
    while not list((arden.data / "index").glob("*.building")):
        assert first.poll() is None, first.communicate()
        time.sleep(0.02)
    second = arden.here("ingest", "arden")
    assert second.code == 69
    assert "being ingested at the moment" in second.sentence
    removal = arden.here("courses", "remove", "arden", "--yes")
    assert removal.code == 69
    assert COVERED_FACT in arden.here("ask", COVERED).out
    first.communicate(timeout=60)
    assert first.returncode == 0


# --- one ingests, another asks ------------------------------------------------------------


class Asking(threading.Thread):
    """Asks in a loop, each time with a new process, until it is stopped."""

    def __init__(self, shell: CommandLine) -> None:
        super().__init__(daemon=True)
        self._shell = shell
        self._is_over = threading.Event()
        self.answers = 0
        self.failures: list[str] = []

    def run(self) -> None:
        while not self._is_over.is_set():
            done = self._shell.run("ask", COVERED)
            self.answers += 1
            if done.code != 0 or COVERED_FACT not in done.out:
                self.failures.append(f"{done.code} {done.out} {done.err}")

    def stop(self) -> None:
        self._is_over.set()
        self.join()


def _rewrite(book: Path, times: int) -> None:
    """Change the book, so that its next ingestion publishes an edition."""
    text = LIGHTHOUSE["keepers/supplies.md"] + f"\n\nIn the year {1800 + times} it sank.\n"
    write_files(book, {"keepers/supplies.md": text})


def test_no_question_fails_while_editions_are_replaced(arden: CommandLine) -> None:
    asking = Asking(arden)
    asking.start()
    editions = set()
    for times in range(6):
        _rewrite(arden.folder / "arden", times)
        done = arden.here("ingest", "arden", "--json")
        assert done.code == 0, done.err
        editions.add(done.json["generation"])
    asking.stop()
    assert len(editions) == 6
    assert asking.answers >= 2
    assert asking.failures == []


def test_a_conversation_goes_on_while_editions_are_replaced(arden: CommandLine) -> None:
    process = arden.start("chat", stdin=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    question = b"What does the lamp of Arden burn?\n"
    for times in range(3):
        process.stdin.write(question)
        process.stdin.flush()
        said = _read_answer(process.stdout)
        while b"colza oil" not in said:  # a line in brackets may stand before the last one, too
            assert said, "the conversation ended"
            said = _read_answer(process.stdout)
        _rewrite(arden.folder / "arden", times)
        assert arden.here("ingest", "arden").code == 0
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert b"Traceback" not in out + err


def _read_answer(output: IO[bytes]) -> bytes:
    """Return what is printed up to the line that closes an answer."""
    said = output.readline()
    while said and not said.splitlines()[-1].startswith(b"("):
        said += output.readline()
    return said


@pytest.mark.slow
def test_no_question_fails_while_sixty_editions_are_replaced(arden: CommandLine) -> None:
    askers = [Asking(arden), Asking(arden)]
    for asker in askers:
        asker.start()
    for times in range(60):
        _rewrite(arden.folder / "arden", times)
        assert arden.here("ingest", "arden").code == 0
    for asker in askers:
        asker.stop()
    assert sum(asker.answers for asker in askers) > 20
    assert [failure for asker in askers for failure in asker.failures] == []
