"""What the buttons under an answer do in Slack, also those from before a restart."""

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from adapters.about import DELETED
from adapters.answer_actions import NOTED, REASON_KEPT, AnswerActions, Declined
from adapters.buttons import Button
from adapters.desk import FrontDesk
from adapters.heard import Heard
from adapters.intake import waiting_sentence
from adapters.slack import blocks, outbound
from adapters.slack.inbound import (
    PLATFORM,
    Spot,
    heard_command,
    moment_of,
    position_of,
    response_of,
    spot_of_interaction,
    trigger_key,
)
from adapters.slack.installations import Installations
from adapters.slack.people import People, is_in
from adapters.slack.posting import message_id
from adapters.slack.told import (
    WHY,
    open_modal,
    plain,
    reason_modal,
    respond_with,
    shown_modal,
    told,
    typed,
)
from core.errors import BotError
from core.models import now
from core.personal import PersonalData

logger = logging.getLogger(__name__)

Json = dict[str, Any]

NO_EVIDENCE = "This answer cites no passage of the book."
NOT_IN_CHANNEL = "I am not in this channel, so I cannot write here. Invite me, then share it again."


class Clicks:
    """Does what a button says; each click is answered to its clicker alone."""

    def __init__(
        self,
        desk: FrontDesk,
        actions: AnswerActions,
        personal: PersonalData,
        people: People,
        installations: Installations,
    ) -> None:
        self._desk = desk
        self._actions = actions
        self._personal = personal
        self._people = people
        self._installations = installations
        self._doing: dict[Button, Callable[[Json, UUID, AsyncWebClient], Awaitable[str | None]]]
        self._doing = {
            Button.HELPFUL: self._helpful,
            Button.NOT_HELPFUL: self._not_helpful,
            Button.EVIDENCE: self._evidence,
            Button.WITHOUT_QUOTE: self._without_quote,
            Button.SHARE: self._share,
            Button.STOP: self._stop,
            Button.DELETE: self._delete,
        }

    async def clicked(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Do what the pressed button says; the clicker is told when it cannot be done."""
        button = blocks.pressed(body["actions"][0])
        if button is None:
            await ack()
            return
        try:
            sentence = await self._doing[button[0]](body, button[1], client)
        except BotError as error:
            if not isinstance(error, Declined):
                logger.warning("the button %s failed: %s", button[0].label, error)
            sentence = error.user_message
        await ack()
        if sentence is not None:
            await respond_with(respond, told(sentence))

    async def reason_given(self, body: Json, ack: AsyncAck) -> None:
        """Keep why an answer was not helpful, unless the vote was changed meanwhile."""
        view = body["view"]
        kept: Json = json.loads(view["private_metadata"])
        spot, request_id = Spot(**kept["spot"]), UUID(kept["request"])
        reason = typed(view, WHY).strip() or None
        try:
            voter, at = self._pseudonym(spot), moment_of(kept["pressed"])
            await self._actions.vote(request_id, voter, helpful=False, reason=reason, cast_at=at)
            sentence = REASON_KEPT
        except BotError as error:
            sentence = error.user_message
        thanks = {"type": "section", "text": plain(sentence)}
        await ack(response_action="update", view=shown_modal("What was wrong?", [thanks]))

    async def forget(self, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """Delete what is stored about the clicker, and say so in place of the button."""
        try:
            await self._personal.forget(await self.pseudonyms(spot_of_interaction(body)))
        except BotError as error:
            await ack()
            await respond_with(respond, told(error.user_message))
            return
        await ack()
        if body.get("response_url"):
            await respond_with(respond, told(DELETED), replace=True)

    async def pseudonyms(self, spot: Spot) -> list[str]:
        """Return the pseudonyms a person may have: one a workspace; raises StoreError."""
        places = {spot.team, *await self._installations.places()}
        return [self._desk.pseudonym(PLATFORM, place, spot.user) for place in sorted(places)]

    async def _helpful(self, body: Json, request_id: UUID, _: AsyncWebClient) -> str:
        voter = self._pseudonym(spot_of_interaction(body))
        pressed = moment_of(body["actions"][0]["action_ts"])
        await self._actions.vote(request_id, voter, helpful=True, cast_at=pressed)
        return NOTED

    async def _not_helpful(self, body: Json, request_id: UUID, client: AsyncWebClient) -> None:
        spot = spot_of_interaction(body)
        voter, pressed = self._pseudonym(spot), str(body["actions"][0]["action_ts"])
        await self._actions.vote(request_id, voter, helpful=False, cast_at=moment_of(pressed))
        kept = json.dumps({"request": str(request_id), "spot": asdict(spot), "pressed": pressed})
        await open_modal(client, body["trigger_id"], reason_modal(kept))

    async def _evidence(self, body: Json, request_id: UUID, client: AsyncWebClient) -> str | None:
        turn = await self._actions.turn(request_id)
        passages = outbound.evidence(turn.agent_response)
        if not passages:
            return NO_EVIDENCE
        view = shown_modal("Evidence", blocks.evidence(passages))
        await open_modal(client, body["trigger_id"], view)
        return None

    async def _without_quote(self, body: Json, request_id: UUID, _: AsyncWebClient) -> str | None:
        spot = spot_of_interaction(body)
        key, private = trigger_key(body["trigger_id"]), _is_ephemeral(body)
        response = response_of(body, now())

        def heard(question: str) -> Heard:
            return heard_command(spot, key, question, private=private, response=response)

        received = await self._actions.ask_without_quote(request_id, heard)
        return waiting_sentence(received.accepted)

    async def _share(self, body: Json, request_id: UUID, client: AsyncWebClient) -> str:
        spot = spot_of_interaction(body)
        if not await is_in(client, spot.channel):
            raise Declined(NOT_IN_CHANNEL)
        position = position_of(body["actions"][0]["action_ts"])
        address = spot.address(post_question=spot.thread is None)
        return await self._actions.share(request_id, self._pseudonym(spot), position, address)

    async def _stop(self, body: Json, request_id: UUID, _: AsyncWebClient) -> str:
        spot = spot_of_interaction(body)
        is_staff = partial(self._is_staff, spot)
        return await self._actions.stop(request_id, self._pseudonym(spot), is_staff)

    async def _delete(self, body: Json, _: UUID, __: AsyncWebClient) -> str:
        spot = spot_of_interaction(body)
        message = (PLATFORM, message_id(spot.channel, str(body["container"]["message_ts"])))
        position = position_of(body["actions"][0]["action_ts"])
        clicker, is_staff = self._pseudonym(spot), partial(self._is_staff, spot)
        return await self._actions.delete(message, clicker, position, is_staff)

    async def _is_staff(self, spot: Spot) -> bool:
        return await self._people.is_staff(spot.team, spot.enterprise, spot.user, spot.channel)

    def _pseudonym(self, spot: Spot) -> str:
        return self._desk.pseudonym(PLATFORM, spot.team, spot.user)


def _is_ephemeral(body: Json) -> bool:
    return bool((body.get("container") or {}).get("is_ephemeral"))
