"""What people ask about the bot itself: `/help`, `/sources`, `/about`, `/forget-me`."""

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond

from adapters.about import Facts, asked_here, in_words
from adapters.desk import FrontDesk
from adapters.in_time import Unhurried
from adapters.slack.clicks import Clicks
from adapters.slack.inbound import PLATFORM, Spot, spot_of_command
from adapters.slack.questions import Asked, Questions
from adapters.slack.told import answer_command, forget_button, told
from core.channels.rules import Rules
from core.errors import BotError
from core.personal import PersonalData

Json = dict[str, Any]

HOW_TO_ASK = """\
**How to ask**
- `/ask` a question; `/ask private` shows the answer to you alone, `/ask in "Chapter 3"` looks in \
one section only.
- Mention me in a channel, or write to me directly. In a thread that I opened you need no mention; \
when you talk to each other there I fall silent until somebody mentions me.
- **Explain a passage**: open a message's menu, *More message shortcuts*, *Explain this passage*. \
Or quote it with `>`, or share it with me.
- Every sentence of an answer has a number, and every number leads into the book. *Evidence* shows \
the very words. What the book does not say I do not say.
- `/sources` lists what I have read, `/forget-me` shows and deletes what is stored about you.

Ask about me with `/help` and a question."""


class Commands:
    """Answers questions about the bot, to the asker alone."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        facts: Facts,
        personal: PersonalData,
        questions: Questions,
        clicks: Clicks,
        unhurried: Unhurried,
    ) -> None:
        self._desk = desk
        self._facts = facts
        self._personal = personal
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
            await ack(told(HOW_TO_ASK))

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

    async def _stored(self, spot: Spot) -> Json:
        try:
            stored = await self._personal.stored(await self._clicks.pseudonyms(spot))
        except BotError as error:
            return told(error.user_message)
        more = [forget_button()] if stored.anything else []
        return told(in_words(stored, "Slack"), *more)

    async def _text(self, spot: Spot, told_by: Callable[[Rules], Awaitable[str]]) -> Json:
        try:
            rules = await self._desk.rules_at(PLATFORM, spot.team, spot.places)
            return told(await told_by(rules))
        except BotError as error:
            return told(error.user_message)
