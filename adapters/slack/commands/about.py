"""What people ask about the bot itself: `/glossator help`, `sources`, `about`, `data`."""

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from adapters.access.whereabouts import Here
from adapters.features.about import Facts, asked_here
from adapters.intake.deadline import BackgroundWork
from adapters.intake.front_desk import FrontDesk
from adapters.slack.commands.modals import answer_command, told
from adapters.slack.commands.my_data import MyData
from adapters.slack.commands.questions import AskCommand, Questions
from adapters.slack.inbound import Spot, spot_of_command
from core import i18n
from core.errors import BotError

Json = dict[str, Any]


class About:
    """Answers questions about the bot, to the asker alone."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        facts: Facts,
        my_data: MyData,
        questions: Questions,
        unhurried: BackgroundWork,
    ) -> None:
        self._desk = desk
        self._facts = facts
        self._my_data = my_data
        self._questions = questions
        self._unhurried = unhurried

    async def glossator(self, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """Do what the first word says; without one, tell how to ask."""
        word, _, rest = str(body.get("text") or "").strip().partition(" ")
        match word.lower(), rest.strip():
            case (("" | "help"), question):
                await self.help({**body, "text": question}, ack)
            case "sources", "":
                await self.sources(body, ack, respond)
            case "about", "":
                await self.about(body, ack, respond)
            case "data", "":
                await self.data(body, ack, respond)
            case _:
                await ack(told(i18n.text("command-unknown")))

    async def help(self, body: Json, ack: AsyncAck) -> None:
        """Tell how to ask, or answer from the handbook."""
        question = str(body.get("text") or "").strip()
        if question:
            asked = AskCommand(asked_here(question, "Slack"), private=True)
            await self._questions.take(body, ack, asked, course=self._facts.handbook)
        else:
            await ack(told(i18n.text("slack-how-to-ask")))

    async def sources(self, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """List the titles of the course that this channel is answered from."""
        sources = self._fact(spot_of_command(body), self._facts.sources)
        await answer_command(self._unhurried, sources, ack, respond)

    async def about(self, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """Tell what answers here."""
        about = self._fact(spot_of_command(body), self._facts.about)
        await answer_command(self._unhurried, about, ack, respond)

    async def data(self, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """Show what is stored about the asker, with buttons that give it or delete it."""
        shown = self._my_data.shown(spot_of_command(body))
        await answer_command(self._unhurried, shown, ack, respond)

    async def export(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Send the asker all that is stored about them, in their direct messages."""
        exported = self._my_data.exported(spot_of_command(body), client)
        await answer_command(self._unhurried, exported, ack, respond)

    async def _fact(self, spot: Spot, told_by: Callable[[Here], Awaitable[str]]) -> Json:
        try:
            return told(await told_by(await self._desk.here(spot.location)))
        except BotError as error:
            return told(error.user_message)
