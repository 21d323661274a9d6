"""What the buttons under an answer do in Slack, also those from before a restart."""

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.answers import AnswerActions, Clicker, Declined, reason_of
from adapters.chat.acceptor import BackgroundWork
from adapters.chat.base import CHOICE
from adapters.chat.buttons import Button
from adapters.chat.front_desk import FrontDesk
from adapters.chat.incoming_message import IncomingMessage
from adapters.slack import outbound as blocks
from adapters.slack.inbound import (
    PLATFORM,
    Spot,
    heard_command,
    heard_press,
    moment_of,
    position_of,
    pressed_at,
    response_of,
    trigger_key,
)
from adapters.slack.installations import Installations
from adapters.slack.modals import (
    BECAUSE,
    QUESTION,
    WHY,
    answer_press,
    meant_modal,
    open_modal,
    plain,
    reason_modal,
    respond_with,
    shown_modal,
    told,
    typed,
    update_modal,
)
from adapters.slack.notices import message_id
from adapters.slack.outbound import Response, section_of
from adapters.slack.people import People, is_in
from adapters.slack.reply import evidence
from adapters.slack.staff_presses import Pressed, StaffQueue, ask_button
from core.domain import AgentRequest, i18n
from core.domain.errors import BotError, RequestError
from core.storage.inbox.queries import InboxPlaces
from core.storage.privacy import Channel, PersonalData

logger = logging.getLogger(__name__)

Json = dict[str, Any]

_OF_ONES_OWN = frozenset({Button.STOP, Button.DELETE})
"""Their askers may press these anywhere and always."""


@dataclass(frozen=True, slots=True)
class _Press:
    """A button that was pressed."""

    request_id: UUID
    spot: Spot
    body: Json
    client: AsyncWebClient

    @property
    def ts(self) -> str:
        """When it was pressed, as Slack writes it."""
        return pressed_at(self.body)


class ButtonActions:
    """Does what a button says; each click is answered to its clicker alone."""

    def __init__(
        self,
        desk: FrontDesk,
        actions: AnswerActions,
        personal: PersonalData,
        people: People,
        installations: Installations,
        unhurried: BackgroundWork,
        places: InboxPlaces,
        staff: StaffQueue,
    ) -> None:
        self.staff = staff
        self._places = places
        self._desk = desk
        self._actions = actions
        self._personal = personal
        self._people = people
        self._installations = installations
        self._unhurried = unhurried
        self._doing: dict[Button, Callable[[_Press], Awaitable[Json | str | None]]]
        self._doing = {
            Button.HELPFUL: self._helpful,
            Button.NOT_HELPFUL: self._not_helpful,
            Button.EVIDENCE: self._evidence,
            Button.WITHOUT_QUOTE: self._without_quote,
            Button.NOT_MEANT: self._not_meant,
            Button.SHARE: self._share,
            Button.STOP: self._stop,
            Button.DELETE: self._delete,
        }

    async def clicked(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Do what the pressed button says; the clicker reads when it cannot be done."""
        action = body["actions"][0]
        pressed, chosen = blocks.pressed(action), blocks.chosen(action)
        doing: Callable[[_Press], Awaitable[Json | str | None]]
        if (section := section_of(action)) is not None:
            kind, request_id, number = section
            choosing = self._question_chosen if kind == CHOICE else self._section_chosen
            doing = partial(choosing, number=number)
            await self._unhurried.in_time(self._do(doing, request_id, body, respond, client))
        elif chosen is not None:
            request_id, course_id = chosen
            doing = partial(self._chosen, course_id=course_id)
            await self._unhurried.in_time(self._do(doing, request_id, body, respond, client))
        elif pressed is not None:
            button, request_id = pressed
            doing = partial(self._pressed, button)
            await self._unhurried.in_time(self._do(doing, request_id, body, respond, client))
        await ack()

    async def reason_given(self, body: Json, ack: AsyncAck, client: AsyncWebClient) -> None:
        """Keep why an answer was not helpful, unless the vote was changed meanwhile."""
        view = body["view"]

        async def thank(sentence: str) -> None:
            await update_modal(client, view["id"], _thanks(sentence))

        sentence = await self._unhurried.in_time(self._keep_reason(view), thank)
        await ack(
            response_action="update", view=_thanks(sentence or i18n.text("slack-keeping-reason"))
        )

    async def meant(self, body: Json, ack: AsyncAck, client: AsyncWebClient) -> None:
        """Ask what a follow-up was to mean, and say so in place of the form."""
        view = body["view"]

        async def show(sentence: str) -> None:
            await update_modal(client, view["id"], _meant(sentence))

        sentence = await self._unhurried.in_time(self._ask_meant(view), show)
        await ack(response_action="update", view=_meant(sentence or i18n.text("asking-slow")))

    async def session_stopped(self, spot: Spot, thread: str) -> None:
        """Stop the answers below a message: who asked, or staff, pressed Slack's own button."""
        channel = Channel(PLATFORM, spot.team, spot.channel)
        try:
            for request_id in await self._places.under_way(channel, thread):
                is_staff = partial(self._is_staff, spot)
                await self._actions.stop(request_id, self._clicker(spot), is_staff)
        except BotError as error:
            logger.info("an answer was not stopped: %s", error.user_message)

    async def forget(self, body: Json, respond: AsyncRespond) -> None:
        """Delete what is stored about the clicker, and say so in place of the button."""
        try:
            spot = await self._people.spot_of(body)
            await self._personal.forget(await self.pseudonyms(spot))
        except BotError as error:
            await respond_with(respond, told(error.user_message))
            return
        if body.get("response_url"):
            await respond_with(respond, told(i18n.text("privacy-deleted")), replace=True)

    async def pseudonyms(self, spot: Spot) -> list[str]:
        """Return the pseudonyms a person may have: one a workspace; raises StoreError.

        Where an organisation let the app in, its workspaces are known by their events alone.
        """
        known = await self._personal.workspaces(PLATFORM)
        places = {spot.team, *known, *await self._installations.places()}
        return [self._desk.pseudonym(PLATFORM, place, spot.user) for place in sorted(places)]

    async def _do(
        self,
        doing: Callable[[_Press], Awaitable[Json | str | None]],
        request_id: UUID,
        body: Json,
        respond: AsyncRespond,
        client: AsyncWebClient,
    ) -> None:
        spot = None
        try:
            spot = await self._people.spot_of(body)
            shown = await doing(_Press(request_id, spot, body, client))
        except BotError as error:
            if not isinstance(error, RequestError):
                logger.warning("a click failed: %s", error)
            shown = error.user_message
        if shown is None:
            return
        if body.get("response_url"):
            message = told(shown) if isinstance(shown, str) else shown
            await answer_press(client, respond, spot, message)
        elif isinstance(shown, str):  # on the Home tab, which shows the cards again
            section = {"type": "section", "text": plain(shown)}
            view = shown_modal(i18n.text("queue-form-title"), [section])
            await open_modal(client, body["trigger_id"], view)

    async def _pressed(self, button: Button, press: _Press) -> Json | str | None:
        await self._check_admitted(button, press.spot)
        if button in self._doing:
            return await self._doing[button](press)
        pressed = Pressed(press.request_id, press.spot, press.body, press.client)
        return await self.staff.pressed(button, pressed)

    async def _chosen(self, press: _Press, *, course_id: str) -> str | None:
        """Have a question answered that waited for its course."""
        private = self._is_private(press)

        def incoming(request: AgentRequest) -> IncomingMessage:
            said, quote = request.query_text, request.selected_text
            again = heard_press(press.spot, press.body, said, quote=quote, private=private)
            return self._people.introduced(replace(again, section=request.section_filter))

        clicker = self._clicker(press.spot)
        chosen = await self._actions.choose(press.request_id, course_id, clicker, incoming)
        return chosen if isinstance(chosen, str) else None

    async def _section_chosen(self, press: _Press, *, number: int) -> str | None:
        """Ask a question that was refused again, within one of the nearest sections."""
        kept, clicker = self._is_kept_private(press), self._clicker(press.spot)

        def incoming(question: str, private: bool) -> IncomingMessage:
            asked = heard_press(press.spot, press.body, question, private=kept or private)
            return self._people.introduced(asked)

        asked = await self._actions.ask_within(press.request_id, number, clicker, incoming)
        return asked if isinstance(asked, str) else None

    async def _question_chosen(self, press: _Press, *, number: int) -> str | None:
        """Ask one of the questions that the bot has asked back with."""
        kept, clicker = self._is_kept_private(press), self._clicker(press.spot)

        def incoming(question: str, private: bool) -> IncomingMessage:
            asked = heard_press(press.spot, press.body, question, private=kept or private)
            return self._people.introduced(asked)

        asked = await self._actions.ask_choice(press.request_id, number, clicker, incoming)
        return asked if isinstance(asked, str) else None

    async def _not_meant(self, press: _Press) -> str | None:
        """Show a form with the question that a follow-up was taken for."""
        clicker = self._clicker(press.spot)
        understood = await self._actions.understood(press.request_id, clicker)
        about: Json = {"request": str(press.request_id), "spot": asdict(press.spot)}
        if (response := response_of(press.body, moment_of(press.ts))) is not None:
            about |= {"url": response.url, "until": response.expires_at.isoformat()}
        view = meant_modal(understood, json.dumps(about))
        shown = await open_modal(press.client, press.body["trigger_id"], view)
        return None if shown else i18n.text("slack-too-late")

    async def _ask_meant(self, view: Json) -> str:
        kept: Json = json.loads(view["private_metadata"])
        spot, request_id = Spot(**kept["spot"]), UUID(kept["request"])
        until = kept.get("until")
        response = Response(kept["url"], datetime.fromisoformat(until)) if until else None
        key, said = trigger_key(view["id"]), typed(view, QUESTION).strip()
        is_kept = not spot.direct and self._desk.keeps_private(spot.location)

        def incoming(private: bool) -> IncomingMessage:
            asked = heard_command(spot, key, said, private=is_kept or private, response=response)
            return self._people.introduced(asked)

        try:
            asked = await self._actions.ask_meant(request_id, self._clicker(spot), incoming)
        except BotError as error:
            if not isinstance(error, RequestError):
                logger.warning("a form was not taken: %s", error)
            return error.user_message
        if isinstance(asked, str):
            return asked
        return asked.arrival.refusal or i18n.text("not-meant-asked")

    async def _keep_reason(self, view: Json) -> str:
        kept: Json = json.loads(view["private_metadata"])
        spot, request_id = Spot(**kept["spot"]), UUID(kept["request"])
        reason = reason_of(typed(view, BECAUSE), typed(view, WHY))
        try:
            voter, at = self._clicker(spot), moment_of(kept["pressed"])
            await self._actions.vote(request_id, voter, helpful=False, reason=reason, cast_at=at)
        except BotError as error:
            return error.user_message
        return i18n.text("vote-reason-kept")

    async def _helpful(self, press: _Press) -> str:
        voter, pressed = self._clicker(press.spot), moment_of(press.ts)
        await self._actions.vote(press.request_id, voter, helpful=True, cast_at=pressed)
        return i18n.text("vote-noted")

    async def _not_helpful(self, press: _Press) -> Json:
        voter, pressed = self._clicker(press.spot), moment_of(press.ts)
        await self._actions.vote(press.request_id, voter, helpful=False, cast_at=pressed)
        await self.staff.voted_down(press.request_id, press.spot)
        about = {"request": str(press.request_id), "pressed": press.ts}
        view = reason_modal(json.dumps({**about, "spot": asdict(press.spot)}))
        await open_modal(press.client, press.body["trigger_id"], view)
        return told(i18n.text("vote-noted-not-helpful"), ask_button(press.request_id))

    async def _evidence(self, press: _Press) -> str | None:
        turn = await self._actions.turn(press.request_id, self._clicker(press.spot))
        passages = evidence(turn.agent_response)
        if not passages:
            return i18n.text("answer-no-evidence")
        view = shown_modal(i18n.text("button-evidence"), passages)
        shown = await open_modal(press.client, press.body["trigger_id"], view)
        return None if shown else i18n.text("slack-too-late")

    async def _without_quote(self, press: _Press) -> None:
        private = self._is_private(press)

        def incoming(question: str) -> IncomingMessage:
            asked = heard_press(press.spot, press.body, question, private=private)
            return self._people.introduced(asked)

        clicker = self._clicker(press.spot)
        await self._actions.ask_without_quote(press.request_id, clicker, incoming)

    async def _share(self, press: _Press) -> str:
        spot = press.spot
        if not await is_in(press.client, spot.channel):
            raise Declined(i18n.text("slack-not-in-channel"))
        address = spot.address(post_question=spot.thread is None)
        clicker, position = self._clicker(spot), position_of(press.ts)
        return await self._actions.share(press.request_id, clicker, position, address)

    async def _stop(self, press: _Press) -> str:
        clicker, is_staff = self._clicker(press.spot), partial(self._is_staff, press.spot)
        return await self._actions.stop(press.request_id, clicker, is_staff)

    async def _delete(self, press: _Press) -> str:
        spot, ts = press.spot, str(press.body["container"]["message_ts"])
        message = (PLATFORM, message_id(spot.channel, ts))
        clicker, is_staff = self._clicker(spot), partial(self._is_staff, spot)
        return await self._actions.delete(message, clicker, position_of(press.ts), is_staff)

    async def _check_admitted(self, button: Button, spot: Spot) -> None:
        """Raise Declined for a guest where guests are not answered; what is theirs they end."""
        if not spot.outsider or button in _OF_ONES_OWN:
            return
        rules = await self._desk.rules_at(spot.location)
        if not rules.outsiders:
            raise Declined(i18n.text("asking-not-for-guests"))

    async def _is_staff(self, spot: Spot) -> bool:
        return await self._desk.is_staff(self._people.presence_of(spot))

    def _is_private(self, press: _Press) -> bool:
        """Return whether the clicker alone sees what a click has answered."""
        return self._is_kept_private(press) or _is_ephemeral(press.body)

    def _is_kept_private(self, press: _Press) -> bool:
        """Return whether nothing that is pressed here is answered to all."""
        return not press.spot.direct and self._desk.keeps_private(press.spot.location)

    def _clicker(self, spot: Spot) -> Clicker:
        return Clicker(spot.location, self._desk.pseudonym(PLATFORM, spot.team, spot.user))


def _thanks(sentence: str) -> Json:
    """Return the modal that stands in place of the one that asked for a reason."""
    text = {"type": "section", "text": plain(sentence)}
    return shown_modal(i18n.text("vote-why"), [text])


def _meant(sentence: str) -> Json:
    """Return the modal that stands in place of the one that asked what was meant."""
    text = {"type": "section", "text": plain(sentence)}
    return shown_modal(i18n.text("not-meant-title"), [text])


def _is_ephemeral(body: Json) -> bool:
    return bool((body.get("container") or {}).get("is_ephemeral"))
