"""What people ask about the bot itself: `/help`, `/sources`, `/about`, `/forget-me` ..."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from adapters.about import Facts, asked_here, in_words
from adapters.access.whereabouts import Here
from adapters.desk import FrontDesk
from adapters.in_time import Unhurried
from adapters.own_data import OwnData
from adapters.slack.clicks import Clicks
from adapters.slack.files import send_file
from adapters.slack.inbound import Spot, spot_of_command
from adapters.slack.questions import Asked, Questions
from adapters.slack.refusals import Refused
from adapters.slack.told import answer_command, forget_button, told
from core import i18n
from core.errors import BotError
from core.personal import PersonalData

logger = logging.getLogger(__name__)

Json = dict[str, Any]


class Commands:
    """Answers questions about the bot, to the asker alone."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        facts: Facts,
        personal: PersonalData,
        own_data: OwnData,
        questions: Questions,
        clicks: Clicks,
        unhurried: Unhurried,
    ) -> None:
        self._desk = desk
        self._facts = facts
        self._personal = personal
        self._own_data = own_data
        self._questions = questions
        self._clicks = clicks
        self._unhurried = unhurried

    async def help(self, body: Json, ack: AsyncAck) -> None:
        """Tell how to ask, or answer from the handbook."""
        text = str(body.get("text") or "").strip()
        if text:
            asked = Asked(asked_here(text, "Slack"), private=True)
            await self._questions.take(body, ack, asked, course=self._facts.handbook)
        else:
            await ack(told(i18n.text("slack-how-to-ask")))

    async def sources(self, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """List the titles of the course that this channel is answered from."""
        text = self._text(spot_of_command(body), self._facts.sources)
        await answer_command(self._unhurried, text, ack, respond)

    async def about(self, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """Tell what answers here."""
        text = self._text(spot_of_command(body), self._facts.about)
        await answer_command(self._unhurried, text, ack, respond)

    async def forget_me(self, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """Show what is stored about the asker, with a button that deletes it."""
        stored = self._stored(spot_of_command(body))
        await answer_command(self._unhurried, stored, ack, respond)

    async def export_my_data(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Send the asker all that is stored about them, in their direct messages."""
        exported = self._exported(spot_of_command(body), client)
        await answer_command(self._unhurried, exported, ack, respond)

    async def _exported(self, spot: Spot, client: AsyncWebClient) -> Json:
        try:
            file = await self._own_data.file(await self._clicks.pseudonyms(spot), spot.location)
            await send_file(client, spot.user, file, i18n.text("privacy-export-sent"))
        except Refused as refusal:
            logger.warning("a file was not sent: %s", refusal)
            return told(
                i18n.text("slack-export-no-files")
                if refusal.word == "missing_scope"
                else refusal.user_message
            )
        except BotError as error:
            return told(error.user_message)
        return told(i18n.text("slack-export-in-direct-messages"))

    async def _stored(self, spot: Spot) -> Json:
        try:
            stored = await self._personal.stored(await self._clicks.pseudonyms(spot))
        except BotError as error:
            return told(error.user_message)
        more = [forget_button()] if stored.anything else []
        return told(in_words(stored, "Slack"), *more)

    async def _text(self, spot: Spot, told_by: Callable[[Here], Awaitable[str]]) -> Json:
        try:
            return told(await told_by(await self._desk.here(spot.location)))
        except BotError as error:
            return told(error.user_message)
