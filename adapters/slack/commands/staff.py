"""`/course`: what staff set for a channel, and admins for the whole workspace."""

import logging
import shlex
from collections.abc import Mapping
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from adapters.features.channel_settings import ChannelSettings
from adapters.features.staff.settings import StaffSettings
from adapters.intake.deadline import BackgroundWork
from adapters.slack.commands.modals import answer_command, told, told_to_all
from adapters.slack.commands.policies import Command, PolicyCommands
from adapters.slack.commands.staff_commands import STAFF, StaffCommands, unescaped
from adapters.slack.commands.staff_queue import StaffQueue
from adapters.slack.inbound import PLATFORM, Spot, spot_of_command
from adapters.slack.people import People
from core import i18n
from core.errors import BotError, RequestError
from core.models import AnswerLength
from core.storage.channels.rules import Askers, FollowUps, Rules
from core.storage.channels.store import Place

logger = logging.getLogger(__name__)

Json = dict[str, Any]

_WORKSPACE = "workspace"
_YES_NO = {"yes": True, "on": True, "no": False, "off": False}
_RULES = {
    "follow-ups": "follow_ups",
    "askers": "askers",
    "length": "answer_length",
    "private": "private",
    "auto-answer": "auto_answer",
    "outsiders": "outsiders",
}
_WORDS: Mapping[str, type[FollowUps] | type[Askers] | type[AnswerLength]] = {
    "follow_ups": FollowUps,
    "askers": Askers,
    "answer_length": AnswerLength,
}


class Staff:
    """Sets rules for the channel that the command is given in."""

    def __init__(
        self,
        settings: ChannelSettings,
        staff: StaffSettings,
        naming: StaffCommands,
        people: People,
        unhurried: BackgroundWork,
        queue: StaffQueue,
        policies: PolicyCommands,
    ) -> None:
        self._queue = queue
        self._settings = settings
        self._staff = staff
        self._naming = naming
        self._people = people
        self._unhurried = unhurried
        self._policies = policies

    async def course(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Do what the command says, and tell what holds afterwards."""
        text, trigger = str(body.get("text") or ""), str(body.get("trigger_id") or "")
        command = Command(spot_of_command(body), unescaped(text), trigger, client)
        answer = self._answer(command)
        await answer_command(self._unhurried, answer, ack, respond)

    async def _answer(self, command: Command) -> Json:
        spot, text = command.spot, command.text
        who = self._people.presence_of(spot)
        here = Place(PLATFORM, spot.team, spot.channel)
        try:
            match text.lower().split():
                case ["pause"]:
                    return told_to_all(await self._staff.pause(who, here))
                case ["resume"]:
                    return told_to_all(await self._staff.resume(who, here))
                case ["queue", *more]:
                    return await self._queue.asked(spot, more)
                case ["verified"]:
                    return await self._queue.verified(spot)
            if (answered := await self._policies.answer(command, _split(text))) is not None:
                return answered
            return told(await self._done(spot, text))
        except BotError as error:
            return told(error.user_message)

    async def _done(self, spot: Spot, text: str) -> str:
        words, who = _split(text), self._people.presence_of(spot)
        if words and words[0].lower() == STAFF:
            return await self._naming.done(who, words[1:])
        everywhere = len(words) > 1 and words[-1].lower() == _WORKSPACE
        words = words[:-1] if everywhere else words
        await (self._staff.admit_admin(who) if everywhere else self._staff.admit(who))
        if [word.lower() for word in words] in ([], ["show"]):
            return await self._lines(spot)
        changes = await self._changes(spot, words)
        if changes is None:
            return i18n.text("slack-how-to-set")
        place = spot.team if everywhere else spot.channel
        await self._settings.change(Place(PLATFORM, spot.team, place), spot.location, changes)
        done = i18n.text("staff-done-workspace") if everywhere else i18n.text("staff-done-channel")
        return f"{done}\n{await self._lines(spot)}"

    async def _changes(self, spot: Spot, words: list[str]) -> dict[str, Any] | None:
        """Return what a command changes; None: it says nothing that we know."""
        match [words[0].lower(), *words[1:]]:
            case ["bind", course]:
                if refusal := await self._settings.unknown_course(spot.location, course):
                    raise RequestError(user_message=refusal)
                return {"course_id": course, "excluded": False}
            case ["unbind"]:
                return {"course_id": None}
            case ["switch", ("on" | "off") as state]:
                return {"excluded": state == "off"}
            case ["set", *pairs]:
                return _set(pairs)
            case _:
                return None

    async def _lines(self, spot: Spot) -> str:
        lines = await self._settings.lines(spot.location)
        return "\n".join(f"- {line}" for line in lines)


def _set(words: list[str]) -> dict[str, Any]:
    """Return rules from words such as `length: short`, `length=short` or `length short`."""
    flat = " ".join(words).replace(":", " ").replace("=", " ").split()
    if not flat or len(flat) % 2:
        raise RequestError(user_message=i18n.text("settings-nothing"))
    changes = dict[str, Any]()
    for name, value in zip(flat[::2], flat[1::2], strict=True):
        rule = _RULES.get(name.lower())
        if rule is None:
            known = ", ".join(_RULES)
            raise RequestError(
                user_message=i18n.text("slack-settings-unknown", name=name, known=known)
            )
        changes[rule] = _value(name, rule, value.lower())
    return {name: getattr(Rules(**changes), name) for name in changes}


def _value(name: str, rule: str, value: str) -> object:
    known: Mapping[str, object] = _YES_NO
    if rule in _WORDS:
        known = {str(member.value): member for member in _WORDS[rule]}
    if value not in known:
        values = ", ".join(known)
        raise RequestError(user_message=i18n.text("slack-settings-value", name=name, known=values))
    return known[value]


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quotation mark without its other half
        return text.split()
