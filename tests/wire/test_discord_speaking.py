"""When the unmodified bot speaks on Discord, when it offers to, and when it is silent."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from adapters.discord.notices import OFFER, THANKS
from core.domain.i18n import text
from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import NO_WAIT
from tests.wire.discord import Channel, Message, Permission, User
from tests.wire.discord_bot import Trial, a_trial
from tests.wire.half_questions import offered_line
from tests.wire.test_discord_forgetting import forget_me

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_speaking"),
]

BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"
TOO_FAST = "asking very fast"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("speaking"), settings=NO_WAIT) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


async def a_thread(trial: Trial, asker: User) -> Channel:
    """Return a thread in which the bot has answered somebody."""
    answer = await trial.ask(asker, trial.channel(), COVERED)
    assert COVERED_FACT in answer.text
    return answer.channel


def reactions(message: Message, trial: Trial) -> list[str]:
    """Return the bot's reactions on a message."""
    own = trial.world.bot.id
    return [emoji for emoji, users in message.reactions.items() if own in users]


async def test_thanks_get_a_reaction_and_a_sentence_where_they_are_said_to_the_bot(
    trial: Trial,
) -> None:
    ann = trial.user()
    thread = await a_thread(trial, ann)
    plain = await trial.world.say(ann, thread, "thank you so much, that makes sense now!")
    to_bot = await trial.world.say(ann, thread, f"{trial.mention} thank you!")
    assert (await trial.answer_to(to_bot)).text == text("answer-courtesy")
    await trial.until(lambda: reactions(plain, trial) or None, "a sign")
    assert reactions(plain, trial) == [THANKS]
    assert len([m for m in trial.from_bot(thread) if m.id > plain.id]) == 1


async def test_who_asked_is_answered_at_once_and_their_comments_are_left_alone(
    trial: Trial,
) -> None:
    ann, ben = trial.user(), trial.user()
    thread = await a_thread(trial, ann)
    comment = await trial.world.say(ann, thread, "sounds like my old flat")
    await trial.world.say(ben, thread, "see you at lunch")
    assert BELL_FACT in (await trial.answer_to(await trial.world.say(ann, thread, BELL))).text
    between = await trial.world.say(ben, thread, "my cat would love that")
    plain = await trial.world.say(ann, thread, "What is colza oil?")
    assert (await trial.answer_to(plain)).text
    assert [reactions(one, trial) for one in (comment, between)] == [[], []]
    assert not [m for m in trial.from_bot(thread) if m.replied in (comment, between)]


async def test_a_lecturers_statement_is_left_alone(trial: Trial) -> None:
    role = trial.world.add_role(trial.world.guild, "Staff", Permission.MANAGE_GUILD)
    prof = trial.user(role)
    thread = await a_thread(trial, trial.user())
    before = len(trial.from_bot(thread))
    said = await trial.world.say(
        prof, thread, "We will cover this on Monday, read section 5.1 first."
    )
    await trial.quiet(thread, trial.user())
    assert (len(trial.from_bot(thread)), reactions(said, trial)) == (before, [])


async def test_an_offer_is_taken_up_by_its_author(trial: Trial, models: Path) -> None:
    ann, ben = trial.user(), trial.user()
    thread = await a_thread(trial, ben)
    half_a_question = await offered_line(models, trial.from_bot(thread)[-1].text)
    before = len(trial.from_bot(thread))
    line = await trial.world.say(ann, thread, half_a_question)
    await trial.until(lambda: reactions(line, trial) or None, "an offer")
    assert reactions(line, trial) == [OFFER]
    await trial.world.react(ben, line, OFFER)
    await trial.quiet(thread, trial.user())
    assert len(trial.from_bot(thread)) == before, "it is not Ben's question"
    await trial.world.react(ann, line, OFFER)
    answer = await trial.answer_to(line)
    assert BELL_FACT in answer.text
    await trial.until(lambda: True if not reactions(line, trial) else None, "no offer any more")


async def test_taking_an_offer_up_counts_as_a_question(trial: Trial, models: Path) -> None:
    ann, ben = trial.user(), trial.user()
    thread = await a_thread(trial, ben)
    half_a_question = await offered_line(models, trial.from_bot(thread)[-1].text)
    line = await trial.world.say(ann, thread, half_a_question)
    await trial.until(lambda: reactions(line, trial) or None, "an offer")
    _use_up(trial, line)
    await trial.world.react(ann, line, OFFER)
    told = (await trial.answer_to(line)).text
    assert TOO_FAST in told
    await trial.until(lambda: True if not reactions(line, trial) else None, "no offer any more")


async def test_an_offer_survives_a_restart_and_vanishes_after_its_time(
    trial: Trial, models: Path
) -> None:
    ann, ben = trial.user(), trial.user()
    thread = await a_thread(trial, ben)
    half_a_question = await offered_line(models, trial.from_bot(thread)[-1].text)
    taken, other = await trial.world.say(ann, thread, half_a_question), await a_thread(trial, ben)
    left = await trial.world.say(ann, other, half_a_question)
    for line in (taken, left):
        await trial.until(partial(_shown, line, trial), "an offer")
    await trial.bot.stop()
    _age(trial, left)
    await trial.bot.start()
    await trial.until(lambda: True if not reactions(left, trial) else None, "the offer is gone")
    await trial.world.react(ann, left, OFFER)
    await trial.world.react(ann, taken, OFFER)
    assert BELL_FACT in (await trial.answer_to(taken)).text
    await trial.quiet(other, trial.user())
    assert not [m for m in trial.from_bot(other) if m.replied is left]


async def test_two_people_who_talk_are_left_alone_and_nobody_else_is(trial: Trial) -> None:
    ann, ben, cem = trial.user(), trial.user(), trial.user()
    thread = await a_thread(trial, ann)
    before = len(trial.from_bot(thread))
    lines = [
        await trial.world.say(ann, thread, f"<@{ben.id}> did you get how it smokes?"),
        await trial.world.say(ben, thread, "How often does the keeper trim the wick?"),
        await trial.world.say(ann, thread, "Which oil does the lamp burn?"),
    ]
    others = await trial.answer_to(await trial.world.say(cem, thread, BELL))
    assert BELL_FACT in others.text
    assert len(trial.from_bot(thread)) == before + 1
    assert not any(reactions(line, trial) for line in lines)
    back = await trial.answer_to(await trial.world.say(ann, thread, f"{trial.mention} {BELL}"))
    assert BELL_FACT in back.text
    assert COVERED_FACT in (await trial.answer_to(await trial.world.say(ann, thread, COVERED))).text


async def test_a_crowd_gets_one_answer_and_links_to_it(trial: Trial) -> None:
    people, channel = [trial.user() for _ in range(4)], trial.channel()
    questions = await asyncio.gather(
        *(trial.world.say(one, channel, f"{trial.mention} {BELL}") for one in people)
    )
    answers = await asyncio.gather(*(trial.answer_to(question) for question in questions))
    whole = [answer for answer in answers if BELL_FACT in answer.text]
    links = [answer for answer in answers if answer not in whole]
    assert len(whole) == 1
    place = f"https://discord.com/channels/{trial.world.guild.id}/{whole[0].channel.id}"
    assert all(f"{place}/{whole[0].id}" in link.text for link in links)
    assert len(links) == len(people) - 1


async def test_a_crowd_is_told_when_its_answer_is_deleted(trial: Trial) -> None:
    ann, ben, channel = trial.user(), trial.user(), trial.channel()
    first = await trial.world.say(ann, channel, f"{trial.mention} {BELL}")
    second = await trial.world.say(ben, channel, f"{trial.mention} {BELL}")
    assert BELL_FACT in (await trial.answer_to(first)).text
    assert text("speaking-crowd") in (await trial.answer_to(second)).text
    await trial.world.delete(first)
    gone = text("speaking-crowd-gone")
    await trial.until(
        lambda: any(gone in m.text for m in trial.from_bot(channel)) or None, "word of it"
    )


async def test_a_crowd_is_told_of_a_deletion_that_a_killed_bot_missed(trial: Trial) -> None:
    ann, ben, channel = trial.user(), trial.user(), trial.channel()
    first = await trial.world.say(ann, channel, f"{trial.mention} {BELL}")
    second = await trial.world.say(ben, channel, f"{trial.mention} {BELL}")
    assert BELL_FACT in (await trial.answer_to(first)).text
    assert text("speaking-crowd") in (await trial.answer_to(second)).text
    await trial.quiet(channel, trial.user())
    await trial.bot.kill()
    await trial.world.delete(first)
    await trial.bot.start()
    gone = text("speaking-crowd-gone")
    await trial.until(
        lambda: any(gone in m.text for m in trial.from_bot(channel)) or None, "word of it"
    )


async def test_a_crowds_answer_stays_when_its_first_asker_is_forgotten(trial: Trial) -> None:
    ann, ben, channel = trial.user(), trial.user(), trial.channel()
    first = await trial.world.say(ann, channel, f"{trial.mention} {BELL}")
    second = await trial.world.say(ben, channel, f"{trial.mention} {BELL}")
    whole, link = await trial.answer_to(first), await trial.answer_to(second)
    assert await forget_me(trial, ann, channel)
    third = await trial.world.say(trial.user(), channel, f"{trial.mention} {BELL}")
    assert BELL_FACT in (await trial.answer_to(third)).text, "it has an answer of its own"
    assert not whole.deleted
    assert f"/{whole.channel.id}/{whole.id}" in link.text
    assert text("speaking-crowd-gone") not in " ".join(m.text for m in trial.from_bot(channel))


async def test_each_of_a_crowd_reads_that_the_book_does_not_say_it(trial: Trial) -> None:
    people, channel = [trial.user() for _ in range(3)], trial.channel()
    asked = f"{trial.mention} Who painted the ceiling of the Sistine Chapel?"
    questions = await asyncio.gather(*(trial.world.say(one, channel, asked) for one in people))
    told = [(await trial.answer_to(question)).text for question in questions]
    assert not any(text("speaking-crowd") in one for one in told)
    assert all("doesn't cover" in one for one in told), told
    await trial.world.delete(questions[0])
    await trial.quiet(channel, trial.user())
    assert len([m for m in trial.from_bot(channel) if "doesn't cover" in m.text]) >= 2
    assert text("speaking-crowd-gone") not in " ".join(m.text for m in trial.from_bot(channel))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("where is that?", "My last answer is from"),
        ("are you sure?", "I compared the one sentence of my answer"),
        ("auf Deutsch?", "cannot translate an answer yet"),
        ("example?", "cannot make up an example yet"),
    ],
)
async def test_what_is_asked_about_the_last_answer_is_told(
    trial: Trial, asked: str, told: str
) -> None:
    ann = trial.user()
    thread = await a_thread(trial, ann)
    answer = await trial.answer_to(await trial.world.say(ann, thread, asked))
    assert told in answer.text
    assert "Trimming the wick" in answer.text


def _shown(line: Message, trial: Trial) -> list[str] | None:
    return reactions(line, trial) or None


def _age(trial: Trial, line: Message) -> None:
    """Let an offer's time be over."""
    (path,) = (trial.bot.folder / "data").glob("*.db")
    over = (datetime.now(UTC) - timedelta(seconds=1)).strftime("%Y-%m-%d %H:%M:%S.%f")
    with sqlite3.connect(path) as database:
        changed = database.execute(
            "UPDATE inbox SET heal_at = ? WHERE kind = 'offer' AND key LIKE ?",
            (over, f"%{line.id}"),
        )
        assert changed.rowcount == 1


def _use_up(trial: Trial, line: Message) -> None:
    """Have a line's author have asked all that they may, in this minute and the next."""
    (path,) = (trial.bot.folder / "data").glob("*.db")
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    minutes = [(now + timedelta(minutes=n)).strftime("%Y-%m-%d %H:%M:%S.%f") for n in (0, 1)]
    with sqlite3.connect(path) as database:
        for minute in minutes:
            changed = database.execute(
                "INSERT OR REPLACE INTO inbox_counts (subject, minute, questions) "
                "SELECT 'user:' || user_id, ?, 1000 FROM inbox WHERE key LIKE ?",
                (minute, f"%{line.id}"),
            )
            assert changed.rowcount == 1


async def test_staff_pause_the_bot_in_a_thread_for_all_to_see(trial: Trial) -> None:
    owner, ann = trial.world.owner, trial.user()
    thread = await a_thread(trial, ann)
    paused = await trial.world.slash(owner, thread, "course pause")
    shown = await trial.result_of(paused)
    assert not shown.ephemeral
    assert shown.text == text("speaking-paused")
    await trial.world.say(ann, thread, BELL)
    await trial.quiet(thread, ann)
    mentioned = await trial.world.say(ann, thread, f"{trial.mention} {COVERED}")
    assert COVERED_FACT in (await trial.answer_to(mentioned)).text
    resumed = await trial.world.slash(owner, thread, "course resume")
    assert (await trial.result_of(resumed)).text == text("speaking-resumed")
    assert BELL_FACT in (await trial.answer_to(await trial.world.say(ann, thread, BELL))).text
