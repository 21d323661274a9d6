"""Whatever step a bot is killed at, each accepted event is answered once by the next one."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.delivery import janitor, worker
from core.domain.i18n import text
from core.storage.database import reading
from core.storage.inbox.base import Arrival, Kind, Settlement
from core.storage.inbox.rows import InboxRow
from core.storage.inbox.store import Inbox
from tests.inbox import event, forget, inbox_of, redo
from tests.platform import Platform, served

pytestmark = [
    pytest.mark.costly,
    pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL"),
]

ROOT = Path(__file__).parents[2]
LEASE = 1.0
STEPS = (*worker.STEPS, *janitor.STEPS)
KILLED_AT = [step for step in STEPS if step not in {"released", "given up"}]
ON_POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.postgres)
"""On SQLite there is one process: a stopped one may hold the database's only lock."""
TIMES = int(os.environ.get("FAILPOINT_TIMES", "25"))


@asynccontextmanager
async def bot(url: str, port: int, *failpoint: object) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a bot; it ends with the block, drained."""
    command = [sys.executable, "-m", "tests.inbox_process", url, port, LEASE, *failpoint]
    process = await asyncio.create_subprocess_exec(*map(str, command), cwd=ROOT)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        await process.wait()


async def until_quiet(engine: AsyncEngine) -> None:
    """Wait until nothing waits for an answer, or for the janitor."""
    inbox = inbox_of(engine)
    to_heal = select(func.count()).select_from(InboxRow).where(InboxRow.heal_at.is_not(None))
    async with asyncio.timeout(60):
        while True:
            backlog = await inbox.backlog()
            async with reading(engine) as db:
                healing = await db.scalar(to_heal)
            if backlog.waiting + backlog.in_flight + (healing or 0) == 0:
                return
            await asyncio.sleep(0.05)


async def dead_or_quiet(engine: AsyncEngine, process: asyncio.subprocess.Process) -> bool:
    """Wait until a bot is dead or has nothing to do; return whether it is dead."""
    quiet = asyncio.create_task(until_quiet(engine))
    dead = asyncio.create_task(process.wait())
    done, late = await asyncio.wait({quiet, dead}, return_when=asyncio.FIRST_COMPLETED)
    for task in late:
        task.cancel()
    await asyncio.wait({quiet, dead})
    return dead in done


async def interrupted(step: str, url: str, engine: AsyncEngine, platform: Platform) -> bool:
    """Interrupt a bot at a step and let another one go on; return whether it came there."""
    inbox = inbox_of(engine)
    async with served(platform) as port:
        async with bot(url, port, step, int(signal.SIGKILL)) as first:
            await accept(inbox, event(1), event(2), event(3), REFUSED, THANKS)
            died = await dead_or_quiet(engine, first)
            await accept(inbox, redo(2), forget(3))
            died = died or await dead_or_quiet(engine, first)
        async with bot(url, port):
            await until_quiet(engine)
    return died


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize("step", ["claimed", "unlinked", "retracted"])
async def test_a_bot_killed_while_it_deletes_tells_who_was_linked(
    step: str, database_url: str, engine: AsyncEngine
) -> None:
    platform, inbox = Platform(), inbox_of(engine)
    async with served(platform) as port:
        async with bot(database_url, port):
            await accept(inbox, of_crowd(1), of_crowd(2))
            await until_quiet(engine)
        assert "https://chat.example/" in platform.visible("q2")[0]
        async with bot(database_url, port, step, int(signal.SIGKILL)) as killed:
            await accept(inbox, forget(1))
            assert await dead_or_quiet(engine, killed)
        async with bot(database_url, port):
            await until_quiet(engine)
    assert (platform.visible("q1"), platform.visible("q2")) == ([], [GONE])


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize("step", ["healing", "tidied", "healed"])
async def test_a_bot_killed_before_it_looks_again_tells_who_was_linked_meanwhile(
    step: str, database_url: str, engine: AsyncEngine
) -> None:
    platform, inbox = Platform(), inbox_of(engine)
    async with served(platform) as port:
        async with bot(database_url, port):
            await accept(inbox, of_crowd(1))
            await until_quiet(engine)
        await accept(inbox, of_crowd(2), forget(1))
        lease = timedelta(minutes=1)
        jobs = [await inbox.claim(lease, ["test"]) for _ in range(2)]
        held = {job.arrival.key: job for job in jobs if job is not None}
        await inbox.finish(held.pop("test:2"), Settlement.POINTED_BACK, linked_to="test:1")
        (deletion,) = held.values()
        await inbox.release(deletion)
        async with bot(database_url, port, step, int(signal.SIGKILL)) as killed:
            assert await dead_or_quiet(engine, killed)
        async with bot(database_url, port):
            await until_quiet(engine)
    assert (platform.visible("q1"), platform.visible("q2")) == ([], [GONE])


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "step", ["claimed", "opening", "posted", "turn stored", "answer shown", "ending", "settled"]
)
async def test_a_bot_killed_while_it_shows_what_staff_answered_shows_it_once(
    step: str, database_url: str, engine: AsyncEngine
) -> None:
    platform, inbox = Platform(), inbox_of(engine)
    reply = event(6, key="test:staff:6", kind=Kind.REPLY)
    async with served(platform) as port:
        async with bot(database_url, port, step, int(signal.SIGKILL)) as killed:
            await accept(inbox, event(1))
            for _ in range(2):  # the form may be sent twice
                assert await inbox.accept_reply(reply, "test:1", lambda _: True)
            assert await dead_or_quiet(engine, killed)
        async with bot(database_url, port):
            await until_quiet(engine)
    assert platform.visible("q1") == SHOWN["q1"]
    assert platform.visible("q6") == ["This answers [1]: What is heap number 6?"]


def of_crowd(number: int) -> Arrival:
    """Return a question that several people ask in the same words."""
    return event(number, text="What is this?", gist="same", user_id=f"reader-{number}")


async def accept(inbox: Inbox, *arrivals: Arrival) -> None:
    for arrival in arrivals:
        await inbox.accept(arrival)


GONE = text("speaking-crowd-gone")
REFUSED = event(4, user_id="reader-4", request=None, refusal="No course is set here.")
THANKS = event(5, user_id="reader-5", request=None, kind=Kind.THANK)
SHOWN = {
    "q1": ["This answers [1]: What is heap number 1?"],
    "q2": ["This answers [1]: What is tree number 2?"],
    "q3": [],
    "q4": ["No course is set here."],
}


def check(platform: Platform) -> None:
    """Check that everybody sees each answer once, a reaction to thanks, and nothing else."""
    assert {question: platform.visible(question) for question in SHOWN} == SHOWN
    assert platform.reactions == {"q5"}
    assert len(platform.messages) == 3


def faulty() -> Platform:
    """Return a platform that leaves something to be healed."""
    platform = Platform(forgets_nonces=True)
    platform.fail("post", "lost")
    return platform


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize("step", KILLED_AT)
async def test_a_bot_killed_at_any_step_answers_each_question_once(
    step: str, database_url: str, engine: AsyncEngine
) -> None:
    platform = faulty() if step in janitor.STEPS else Platform()
    assert await interrupted(step, database_url, engine, platform)
    check(platform)


@pytest.mark.slow
@pytest.mark.parametrize("step", KILLED_AT)
@pytest.mark.parametrize("time", range(TIMES))
async def test_killed_many_times_at_any_step_each_question_is_answered_once(
    step: str, time: int, database_url: str, engine: AsyncEngine
) -> None:
    platform = Platform(forgets_nonces=True) if time % 2 else Platform()
    if time % 3 == 0 or step in janitor.STEPS:
        platform.fail("post", "lost")
    assert await interrupted(step, database_url, engine, platform)
    check(platform)


@pytest.mark.parametrize("dialect", [ON_POSTGRESQL], indirect=True)
@pytest.mark.parametrize("step", ["opening", "posted", "turn stored"])
async def test_a_bot_stopped_for_longer_than_its_lease_disturbs_nobody(
    step: str, database_url: str, engine: AsyncEngine
) -> None:
    platform, inbox = Platform(forgets_nonces=True), inbox_of(engine)
    async with served(platform) as port, bot(database_url, port, step, int(signal.SIGSTOP)) as old:
        await accept(inbox, event(1))
        async with asyncio.timeout(30):
            await until_stopped(old)
        async with bot(database_url, port):
            await until_quiet(engine)
            old.send_signal(signal.SIGCONT)
            await asyncio.sleep(LEASE)
            await until_quiet(engine)
    assert platform.visible("q1") == SHOWN["q1"]
    assert len(platform.messages) == 1


async def until_stopped(process: asyncio.subprocess.Process) -> None:
    while True:
        if psutil.Process(process.pid).status() == psutil.STATUS_STOPPED:
            return
        await asyncio.sleep(0.02)
