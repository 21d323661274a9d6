"""The sections near one that is missing are buttons on Slack, too."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.wire.slack import Channel, Message, User
from tests.wire.slack_bot import Trial, a_trial
from tests.wire.test_slack_bot_sections import sections

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_missing_sections"),
]

QUESTION = "What does the map room of the palace hold?"
FACT = "globe of walnut wood"
MAPS, SILVER = "9.8 The map room", "9.7 The silver room"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(
    numbered_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(numbered_course, tmp_path_factory.mktemp("missing")) as trial:
        yield trial
        trial.check_manners()


async def refused(trial: Trial, user: User, channel: Channel, text: str) -> Message:
    """Ask by the command, and return what the asker alone is shown."""
    refusal = await trial.result_of(await trial.world.slash(user, channel, "/ask", text))
    assert refusal.visible_to == user.id
    return refusal


async def shown(trial: Trial, user: User, channel: Channel, wanted: str) -> Message:
    """Wait until the bot shows a text in a channel."""

    def found() -> Message | None:
        here = trial.from_bot(channel, user)
        return next((message for message in here if wanted in message.shown), None)

    return await trial.until(found, wanted)


async def test_a_section_that_is_not_there_has_its_neighbours_on_buttons(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    refusal = await refused(trial, ann, channel, f'in "9.9" {QUESTION}')
    assert i18n.text("error-no-section", name="9.9") in refusal.shown
    assert sections(refusal) == [MAPS, SILVER]
    await trial.world.click(ann, refusal, "gl:w:0")
    answer = await shown(trial, ann, channel, FACT)
    assert not answer.ephemeral, "it was asked for all to see"
    await trial.world.click(ann, refusal, "gl:w:0")
    await shown(trial, ann, channel, i18n.text("card-section-asked"))


async def test_what_was_asked_in_private_is_answered_in_private(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    refusal = await refused(trial, ann, channel, f'private in "9.9" {QUESTION}')
    await trial.world.click(ann, refusal, "gl:w:0")
    answer = await shown(trial, ann, channel, FACT)
    assert answer.visible_to == ann.id


async def test_where_no_section_is_near_there_are_no_buttons(trial: Trial) -> None:
    ann = trial.user()
    for name in ("99", "Keeping bees"):
        refusal = await refused(trial, ann, trial.channel(ann), f'in "{name}" {QUESTION}')
        assert refusal.shown == i18n.text("error-no-section", name=name)
        assert sections(refusal) == []


async def test_a_question_for_a_missing_section_is_asked_of_a_neighbour(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    refusal = await trial.ask(ann, channel, "read section 9.9")
    assert i18n.text("answer-no-section", name="section 9.9") in refusal.shown
    assert sections(refusal) == [MAPS, SILVER]
    await trial.world.click(ann, refusal, "gl:w:1")
    await shown(trial, ann, channel, "forty spoons")


async def test_a_missing_section_that_none_is_near_has_no_buttons(trial: Trial) -> None:
    ann = trial.user()
    refusal = await trial.ask(ann, trial.channel(ann), "read section 99")
    assert i18n.text("answer-no-section", name="section 99") in refusal.shown
    assert sections(refusal) == []
