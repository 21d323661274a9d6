"""Questions in one message get an answer each; an answer can be had again in its thread."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT
from tests.wire.discord_bot import Trial, a_trial
from tests.wire.stored import rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_parts"),
]

BELL = "What does the fog bell of Arden weigh?"
_TURNS = "SELECT content FROM turns WHERE content IS NOT NULL"
UNKNOWN = "Which enzyme unwinds the double helix of DNA?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("parts")) as trial:
        yield trial


async def test_each_numbered_question_is_answered_below_its_own_words(trial: Trial) -> None:
    asked = f"1. {COVERED}\n2. {BELL}\n3. {UNKNOWN}"
    answer = await trial.ask(trial.user(), trial.channel(), asked)
    wick, rest = answer.text.split(f"## {BELL}")
    assert f"## {COVERED}" in wick
    assert COVERED_FACT in wick
    bell, unknown = rest.split(f"## {UNKNOWN}")
    assert "half a ton" in bell
    first = re.findall(r"^> (.+)$", answer.text, re.MULTILINE)
    assert any(COVERED_FACT in sentence for sentence in first), "what answers stands first"
    assert i18n.text("answer-part-without") in unknown
    trial.check_manners()


async def test_an_answer_is_had_again_shorter_and_where_it_stands(trial: Trial) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(), f"{COVERED} Please.")
    thread = answer.channel
    shorter = await trial.answer_to(await trial.world.say(ann, thread, "shorter please"))
    assert len(shorter.text) < len(answer.text)
    assert COVERED_FACT in shorter.text
    place = await trial.answer_to(await trial.world.say(ann, thread, "where is that?"))
    assert "The lamp › Trimming the wick" in place.text
    assert COVERED_FACT not in place.text
    turns = [json.loads(str(row[0])) for row in rows_of(trial.bot.folder / "data", _TURNS)]
    [again] = [one for one in turns if one["user_input"] == "shorter please"]
    assert again["agent_response"]["shows_again"] == f"{COVERED} Please."
    trial.check_manners()
