"""When the unmodified bot speaks on Slack, when it offers to, and when it is silent."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from adapters.slack.notices import OFFER, THANKS
from core.domain.i18n import text
from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import NO_WAIT
from tests.wire.half_questions import offered_line
from tests.wire.slack import Message, User
from tests.wire.slack_bot import Trial, a_trial

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_speaking"),
]

BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"
TOO_FAST = "asking very fast"
REACTIONS = frozenset({"reactions:read", "reactions:write"})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    folder = tmp_path_factory.mktemp("speaking")
    async with a_trial(one_course, folder, start=False, settings=NO_WAIT) as trial:
        app = trial.world.app
        app.scopes, app.events = app.scopes | REACTIONS, app.events | {"reaction_added"}
        trial.world.installation.scopes |= REACTIONS
        await trial.bot.start()
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


class Thread:
    """A thread in which the bot has answered somebody, and the people in it."""

    def __init__(self, trial: Trial, answer: Message) -> None:
        self.trial = trial
        self.answer = answer

    @classmethod
    async def of(cls, trial: Trial, asker: User) -> "Thread":
        answer = await trial.ask(asker, trial.channel(asker), COVERED)
        assert COVERED_FACT in answer.shown
        return cls(trial, answer)

    async def say(self, user: User, text: str) -> Message:
        self.answer.channel.members[user.id] = user
        return await self.trial.world.say(user, self.answer.channel, text, thread=self.answer)

    def from_bot(self) -> int:
        return len(self.trial.from_bot(self.answer.channel))


def reactions(message: Message, trial: Trial) -> list[str]:
    """Return the bot's reactions on a message."""
    own = trial.world.bot.id
    return [name for name, users in message.reactions.items() if own in users]


async def test_thanks_get_a_reaction_and_a_sentence_where_they_are_said_to_the_bot(
    trial: Trial,
) -> None:
    ann = trial.user()
    thread = await Thread.of(trial, ann)
    plain = await thread.say(ann, "thank you so much, that makes sense now!")
    to_bot = await thread.say(ann, f"{trial.mention} thank you!")
    assert (await trial.answer_to(to_bot)).shown == text("answer-courtesy")
    await trial.until(lambda: reactions(plain, trial) or None, "a sign")
    assert reactions(plain, trial) == [THANKS]


async def test_who_asked_is_answered_at_once_and_their_comments_are_left_alone(
    trial: Trial,
) -> None:
    ann, ben = trial.user(), trial.user()
    thread = await Thread.of(trial, ann)
    before = thread.from_bot()
    comment = await thread.say(ann, "sounds like my old flat")
    await thread.say(ben, "see you at lunch")
    assert BELL_FACT in (await trial.answer_to(await thread.say(ann, BELL))).shown
    between = await thread.say(ben, "my cat would love that")
    assert (await trial.answer_to(await thread.say(ann, "What is colza oil?"))).shown
    assert [reactions(one, trial) for one in (comment, between)] == [[], []]
    assert thread.from_bot() == before + 2


async def test_a_lecturers_statement_is_left_alone(trial: Trial) -> None:
    prof = trial.user(admin=True)
    thread = await Thread.of(trial, trial.user())
    before = thread.from_bot()
    said = await thread.say(prof, "We will cover this on Monday, read section 5.1 first.")
    await trial.quiet()
    assert (thread.from_bot(), reactions(said, trial)) == (before, [])


async def test_an_offer_is_taken_up_by_its_author(trial: Trial, models: Path) -> None:
    ann, ben = trial.user(), trial.user()
    thread = await Thread.of(trial, ben)
    half_a_question = await offered_line(models, thread.answer.shown)
    before = thread.from_bot()
    line = await thread.say(ann, half_a_question)
    await trial.until(lambda: reactions(line, trial) or None, "an offer")
    assert reactions(line, trial) == [OFFER]
    await trial.world.react(ben, line, OFFER)
    await trial.quiet()
    assert thread.from_bot() == before, "it is not Ben's question"
    await trial.world.react(ann, line, OFFER)
    assert BELL_FACT in (await trial.answer_to(line)).shown
    await trial.until(lambda: True if not reactions(line, trial) else None, "no offer any more")


async def test_taking_an_offer_up_counts_as_a_question(trial: Trial, models: Path) -> None:
    ann, ben = trial.user(), trial.user()
    thread = await Thread.of(trial, ben)
    half_a_question = await offered_line(models, thread.answer.shown)
    line = await thread.say(ann, half_a_question)
    await trial.until(lambda: reactions(line, trial) or None, "an offer")
    _use_up(trial, line)
    await trial.world.react(ann, line, OFFER)
    told = (await trial.refusal_of(line)).shown
    assert TOO_FAST in told
    await trial.until(lambda: True if not reactions(line, trial) else None, "no offer any more")


async def test_an_offer_survives_a_restart_and_vanishes_after_its_time(
    trial: Trial, models: Path
) -> None:
    ann, ben = trial.user(), trial.user()
    thread = await Thread.of(trial, ben)
    half_a_question = await offered_line(models, thread.answer.shown)
    other = await Thread.of(trial, ben)
    taken, left = [await one.say(ann, half_a_question) for one in (thread, other)]
    for line in (taken, left):
        await trial.until(partial(_shown, line, trial), "an offer")
    await trial.bot.stop()
    _age(trial, left)
    await trial.bot.start()
    await trial.until(lambda: True if not reactions(left, trial) else None, "the offer is gone")
    before = thread.from_bot()
    await trial.world.react(ann, left, OFFER)
    await trial.world.react(ann, taken, OFFER)
    assert BELL_FACT in (await trial.answer_to(taken)).shown
    await trial.quiet()
    assert thread.from_bot() == before + 1


async def test_two_people_who_talk_are_left_alone_and_nobody_else_is(trial: Trial) -> None:
    ann, ben, cem = trial.user(), trial.user(), trial.user()
    thread = await Thread.of(trial, ann)
    before = thread.from_bot()
    lines = [
        await thread.say(ann, f"<@{ben.id}> did you get how it smokes?"),
        await thread.say(ben, "How often does the keeper trim the wick?"),
        await thread.say(ann, "Which oil does the lamp burn?"),
    ]
    assert BELL_FACT in (await trial.answer_to(await thread.say(cem, BELL))).shown
    assert thread.from_bot() == before + 1
    assert not any(reactions(line, trial) for line in lines)
    back = await trial.answer_to(await thread.say(ann, f"{trial.mention} {BELL}"))
    assert BELL_FACT in back.shown
    assert COVERED_FACT in (await trial.answer_to(await thread.say(ann, COVERED))).shown


async def test_a_crowd_gets_one_answer_and_links_to_it(trial: Trial) -> None:
    people = [trial.user() for _ in range(4)]
    channel = trial.channel(*people)
    questions = await asyncio.gather(*(trial.mentioned(one, channel, BELL) for one in people))
    links = []
    for question in questions[1:]:
        links.append((await trial.refusal_of(question)).shown)
    whole = await trial.answer_to(questions[0])
    assert BELL_FACT in whole.shown
    address = f"/archives/{channel.id}/p{whole.ts.replace('.', '')}"
    assert all(address in link for link in links)
    assert len(trial.from_bot(channel)) == 1


async def test_a_crowd_is_told_when_its_answer_is_deleted(trial: Trial) -> None:
    ann, ben = trial.user(), trial.user()
    channel = trial.channel(ann, ben)
    first = await trial.mentioned(ann, channel, BELL)
    second = await trial.mentioned(ben, channel, BELL)
    assert BELL_FACT in (await trial.answer_to(first)).shown
    assert text("speaking-crowd") in (await trial.refusal_of(second)).shown
    await trial.world.delete(first)
    gone = text("speaking-crowd-gone")

    def is_told() -> bool | None:
        return any(gone in m.shown for m in trial.world.transcript(channel, ben)) or None

    await trial.until(is_told, "word of it")


async def test_a_crowds_answer_stays_when_its_first_asker_is_forgotten(trial: Trial) -> None:
    ann, ben, cem = trial.user(), trial.user(), trial.user()
    channel = trial.channel(ann, ben, cem)
    first = await trial.mentioned(ann, channel, BELL)
    second = await trial.mentioned(ben, channel, BELL)
    whole, link = await trial.answer_to(first), (await trial.refusal_of(second)).shown
    shown = await trial.result_of(await trial.world.slash(ann, channel, "/glossator", "data"))
    deletion = await trial.world.click(ann, shown, "gl:g")
    await deletion.ack()
    await trial.until(lambda: "All of it is deleted" in shown.shown or None, "the deletion")
    third = await trial.mentioned(cem, channel, BELL)
    assert BELL_FACT in (await trial.answer_to(third)).shown, "it has an answer of its own"
    assert not whole.deleted
    assert f"/archives/{channel.id}/p{whole.ts.replace('.', '')}" in link
    seen = " ".join(m.shown for m in trial.world.transcript(channel, ben))
    assert text("speaking-crowd-gone") not in seen


async def test_each_of_a_crowd_reads_that_the_book_does_not_say_it(trial: Trial) -> None:
    people = [trial.user() for _ in range(3)]
    channel = trial.channel(*people)
    asked = "Who painted the ceiling of the Sistine Chapel?"
    questions = [await trial.mentioned(one, channel, asked) for one in people]
    assert "doesn't cover" in (await trial.answer_to(questions[0])).shown
    for question in questions[1:]:
        told = (await trial.refusal_of(question)).shown
        assert "doesn't cover" in told
        assert text("speaking-crowd") not in told
    await trial.world.delete(questions[0])
    await trial.quiet()
    seen = " ".join(m.shown for one in people for m in trial.world.transcript(channel, one))
    assert text("speaking-crowd-gone") not in seen


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
    thread = await Thread.of(trial, ann)
    shown = (await trial.refusal_of(await thread.say(ann, asked))).shown
    assert told in shown
    assert "Trimming the wick" in shown


def _shown(line: Message, trial: Trial) -> list[str] | None:
    return reactions(line, trial) or None


def _age(trial: Trial, line: Message) -> None:
    """Let an offer's time be over."""
    (path,) = (trial.bot.folder / "data").glob("*.db")
    over = (datetime.now(UTC) - timedelta(seconds=1)).strftime("%Y-%m-%d %H:%M:%S.%f")
    with sqlite3.connect(path) as database:
        changed = database.execute(
            "UPDATE inbox SET heal_at = ? WHERE kind = 'offer' AND key LIKE ?",
            (over, f"%{line.ts}"),
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
                (minute, f"%{line.ts}"),
            )
            assert changed.rowcount == 1


async def test_staff_pause_the_bot_in_a_channel_for_all_to_see(trial: Trial) -> None:
    owner, ann = trial.world.owner, trial.user()
    channel = trial.channel(ann)
    paused = await trial.result_of(await trial.world.slash(owner, channel, "/course", "pause"))
    assert not paused.ephemeral
    assert text("speaking-paused") in paused.shown
    refused = await trial.result_of(await trial.world.slash(ann, channel, "/course", "resume"))
    assert refused.ephemeral
    answer = await trial.ask(ann, channel, COVERED)
    assert COVERED_FACT in answer.shown, "who mentions it is answered"
    resumed = await trial.result_of(await trial.world.slash(owner, channel, "/course", "resume"))
    assert text("speaking-resumed") in resumed.shown
