"""Who asks for a section that is missing is offered those near it, on buttons that ask within."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Message, User
from tests.wire.discord_bot import Trial, a_trial, button, labels

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_missing_sections"),
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


async def pressed(trial: Trial, user: User, message: Message, label: str) -> Message:
    click = await trial.world.click(user, message, button(message, label))
    await click.response(PATIENCE)
    return await trial.result_of(click)


async def refused(trial: Trial, user: User, section: str, **more: Any) -> Message:
    """Ask within a section that there is not, and return what the asker alone is shown."""
    channel = trial.channel()
    asked = await trial.world.slash(
        user, channel, "ask", question=QUESTION, section=section, **more
    )

    def told() -> Message | None:
        shown = [asked.original, *asked.follow_ups]
        return next((m for m in shown if m and m.ephemeral and not m.loading), None)

    refusal = await trial.until(told, "a refusal")
    assert not [m for m in trial.from_bot(channel) if not m.ephemeral]
    return refusal


async def test_a_section_that_is_not_there_has_its_neighbours_on_buttons(trial: Trial) -> None:
    ann = trial.user()
    refusal = await refused(trial, ann, "9.9")
    said = i18n.text("error-no-section", name="9.9")
    assert refusal.text == f"{said}\n\n-# {i18n.text('card-ask-within')}"
    assert labels(refusal) == [MAPS, SILVER]
    answer = await pressed(trial, ann, refusal, MAPS)
    assert FACT in answer.text
    assert not answer.ephemeral, "it was asked for all to see"
    again = await pressed(trial, ann, refusal, MAPS)
    assert again.text == i18n.text("card-section-asked")


async def test_what_was_asked_in_private_is_answered_in_private(trial: Trial) -> None:
    ann = trial.user()
    refusal = await refused(trial, ann, "9.9", private=True)
    answer = await pressed(trial, ann, refusal, MAPS)
    assert (answer.ephemeral, FACT in answer.text) == (True, True)


async def test_where_no_section_is_near_there_are_no_buttons(trial: Trial) -> None:
    for name in ("99", "Keeping bees"):
        refusal = await refused(trial, trial.user(), name)
        assert refusal.text == i18n.text("error-no-section", name=name)
        assert labels(refusal) == []


async def test_a_question_for_a_missing_section_is_asked_of_a_neighbour(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    refusal = await trial.ask(ann, channel, "read section 9.9")
    missing = i18n.text("answer-no-section", name="section 9.9")
    assert refusal.text == f"{missing}\n\n-# {i18n.text('card-ask-within')}"
    assert labels(refusal)[:2] == [MAPS, SILVER]
    answer = await pressed(trial, ann, refusal, SILVER)
    assert "forty spoons" in answer.text


async def test_a_missing_section_that_none_is_near_has_no_buttons(trial: Trial) -> None:
    refusal = await trial.ask(trial.user(), trial.channel(), "read section 99")
    assert refusal.text == i18n.text("answer-no-section", name="section 99")
    assert labels(refusal) == ["Ask the staff"]
