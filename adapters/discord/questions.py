"""What people ask by command: `/ask`, and the menu entry on a message."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import discord
from discord import app_commands
from discord.ext import commands

from adapters.about import NOTHING_TO_EXPLAIN
from adapters.desk import FrontDesk, Received
from adapters.discord.inbound import PLATFORM, heard_command, text_of
from adapters.discord.telling import Interaction, respond, tell, tell_instead
from adapters.guide import Guide
from adapters.heard import Heard
from adapters.intake import PATIENCE, SLOW, waiting_sentence
from core.errors import StoreError
from core.inbox.base import Acceptance
from core.metering import ACCEPTING, NO_METER, Meter
from core.models import MAX_QUESTION, MIN_QUESTION

logger = logging.getLogger(__name__)

EXPLAIN = "Explain this passage"
_CHOICES = 25
_LONGEST_CHOICE = 100

Choice = app_commands.Choice[str]


class Questions(commands.Cog):
    """Takes questions from commands and puts them into the inbox before it responds."""

    def __init__(
        self, desk: FrontDesk, guide: Guide, wake: Callable[[], None], meter: Meter = NO_METER
    ) -> None:
        self._desk = desk
        self._meter = meter
        self._guide = guide
        self._wake = wake
        self.menu = app_commands.ContextMenu(name=EXPLAIN, callback=self._explain)

    @app_commands.command(name="ask", description="Ask a question about the course's book")
    @app_commands.describe(
        question="What you want to know",
        section="Search only this section of the book",
        private="Show the answer to you alone",
    )
    async def ask(
        self,
        interaction: Interaction,
        question: app_commands.Range[str, MIN_QUESTION, MAX_QUESTION],
        section: app_commands.Range[str, 1, _LONGEST_CHOICE] | None = None,
        private: bool | None = None,
    ) -> None:
        """Take a question; the answer comes when its turn has come."""
        heard = heard_command(interaction, question, section=section)
        await self.take(interaction, heard, private)

    @ask.autocomplete("section")
    async def _sections(self, interaction: Interaction, typed: str) -> list[Choice]:
        heard = heard_command(interaction, typed)
        try:
            course_id = await self._desk.course_of(await self._desk.rules(heard))
            if course_id is None:
                return []
            names = await self._guide.sections_like(
                course_id, typed, limit=_CHOICES, longest=_LONGEST_CHOICE
            )
        except StoreError:
            logger.exception("no sections could be suggested")
            return []
        return [app_commands.Choice(name=name, value=name) for name in names]

    async def _explain(self, interaction: Interaction, message: discord.Message) -> None:
        """Take a message as the quote to explain."""
        quote = text_of(message)
        if not quote:
            await tell(interaction, NOTHING_TO_EXPLAIN)
            return
        await self.take(interaction, heard_command(interaction, "", quote=quote), None)

    async def take(self, interaction: Interaction, heard: Heard, private: bool | None) -> None:
        """Put a question into the inbox, then acknowledge the command.

        Discord waits three seconds for that. When the database takes longer, the asker is
        told, and the answer follows as soon as the question is stored.
        """
        asking = _Asking(heard, time.monotonic(), private)
        accepting = asyncio.create_task(self._accepted(asking))
        await asyncio.wait({accepting}, timeout=PATIENCE)
        if not accepting.done():
            hidden = asking.private is not False
            asking.is_notice_hidden = hidden
            await respond(lambda: interaction.response.send_message(SLOW, ephemeral=hidden))
        try:
            received = await accepting
        except StoreError as error:
            logger.error("a question could not be accepted: %s", error)
            await tell_instead(interaction, error.user_message)
            return
        self._wake()
        await acknowledge(interaction, received)

    async def _accepted(self, asking: "_Asking") -> Received:
        rules = await self._desk.rules(asking.heard)
        if asking.private is None:
            asking.private = bool(rules.private)
        received = await self._desk.receive(asking.shown, rules)
        assert received is not None  # a command always is for us
        self._meter.time(ACCEPTING, PLATFORM, seconds=time.monotonic() - asking.heard_at)
        return received


async def acknowledge(interaction: Interaction, received: Received) -> None:
    """Tell Discord, within its three seconds, that the answer will follow.

    Only what is in the inbox is acknowledged. When the interaction is lost, or was
    acknowledged before a restart, the answer finds its way all the same.
    """
    arrival = received.arrival
    is_refused = arrival.refusal is not None or received.accepted.acceptance is Acceptance.LIMITED
    hidden = bool(arrival.address["ephemeral"]) or is_refused
    response = interaction.response
    if sentence := waiting_sentence(received.accepted):
        await respond(lambda: response.send_message(sentence, ephemeral=hidden))
    else:
        await respond(lambda: response.defer(ephemeral=hidden, thinking=True))


@dataclass(slots=True)
class _Asking:
    """A command's question on its way into the inbox."""

    heard: Heard
    heard_at: float
    """By `time.monotonic()`."""
    private: bool | None
    """Who is to see the answer; None: the channel's rules say it, and are not known yet."""
    is_notice_hidden: bool = False
    """Whether the asker alone was told, before that was known, that it takes long."""

    @property
    def shown(self) -> Heard:
        """What was heard, with who is to see the answer."""
        heard = self.heard
        if self.private:
            hidden = {"ephemeral": True, "open_thread": False}
            return replace(heard, private=True, address={**heard.address, **hidden})
        if self.is_notice_hidden:
            return replace(heard, address={**heard.address, "apart": True})
        return heard
