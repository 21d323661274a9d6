"""`/course hints`, `/course policy` and `/course radar` in Slack."""

import html
import json
import logging
import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.reports import File, RadarViews
from adapters.actions.settings import (
    LONGEST_NAME,
    LONGEST_TEXT,
    AssignmentForm,
    ChannelSettings,
    PolicyForm,
    PolicySettings,
    StaffSettings,
)
from adapters.chat.acceptor import BackgroundWork
from adapters.chat.whereabouts import Presence
from adapters.slack.inbound import PLATFORM, Spot, spot_of_command
from adapters.slack.modals import (
    answer_command,
    open_modal,
    plain,
    shown_modal,
    told,
    told_to_all,
    typed,
    update_modal,
)
from adapters.slack.mrkdwn import escape
from adapters.slack.people import GROUPS_SCOPE, People
from adapters.slack.refusals import send_file
from adapters.slack.staff_presses import StaffQueue
from core.domain import AnswerLength, PolicyMode, i18n
from core.domain.errors import BotError, DeliveryError, RequestError
from core.domain.i18n import current_language, text
from core.storage.access import NamedStaff, StaffKind
from core.storage.channels import Askers, FollowUps, Place, Rules

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


STAFF = "staff"
_MENTION = re.compile(r"<(?:@|!subteam\^)(?P<id>[A-Z0-9]+)(?:\|[^<>]*)?>")
_OTHER_ENTITY = re.compile(r"<[#!]?(?P<what>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_KINDS = {"S": StaffKind.GROUP, "U": StaffKind.PERSON, "W": StaffKind.PERSON}
_ID = re.compile(r"[SUW][A-Z0-9]{6,}")


class StaffCommands:
    """Names staff for the workspace, or for one course in it."""

    def __init__(self, staff: StaffSettings, people: People) -> None:
        self._staff = staff
        self._people = people

    async def done(self, who: Presence, words: list[str]) -> str:
        """Do what a command says, and return the reply to its user.

        Raises:
            RequestError: when it cannot be done.
            StoreError: when the database fails.
            DeliveryError: when Slack does not say who we are.
        """
        match [word.lower() for word in words[:1]], words[1:]:
            case ["add"], [whom, *course] if len(course) <= 1:
                return await self._added(who, _named(whom, course))
            case ["remove"], [whom, *course] if len(course) <= 1:
                return await self._staff.remove(who, _named(whom, course))
            case ["list"], []:
                return await self._listed(who)
            case _:
                return i18n.text("slack-how-to-name")

    async def _added(self, who: Presence, named: NamedStaff) -> str:
        await self._staff.admit_naming(who)
        team, enterprise = _place(who)
        if named.kind is StaffKind.PERSON:
            if await self._people.member(team, enterprise, named.id) is None:
                raise RequestError(user_message=i18n.text("slack-staff-no-member"))
            return await self._staff.add(who, named)
        if not await self._people.may_read_groups(team, enterprise):
            return f"{await self._staff.add(who, named)}\n{_no_groups_scope()}"
        if not await self._people.people_in(team, enterprise, named.id):
            raise RequestError(user_message=i18n.text("slack-staff-no-group"))
        return await self._staff.add(who, named)

    async def _listed(self, who: Presence) -> str:
        lines = await self._staff.lines(who)
        if await self._staff.groups(who) and not await self._people.may_read_groups(*_place(who)):
            lines = [*lines, _no_groups_scope()]
        return "\n".join(f"- {line}" for line in lines)


class Names:
    """Names groups and people without a mention, which would notify them."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def shown(self, who: Presence, named: NamedStaff) -> str:
        """Return a name with its id; of those who have left, the id alone."""
        if named.kind is StaffKind.GROUP:
            handle = (await self._people.groups(*_place(who))).get(named.id, "")
            return _group(escape(handle), named.id) if handle else f"`{named.id}`"
        member = await self._people.member(*_place(who), named.id)
        name = member.name if member else ""
        return f"{escape(name)} (`{named.id}`)" if name else f"`{named.id}`"


def _no_groups_scope() -> str:
    return i18n.text("slack-staff-no-groups-scope", scope=GROUPS_SCOPE)


def _group(name: str, group_id: str) -> str:
    return i18n.text("slack-staff-group", name=name, id=group_id)


def unescaped(text: str) -> str:
    """Return what was typed after a command, each mention as the id of whom it names."""
    text = _OTHER_ENTITY.sub(_typed, _MENTION.sub(r" \g<id> ", text))
    return html.unescape(text)


def _typed(entity: re.Match[str]) -> str:
    return entity["label"] or entity["what"]


def _named(whom: str, course: list[str]) -> NamedStaff:
    """Return who is meant by a mention, or by an id as the list shows it."""
    if _ID.fullmatch(whom) is None:
        raise RequestError(user_message=i18n.text("slack-staff-no-mention"))
    return NamedStaff(_KINDS[whom[0]], whom, course[0] if course else None)


def _place(who: Presence) -> tuple[str, str | None]:
    """Return the ids of a workspace and of its organisation."""
    return who.location.workspace, who.organisation.workspace if who.organisation else None


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
