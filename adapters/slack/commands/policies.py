"""`/course hints`, `/course policy` and `/course radar` in Slack."""

import json
import logging
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from adapters.access.standing import Presence
from adapters.features.data_export import File
from adapters.features.policy_settings import (
    LONGEST_NAME,
    LONGEST_TEXT,
    AssignmentForm,
    PolicyForm,
    PolicySettings,
)
from adapters.features.radar_views import RadarViews
from adapters.features.staff.settings import StaffSettings
from adapters.intake.deadline import BackgroundWork
from adapters.slack.commands.files import send_file
from adapters.slack.commands.modals import open_modal, plain, shown_modal, told, typed, update_modal
from adapters.slack.inbound import PLATFORM, Spot
from adapters.slack.people import People
from core.errors import BotError, DeliveryError, RequestError
from core.i18n import current_language, text
from core.models import PolicyMode
from core.storage.channels.store import Place

logger = logging.getLogger(__name__)

Json = dict[str, Any]

HINTS = "gl:hints"
"""The callback id of the form for an assignment."""
_NAME, _TEXT, _SECTIONS, _UNTIL, _SOLUTION = "name", "text", "sections", "until", "solution"
_WORKSPACE = "workspace"
_FORM_WORDS = {"section", "from", "until"}
_LONGEST_SECTION = 3_000


@dataclass(frozen=True, slots=True)
class Command:
    """A `/course` command."""

    spot: Spot
    text: str
    trigger: str = ""
    """Opens a form, once, within three seconds."""
    client: AsyncWebClient | None = field(default=None, repr=False)


class PolicyCommands:
    """Says how questions are answered somewhere, and shows what was asked."""

    def __init__(
        self,
        staff: StaffSettings,
        policies: PolicySettings,
        radar: RadarViews,
        people: People,
        unhurried: BackgroundWork,
    ) -> None:
        self._staff = staff
        self._policies = policies
        self._radar = radar
        self._people = people
        self._unhurried = unhurried

    async def answer(self, command: Command, words: list[str]) -> Json | None:
        """Do what a command says, and return what its user is shown; None: it is another one.

        Raises:
            RequestError: when it cannot be done.
            StoreError: when the database fails.
        """
        match [word.lower() for word in words[:1]], words[1:]:
            case ["hints"], []:
                return await self._open_form(command)
            case ["policy"], rest:
                return told(await self._policy(command.spot, rest))
            case ["radar"], rest:
                return await self._radar_shown(command, [word.lower() for word in rest])
            case _:
                return None

    async def form_sent(self, body: Json, ack: AsyncAck, client: AsyncWebClient) -> None:
        """Keep what a form for an assignment says, and show what holds afterwards."""
        view = body["view"]

        async def late(sentence: str) -> None:
            await update_modal(client, view["id"], _shown(sentence))

        spot = Spot(**json.loads(view["private_metadata"]))
        spot = replace(spot, user=str(body["user"]["id"]))
        sentence = await self._unhurried.in_time(self._kept(spot, view), late)
        await ack(response_action="update", view=_shown(sentence or text("policy-keeping")))

    async def _kept(self, spot: Spot, view: Json) -> str:
        form = AssignmentForm(
            name=typed(view, _NAME),
            text=typed(view, _TEXT),
            sections=typed(view, _SECTIONS),
            until=typed(view, _UNTIL),
            solution=typed(view, _SOLUTION),
        )
        try:
            return await self._policies.set_assignment(await self._admitted(spot), form)
        except BotError as error:
            return error.user_message

    async def _open_form(self, command: Command) -> Json:
        await self._policies.course(await self._admitted(command.spot))
        assert command.client is not None, "a command comes with one"
        view = hints_form(json.dumps(asdict(command.spot)))
        if not await open_modal(command.client, command.trigger, view):
            raise RequestError(user_message=text("policy-form-too-late"))
        return told(text("policy-form-open"))

    async def _policy(self, spot: Spot, words: list[str]) -> str:
        lower = [word.lower() for word in words]
        everywhere = lower[-1:] == [_WORKSPACE]
        words = words[:-1] if everywhere else words
        who = await self._admitted(spot, everywhere=everywhere)
        match lower[:1], words[1:]:
            case ((["list"] | []), []):
                return "\n".join(f"- {line}" for line in await self._policies.lines(who))
            case ["remove"], [key]:
                return await self._policies.remove(who, key)
            case ["set"], [mode, *rest] if mode.lower() in [one.value for one in PolicyMode]:
                place = Place(PLATFORM, spot.team, spot.team if everywhere else spot.channel)
                return await self._policies.set_place(who, place, _form_of(mode.lower(), rest))
            case _:
                return text("slack-how-to-policy")

    async def _radar_shown(self, command: Command, words: list[str]) -> Json:
        spot = command.spot
        who = await self._admitted(spot)
        match words:
            case ["show"] | []:
                post = await self._radar.shown(who)
                assert command.client is not None, "a command comes with one"
                try:
                    picture = File(post.picture_name, post.picture)
                    await send_file(command.client, spot.user, picture, post.alternative)
                except DeliveryError as error:
                    logger.info("a radar's picture was not sent: %s", error)
                    return told(post.text)
                return told(f"{post.text}\n\n{text('radar-picture-sent')}")
            case ["post"]:
                here = Place(PLATFORM, spot.team, spot.channel)
                return told(
                    await self._radar.post_here(
                        who, here, enterprise=spot.enterprise, locale=current_language()
                    )
                )
            case ["stop"]:
                return told(await self._radar.stop(who))
            case _:
                return told(text("slack-how-to-radar"))

    async def _admitted(self, spot: Spot, *, everywhere: bool = False) -> Presence:
        """Return who is there; RequestError: they may not set anything."""
        who = self._people.presence_of(spot)
        await (self._staff.admit_admin(who) if everywhere else self._staff.admit(who))
        return who


def _form_of(mode: str, words: list[str]) -> PolicyForm:
    """Return what words such as `until 2026-12-01 section "Elasticity"` say.

    Raises:
        RequestError: where they say something else.
    """
    found = dict[str, str]()
    name = ""
    for word in words:
        if word.lower() in _FORM_WORDS:
            name = word.lower()
            found[name] = ""
        elif name:
            found[name] = f"{found[name]} {word}".strip()
        else:
            raise RequestError(user_message=text("slack-how-to-policy"))
    return PolicyForm(
        PolicyMode(mode), found.get("section", ""), found.get("from", ""), found.get("until", "")
    )


def hints_form(metadata: str) -> Json:
    """Return the modal in which staff write what may be said of an assignment."""
    return {
        "type": "modal",
        "callback_id": HINTS,
        "private_metadata": metadata,
        "title": plain(text("policy-form-title")),
        "submit": plain(text("policy-form-save")),
        "close": plain(text("button-cancel")),
        "blocks": [
            _input(_NAME, text("policy-form-name"), LONGEST_NAME, lines=False, optional=False),
            _input(_TEXT, text("policy-form-text"), LONGEST_TEXT, lines=True, optional=False),
            _input(_SECTIONS, text("policy-form-sections"), 500, lines=True),
            _input(_UNTIL, text("policy-form-until"), 20, lines=False),
            _input(_SOLUTION, text("policy-form-solution"), LONGEST_TEXT, lines=True),
        ],
    }


def _input(name: str, label: str, longest: int, *, lines: bool, optional: bool = True) -> Json:
    element = {
        "type": "plain_text_input",
        "action_id": name,
        "multiline": lines,
        "max_length": longest,
    }
    return {
        "type": "input",
        "block_id": name,
        "optional": optional,
        "label": plain(label),
        "element": element,
    }


def _shown(sentence: str) -> Json:
    block = {"type": "section", "text": plain(sentence[:_LONGEST_SECTION].replace("`", ""))}
    return shown_modal(text("policy-form-title"), [block])
