"""The nearest sections of a refusal are buttons on Slack, too."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import UNCOVERED
from tests.wire.slack import Message, User
from tests.wire.slack_bot import Trial, a_trial, elements
from tests.wire.stored import rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_sections"),
]

NEAR = "Which university did the keeper attend?"
SECTION = "Duties of the keeper"
_TURNS = "SELECT content FROM turns WHERE content IS NOT NULL"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("sections")) as trial:
        yield trial
        trial.check_manners()


async def refused(trial: Trial, user: User, question: str) -> Message:
    """Ask by a mention, and return the refusal."""
    channel = trial.channel(user)
    asked = await trial.world.say(user, channel, f"{trial.mention} {question}")
    return await trial.answer_to(asked)


def sections(message: Message) -> list[str]:
    """Return what is written on the buttons of a refusal."""
    buttons = [part for part in elements(message) if part["action_id"].startswith("gl:w")]
    return [str(part["text"]["text"]) for part in buttons]


def sections_searched(trial: Trial, question: str) -> list[str | None]:
    """Return within which sections a question was answered, in order."""
    turns = [json.loads(str(row[0])) for row in rows_of(trial.bot.folder / "data", _TURNS)]
    return [one["section_filter"] for one in turns if one["user_input"] == question]


async def test_a_refusal_has_its_nearest_sections_on_buttons_that_ask_within(
    trial: Trial,
) -> None:
    ann = trial.user()
    refusal = await refused(trial, ann, NEAR)
    assert sections(refusal)[0] == SECTION
    assert "Duties" not in refusal.shown.replace(SECTION, "", 1), "it is named once"
    for _ in range(2):
        await trial.world.click(ann, refusal, "gl:w:0")
    within = "rest of the book was not searched"
    asked_already = i18n.text("card-section-asked")

    def shown() -> bool | None:
        texts = [one.shown for one in trial.from_bot(refusal.channel, ann)]
        found = [any(wanted in text for text in texts) for wanted in (within, asked_already)]
        return all(found) or None

    await trial.until(shown, "the answer, and that it was asked already")
    assert sections_searched(trial, NEAR) == [None, SECTION]


async def test_where_nothing_is_near_there_are_no_buttons(trial: Trial) -> None:
    refusal = await refused(trial, trial.user(), UNCOVERED)
    assert i18n.text("answer-not-covered") in refusal.shown
    assert sections(refusal) == []
