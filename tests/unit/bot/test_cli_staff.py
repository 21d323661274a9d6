"""`glossator queue` and `glossator verified`: what waits for the staff, and what they verified."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from core.answering.verified import Draft, VerifiedCitation, VerifiedScope
from core.domain import Course, now
from core.storage.access import Tenant
from core.storage.catalogue import Catalogue
from core.storage.database import create_engine
from core.storage.sessions import SessionStore
from core.teaching.help_requests import HelpReason, HelpRequest, HelpRequests, help_id_for
from core.teaching.verified_store import VerifiedAnswers
from tests.command_line import CommandLine
from tests.samples import chunk, request, response_to
from tests.unit.bot.test_interfaces import documented

pytestmark = pytest.mark.costly

HOME = Tenant("slack", "T1")
ANSWER = UUID(int=7)
SAID = "It is the largest key [1]."
QUESTION = "What is at the root of a heap?"
WORDINGS = ("Which key is the root?", "Which key is not the root?")


@pytest.fixture
def shell(glossator: CommandLine) -> CommandLine:
    """A shell whose database has a question that waits, and an answer of the staff."""
    assert glossator.here("db", "upgrade").code == 0
    asyncio.run(_fill(glossator.data / "glossator.db"))
    return glossator


async def _fill(file: Path) -> None:
    engine = create_engine(f"sqlite:///{file}")
    await Catalogue(engine).save_course(Course(course_id="algorithms", title="Algorithms"))
    await _pass_on(engine)
    cited = VerifiedCitation(1, chunk().content_text, chunk())
    draft = Draft(
        course_id="algorithms",
        question=QUESTION,
        answer_text=SAID,
        citations=(cited,),
        scope=VerifiedScope(),
        verified_by="tutor",
        tenant=HOME,
        generation=None,
    )
    answers = VerifiedAnswers(engine)
    await answers.save(ANSWER, draft)
    await answers.save(ANSWER, replace(draft, answer_text=f"{SAID} Always."))
    for wording in WORDINGS:
        await answers.propose(ANSWER, [HOME], wording, "reader-1")
    await engine.dispose()


async def _pass_on(engine: AsyncEngine) -> None:
    asked = request(query_text="What is a heap for?", request_id=uuid4())
    answer = response_to(asked, uuid4(), cited=chunk())
    await SessionStore(engine).remember(asked, answer)
    waiting = HelpRequest(
        help_id=help_id_for(asked.request_id),
        course_id="algorithms",
        tenant=HOME,
        key="slack:1",
        channel="C1",
        thread=None,
        asked_by=asked.user_id,
        request_id=asked.request_id,
        reason=HelpReason.VOTED_DOWN,
        opened_at=now(),
    )
    await HelpRequests(engine).open(waiting, asked.query_text)


def test_what_waits_is_listed(shell: CommandLine) -> None:
    done = shell.here("queue", "algorithms")
    assert (done.code, done.err) == (0, "")
    assert "slack:T1  voted down" in done.out
    assert "    What is a heap for?" in done.out
    [fields] = documented()["queue"]
    [told] = shell.here("queue", "algorithms", "--json").json
    assert list(told) == fields
    assert (told["reason"], told["state"]) == ("voted_down", "open")
    assert "reader" not in done.out


def test_what_was_verified_is_listed_shown_and_retired(shell: CommandLine) -> None:
    listed = shell.here("verified", "list", "algorithms").out
    assert listed.startswith(f"{ANSWER}  slack:T1  Checked ")
    shown = shell.here("verified", "show", str(ANSWER)).out
    assert f"{SAID} Always." in shown
    same, other = re.findall(r"May ask the same, (.{36}): ", shown)
    assert shell.here("verified", "same", same).out == f"It asks the same as: {QUESTION}\n"
    said = shell.here("verified", "other", other).out
    assert said == f"It asks something else than: {QUESTION}\n"
    shown = shell.here("verified", "show", str(ANSWER)).out
    assert f"Also asked as: {WORDINGS[0]}" in shown
    assert WORDINGS[1] not in shown
    [fields] = documented()["verified"]
    [told] = shell.here("verified", "list", "algorithms", "--json").json
    assert [*told, "revisions"] == fields
    whole = shell.here("verified", "show", str(ANSWER), "--json").json
    assert list(whole) == fields
    assert [one["revision"] for one in whole["revisions"]] == [1, 2]
    assert shell.here("verified", "retire", str(ANSWER), "--yes").out == f"Retired: {ANSWER}.\n"
    assert shell.here("verified", "list", "algorithms", "--json").json == []
    assert "is retired already" in shell.here("verified", "retire", str(ANSWER), "--yes").sentence
    assert shell.here("verified", "show", str(ANSWER), "--json").json["state"] == "retired"


@pytest.mark.parametrize(
    "arguments",
    [("queue", "algorithm"), ("verified", "list", "algorithm")],
    ids=" ".join,
)
def test_an_unknown_course_is_a_mistake(shell: CommandLine, arguments: tuple[str, ...]) -> None:
    done = shell.here(*arguments)
    assert done.code == 2
    assert "no course called algorithm" in done.sentence


def test_an_unknown_wording_is_a_mistake(shell: CommandLine) -> None:
    for what in ("same", "other"):
        done = shell.here("verified", what, str(uuid4()))
        assert done.code == 2
        assert "There is no wording" in done.sentence


def test_an_unknown_answer_is_a_mistake(shell: CommandLine) -> None:
    for what in ("show", "retire"):
        options = ["--yes"] if what == "retire" else []
        done = shell.here("verified", what, str(uuid4()), *options)
        assert done.code == 2
        assert "no verified answer" in done.sentence
