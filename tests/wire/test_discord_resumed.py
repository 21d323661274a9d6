"""What people did while the bot was away is asked for from the session that it left."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from core.i18n import text
from tests.books import COVERED, COVERED_FACT
from tests.wire.discord import Channel, Limits, Message
from tests.wire.discord.connection import Op
from tests.wire.discord_bot import Trial, a_trial, is_finished
from tests.wire.monitored import Pages

pytestmark = pytest.mark.costly

MONITORED = {"MONITORING__PORT": "0", "MONITORING__HOST": "127.0.0.1"}
BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"
GAPS = "session_gaps_total"
LOST = "a first direct message of somebody is lost"


@asynccontextmanager
async def away(template: Path, folder: Path, **more: Any) -> AsyncIterator[Trial]:
    """Let a bot run that has a session, and be watched."""
    async with a_trial(template, folder, settings=MONITORED, **more) as trial:
        await until_kept(trial)
        yield trial


async def until_kept(trial: Trial, others_than: str = "") -> str:
    """Wait until the session that the bot has is in its database, and return its id."""

    def kept() -> str | None:
        live = [s.id for s in trial.server.gateway.sessions.values() if s.send is not None]
        with closing(sqlite3.connect(trial.bot.folder / "data" / "glossator.db")) as db:
            found = [row[0] for row in db.execute("SELECT session_id FROM gateway_sessions")]
        return found[0] if found == live and found != [others_than] else None

    return await trial.until(kept, "the session's note")


async def direct(trial: Trial, text: str = COVERED) -> Message:
    """Have somebody who never wrote to the bot do so."""
    user = trial.user()
    return await trial.world.say(user, trial.world.direct_channel(user, trial.world.bot), text)


async def answered_once(trial: Trial, *asked: Message) -> None:
    """Wait for the answers, and check that there is no second one."""
    for question in asked:
        assert COVERED_FACT in (await trial.answer_to(question)).text
    await trial.quiet(asked[0].channel, trial.user())
    for question in asked:
        assert len(replies(trial, question)) == 1


def replies(trial: Trial, question: Message) -> list[Message]:
    """Return the bot's messages where a question is answered."""
    place: Channel = question.thread or question.channel
    return [m for m in trial.from_bot(place) if m.id > question.id]


@pytest.mark.parametrize("way", ["killed", "stopped"])
async def test_a_first_direct_message_while_the_bot_is_away_is_answered_once(
    one_course: Path, tmp_path: Path, way: str
) -> None:
    async with away(one_course, tmp_path) as trial:
        left = await until_kept(trial)
        if way == "killed":
            await trial.bot.kill()
        else:
            assert await trial.bot.stop() == 0
        asked = [await direct(trial) for _ in range(3)]
        channel = trial.channel()
        asked.append(await trial.world.say(trial.user(), channel, f"{trial.mention} {COVERED}"))
        await trial.bot.start()
        await answered_once(trial, *asked)
        await until_kept(trial, others_than=left)
        assert trial.server.gateway.sessions[left].ended, "nobody needs it any more"
        assert await Pages(trial.bot).value(GAPS) == 0
        assert await Pages(trial.bot).value("events_backfilled_total", platform="discord") == 4
        assert LOST not in trial.bot.log


async def test_what_happened_to_messages_meanwhile_happens_to_their_questions(
    one_course: Path, tmp_path: Path
) -> None:
    async with away(one_course, tmp_path) as trial:
        world = trial.world
        ordinary = await world.say(trial.user(), trial.channel(), COVERED)
        await trial.quiet(ordinary.channel, trial.user())
        await trial.bot.kill()
        edited, deleted = await direct(trial), await direct(trial)
        await world.edit(edited, BELL)
        await world.delete(deleted)
        await world.edit(ordinary, f"{trial.mention} {COVERED}")
        await trial.bot.start()
        await trial.until(
            lambda: (
                [m for m in replies(trial, edited) if is_finished(m) and BELL_FACT in m.text]
                or None
            )
        )
        await answered_once(trial, ordinary)
        assert len(replies(trial, edited)) == 1
        assert replies(trial, deleted) == []


async def test_a_command_that_was_given_meanwhile_is_answered_by_a_message(
    one_course: Path, tmp_path: Path
) -> None:
    async with away(one_course, tmp_path) as trial:
        world, ann, channel = trial.world, trial.user(), trial.channel()
        await trial.bot.kill()
        await world.slash(ann, channel, "ask", question=COVERED)
        await world.slash(world.owner, channel, "course switch", state="off")
        await trial.bot.start()
        (answer,) = await trial.until(
            lambda: [m for m in trial.from_bot(channel) if is_finished(m)] or None
        )
        assert COVERED_FACT in answer.text
        assert COVERED_FACT in (await trial.ask(ann, channel, COVERED)).text, "not switched"


async def test_an_answer_for_all_stands_in_no_response_that_a_dead_process_showed_to_one(
    one_course: Path, tmp_path: Path
) -> None:
    async with away(one_course, tmp_path) as trial:
        world, ann, channel = trial.world, trial.user(), trial.channel()
        await trial.bot.kill()
        deed = await world.slash(ann, channel, "ask", question=COVERED)
        told = {"type": 4, "data": {"content": text("asking-slow"), "flags": 1 << 6}}
        address = f"{trial.server.api_url}/interactions/{deed.id}/{deed.token}/callback"
        async with aiohttp.ClientSession() as http, http.post(address, json=told) as taken:
            assert taken.status < 300, await taken.text()
        assert deed.original is not None
        assert deed.original.visible_to == ann.id
        await trial.bot.start()
        (answer,) = await trial.until(
            lambda: [m for m in trial.from_bot(channel) if is_finished(m)] or None
        )
        assert COVERED_FACT in answer.text
        assert answer.visible_to is None
        await trial.quiet(channel, trial.user())
        assert trial.from_bot(channel) == [answer]


async def test_a_session_that_is_over_is_told_of_and_the_rest_goes_on(
    one_course: Path, tmp_path: Path
) -> None:
    async with away(one_course, tmp_path) as trial:
        left = await until_kept(trial)
        await trial.bot.kill()
        with closing(sqlite3.connect(trial.bot.folder / "data" / "glossator.db")) as db, db:
            db.execute("DELETE FROM inbox_cursors")  # killed before it noted how far it heard
        first, channel = await direct(trial), trial.channel()
        found = await trial.world.say(trial.user(), channel, f"{trial.mention} {COVERED}")
        trial.server.gateway.sessions[left].ended = True
        await trial.bot.start()
        await answered_once(trial, found)
        assert replies(trial, first) == [], "nobody can know of it"
        assert trial.bot.log.count(LOST) == 1
        assert await Pages(trial.bot).value(GAPS, platform="discord", reason="refused") == 1
        await until_kept(trial, others_than=left)
        again = await direct(trial)
        await answered_once(trial, again)


async def test_a_session_is_not_asked_for_after_an_hour(one_course: Path, tmp_path: Path) -> None:
    async with away(one_course, tmp_path) as trial:
        await trial.bot.kill()
        with closing(sqlite3.connect(trial.bot.folder / "data" / "glossator.db")) as db, db:
            db.execute("UPDATE gateway_sessions SET noted_at = datetime('now', '-2 hours')")
        await trial.bot.start()
        await answered_once(trial, await direct(trial))
        assert await Pages(trial.bot).value(GAPS, platform="discord", reason="expired") == 1
        commands = trial.world.history.commands
        assert Op.RESUME not in {command.op for command in commands}


async def test_a_bot_that_was_connected_before_and_has_no_note_of_it_says_so(
    one_course: Path, tmp_path: Path
) -> None:
    async with away(one_course, tmp_path) as trial:
        assert LOST not in trial.bot.log, "nothing can be missed before the first connection"
        await answered_once(trial, await direct(trial))
        await trial.bot.kill()
        with closing(sqlite3.connect(trial.bot.folder / "data" / "glossator.db")) as db, db:
            db.execute("DELETE FROM gateway_sessions")
        await trial.bot.start()
        await answered_once(trial, await direct(trial))
        assert await Pages(trial.bot).value(GAPS, platform="discord", reason="unknown") == 1


async def test_a_session_that_is_lost_while_the_bot_runs_is_told_of(
    one_course: Path, tmp_path: Path
) -> None:
    async with away(one_course, tmp_path) as trial:
        times = trial.bot.log.count("connected to Discord as")
        await trial.server.gateway.invalidate(resumable=False)
        await trial.bot.says("connected to Discord as", times + 1)
        await answered_once(trial, await direct(trial))
        assert await Pages(trial.bot).value(GAPS, platform="discord", reason="refused") == 1


async def test_events_that_cannot_be_read_end_no_start(one_course: Path, tmp_path: Path) -> None:
    async with away(one_course, tmp_path) as trial:
        trial.bot.passes_over = True
        session = next(iter(trial.server.gateway.sessions.values()))
        await trial.bot.kill()
        await trial.until(lambda: session.send is None or None)
        asked = [await direct(trial)]
        poison: list[tuple[str, Any]] = [
            ("MESSAGE_CREATE", None),
            ("MESSAGE_CREATE", {"id": "7", "channel_id": ["8"]}),
            ("MESSAGE_UPDATE", {"edited_timestamp": "2026-11-23T00:00:00+00:00"}),
            ("MESSAGE_DELETE", {"id": {}}),
            ("MESSAGE_DELETE_BULK", {"channel_id": "9", "ids": 7}),
            ("CHANNEL_DELETE", []),
            ("INTERACTION_CREATE", {"type": 2, "data": {"name": "ask"}}),
            ("INTERACTION_CREATE", 7),
            ("GUILD_CREATE", None),
            ("NOBODY_KNOWS", {"deep": [1]}),
        ]
        for name, data in poison:
            session.dispatch(name, data)
        asked.append(await direct(trial))
        await trial.bot.start()
        await answered_once(trial, *asked)
        assert await Pages(trial.bot).value("events_unreadable_total", platform="discord") >= 5
        assert await Pages(trial.bot).value(GAPS) == 0


async def test_what_is_said_on_a_server_during_an_outage_is_found_within_the_session(
    one_course: Path, tmp_path: Path
) -> None:
    async with away(one_course, tmp_path) as trial:
        world, ann = trial.world, trial.user()
        before, during = trial.channel(), trial.channel()
        asked = [await world.say(ann, before, f"{trial.mention} {COVERED}")]
        world.hide(world.guild)
        asked.append(await world.say(ann, during, f"{trial.mention} {COVERED}"))
        asked.append(await world.say(ann, trial.channel(), f"{trial.mention} {COVERED}"))
        asked.append(await direct(trial))
        assert COVERED_FACT in (await trial.answer_to(asked[-1])).text
        world.show(world.guild)
        asked.append(await world.say(trial.user(), trial.channel(), f"{trial.mention} {COVERED}"))
        await answered_once(trial, *asked)
        assert trial.bot.log.count("connected to Discord as") == 1, "the same session"
        assert await Pages(trial.bot).value(GAPS) == 0


async def test_an_outage_while_the_bot_is_away_hides_nothing_for_good(
    one_course: Path, tmp_path: Path
) -> None:
    async with away(one_course, tmp_path) as trial:
        world, ann = trial.world, trial.user()
        await trial.bot.kill()
        world.hide(world.guild)
        asked = [await world.say(ann, trial.channel(), f"{trial.mention} {COVERED}")]
        world.show(world.guild)
        asked.append(await world.say(ann, trial.channel(), f"{trial.mention} {COVERED}"))
        asked.append(await direct(trial))
        await trial.bot.start()
        await answered_once(trial, *asked)
        assert [len(replies(trial, question)) for question in asked] == [1, 1, 1]


async def test_a_process_that_dies_before_all_is_stored_asks_again(
    one_course: Path, tmp_path: Path
) -> None:
    limits = Limits.relaxed()
    limits.identify_interval = 0.0
    async with away(one_course, tmp_path, limits=limits) as trial:
        left = await until_kept(trial)
        await trial.bot.kill()
        asked = await direct(trial)
        limits.identifies_a_day = 0  # the next process resumes, and is not let in anew
        limits.identifies_again_after = 0.2
        for _ in range(2):
            await trial.bot.launch()
            await asyncio.sleep(4.0)
            await trial.bot.kill()
        assert not trial.server.gateway.sessions[left].ended
        limits.identifies_a_day = 1_000
        await trial.bot.start()
        await answered_once(trial, asked)
