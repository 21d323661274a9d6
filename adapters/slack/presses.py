"""Buttons, menus and forms in Slack: read for the shared actions, and what these say shown."""

import json
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.presses import Presses
from adapters.actions.use import (
    Cards,
    CoursesFound,
    Declined,
    Evidence,
    Form,
    Notice,
    QuestionTaken,
    Result,
    Terms,
    Use,
)
from adapters.chat.acceptor import BackgroundWork
from adapters.chat.buttons import Button, custom_id, parsed
from adapters.chat.incoming_message import IncomingMessage
from adapters.slack import outbound
from adapters.slack.inbound import (
    PLATFORM,
    Spot,
    incoming_from_command,
    moment_of,
    position_of,
    pressed_at,
    response_of,
    spot_of_command,
    trigger_key,
)
from adapters.slack.installations import Installations
from adapters.slack.modals import (
    answer_press,
    card_blocks,
    form_view,
    open_modal,
    private_message,
    respond_with,
    sentence_modal,
    shown_modal,
    told,
    typed_in,
    update_modal,
)
from adapters.slack.notices import message_id
from adapters.slack.outbound import Response, blocks_of_post, section_of
from adapters.slack.people import GROUPS_SCOPE, People, home_of, is_in
from adapters.slack.refusals import Refused, send_file
from adapters.slack.reply import evidence
from core.domain import i18n, now
from core.domain.errors import BotError, DeliveryError, RequestError
from core.storage.access import NamedStaff, StaffKind
from core.storage.channels import Place
from core.storage.inbox.base import Arrival
from core.storage.inbox.queries import InboxPlaces
from core.storage.privacy import Channel
from core.teaching.help_requests import CardDue, QueueCard

logger = logging.getLogger(__name__)

Json = dict[str, Any]
ShowCard = Callable[[CardDue, QueueCard], Awaitable[str]]

VERIFY = "gl-verify"
"""The callback id of the message shortcut by which staff correct an answer."""


@dataclass(frozen=True, slots=True)
class UseContext:
    """What is asked about who does something."""

    people: People
    installations: Installations
    show_card: ShowCard
    terms: Terms


class SlackUse(Use):
    """A command, a press, a shortcut, or a form that was sent."""

    def __init__(
        self,
        around: UseContext,
        spot: Spot,
        body: Json,
        client: AsyncWebClient | None,
        *,
        ts: str | None = None,
        key: str = "",
        response: Response | None = None,
    ) -> None:
        """Put together what Slack sent.

        Args:
            ts: When it was pressed, as Slack writes it; None: Slack does not say.
            key: The inbox key of what is asked by it; empty: by its trigger.
            response: The way to answer; None: the one in its body.
        """
        self._around = around
        self.terms = around.terms
        self.spot = spot
        self._body = body
        self._client = client
        self._ts = ts
        self._key = key
        self.at = now() if ts is None else moment_of(ts)
        self._response = response or response_of(body, self.at)
        self.who = around.people.presence_of(spot)
        self.here = Place(PLATFORM, spot.team, spot.channel)
        self.position = time.time_ns() // 1_000 if ts is None else position_of(ts)
        self.direct, self.outsider = spot.direct, spot.outsider
        container = body.get("container") or {}
        self.alone = bool(container.get("is_ephemeral"))
        self.message = str(container["message_ts"]) if container.get("message_ts") else None

    def heard(
        self,
        question: str,
        *,
        quote: str | None = None,
        section: str | None = None,
        private: bool = False,
    ) -> IncomingMessage:
        """Return what is asked by it, with what finds out who asks."""
        incoming = incoming_from_command(
            self.spot,
            self._key or trigger_key(self._body["trigger_id"]),
            question,
            quote=quote,
            private=private,
            response=self._response,
            commanded="command" in self._body,
        )
        if self._ts is not None and not self._key:
            incoming = replace(incoming, position=self.position, sent_at=self.at)
        return self._around.people.introduced(replace(incoming, section=section))

    async def open(self, form: Form) -> bool:
        """Show a form, which remembers where it was opened."""
        about: Json = {
            "form": custom_id(form.button, form.name),
            "spot": asdict(self.spot),
            "at": self._ts,
        }
        if (response := self._response) is not None:
            about |= {"url": response.url, "until": response.expires_at.isoformat()}
        return await self.open_view(form_view(form, json.dumps(about)))

    async def open_view(self, view: Json) -> bool:
        """Show a modal; return whether it is shown."""
        trigger = self._body.get("trigger_id")
        if self._client is None or trigger is None:
            return False
        return await open_modal(self._client, str(trigger), view)

    async def locale(self) -> str | None:
        """Return the locale that the user has set in Slack."""
        return await self._around.people.locale_of(self._body)

    async def user_name(self) -> str:
        """Return how the user is called in the workspace."""
        spot = self.spot
        member = await self._around.people.member(spot.team, spot.enterprise, spot.user)
        return member.name if member is not None else ""

    async def workspaces(self) -> Collection[str]:
        """Return the workspaces that have the app.

        Where an organisation let the app in, its workspaces are known by their events alone.
        """
        return {self.spot.team, *await self._around.installations.places()}

    async def address_to_share(self) -> Mapping[str, Any]:
        """Return the thread or channel of the button, where the bot is a member."""
        assert self._client is not None, "a press comes with one"
        if not await is_in(self._client, self.spot.channel):
            raise Declined(i18n.text("slack-not-in-channel"))
        return self.spot.address(post_question=self.spot.thread is None)

    def reply_address(self, original: Arrival, thread: str | None) -> Mapping[str, Any]:
        """Return where the staff's reply to a question goes: into its thread."""
        address = dict(original.address)
        root = thread or address.get("thread") or address.get("message")
        question = address.get("message") or root
        return {**address, "thread": root, "message": question, "post_question": False}

    async def to_be_staff(self, named: NamedStaff) -> str:
        """Return that groups cannot be read, where one is named; raises RequestError."""
        people, home = self._around.people, home_of(self.who)
        if named.kind is StaffKind.PERSON:
            if await people.member(*home, named.id) is None:
                raise RequestError(user_message=i18n.text("slack-staff-no-member"))
            return ""
        if note := await self.note_on_groups():
            return note
        if not await people.people_in(*home, named.id):
            raise RequestError(user_message=i18n.text("slack-staff-no-group"))
        return ""

    async def note_on_groups(self) -> str:
        """Return that the scope is missing by which we see who is in a group."""
        if await self._around.people.may_read_groups(*home_of(self.who)):
            return ""
        return i18n.text("slack-staff-no-groups-scope", scope=GROUPS_SCOPE)

    async def show_card(self, due: CardDue, card: QueueCard) -> str:
        """Show a card in its channel."""
        return await self._around.show_card(due, card)

    @property
    def answer_message(self) -> str | None:
        """The message with the button, as the inbox knows it."""
        return None if self.message is None else message_id(self.spot.channel, self.message)

    async def message_of(self, result: Result) -> Json | None:
        """Return the message that shows a result; a modal is shown by itself, and needs none."""
        match result:
            case Notice():
                return await self._told(result)
            case Evidence(response):
                return await self._passages(evidence(response))
            case CoursesFound(sentence, choice):
                blocks = blocks_of_post(outbound.sentence(sentence, choice))
                return {**private_message("", blocks), "replace_original": True}
            case Cards(heading, _, _, in_place):
                shown = private_message(heading, card_blocks(result))
                return {**shown, "replace_original": True} if in_place else shown
        return None

    async def _passages(self, passages: list[Json]) -> Json | None:
        if not passages:
            return told(i18n.text("answer-no-evidence"))
        is_shown = await self.open_view(shown_modal(i18n.text("button-evidence"), passages))
        return None if is_shown else told(i18n.text("slack-too-late"))

    async def _told(self, said: Notice) -> Json:
        markdown = said.markdown
        if said.file is not None:
            assert self._client is not None, "a command or a press comes with one"
            try:
                await send_file(self._client, self.spot.user, said.file, said.file.caption)
            except DeliveryError as error:
                logger.warning("a file was not sent: %s", error)
                if said.file.is_all:
                    is_forbidden = isinstance(error, Refused) and error.word == "missing_scope"
                    sentence = i18n.text("slack-export-no-files")
                    markdown = sentence if is_forbidden else error.user_message
            else:
                direct = i18n.text("slack-export-in-direct-messages")
                with_picture = f"{markdown}\n\n{i18n.text('radar-picture-sent')}"
                markdown = direct if said.file.is_all else with_picture
        message = told(markdown, buttons=said.buttons, name=said.name)
        if said.for_all:
            message["response_type"] = "in_channel"
        return {**message, "replace_original": True} if said.in_place else message


class SlackClicks:
    """Hands presses and forms on, and shows what they come to, to their user alone."""

    def __init__(
        self,
        presses: Presses,
        around: UseContext,
        background: BackgroundWork,
        places: InboxPlaces,
    ) -> None:
        self.presses = presses
        self.around = around
        self._background = background
        self._places = places

    def command(self, body: Json, client: AsyncWebClient) -> SlackUse:
        """Return a slash command as it is used."""
        return SlackUse(self.around, spot_of_command(body), body, client)

    async def clicked(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Do what a button says, or what was chosen in a menu."""
        action = body["actions"][0]
        doing: Callable[[Use], Awaitable[Result]] | None = None
        if (section := section_of(action)) is not None:
            doing = partial(self.presses.choose_number, *section)
        elif (chosen := outbound.chosen(action)) is not None:
            doing = partial(self.presses.choose_course, *chosen)
        elif (pressed := outbound.pressed(action)) is not None:
            doing = partial(self.presses.press, *pressed)
        if doing is not None:
            await self._background.in_time(self._answer(doing, body, respond, client))
        await ack()

    async def verify(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Open the form in which the answer of the bot in a message is corrected."""

        async def verify(use: Use) -> Result:
            shown = message_id(use.here.place, str(body["message"]["ts"]))
            return await self.presses.verify_message(shown, use)

        await self._background.in_time(self._answer(verify, body, respond, client))
        await ack()

    async def submitted(self, body: Json, ack: AsyncAck, client: AsyncWebClient) -> None:
        """Take in what was typed into a form, and say in its place what came of it."""
        view = body["view"]
        kept: Json = json.loads(view["private_metadata"])
        form, title = parsed(kept["form"]), str(view["title"]["text"])
        assert form is not None, "we wrote it"

        async def late(sentence: str) -> None:
            await update_modal(client, view["id"], sentence_modal(title, sentence))

        sentence = await self._background.in_time(self._submitted(form, kept, body), late)
        asks = form[0] is Button.NOT_MEANT
        waiting = i18n.text("asking-slow") if asks else i18n.text("slack-keeping-reason")
        await ack(response_action="update", view=sentence_modal(title, sentence or waiting))

    async def session_stopped(self, spot: Spot, thread: str) -> None:
        """Stop the answers below a message: who asked, or staff, pressed Slack's own button."""
        use = SlackUse(self.around, spot, {}, None)
        try:
            channel = Channel(PLATFORM, spot.team, spot.channel)
            under_way = await self._places.under_way(channel, thread)
        except BotError as error:
            logger.info("no answer was stopped: %s", error.user_message)
            return
        for request_id in under_way:
            try:
                await self.presses.stop(request_id, use)
            except BotError as error:  # another's: the user's own may follow
                logger.info("an answer was not stopped: %s", error.user_message)

    async def _submitted(self, form: tuple[Button, UUID], kept: Json, body: Json) -> str:
        view, until = body["view"], kept.get("until")
        use = SlackUse(
            self.around,
            Spot(**kept["spot"]),
            body,
            None,
            ts=kept["at"],
            key=trigger_key(view["id"]),
            response=Response(kept["url"], datetime.fromisoformat(until)) if until else None,
        )
        match await self.presses.submit(*form, typed_in(view), use):
            case Notice(markdown):
                return markdown
            case QuestionTaken(received):
                return received.arrival.refusal or i18n.text("not-meant-asked")
        return i18n.text("vote-noted")

    async def _answer(
        self,
        doing: Callable[[Use], Awaitable[Result]],
        body: Json,
        respond: AsyncRespond,
        client: AsyncWebClient,
    ) -> None:
        spot, ts = None, pressed_at(body) if "actions" in body else str(body["action_ts"])
        try:
            spot = await self.around.people.spot_of(body)
        except BotError as error:
            await respond_with(respond, told(error.user_message))
            return
        use = SlackUse(self.around, spot, body, client, ts=ts)
        result = await doing(use)
        message = await use.message_of(result)
        if message is None:
            return
        if body.get("response_url"):
            await answer_press(client, respond, spot, message)
        elif isinstance(result, Notice) and not result.in_place:  # the Home tab shows the rest
            await use.open_view(sentence_modal(i18n.text("queue-form-title"), result.markdown))
