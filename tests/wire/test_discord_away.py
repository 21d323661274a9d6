"""What the bot makes of what happened on Discord while it was away, or switched off."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Channel, Message, Slow
from tests.wire.discord_bot import Trial, a_trial, is_finished
from tests.wire.grants import grant

pytestmark = pytest.mark.costly

BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"


async def switched(trial: Trial, channel: Channel, state: str) -> None:
    """Have the bot switched off or on in a channel."""
    done = await trial.world.slash(trial.world.owner, channel, "course switch", state=state)
    await done.response(PATIENCE)
    await trial.until(lambda: "Done" in done.original.text or None)  # type: ignore[union-attr]


async def answers_in(trial: Trial, place: Channel, number: int) -> list[Message]:
    """Wait for so many finished answers in a place, and return them."""
    return await trial.until(
        lambda: (
            found
            if len(found := [m for m in trial.from_bot(place) if is_finished(m)]) == number
            else None
        )
    )


async def test_a_restart_finds_what_changed_and_answers_nothing_that_was_passed_over(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path) as trial:
        world, ann, bob = trial.world, trial.user(), trial.user()

        # While it is switched off, nothing is a question: neither now nor after a restart.
        off = trial.channel()
        await switched(trial, off, "off")
        await world.say(ann, off, f"{trial.mention} {COVERED}")
        await trial.quiet(off, trial.user())
        await switched(trial, off, "on")

        # In a thread, what was said while people talked to each other is theirs.
        talking = (await trial.ask(ann, trial.channel(), COVERED)).channel
        await world.say(ann, talking, f"<@{bob.id}> {BELL}")
        await trial.quiet(talking, trial.user())
        await world.say(bob, talking, "I believe that it weighs more than the lens?")
        await trial.quiet(talking, trial.user())
        brought_back = await world.say(ann, talking, f"{trial.mention} {BELL}")
        await trial.answer_to(brought_back)

        edited = await world.say(ann, trial.channel(), f"{trial.mention} {COVERED}")
        deleted = await world.say(bob, trial.channel(), f"{trial.mention} {COVERED}")
        vanished = trial.channel()
        in_vanished = await world.say(bob, vanished, f"{trial.mention} {COVERED}")
        redone = await trial.answer_to(edited)
        removed = await trial.answer_to(deleted)
        await trial.answer_to(in_vanished)

        await trial.bot.kill()
        await world.edit(edited, f"{trial.mention} {BELL}")
        await world.delete(deleted)
        world.remove_channel(vanished)
        missed = await world.say(trial.user(), off, f"{trial.mention} {BELL}")
        await trial.bot.start()

        assert BELL_FACT in (await trial.answer_to(missed)).text
        await trial.until(lambda: (BELL_FACT in redone.text and is_finished(redone)) or None)
        await trial.until(lambda: removed.deleted or None, "the removal of the answer")
        await trial.quiet(off, trial.user())
        assert not [m for m in trial.from_bot(off) if not m.ephemeral]
        (thread,) = world.threads_of(off)
        assert thread.id == missed.id
        assert len(await answers_in(trial, talking, 2)) == 2
        assert COVERED_FACT not in redone.text


async def test_what_another_bot_was_asked_is_not_taken_for_deleted(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path / "first") as first:
        await first.ask(first.user(), first.channel(), COVERED)
    async with a_trial(tmp_path / "first" / "data", tmp_path / "second", start=False) as second:
        await grant(second.bot.folder, "arden", f"discord:{second.world.guild.id}")
        await second.bot.start()
        assert second.world.application.id != first.world.application.id
        await second.ask(second.user(), second.channel(), BELL)
    with closing(sqlite3.connect(tmp_path / "second" / "data" / "glossator.db")) as db:
        assert db.execute("SELECT content IS NOT NULL FROM turns").fetchall() == [(1,), (1,)]


async def test_an_edit_that_mentions_the_bot_makes_a_question_of_a_message(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path) as trial:
        world, ann, channel = trial.world, trial.user(), trial.channel()
        said = await world.say(ann, channel, COVERED)
        await trial.quiet(channel, trial.user())
        assert not trial.from_bot(channel)
        await world.edit(said, f"{trial.mention} {COVERED}")
        answer = await trial.answer_to(said)
        assert COVERED_FACT in answer.text
        await world.edit(said, f"{trial.mention} {BELL}")
        await trial.until(lambda: (BELL_FACT in answer.text and is_finished(answer)) or None)
        assert trial.from_bot(answer.channel) == [answer]


async def test_a_bot_that_is_stopped_while_it_catches_up_passes_over_no_question(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path) as trial:
        world, places = trial.world, [trial.channel() for _ in range(4)]
        for place in places:
            await trial.ask(trial.user(), place, COVERED)
        await trial.bot.kill()
        missed = [await world.say(trial.user(), p, f"{trial.mention} {BELL}") for p in places]
        trial.server.faults.rest(Slow(1.0), "GET /channels/{channel_id}/messages", times=None)
        await trial.bot.start()
        assert await trial.bot.stop() == 0
        assert "passed over" not in trial.bot.log
        assert "looked through" not in trial.bot.log.rpartition("connected to Discord as")[2]
        trial.server.faults.heal()
        await trial.bot.start()
        for question in missed:
            assert BELL_FACT in (await trial.answer_to(question)).text


async def test_what_is_said_on_a_server_during_an_outage_is_found_within_the_session(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path) as trial:
        world, ann = trial.world, trial.user()
        before, during = trial.channel(), trial.channel()
        asked = [await world.say(ann, before, f"{trial.mention} {COVERED}")]
        world.hide(world.guild)
        asked.append(await world.say(ann, during, f"{trial.mention} {COVERED}"))
        ben = trial.user()
        elsewhere = await world.say(ben, world.direct_channel(ben, world.bot), COVERED)
        assert COVERED_FACT in (await trial.answer_to(elsewhere)).text
        world.show(world.guild)
        asked.append(await world.say(trial.user(), trial.channel(), f"{trial.mention} {COVERED}"))
        for question in asked:
            assert COVERED_FACT in (await trial.answer_to(question)).text
        await trial.quiet(trial.channel(), trial.user())
        places = [question.thread or question.channel for question in asked]
        assert [len(trial.from_bot(place)) for place in places] == [1] * len(asked)
        assert trial.bot.log.count("connected to Discord as") == 1, "the same session"


async def test_a_first_direct_message_to_a_bot_that_is_away_is_lost_and_the_next_one_answered(
    one_course: Path, tmp_path: Path
) -> None:
    """Discord lists no direct channels to bots; the handbook says what is lost."""
    async with a_trial(one_course, tmp_path) as trial:
        world, ann, ben = trial.world, trial.user(), trial.user()
        first, known = (world.direct_channel(one, world.bot) for one in (ann, ben))
        await trial.answer_to(await world.say(ben, known, COVERED))
        await trial.bot.kill()
        await world.say(ann, first, COVERED)
        found = await world.say(ben, known, BELL)
        await trial.bot.start()
        assert BELL_FACT in (await trial.answer_to(found)).text
        await trial.quiet(trial.channel(), trial.user())
        assert trial.from_bot(first) == []
        again = await world.say(ann, first, COVERED)
        assert COVERED_FACT in (await trial.answer_to(again)).text
