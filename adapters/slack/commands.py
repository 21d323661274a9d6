"""What people do otherwise than by a message: commands, and the shortcut on a message."""

import asyncio
import html
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import aiohttp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.about import Suggestion, Suggestions
from adapters.actions.commands import Question
from adapters.actions.text_commands import TextCommands
from adapters.actions.use import Extent, Terms
from adapters.chat.acceptor import Acceptor, BackgroundWork, done_in_time
from adapters.chat.access import Location
from adapters.chat.base import clean_text, mapping, mappings
from adapters.chat.course_directory import CourseDirectory, ListedCourse
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.markdown.layout import visible
from adapters.chat.places import Presence
from adapters.chat.question_context import MessageParts, TextFile, Whose
from adapters.slack.inbound import (
    PLATFORM,
    Spot,
    files_of,
    incoming_from_command,
    moment_of,
    response_of,
    spot_of_command,
    trigger_key,
)
from adapters.slack.modals import (
    PRIVATE,
    QUESTION,
    WHO_SEES,
    answer_command,
    explain_modal,
    open_modal,
    plain,
    quote_in,
    shown_modal,
    told,
    typed_in,
)
from adapters.slack.mrkdwn import all_of, escape, escaped, from_mrkdwn
from adapters.slack.notices import message_id
from adapters.slack.outbound import Response
from adapters.slack.people import People, home_of
from adapters.slack.presses import SlackClicks, SlackUse
from core.domain import i18n, now
from core.domain.errors import BotError, RequestError
from core.domain.i18n import Message
from core.domain.i18n import text as assistant_text
from core.domain.links import unread_instead
from core.storage.access import NamedStaff, StaffKind
from core.storage.channels import Panels, Place
from core.storage.inbox.base import Acceptance

logger = logging.getLogger(__name__)


Json = dict[str, Any]

_LONGEST_METADATA = 3_000
"""Characters that a view remembers."""


class Questions:
    """Takes questions and puts them into the inbox before it acknowledges them."""

    def __init__(self, desk: FrontDesk, intake: Acceptor, people: People) -> None:
        self._desk = desk
        self._intake = intake
        self._people = people

    async def take(self, body: Json, ack: AsyncAck, asked: Question) -> None:
        """Take what a command asks; the answer comes when its turn has come."""
        spot = spot_of_command(body)
        key, response = trigger_key(body["trigger_id"]), response_of(body, now())

        said = from_mrkdwn(asked.text)
        private = bool(asked.private)

        async def incoming() -> IncomingMessage:
            nonlocal private
            private = await self._is_private(spot, asked.private)
            incoming = incoming_from_command(
                spot,
                key,
                said.text,
                quote=said.quote,
                private=private,
                response=response,
                commanded=True,
            )
            section = from_mrkdwn(asked.section or "").text.strip() or None
            return replace(incoming, course=asked.course, section=section)

        accepting = self._intake.begin(key, lambda: self._received(incoming))
        if await _is_slow(key, accepting):
            await ack(told(i18n.text("asking-slow")))
        elif private and _is_to_be_answered(accepting.result()):
            await ack(told(i18n.text("slack-private-working")))
        else:
            await ack()

    async def explain(self, body: Json, ack: AsyncAck, client: AsyncWebClient) -> None:
        """Show what is to be explained, and ask what about it."""
        quote, parts = all_of(body["message"]), files_of(body["message"], Whose.TARGET)
        if quote or parts.files:
            view = explain_modal(quote, _metadata(body, await self._people.spot_of(body), parts))
        else:
            unread = unread_instead(parts.unread) if parts.unread else None
            error_as_notice = unread or i18n.text("asking-nothing-to-explain")
            section = {"type": "section", "text": plain(error_as_notice)}
            view = shown_modal(i18n.text("slack-explain-title"), [section])
        await open_modal(client, body["trigger_id"], view)
        await ack()

    async def explain_submitted(self, body: Json, ack: AsyncAck) -> None:
        """Take a passage with a question, or without one."""
        view = body["view"]
        passage = _Passage.of(view["private_metadata"])
        key = trigger_key(view["id"])

        async def incoming() -> IncomingMessage:
            typed = typed_in(view)
            return incoming_from_command(
                passage.spot,
                key,
                typed.get(QUESTION, "").strip(),
                quote=quote_in(view) or None,
                parts=passage.parts,
                explains=passage.message,
                private=await self._is_private(passage.spot, typed.get(WHO_SEES) == PRIVATE),
                response=passage.response,
            )

        accepting = self._intake.begin(key, lambda: self._received(incoming))
        if await _is_slow(key, accepting):
            text = {"type": "section", "text": plain(i18n.text("asking-slow"))}
            await ack(
                response_action="update", view=shown_modal(i18n.text("slack-explain-title"), [text])
            )
        else:
            accepting.result()
            await ack()

    async def receive(self, incoming: IncomingMessage) -> Received | None:
        """Have the desk decide, which finds out who asks."""
        return await self._desk.receive(self._people.introduced(incoming))

    async def take_up(self, key: str, spot: Spot) -> Received | None:
        """Have a question answered that the bot offered to answer, as `FrontDesk.take_up` does."""
        return await self._desk.take_up(key, spot.user, self._people.presence_of(spot))

    async def redo(self, incoming: IncomingMessage, original: str) -> Received | None:
        """Have the desk decide about an edited question, as about a new one."""
        return await self._desk.redo(self._people.introduced(incoming), original)

    async def _received(
        self, incoming: Callable[[], Awaitable[IncomingMessage]]
    ) -> Received | None:
        return await self.receive(await incoming())

    async def _is_private(self, spot: Spot, wished: bool | None) -> bool:
        return await self._desk.answers_privately(spot.location, wished, direct=spot.direct)


async def _is_slow(key: str, accepting: "asyncio.Task[Received | None]") -> bool:
    """Return whether the acceptance of a question takes long.

    Slack waits three seconds. When the database takes longer, the asker is notified, and the
    answer follows as soon as the question is stored.
    """
    if await done_in_time(accepting):
        return False
    logger.warning("a question waits for the database: %s", key)
    return True


def _is_to_be_answered(received: Received | None) -> bool:
    """Return whether it is certain that an answer follows, and not a notice, or nothing."""
    if received is None or received.arrival.refusal is not None:
        return False
    return received.accepted.acceptance is Acceptance.NEW


@dataclass(frozen=True, slots=True)
class _Passage:
    """What the modal that asks about a message remembers of it."""

    spot: Spot
    response: Response | None
    parts: MessageParts
    message: str | None
    """Its id, where an app wrote it."""

    @classmethod
    def of(cls, metadata: str) -> "_Passage":
        """Return what `_metadata` wrote."""
        kept = json.loads(metadata)
        url, until = kept.pop("url", None), kept.pop("until", None)
        files, message = kept.pop("files", ()), kept.pop("message", None)
        response = Response(url, datetime.fromisoformat(until)) if url else None
        parts = MessageParts(tuple(TextFile(one, Whose.TARGET) for one in files))
        return cls(Spot(**kept), response, parts, message)


def _metadata(body: Json, spot: Spot, parts: MessageParts) -> str:
    """Return where a passage stands, for the modal that asks about it to remember."""
    message = body["message"]
    asked_at = moment_of(body["action_ts"])
    response = response_of(body, asked_at)
    thread = str(message.get("thread_ts") or body["message_ts"])
    kept = asdict(replace(spot, thread=thread))
    if response is not None:
        kept |= {"url": response.url, "until": response.expires_at.isoformat()}
    if message.get("bot_id"):
        kept["message"] = message_id(spot.channel, str(body["message_ts"]))
    files = list[str]()
    for file in parts.files:
        if len(json.dumps({**kept, "files": [*files, file.url]})) <= _LONGEST_METADATA:
            files.append(file.url)
    return json.dumps({**kept, "files": files})


TERMS = Terms(
    Message("slack-how-to-ask"),
    {
        Extent.CHANNEL: Message("staff-done-channel"),
        Extent.TENANT: Message("staff-done-workspace"),
    },
)
WIDE = {"workspace": Extent.TENANT}
_MENTION = re.compile(r"<(?:@|!subteam\^)(?P<id>[A-Z0-9]+)(?:\|[^<>]*)?>")
_OTHER_ENTITY = re.compile(r"<[#!]?(?P<what>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_KINDS = {"S": StaffKind.GROUP, "U": StaffKind.PERSON, "W": StaffKind.PERSON}
_ID = re.compile(r"[SUW][A-Z0-9]{6,}")


class SlashCommands:
    """Does what is typed after a command, and answers its user."""

    def __init__(
        self,
        text: TextCommands,
        questions: Questions,
        clicks: SlackClicks,
        background: BackgroundWork,
    ) -> None:
        self._text = text
        self._questions = questions
        self._clicks = clicks
        self._background = background

    async def given(
        self, group: str, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Do what a command of a group says."""
        line = str(body.get("text") or "")
        if (asked := self._text.question(group, line)) is not None:
            await self._questions.take(body, ack, asked)
            return
        use = self._clicks.command(body, client)
        answering = self._answer(group, unescaped(line), use)
        await answer_command(self._background, answering, ack, respond)

    async def _answer(self, group: str, line: str, use: SlackUse) -> Json:
        return await use.message_of(await self._text.answer(group, line, use)) or {}


def named(word: str, course: str | None) -> NamedStaff:
    """Return who is meant by a mention, or by an id as the list shows it.

    Raises:
        RequestError: where it is neither.
    """
    if _ID.fullmatch(word) is None:
        raise RequestError(user_message=i18n.text("slack-staff-no-mention"))
    return NamedStaff(_KINDS[word[0]], word, course)


def unescaped(text: str) -> str:
    """Return what was typed after a command, each mention as the id of whom it names."""
    text = _OTHER_ENTITY.sub(_typed, _MENTION.sub(r" \g<id> ", text))
    return html.unescape(text)


def _typed(entity: re.Match[str]) -> str:
    return entity["label"] or entity["what"]


class Names:
    """Names groups and people without a mention, which would notify them."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def shown(self, who: Presence, named: NamedStaff) -> str:
        """Return a name with its id; of those who have left, the id alone."""
        if named.kind is StaffKind.GROUP:
            handle = (await self._people.groups(*home_of(who))).get(named.id, "")
            name = escape(handle)
            group = i18n.text("slack-staff-group", name=name, id=named.id)
            return group if handle else f"`{named.id}`"
        member = await self._people.member(*home_of(who), named.id)
        name = member.name if member else ""
        return f"{escape(name)} (`{named.id}`)" if name else f"`{named.id}`"


_CHANNEL = "slack#/types/channel_id"
_MESSAGE = "slack#/types/message_context"


def channel_looked_at(context: object, team: str) -> str | None:
    """Return the channel of a workspace that a context tells of; None: it tells of none."""
    for entity in mappings(mapping(context).get("entities")):
        if clean_text(entity.get("team_id")) in ("", team) and (channel := _channel(entity)):
            return channel
    return None


def _channel(entity: Mapping[str, Any]) -> str:
    value, kind = entity.get("value"), entity.get("type")
    if kind == _MESSAGE:
        return clean_text(mapping(value).get("channel_id"))
    return clean_text(value) if kind == _CHANNEL else ""


_BROKEN = (SlackClientError, aiohttp.ClientError, OSError)


@dataclass(frozen=True, slots=True)
class DirectConversation:
    """A conversation of a user with the bot."""

    team: str
    channel: str
    user: str

    @property
    def place(self) -> Place:
        """Where it is kept what it stands next to."""
        return Place(PLATFORM, self.team, self.channel)


class Assistant:
    """Makes conversations ready for their users.

    Which channel one stands next to is kept by us: Slack's libraries would read the whole thread
    for it, at one call a minute.
    """

    def __init__(
        self, desk: FrontDesk, directory: CourseDirectory, panels: Panels, suggestions: Suggestions
    ) -> None:
        self._desk = desk
        self._directory = directory
        self._panels = panels
        self._suggestions = suggestions

    async def note(self, spoken: DirectConversation, beside: str | None) -> bool:
        """Keep which channel a conversation stands next to; return whether it is a new one.

        Raises:
            StoreError: when the database fails.
        """
        is_new = not await self._panels.knows(spoken.place)
        await self._panels.note(spoken.place, beside)
        return is_new

    async def beside(self, event: Mapping[str, Any], team: str) -> str | None:
        """Return the channel that a direct message stands next to; raises StoreError."""
        if "app_context" in event:
            return channel_looked_at(event["app_context"], team)
        return await self._panels.beside(DirectConversation(team, str(event["channel"]), "").place)

    async def course_looked_at(self, spoken: DirectConversation, beside: str | None) -> str | None:
        """Return the title of the course that `beside` chooses; None: it changes nothing.

        Raises:
            BotError: when it is not known.
        """
        if beside is None:
            return None
        chosen = await self._mark(spoken, beside)
        otherwise = await self._mark(spoken, None)
        return chosen.course.title if chosen is not None and chosen != otherwise else None

    async def greet(
        self, client: AsyncWebClient, spoken: DirectConversation, beside: str | None
    ) -> None:
        """Say hello; what Slack refuses is left out."""
        greeting = assistant_text("slack-greeting")
        if (title := await self._title(spoken, beside)) is not None:
            greeting += f" {assistant_text('slack-greeting-course', course=title)}"
        try:
            await client.chat_postMessage(
                channel=spoken.channel,
                text=escaped(greeting),
                unfurl_links=False,
                unfurl_media=False,
            )
        except _BROKEN as error:
            logger.warning("a conversation was not greeted: %s", error)

    async def suggest(
        self, client: AsyncWebClient, spoken: DirectConversation, beside: str | None
    ) -> None:
        """Suggest what could be asked: only what the course has answered already."""
        try:
            mark = await self._mark(spoken, beside)
            prompts = await self._prompts(spoken, beside, mark)
        except BotError as error:
            logger.warning("no prompts could be suggested: %s", error)
            return
        if mark is None or not prompts:
            return
        try:
            await client.assistant_threads_setSuggestedPrompts(
                channel_id=spoken.channel,  # and no thread_ts: Slack would show nothing
                title=assistant_text("slack-prompts-course", course=mark.course.title),
                prompts=[{"title": visible(p.topic), "message": p.question} for p in prompts],
            )
        except _BROKEN as error:
            logger.warning("no prompts could be suggested: %s", error)

    async def _title(self, spoken: DirectConversation, beside: str | None) -> str | None:
        try:
            mark = await self._mark(spoken, beside)
        except BotError as error:
            logger.warning("a greeting names no course: %s", error)
            return None
        return mark.course.title if mark is not None else None

    async def _prompts(
        self, spoken: DirectConversation, beside: str | None, mark: ListedCourse | None
    ) -> Sequence[Suggestion]:
        if mark is None:
            return ()
        here = await self._desk.here(_location(spoken, beside))
        return await self._suggestions.about(here.reader, mark.course.course_id)

    async def _mark(self, spoken: DirectConversation, beside: str | None) -> ListedCourse | None:
        """Return the course that a conversation is answered from; None: it is not clear."""
        here = await self._desk.here(_location(spoken, beside))
        return await self._directory.mark(here.reader, await self._desk.course_of(here))


def _location(spoken: DirectConversation, beside: str | None) -> Location:
    places = tuple(place for place in (beside, spoken.channel, spoken.team) if place)
    return Location(PLATFORM, spoken.team, places, spoken.user)
