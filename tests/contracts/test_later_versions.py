"""What a later version stored under the same schema is read as far as it is known."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from pydantic import create_model
from sqlalchemy import JSON, bindparam, text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import STORED, AgentResponse
from core.domain.errors import BotError
from core.domain.fields import Model
from core.storage.channels import ChannelRules, FollowUps, Place, Rules
from core.storage.sessions import SessionStore
from tests.inbox import PLATFORMS, event, inbox_of
from tests.samples import request, response_to

LATER = "of_a_later_version"
NOT_OURS = ("metadata", "parameters", "result")
"""Where every name is allowed."""


def extended(stored: Any) -> Any:
    """Return JSON with one more field in every object."""
    if isinstance(stored, list):
        return [extended(item) for item in stored]
    if not isinstance(stored, dict):
        return stored
    fields = {n: v if n in NOT_OURS else extended(v) for n, v in stored.items()}
    return {**fields, LATER: "new"}


async def rewrite(engine: AsyncEngine, table: str, column: str) -> None:
    """Add fields to the JSON of every row."""
    async with engine.begin() as db:
        for (found,) in (await db.execute(text(f"SELECT {column} FROM {table}"))).all():
            value = extended(json.loads(found) if isinstance(found, str) else found)
            assert json.dumps(value).count(LATER) > 1, "nested objects are extended too"
            setting = text(f"UPDATE {table} SET {column} = :value")
            await db.execute(setting.bindparams(bindparam("value", value, type_=JSON)))


async def test_turns_are_read_without_the_fields_that_are_not_known(engine: AsyncEngine) -> None:
    sessions, question = SessionStore(engine), request()
    kept = await sessions.remember(question, response_to(question, uuid4()))
    await rewrite(engine, "turns", "content")
    assert await sessions.turn_of(question.request_id) == kept


async def test_two_versions_read_one_anothers_answers(engine: AsyncEngine) -> None:
    fields = AgentResponse.model_fields
    known: Any = {name: (f.annotation, f) for name, f in fields.items() if name != "located"}
    former: Any = create_model("FormerResponse", __base__=Model, **known)
    sessions, question = SessionStore(engine), request()
    answer = response_to(question, uuid4(), confidence=0.4, located=0.7)
    kept = await sessions.remember(question, answer)
    async with engine.begin() as db:
        (found,) = (await db.execute(text("SELECT content FROM turns"))).one()
        content = json.loads(found) if isinstance(found, str) else found
        read = former.model_validate(content["agent_response"], context=STORED)
        told = kept.agent_response.model_dump(exclude={"located"})
        assert read.model_dump() == told
        content["agent_response"] = read.model_dump(mode="json")
        setting = text("UPDATE turns SET content = :value")
        await db.execute(setting.bindparams(bindparam("value", content, type_=JSON)))
    again = await sessions.turn_of(question.request_id)
    assert again is not None
    assert again.agent_response == answer.model_copy(update={"located": 0.0})


async def test_waiting_questions_are_read_without_such_fields(engine: AsyncEngine) -> None:
    inbox, arrival = inbox_of(engine), event(1)
    await inbox.accept(arrival)
    await rewrite(engine, "inbox", "request")
    job = await inbox.claim(timedelta(seconds=15), PLATFORMS)
    assert job is not None
    assert job.arrival == arrival


@pytest.mark.costly
async def test_an_event_of_an_unknown_kind_is_refused_and_stops_no_other(
    engine: AsyncEngine,
) -> None:
    inbox = inbox_of(engine)
    for number in (1, 2):
        await inbox.accept(event(number))
    async with engine.begin() as db:
        await db.execute(
            text("UPDATE inbox SET kind = :kind WHERE key = 'test:1'"), {"kind": LATER}
        )
    jobs = [await inbox.claim(timedelta(seconds=15), PLATFORMS) for _ in range(2)]
    refusals = {job.arrival.key: job.arrival.refusal for job in jobs if job is not None}
    assert refusals == {"test:1": BotError.user_message, "test:2": None}


async def test_rules_are_read_without_the_names_and_values_that_are_not_known(
    engine: AsyncEngine,
) -> None:
    rules, place = ChannelRules(engine), Place("discord", "guild", "channel")
    await rules.set(place, Rules(course_id="biology", follow_ups=FollowUps.MENTION))
    stored = {"course_id": "biology", "follow_ups": LATER, LATER: {"any": "thing"}}
    async with engine.begin() as db:
        setting = text("UPDATE channel_rules SET rules = :rules")
        await db.execute(setting.bindparams(bindparam("rules", stored, type_=JSON)))
    found = await ChannelRules(engine).get("discord", "guild", ["channel"])
    assert found == {"channel": Rules(course_id="biology")}
