"""What is left in the bot's database when somebody, or a place, is gone from Discord."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.keys import Pseudonyms
from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Behind, Channel, Permission, Slow, User
from tests.wire.discord_bot import Trial, a_trial, button
from tests.wire.grants import grant
from tests.wire.stored import places_of, rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_forgetting"),
]

WORDS = "zanzibar heliotrope"
"""Words that only somebody who is to be forgotten writes."""
BELL = "How much does the fog bell of Arden weigh?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    """One bot for all tests here, each in channels and with people of its own."""
    async with a_trial(one_course, tmp_path_factory.mktemp("forgetting")) as trial:
        yield trial


@pytest.fixture(autouse=True)
def _well_mannered(trial: Trial) -> Iterator[None]:
    yield
    trial.check_manners()


def data(trial: Trial) -> Path:
    return trial.bot.folder / "data"


def pseudonyms(trial: Trial, user: User) -> list[str]:
    """Return what stands for somebody in the servers there are, and in direct messages."""
    key = (data(trial) / "pseudonym.key").read_bytes()
    places = ["@me", *map(str, trial.world.guilds)]
    return [Pseudonyms(key).of("discord", place, str(user.id)) for place in places]


async def forget_me(trial: Trial, user: User, channel: Channel) -> str:
    """Have everything deleted that is stored about somebody, and return what that was."""
    shown = await trial.world.slash(user, channel, "glossator data")
    await shown.response(PATIENCE)
    assert shown.original is not None
    told = shown.original.text
    delete = button(shown.original, "Delete all of it")
    done = await trial.world.click(user, shown.original, delete)
    await done.response(PATIENCE)
    await trial.until(lambda: shown.original.text == "All of it is deleted." or None)  # type: ignore[union-attr]
    return told


async def test_nothing_is_left_of_somebody_who_wants_to_be_forgotten(trial: Trial) -> None:
    world, ann, bob = trial.world, trial.user(), trial.user()
    left = world.add_guild("Last year", world.owner)
    world.join(ann, left)
    await grant(trial.bot.folder, "arden", f"discord:{left.id}")
    world.install(world.application, left)
    await trial.bot.says(f"discord:{left.id} has let the bot in")
    there = world.add_channel(left, "questions")
    channel = trial.channel()
    direct = world.direct_channel(ann, world.bot)
    text = f"{COVERED} {WORDS}"

    answer = await trial.ask(ann, channel, text)
    follow_up = await trial.answer_to(await world.say(bob, answer.channel, "And how heavy is it?"))
    await trial.ask(ann, there, text)
    await trial.answer_to(await world.say(ann, direct, text))
    for where, private in ((channel, True), (direct, False), (direct, True)):
        asked = await world.slash(ann, where, "ask", question=text, private=private)
        await trial.result_of(asked)
    helped = await world.slash(
        ann, direct, "glossator help", question=f"What is Glossator? {WORDS}"
    )
    await trial.result_of(helped)
    vote = await world.click(ann, answer, button(answer, "Not helpful"))
    await vote.response(PATIENCE)
    reason = await world.submit_modal(vote, reason=WORDS)
    await reason.response(PATIENCE)
    world.uninstall(world.application, left)
    ids = (ann.id, direct.id)
    assert places_of(data(trial), *ids, WORDS), "the search finds what there is"

    told = await forget_me(trial, ann, channel)
    assert "7 questions with their answers" in told
    assert "1 vote." in told
    assert places_of(data(trial), *ids, WORDS) == set()
    theirs = pseudonyms(trial, ann)
    assert places_of(data(trial), *theirs) <= {"token_usage.subject"}
    assert rows_of(data(trial), "SELECT user_id FROM turns WHERE content IS NOT NULL")

    # Others keep theirs; and who is forgotten can ask, edit and delete as if nothing had been.
    click = await world.click(bob, follow_up, button(follow_up, "Evidence"))
    await click.response(PATIENCE)
    assert click.original is not None
    assert "not stored" not in click.original.text
    assert COVERED_FACT in (await trial.answer_to(await world.say(ann, direct, COVERED))).text


async def test_a_question_of_somebody_forgotten_can_still_be_edited_and_deleted(
    trial: Trial,
) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    edited = await world.say(ann, channel, f"{trial.mention} {COVERED}")
    deleted = await world.say(ann, channel, f"{trial.mention} {BELL}")
    answer = await trial.answer_to(edited)
    await trial.answer_to(deleted)
    await forget_me(trial, ann, channel)
    await world.edit(edited, f"{trial.mention} {BELL}")
    await world.delete(deleted)
    await trial.quiet(channel, trial.user())
    assert COVERED_FACT in answer.text, "it belongs to a question that nobody knows any more"


async def test_an_answer_that_is_being_written_for_somebody_forgotten_is_taken_back(
    trial: Trial,
) -> None:
    world, ann = trial.world, trial.user()
    direct = world.direct_channel(ann, world.bot)
    trial.server.faults.rest(Slow(PATIENCE, applied=True), "PATCH /channels/{channel_id}/messages")
    asked = await world.say(ann, direct, f"{COVERED} {WORDS}")
    (answer,) = await trial.until(lambda: trial.from_bot(direct) or None)
    await forget_me(trial, ann, direct)
    trial.server.faults.heal()
    await trial.until(lambda: answer.deleted or None, "the removal of the answer")
    left = (data(trial), ann.id, direct.id, WORDS)
    await trial.until(lambda: not places_of(*left) or None, f"nothing left of {asked.id}")
    await trial.quiet(direct, trial.user())
    assert places_of(*left) == set(), "nothing comes back"


@pytest.mark.parametrize("gone", ["thread", "channel"])
async def test_what_was_asked_in_a_deleted_place_is_forgotten(trial: Trial, gone: str) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    unusual = f"{WORDS} {gone}"
    answer = await trial.ask(ann, channel, f"{COVERED} {unusual}")
    followed = await trial.answer_to(await world.say(ann, answer.channel, f"{BELL} {unusual}"))
    assert followed.channel is answer.channel
    command = await world.slash(ann, channel, "ask", question=COVERED)
    kept = await trial.result_of(command)
    if gone == "thread":
        world.threads.remove(answer.channel)
    else:
        world.remove_channel(channel)
    await trial.until(lambda: not places_of(data(trial), unusual) or None, "its turns' end")
    if gone == "thread":
        assert not kept.deleted
        evidence = await world.click(ann, kept, button(kept, "Evidence"))
        await evidence.response(PATIENCE)
        assert evidence.original is not None
        assert COVERED_FACT in evidence.original.text


async def test_the_answer_to_a_command_outlives_the_thread_below_it(trial: Trial) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    command = await world.slash(ann, channel, "ask", question=COVERED)
    kept = await trial.result_of(command)
    thread = await trial.until(lambda: kept.thread, "a thread below the answer")
    await trial.answer_to(await world.say(ann, thread, f"{BELL} {WORDS}"))
    world.threads.remove(thread)
    await trial.until(lambda: not places_of(data(trial), WORDS) or None, "the follow-up's end")
    await trial.quiet(channel, trial.user())
    assert not kept.deleted
    evidence = await world.click(ann, kept, button(kept, "Evidence"))
    await evidence.response(PATIENCE)
    assert evidence.original is not None
    assert COVERED_FACT in evidence.original.text


async def test_an_answer_in_the_channel_outlives_a_thread_that_somebody_opened_on_its_question(
    trial: Trial,
) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    world.restrict(channel, world.bot, deny=Permission.CREATE_PUBLIC_THREADS)
    question = await world.say(ann, channel, f"{trial.mention} {COVERED}")
    answer = await trial.answer_to(question)
    assert answer.channel is channel
    thread = await world.open_thread(ann, question, "talk")
    world.threads.remove(thread)
    await trial.quiet(channel, trial.user())
    assert not answer.deleted


async def test_the_name_of_a_thread_follows_its_question(trial: Trial) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    question = await world.say(ann, channel, f"{trial.mention} {COVERED}")
    answer = await trial.answer_to(question)
    thread = answer.channel
    assert thread.name == COVERED
    await world.edit(question, f"{trial.mention} {BELL}")
    await trial.until(lambda: thread.name == BELL or None, "the new name")
    await world.delete(question)
    await trial.until(lambda: answer.deleted or None)
    await trial.until(lambda: thread.name == "Deleted question" or None, "no name")
    assert thread.thread is not None
    await trial.until(lambda: thread.thread.archived or None, "an empty thread is put away")  # type: ignore[union-attr]


async def test_an_edit_that_takes_the_mention_out_takes_the_question_back(trial: Trial) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    question = await world.say(ann, channel, f"{trial.mention} {COVERED} {WORDS}")
    answer = await trial.answer_to(question)
    await world.edit(question, "never mind")
    await trial.until(lambda: answer.deleted or None, "the removal of the answer")
    await trial.until(lambda: not places_of(data(trial), WORDS) or None, "its turn's end")
    thread = answer.channel
    await trial.until(lambda: thread.name == "Deleted question" or None, "no name")
    assert not [m for m in trial.from_bot(thread) if not m.deleted]


async def test_a_question_that_was_deleted_before_it_is_heard_is_neither_answered_nor_kept(
    trial: Trial,
) -> None:
    ann, channel = trial.user(), trial.channel()
    trial.server.faults.gateway(Behind("MESSAGE_DELETE", seconds=60.0), "MESSAGE_CREATE")
    question = await trial.world.say(ann, channel, f"{trial.mention} unheard {WORDS} {COVERED}")
    await trial.world.delete(question)
    await trial.quiet(channel, ann)
    assert trial.from_bot(channel) == []
    assert question.thread is None
    assert places_of(data(trial), f"unheard {WORDS}", channel.id) == set()
    [kept] = rows_of(
        data(trial), "SELECT state, workspace FROM inbox WHERE key LIKE '%' || ?", str(question.id)
    )
    assert kept == ("done", str(trial.world.guild.id)), "a row of no server outlives its server's"
