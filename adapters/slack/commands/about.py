"""What people ask about the bot itself: `/glossator help`, `sources`, `about`, `data`."""

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond

from adapters.features.about import ABOUT_COMMANDS, AboutCommand, Facts, asked_here
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
            case name, "" if name in ABOUT_COMMANDS:
                await self.fact(name, body, ack, respond)
            case "data", "":
                await self.data(body, ack, respond)
            case _:
                *words, last = (f"`{name}`" for name in ("help", *ABOUT_COMMANDS, "data"))
                await ack(told(i18n.text("command-unknown", words=", ".join(words), last=last)))

    async def help(self, body: Json, ack: AsyncAck) -> None:
        """Say how to ask, or answer from the handbook."""
        question = str(body.get("text") or "").strip()
        if question:
            asked = AskCommand(asked_here(question, "Slack"), private=True)
            await self._questions.take(body, ack, asked, course=self._facts.handbook)
        else:
            await ack(told(i18n.text("slack-how-to-ask")))

    async def fact(self, name: str, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """Answer the command of that name in ABOUT_COMMANDS."""
        shown = self._shown(ABOUT_COMMANDS[name], spot_of_command(body))
        await answer_command(self._unhurried, shown, ack, respond)

    async def data(self, body: Json, ack: AsyncAck, respond: AsyncRespond) -> None:
        """Show what is stored about the asker, with buttons that give it or delete it."""
        shown = self._my_data.shown(spot_of_command(body))
        await answer_command(self._unhurried, shown, ack, respond)

    async def _shown(self, command: AboutCommand, spot: Spot) -> Json:
        try:
            here = await self._desk.here(spot.location)
            return told(await command.answer(self._facts, here))
        except BotError as error:
            return told(error.user_message)
