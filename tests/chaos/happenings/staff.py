"""Questions that the book does not cover: passed on to the staff, who answer them in a form."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.buttons import Button, custom_id
from adapters.slack.modals import FORM
from core.domain.errors import StoreError
from core.storage.database import reading
from core.storage.inbox.base import request_id_for
from core.teaching.help_requests import HelpRequestRow, HelpState, help_id_for
from tests.chaos.history import Asked, Way
from tests.chaos.plan import Talk
from tests.chaos.shown import Message, buttons_in, is_gone, is_unfinished, key_of
from tests.wire import discord, slack

if TYPE_CHECKING:
    from tests.chaos.people import People

_PATIENCE = 240.0
"""Seconds for which somebody presses again what had no effect."""
_AGAIN_AFTER = 6.0
"""Seconds until they do."""
_LOOKS_EVERY = 0.3
_RESPONDS_WITHIN = 4.0
_KILLED_EVERY = 3
"""So many forms have one after which all processes are killed."""
_KILLED_WITHIN = 1.0
_IN_VAIN = (LookupError, TimeoutError, AssertionError, ValueError)
"""How an act ends where the platform or the bot did not respond, or shows something else now."""

Act = Callable[[], Awaitable[None]]


@dataclass
class StaffOffice:
    """Where a platform's staff answer, one question after another."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    deeds: list[Any] = field(default_factory=list)
    """What students pressed and staff did; what is shown for it settles no question."""


@dataclass(frozen=True)
class _Question:
    """A question on its way to the staff."""

    people: "People"
    asked: Asked
    user: Any
    place: Any
    office: StaffOffice
    said: str

    @property
    def request_id(self) -> UUID:
        return request_id_for(self.asked.key)

    @property
    def help_id(self) -> UUID:
        return help_id_for(self.request_id)

    async def state(self) -> str | None:
        """Return how far the request has come; None: there is none, or nothing is known now."""
        row = select(HelpRequestRow.state).where(HelpRequestRow.help_id == self.help_id)
        engine: AsyncEngine = self.people.engine
        with suppress(StoreError):
            async with reading(engine) as db:
                return await db.scalar(row)
        return None


async def passed_on(people: "People", talk: Talk) -> None:
    """Ask what the book does not cover, press Ask the staff, and answer as one of the staff.

    The reply is noted as soon as it is kept, or was tried in vain: it has to be settled like a
    question.
    """
    scene, number = people.scene, int(talk.names[0][1:])
    text = f"Which composer wrote opera number {number} of the court theatre?"
    user: Any = scene.newcomer_there() if talk.on_discord else scene.newcomer_here()
    place: Any = scene.new_channel_there() if talk.on_discord else scene.new_channel_here(user)
    say: Any = people.say_there if talk.on_discord else people.say_here
    _, asked = await say(user, place, "", talk.conversation, way=Way.STAFF, text=text)
    office = people.offices[asked.platform]
    said = f"The theatre's archive lists opera {number} without a name."
    question = _Question(people, asked, user, place, office, said)
    if not await _is_offered(question):
        return
    async with office.turn:
        press = _press_there if talk.on_discord else _press_here
        if not await _until(question, lambda: press(question), _is_waiting):
            return
        await _answer(question, is_killed=talk.number // 2 % _KILLED_EVERY == 0)


async def _answer(question: _Question, *, is_killed: bool) -> None:
    """Answer in the form until that is kept, and note the reply."""
    people, asked = question.people, question.asked
    kills = [people.away] if is_killed and people.away is not None else []
    fill_in = _fill_in_there if asked.platform == "discord" else _fill_in_here

    async def act() -> None:
        await fill_in(question)
        if kills:
            await asyncio.sleep(people.random.uniform(0.0, _KILLED_WITHIN))
            await kills.pop()()

    await _until(question, act, lambda state: state == HelpState.ANSWERED)
    key = f"{asked.platform}:staff:{question.help_id}"
    people.note(Asked(key, "", asked.conversation, Way.STAFF, asked.spot, replies_to=asked.key))


async def _is_offered(question: _Question) -> bool:
    """Wait for the answer, and return whether it offers to ask the staff."""
    ended = time.monotonic() + _PATIENCE
    while time.monotonic() < ended:
        if question.asked.done_at is not None and _answers(question):
            return True
        await asyncio.sleep(_LOOKS_EVERY)
    return False


async def _until(question: _Question, act: Act, is_reached: Callable[[str | None], bool]) -> bool:
    """Do something again and again, until the request is in a state; return whether it is."""
    ended = time.monotonic() + _PATIENCE
    while time.monotonic() < ended:
        with suppress(*_IN_VAIN):
            await act()
        again = time.monotonic() + _AGAIN_AFTER
        while time.monotonic() < again:
            if is_reached(await question.state()):
                return True
            await asyncio.sleep(_LOOKS_EVERY)
    return False


def _is_waiting(state: str | None) -> bool:
    return state is not None


def _answers(question: _Question) -> list[Any]:
    """Return the messages that answer a question and offer to ask the staff."""
    ground, keys = question.people.ground, {question.request_id: question.asked.key}
    there, here = ground.discord.world, ground.slack.world
    posted: Iterator[Message]
    if question.asked.platform == "discord":
        posted = (m for m in there.messages.values() if m.author is there.bot)
    else:
        posted = (m for m in here.messages if m.author is here.bot)
    offered = (Button.ASK_STAFF, question.request_id)
    return [
        message
        for message in posted
        if offered in buttons_in(message)
        and not (is_gone(message) or is_unfinished(message))
        and key_of(message, keys, [question.asked])
    ]


async def _press_there(question: _Question) -> None:
    world, pressed = question.people.scene.there, custom_id(Button.ASK_STAFF, question.request_id)
    deed = await world.click(question.user, _answers(question)[0], pressed)
    question.office.deeds.append(deed)
    await deed.response(_RESPONDS_WITHIN)


async def _press_here(question: _Question) -> None:
    world, pressed = question.people.scene.here, f"gl:{Button.ASK_STAFF.value}"
    deed = await world.click(question.user, _answers(question)[0], pressed)
    question.office.deeds.append(deed)
    await deed.ack(_RESPONDS_WITHIN)


async def _fill_in_there(question: _Question) -> None:
    world, deeds = question.people.scene.there, question.office.deeds
    looked: discord.Interaction = await world.slash(world.owner, question.place, "course queue")
    deeds.append(looked)
    await looked.response(_RESPONDS_WITHIN)
    queue = await world.until(lambda: looked.original, _RESPONDS_WITHIN)
    opened = await world.click(world.owner, queue, custom_id(Button.ANSWER, question.help_id))
    deeds.append(opened)
    await opened.response(_RESPONDS_WITHIN)
    deeds.append(await world.submit_modal(opened, answer=question.said))


async def _fill_in_here(question: _Question) -> None:
    world, deeds = question.people.scene.here, question.office.deeds
    while (left := world.modals.top(world.owner)) is not None:
        await world.close_view(world.owner, left)
    looked: slack.Interaction = await world.slash(world.owner, question.place, "/course", "queue")
    deeds.append(looked)
    wanted = (Button.ANSWER, question.help_id)
    queue = await world.until(
        lambda: next((m for m in looked.messages if wanted in buttons_in(m)), None),
        _RESPONDS_WITHIN,
    )
    deeds.append(await world.click(world.owner, queue, f"gl:{Button.ANSWER.value}"))

    def opened() -> Any:
        view = world.modals.top(world.owner)
        return view if view is not None and is_answer_form(view) else None

    view = await world.until(opened, _RESPONDS_WITHIN)
    deeds.append(await world.submit_view(world.owner, view, answer=question.said))


def is_answer_form(view: slack.View) -> bool:
    """Return whether a modal is the form that staff answer in, and not the promise of one."""
    has_field = '"answer"' in json.dumps(view.body)
    return has_field and view.body.get("callback_id") == FORM
