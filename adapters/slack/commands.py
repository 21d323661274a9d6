"""What people ask about the bot itself: `/help`, `/sources`, `/about`, `/forget-me`."""

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from adapters.about import Facts, asked_here, in_words
from adapters.desk import FrontDesk
from adapters.slack.clicks import Clicks
from adapters.slack.inbound import PLATFORM, spot_of_command
from adapters.slack.questions import Asked, Questions
from adapters.slack.told import forget_button, told
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
    ) -> None:
        self._desk = desk
        self._facts = facts
        self._personal = personal
        self._questions = questions
        self._clicks = clicks

    async def help(self, body: Json, ack: AsyncAck) -> None:
        """Tell how to ask, or answer from the handbook."""
        text = str(body.get("text") or "").strip()
        if text:
            asked = Asked(asked_here(text, "Slack"), private=True)
            await self._questions.take(body, ack, asked, course=self._facts.handbook)
        else:
            await ack(told(HOW_TO_ASK))

    async def sources(self, body: Json, ack: AsyncAck) -> None:
        """List the titles of the course that this channel is answered from."""
        await self._tell(body, ack, self._facts.sources)

    async def about(self, body: Json, ack: AsyncAck) -> None:
        """Tell what answers here."""
        await self._tell(body, ack, self._facts.about)

    async def forget_me(self, body: Json, ack: AsyncAck) -> None:
        """Show what is stored about the asker, with a button that deletes it."""
        try:
            pseudonyms = await self._clicks.pseudonyms(spot_of_command(body))
            stored = await self._personal.stored(pseudonyms)
        except BotError as error:
            await ack(told(error.user_message))
            return
        more = [forget_button()] if stored.anything else []
        await ack(told(in_words(stored, "Slack"), *more))

    async def _tell(
        self, body: Json, ack: AsyncAck, told_by: Callable[[Rules], Awaitable[str]]
    ) -> None:
        spot = spot_of_command(body)
        try:
            text = await told_by(await self._desk.rules_at(PLATFORM, spot.team, spot.places))
        except BotError as error:
            text = error.user_message
        await ack(told(text))
