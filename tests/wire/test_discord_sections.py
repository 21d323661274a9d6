"""The nearest sections of a refusal are buttons that ask within the section."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import UNCOVERED
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Interaction, Message, User
from tests.wire.discord_bot import Trial, a_trial, button, labels
from tests.wire.grants import FOLLOWS_IN, grant, revoke
from tests.wire.stored import rows_of
from tests.wire.test_discord_tenants import Stranger

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_sections"),
]

NEAR = "Which university did the keeper attend?"
ONCE = "Which university did the keeper attend ?"
PRIVATELY = "Which university did the keeper attend ??"
REVOKED = "Which university did the keeper attend ???"
"""Near to one question: an id in it would decide by its digits what is near."""
SECTION = "Duties of the keeper"
_TURNS = "SELECT content FROM turns WHERE content IS NOT NULL"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("sections")) as trial:
        yield trial


async def pressed(trial: Trial, user: User, message: Message, label: str = SECTION) -> Interaction:
    """Press a button, and wait for the bot's first response to that."""
    click = await trial.world.click(user, message, button(message, label))
    await click.response(PATIENCE)
    return click


async def told(trial: Trial, user: User, message: Message) -> str:
    """Return what a press on the section is answered with, to its clicker alone."""
    click = await pressed(trial, user, message)
    await trial.until(lambda: (click.original is not None and not click.original.loading) or None)
    assert click.original is not None
    assert click.ephemeral
    return click.original.text


def sections_searched(trial: Trial, question: str) -> list[str | None]:
    """Return within which sections a question was answered, in order."""
    turns = [json.loads(str(row[0])) for row in rows_of(trial.bot.folder / "data", _TURNS)]
    return [one["section_filter"] for one in turns if one["user_input"] == question]


async def test_a_refusal_names_its_nearest_sections_on_buttons_alone(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    refusal = await trial.ask(ann, channel, NEAR)
    assert refusal.is_layout
    assert labels(refusal)[0] == SECTION
    assert refusal.text == (
        f"{i18n.text('answer-not-covered')}\n\n-# {i18n.text('card-ask-within')}"
    )


async def test_where_nothing_is_near_there_are_no_buttons(trial: Trial) -> None:
    refusal = await trial.ask(trial.user(), trial.channel(), UNCOVERED)
    assert refusal.text == i18n.text("answer-not-covered")
    assert labels(refusal) == ["Ask the staff"]


async def test_a_section_is_searched_once_and_only_for_who_asked(trial: Trial) -> None:
    ann, bob, channel = trial.user(), trial.user(), trial.channel()
    refusal = await trial.ask(ann, channel, ONCE)
    assert await told(trial, bob, refusal) == i18n.text("card-section-not-yours")
    answer = await trial.result_of(await pressed(trial, ann, refusal))
    places = (SECTION, i18n.text("answer-not-covered-within"))
    assert any(place in answer.text for place in places)
    assert await told(trial, ann, refusal) == i18n.text("card-section-asked")
    assert sections_searched(trial, ONCE) == [None, SECTION]


async def test_a_private_refusal_has_them_too_and_they_work_after_a_restart(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    asked = await trial.world.slash(ann, channel, "ask", question=PRIVATELY, private=True)
    refusal = await trial.result_of(asked)
    assert (refusal.ephemeral, labels(refusal)[0]) == (True, SECTION)
    assert await trial.bot.stop() == 0
    await trial.bot.start()
    answer = await trial.result_of(await pressed(trial, ann, refusal))
    assert answer.ephemeral, "a private refusal is asked again in private"
    places = (SECTION, i18n.text("answer-not-covered-within"))
    assert any(place in answer.text for place in places)
    assert sections_searched(trial, PRIVATELY) == [None, SECTION]


async def test_who_may_not_read_the_course_any_more_asks_nothing(trial: Trial) -> None:
    stranger = Stranger(trial)
    await stranger.is_met()
    await grant(trial.bot.folder, "arden", stranger.name)
    await asyncio.sleep(FOLLOWS_IN)
    refusal = await trial.ask(stranger.owner, stranger.channel, REVOKED)
    await revoke(trial.bot.folder, "arden", stranger.name)
    await asyncio.sleep(FOLLOWS_IN)
    assert await told(trial, stranger.owner, refusal) == i18n.text("answer-gone")
    assert sections_searched(trial, REVOKED) == [None]
