"""What the buttons under an answer do, also while it is being written and after a restart."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT, VERBATIM
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Duplicate, Interaction, Message, Permission, User
from tests.wire.discord.interactions import Callback
from tests.wire.discord_bot import Trial, a_trial, button, is_finished, is_growing, labels
from tests.wire.gemini_server import GeminiServer
from tests.wire.pen import Pen, settings_for

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_buttons"),  # one bot for all, where groups are kept together
]

NOT_YOURS = "Only who asked, or staff, can do that."


@dataclass
class Desk:
    """A trial whose bot answers with a model that waits."""

    trial: Trial
    pen: Pen


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    async with GeminiServer() as gemini:
        pen = Pen()
        gemini.answer_with(pen)
        folder = tmp_path_factory.mktemp("buttons")
        async with a_trial(one_course, folder, settings=settings_for(gemini)) as trial:
            yield Desk(trial, pen)


@pytest.fixture
def trial(desk: Desk) -> Iterator[Trial]:
    yield desk.trial
    desk.trial.check_manners()


async def pressed(trial: Trial, user: User, message: Message, label: str) -> Interaction:
    """Press a button, and wait for the bot's first response to that."""
    click = await trial.world.click(user, message, button(message, label))
    await click.response(PATIENCE)
    assert click.responded_after is not None
    assert click.responded_after < 3
    return click


def told(interaction: Interaction) -> str:
    """Return what a click was answered with, to its clicker alone."""
    assert interaction.original is not None
    assert interaction.ephemeral
    return interaction.original.text


async def half_written(trial: Trial, question: Message) -> Message:
    """Wait until some of the answer is there."""

    def growing() -> Message | None:
        return next(filter(is_growing, trial.from_bot(question.thread or question.channel)), None)

    return await trial.until(growing, "half an answer")


async def told_what_is_read(trial: Trial, question: Message) -> None:
    """Wait until the bot tells that it reads the section that the question is about."""

    def is_told() -> bool | None:
        shown = trial.from_bot(question.thread or question.channel)
        return any(one.text.startswith("Reading “Trimming the wick”") for one in shown) or None

    await trial.until(is_told, "what is read")


def votes(trial: Trial) -> list[tuple[bool, str | None]]:
    """Return all votes that are stored, whether they are good and why not."""
    with closing(sqlite3.connect(trial.bot.folder / "data" / "glossator.db")) as db:
        return [(bool(helpful), reason) for helpful, reason in db.execute(_VOTES)]


_VOTES = "SELECT helpful, reason FROM votes ORDER BY voted_at"


async def test_a_vote_is_kept_once_and_can_be_changed(trial: Trial) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(), COVERED)
    before = len(votes(trial))
    trial.server.faults.gateway(Duplicate(3), "INTERACTION_CREATE", times=2)
    for _ in range(2):
        thanks = await pressed(trial, ann, answer, "Helpful")
        assert told(thanks) == "Thank you, noted as helpful."
    assert votes(trial)[before:] == [(True, None)]
    modal = await pressed(trial, ann, answer, "Not helpful")
    assert modal.callback is Callback.MODAL
    assert votes(trial)[before:] == [(False, None)]
    sent = await trial.world.submit_modal(
        modal, because="missing", reason="  It says too little.  "
    )
    await sent.response(PATIENCE)
    assert told(sent) == "Thank you, this helps the people who run the course."
    reason = "Something is missing. It says too little."
    assert votes(trial)[before:] == [(False, reason)]
    await pressed(trial, ann, answer, "Not helpful")
    assert votes(trial)[before:] == [(False, reason)]
    await pressed(trial, ann, answer, "Helpful")
    await pressed(trial, trial.user(), answer, "Helpful")
    assert votes(trial)[before:] == [(True, None), (True, None)]


async def test_the_evidence_is_shown_word_for_word_to_its_reader_alone(trial: Trial) -> None:
    ann, bob = trial.user(), trial.user()
    answer = await trial.ask(ann, trial.channel(), COVERED)
    evidence = told(await pressed(trial, bob, answer, "Evidence"))
    assert "> **The keeper trims the wick of the lamp every four hours.**" in evidence
    assert "Trimming the wick" in evidence


async def test_a_question_can_be_asked_again_without_its_quote(trial: Trial) -> None:
    world, ann, bob, channel = trial.world, trial.user(), trial.user(), trial.channel()
    passage = await world.say(bob, channel, VERBATIM)
    question = await world.say(ann, channel, f"{trial.mention} {COVERED}", reply_to=passage)
    answer = await trial.answer_to(question)
    again = await pressed(trial, bob, answer, "Ask again without the quote")
    renewed = await trial.result_of(again)
    assert renewed is not answer
    assert COVERED_FACT in renewed.text
    assert "Ask again without the quote" not in labels(renewed)
    bare = await world.context_menu(ann, passage, "Explain this passage")
    explained = await trial.result_of(bare)
    nothing = await pressed(trial, ann, explained, "Ask again without the quote")
    assert told(nothing) == "There was no question beside the quote. Please ask one."


async def test_an_answer_grows_in_place_and_is_stopped_by_its_asker_or_staff(
    desk: Desk, trial: Trial
) -> None:
    world, channel, tutor = trial.world, trial.channel(), trial.user()
    powers = Permission.MANAGE_MESSAGES | Permission.MANAGE_CHANNELS
    moderator = trial.user(world.add_role(world.guild, "moderators", powers))
    named = await world.slash(world.owner, channel, "course staff add", person=tutor)
    await named.response(PATIENCE)
    for who in ("asker", "admin", "named"):
        ann, bob = trial.user(), trial.user()
        desk.pen.hold()
        try:
            question = await world.say(ann, channel, f"{trial.mention} {COVERED}")
            await told_what_is_read(trial, question)
            desk.pen.begins.set()
            growing = await half_written(trial, question)
            assert growing.revisions[0] == "Searching the book …"
            assert labels(growing) == ["Stop"]
            for other in (bob, moderator):
                assert told(await pressed(trial, other, growing, "Stop")) == NOT_YOURS
            clicker = {"asker": ann, "admin": world.owner, "named": tutor}[who]
            assert told(await pressed(trial, clicker, growing, "Stop")) == "Stopping."
            assert await trial.answer_to(question) is growing
            assert growing.text == "Stopped. Ask again whenever you like."
        finally:
            desk.pen.release()
    later = await trial.ask(trial.user(), channel, COVERED)
    assert COVERED_FACT in later.text


async def test_buttons_work_after_a_restart_and_a_modal_that_was_open_meanwhile(
    trial: Trial,
) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    answer = await trial.ask(ann, channel, COVERED)
    modal = await pressed(trial, ann, answer, "Not helpful")
    private = await world.slash(ann, channel, "ask", question=COVERED, private=True)
    hidden = await trial.result_of(private)
    puts = len(world.history.of("PUT /applications/{application_id}/commands"))
    assert puts == 1

    assert await trial.bot.stop() == 0
    await trial.bot.start()

    assert len(world.history.of("PUT /applications/{application_id}/commands")) == puts
    before = len(votes(trial))
    sent = await world.submit_modal(modal, reason="Too short.")
    await sent.response(PATIENCE)
    assert votes(trial)[before - 1 :] == [(False, "Too short.")]
    assert "Trimming the wick" in told(await pressed(trial, ann, answer, "Evidence"))
    assert told(await pressed(trial, ann, answer, "Helpful")).startswith("Thank you")
    shared = await pressed(trial, ann, hidden, "Share")
    assert told(shared) == "Shared in this channel."
    await trial.until(lambda: any(map(is_finished, trial.from_bot(channel))))
    follow_up = await trial.answer_to(await world.say(ann, answer.channel, COVERED))
    assert COVERED_FACT in follow_up.text
