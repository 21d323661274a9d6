"""What people ask otherwise than by a message: `/ask`, `/help`, and the message shortcut."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from adapters.context.message_parts import MessageParts, TextFile, Whose
from adapters.intake.acceptor import Acceptor
from adapters.intake.deadline import done_in_time
from adapters.intake.front_desk import FrontDesk, Received
from adapters.intake.incoming_message import IncomingMessage
from adapters.slack.commands.modals import (
    PRIVATE,
    PUBLIC,
    QUESTION,
    WHO_SEES,
    explain_modal,
    open_modal,
    plain,
    quote_in,
    shown_modal,
    told,
    typed,
)
from adapters.slack.files_in_messages import files_of
from adapters.slack.inbound import (
    Spot,
    heard_command,
    moment_of,
    response_of,
    spot_of_command,
    trigger_key,
)
from adapters.slack.mrkdwn_parser import all_of, from_mrkdwn
from adapters.slack.people import People
from adapters.slack.replies.address import Response
from adapters.slack.replies.dedupe import message_id
from core import i18n
from core.inbox.base import Acceptance
from core.models import now
from core.text.unread import unread_instead

logger = logging.getLogger(__name__)

Json = dict[str, Any]

_LONGEST_METADATA = 3_000
"""Characters that a view remembers."""
_IN_SECTION = re.compile(
    r"in\s+[\"“”„«](?P<name>[^\"“”„«»\n]{1,200})[\"“”»](?=\s|$)", re.IGNORECASE
)
"""As people write it, and as phones change their quotation marks."""


@dataclass(frozen=True, slots=True)
class AskCommand:
    """What runs for `/ask`."""

    question: str
    private: bool | None = None
    """Whether its asker alone sees the answer; None: as the channel says."""
    section: str | None = None

    @classmethod
    def of(cls, text: str) -> "AskCommand":
        """Return what was asked: `private in "Section" question`, all but the last optional."""
        first, _, rest = text.strip().partition(" ")
        private = {PRIVATE: True, PUBLIC: False}.get(first.lower())
        question = text.strip() if private is None else rest.strip()
        found = _IN_SECTION.match(question)
        if found is None:
            return cls(question, private)
        section = from_mrkdwn(found["name"]).text.strip()
        return cls(question[found.end() :].strip(), private, section or None)


class Questions:
    """Takes questions and puts them into the inbox before it acknowledges them."""

    def __init__(self, desk: FrontDesk, intake: Acceptor, people: People) -> None:
        self._desk = desk
        self._intake = intake
        self._people = people

    async def ask(self, body: Json, ack: AsyncAck) -> None:
        """Take a question by command; the answer comes when its turn has come."""
        asked = AskCommand.of(str(body.get("text") or ""))
        if not asked.question:
            await ack(told(i18n.text("asking-how")))
            return
        await self.take(body, ack, asked)

    async def take(
        self,
        body: Json,
        ack: AsyncAck,
        asked: AskCommand,
        *,
        course: str | None = None,
    ) -> None:
        """Take what a command asks.

        Args:
            course: The course that is asked, whatever the channel says.
        """
        spot = spot_of_command(body)
        key, response = trigger_key(body["trigger_id"]), response_of(body, now())

        said = from_mrkdwn(asked.question)
        private = bool(asked.private)

        async def incoming() -> IncomingMessage:
            nonlocal private
            private = await self._is_private(spot, asked.private)
            incoming = heard_command(
                spot,
                key,
                said.text,
                quote=said.quote,
                private=private,
                response=response,
                commanded=True,
            )
            return replace(incoming, course=course, section=asked.section)

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
            told_instead = unread or i18n.text("asking-nothing-to-explain")
            section = {"type": "section", "text": plain(told_instead)}
            view = shown_modal(i18n.text("slack-explain-title"), [section])
        await open_modal(client, body["trigger_id"], view)
        await ack()

    async def explain_submitted(self, body: Json, ack: AsyncAck) -> None:
        """Take a passage with a question, or without one."""
        view = body["view"]
        passage = _Passage.of(view["private_metadata"])
        key = trigger_key(view["id"])

        async def incoming() -> IncomingMessage:
            return heard_command(
                passage.spot,
                key,
                typed(view, QUESTION).strip(),
                quote=quote_in(view) or None,
                parts=passage.parts,
                explains=passage.message,
                private=await self._is_private(passage.spot, typed(view, WHO_SEES) == PRIVATE),
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
        """Return whether an asker alone sees the answer, who may wish so or otherwise."""
        if wished is None:
            rules = await self._desk.rules_at(spot.location)
            return bool(rules.private)
        return wished or (not spot.direct and self._desk.keeps_private(spot.location))


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
