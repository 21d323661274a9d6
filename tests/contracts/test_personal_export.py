"""Somebody is shown all that is stored about them, and nothing of anybody else."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from core.answering.verified import Draft, VerifiedScope
from core.domain import AgentRequest, Course, now
from core.storage.access import NamedStaff, StaffKind, Tenant
from core.storage.access_store import StaffStore
from core.storage.budgets import TokenBudgets, TokenLimits
from core.storage.catalogue import Catalogue
from core.storage.channels import ChannelRules, Conversations, Exchanges, Panels, Place, Rules
from core.storage.inbox.base import Posted, request_id_for
from core.storage.privacy import Holder
from core.storage.sessions import Feedback, SessionStore, Vote
from core.tables import METADATA
from core.teaching.help_requests import (
    HelpReason,
    HelpRequest,
    HelpRequests,
    QueueChannel,
    help_id_for,
)
from core.teaching.policy_store import HintSteps
from core.teaching.queue_cards import QueueCards
from core.teaching.verified_store import VerifiedAnswers
from tests.holders import export, holders_of, personal
from tests.inbox import PLATFORMS, event, inbox_of
from tests.samples import response_to

pytestmark = pytest.mark.costly

PAGE = (Path(__file__).parents[2] / "docs/privacy.md").read_text("utf-8")
OF_PEOPLE = PAGE[PAGE.index("### Of people") : PAGE.index("### Of operators")]
PERSONAL = {"user_id", "asked_by", "taken_by", "verified_by", "subject"}
PLACED = {"platform", "workspace", "tenant"}
OF_NO_ONE = {
    *("courses", "editions", "segments", "documents", "sections", "cached_vectors"),
    *("course_changes", "source_checks", "ingest_accounts"),
    *("leases", "installations", "key_ids"),
}
ANN, BEN = "ann-of-arden", "ben-of-bree"


async def ask(engine: AsyncEngine, number: int, user: str, **where: Any) -> AgentRequest:
    """Have a question asked, answered, and voted on."""
    inbox, arrival = inbox_of(engine), event(number, user_id=user, token="secret", **where)
    assert arrival.request is not None
    assert arrival.request.session_id is not None
    await inbox.accept(arrival)
    job = await inbox.claim(timedelta(minutes=1), PLATFORMS)
    assert job is not None
    answer = response_to(arrival.request, arrival.request.session_id)
    await SessionStore(engine).remember(arrival.request, answer)
    await inbox.keep(job, Posted((f"m-{user}-{number}",)))
    await inbox.finish(job)
    vote = Vote(arrival.request.request_id, user, "algorithms", False, f"because {user}")
    await Feedback(engine).vote(vote, [Tenant("test", "w")])
    await TokenBudgets(engine, limits=TokenLimits()).add(
        user, "algorithms", query_tokens=1, response_tokens=2
    )
    return arrival.request


async def passed_on(engine: AsyncEngine, number: int, user: str) -> None:
    """Have a question of somebody's passed on to staff, answered, and asked again."""
    await Catalogue(engine).save_course(Course(course_id="algorithms", title="Algorithms"))
    here, key = Tenant("test", "w"), f"test:{number}"
    request_id = request_id_for(key)
    request = HelpRequest(
        help_id_for(request_id), "algorithms", here, key, "c1", "shared", user, request_id,
        HelpReason.ASKED, now(),
    )  # fmt: skip
    await HelpRequests(engine).open(request, f"what {user} asks")
    cards = QueueCards(engine)
    await cards.choose([QueueChannel("algorithms", "test", "w", "staff-room")])
    due = await cards.claim(["test"])
    assert due is not None
    await cards.shown(due, f"card-{number}", request.at(now()))
    answers, answer_id = VerifiedAnswers(engine), uuid4()
    said = Draft(
        "algorithms",
        f"What does {user} ask?",
        "So.",
        (),
        VerifiedScope(),
        "tutor",
        here,
        None,
        user,
    )
    await answers.save(answer_id, said)
    await answers.propose(answer_id, [said.tenant], f"What else does {user} ask?", user)


async def fill(engine: AsyncEngine) -> None:
    """Have two people ask: in one thread together, and each directly."""
    for number, user in enumerate((ANN, BEN)):
        await ask(engine, number, user, thread="shared", text=f"What does {user} see?")
        channel = f"d-{user}"
        direct = {"channel": channel, "address": {"dm": True, "channel": channel}}
        await ask(engine, 10 + number, user, **direct)
        await Conversations(engine).direct_message(Place("test", "w", channel), now())
        await Panels(engine).note(Place("test", "w", f"{channel}:thread"), "c1")
        await Exchanges(engine).go_on(Place("test", "w", "shared"), [user], now())
        person = NamedStaff(StaffKind.PERSON, f"id-of-{user}")
        await StaffStore(engine).add(Tenant("test", "w"), person, user)
        await passed_on(engine, number, user)
        await HintSteps(engine).take(UUID(int=100 + number), user, "algorithms", None)
        chosen = Rules(course_id="algorithms")
        await ChannelRules(engine).set(Place("test", "w", channel), chosen)


async def test_it_shows_a_row_of_every_table_with_anything_of_people(engine: AsyncEngine) -> None:
    await fill(engine)
    shown = await export(engine).of([ANN])
    assert set(shown["stored"]) == {*re.findall(r"^\| `(\w+)` \|", OF_PEOPLE, re.MULTILINE)}
    assert all(shown["stored"].values()), shown["stored"]
    assert len(shown["stored"]["turns"]) == 2
    assert f"What does {ANN} see?" in json.dumps(shown)


async def test_it_shows_nothing_of_others_and_no_secret(engine: AsyncEngine) -> None:
    await fill(engine)
    text = json.dumps(await export(engine).of([ANN]))
    assert BEN not in text
    assert "terces" not in text
    both = await export(engine).of([ANN, BEN])
    assert len(both["stored"]["votes"]) == 4


async def test_nothing_is_shown_of_somebody_unknown_or_forgotten(engine: AsyncEngine) -> None:
    await fill(engine)
    assert not any((await export(engine).of(["eve"]))["stored"].values())
    assert not any((await export(engine).of([]))["stored"].values())
    await personal(engine).forget([ANN])
    left = (await export(engine).of([ANN]))["stored"]
    assert [table for table, rows in left.items() if rows] == ["token_usage", "staff"]
    assert any((await export(engine).of([BEN]))["stored"].values())


async def test_what_is_being_answered_is_shown_too(engine: AsyncEngine) -> None:
    inbox, waiting = inbox_of(engine), event(1, user_id=ANN, text="What is a sluice gate?")
    await inbox.accept(waiting)
    assert await inbox.claim(timedelta(minutes=1), PLATFORMS) is not None
    (row,) = (await export(engine).of([ANN]))["stored"]["inbox"]
    assert row["request"]["query_text"] == "What is a sluice gate?"
    assert row["state"] == "waiting"


async def test_each_table_is_held_by_one_store_or_tells_of_no_one(engine: AsyncEngine) -> None:
    held = [row.__tablename__ for one in holders_of(engine) for row in one.TABLES]
    assert len(held) == len({*held}), "two stores say that they hold the same table"
    others = METADATA.tables.keys() - {*held}
    assert others == OF_NO_ONE, "a new table belongs to the TABLES of a store in bot.services"
    named = {
        name
        for name in others
        for c in METADATA.tables[name].columns
        if c.name in PERSONAL | PLACED
    }
    assert named == {"courses", "installations"}, "they stay a workspace's own, or the platform's"


@pytest.mark.parametrize("of", ["people", "workspaces"])
async def test_a_store_says_itself_what_it_holds_of(engine: AsyncEngine, of: str) -> None:
    method, columns = ("rows_of", PERSONAL) if of == "people" else ("forget_workspace", PLACED)
    for holder in holders_of(engine):
        is_said = getattr(type(holder), method) is not getattr(Holder, method)
        for row in holder.TABLES:
            names = {column.name for column in row.__table__.columns}
            by_itself = ("user_id" if of == "people" else "workspace") in names
            assert is_said or by_itself or not names & columns, (type(holder), row, method)
