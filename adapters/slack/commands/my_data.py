"""What is stored about a person: shown to them, given to them as a file, or deleted."""

import logging
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from adapters.features.about import in_words
from adapters.features.data_export import DataExport
from adapters.intake.deadline import BackgroundWork
from adapters.slack.api.refusals import Refused
from adapters.slack.commands.actions import ButtonActions
from adapters.slack.commands.files import send_file
from adapters.slack.commands.modals import data_buttons, respond_with, told
from adapters.slack.inbound import Spot
from adapters.slack.people import People
from core.errors import BotError
from core.i18n import text
from core.privacy.personal_data import PersonalData

logger = logging.getLogger(__name__)

Json = dict[str, Any]


class MyData:
    """Shows, gives and deletes what is stored about who asks for it, to them alone."""

    def __init__(
        self,
        personal: PersonalData,
        own_data: DataExport,
        clicks: ButtonActions,
        people: People,
        unhurried: BackgroundWork,
    ) -> None:
        self._personal = personal
        self._own_data = own_data
        self._clicks = clicks
        self._people = people
        self._unhurried = unhurried

    async def shown(self, spot: Spot) -> Json:
        """Return how much is stored, with buttons that give it or delete it."""
        try:
            stored = await self._personal.stored(await self._clicks.pseudonyms(spot))
        except BotError as error:
            return told(error.user_message)
        return told(in_words(stored, "Slack"), data_buttons(may_delete=stored.anything))

    async def exported(self, spot: Spot, client: AsyncWebClient) -> Json:
        """Send all that is stored by direct message, and return what the asker reads here."""
        try:
            file = await self._own_data.file(await self._clicks.pseudonyms(spot), spot.location)
            await send_file(client, spot.user, file, text("privacy-export-sent"))
        except Refused as refusal:
            logger.warning("a file was not sent: %s", refusal)
            is_forbidden = refusal.word == "missing_scope"
            return told(text("slack-export-no-files") if is_forbidden else refusal.user_message)
        except BotError as error:
            return told(error.user_message)
        return told(text("slack-export-in-direct-messages"))

    async def export_pressed(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Send all that is stored to the person who pressed the button."""

        async def exporting() -> None:
            try:
                spot = await self._people.spot_of(body)
            except BotError as error:
                await respond_with(respond, told(error.user_message))
            else:
                await respond_with(respond, await self.exported(spot, client))

        await self._unhurried.in_time(exporting())
        await ack()
