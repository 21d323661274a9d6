"""What people ask by command: `/ask`, whatever it is called, and the menu on a message."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import discord
from discord import app_commands
from discord.ext import commands
from discord.http import Route

from adapters.actions.command_names import CommandNames
from adapters.chat.acceptor import PATIENCE
from adapters.chat.access import MembershipUnknown
from adapters.chat.base import mapping
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.markdown.layout import visible
from adapters.discord.inbound import PLATFORM, heard_command, parts_about, text_of
from adapters.discord.notices import Interaction, respond, tell, tell_instead
from adapters.discord.odd_events import AS_SENT
from adapters.discord.payloads import RawMessage, read_message
from core.domain import MIN_QUESTION
from core.domain.errors import RequestError, StoreError
from core.domain.i18n import FALLBACK, Message, language_of, text
from core.domain.links import unread_instead
from core.domain.telemetry import ACCEPTING, NO_METER, Meter
from core.storage.inbox.base import Acceptance

logger = logging.getLogger(__name__)


CHOICES = {
    "this channel": Message("choice-this-channel"),
    "this category": Message("choice-this-category"),
    "this server": Message("choice-this-server"),
    "off": Message("choice-off"),
    "on": Message("choice-on"),
    "until people talk": Message("choice-until-people-talk"),
    "mention": Message("choice-mention"),
    "everyone": Message("choice-everyone"),
    "staff": Message("choice-staff"),
    "short": Message("choice-short"),
    "normal": Message("choice-normal"),
    "long": Message("choice-long"),
    "full": Message("choice-full"),
    "hints": Message("choice-hints"),
    "sections": Message("choice-sections"),
    "closed": Message("choice-closed"),
    "post here": Message("choice-post-here"),
    "stop": Message("choice-stop"),
}


_CHOICE = app_commands.TranslationContextLocation.choice_name


def described(message_id: str) -> app_commands.locale_str:
    """Return a message as discord.py takes it: in English, with what finds its translation."""
    return localized(Message(message_id))


def localized(message: Message) -> app_commands.locale_str:
    """Return a message without values as `described` does."""
    return app_commands.locale_str(message.in_language(FALLBACK), id=message.id)


class CatalogueTranslator(app_commands.Translator):
    """Finds in the catalogues what `localized` made, and choices by their own words."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """Return a text for a locale; None: it is shown in English, or is a name."""
        language = language_of(locale.value)
        if language == FALLBACK:
            return None
        if context.location is _CHOICE and string.message in CHOICES:
            return CHOICES[string.message].in_language(language)
        message_id = string.extras.get("id")
        return None if message_id is None else Message(str(message_id)).in_language(language)


EXPLAIN = "Explain this passage"
LONGEST_COMMAND = 2_000
"""Characters of a question that a command takes."""
_TRIED_FOR = 20.0
"""Seconds in which a question is offered to a failing database again."""
_PAUSE = 0.5
_CHOICES = 25
_LONGEST_CHOICE = 100

Choice = app_commands.Choice[str]


class Questions(commands.Cog):
    """Takes questions from commands and puts them into the inbox before it responds."""

    def __init__(
        self,
        desk: FrontDesk,
        directory: CourseDirectory,
        wake: Callable[[], None],
        meter: Meter = NO_METER,
        *,
        names: CommandNames,
    ) -> None:
        self._desk = desk
        self._meter = meter
        self._directory = directory
        self._wake = wake
        self.menu = app_commands.ContextMenu(
            name=described("describe-explain"), callback=self._explain
        )
        self.ask.name = names.ask

    @app_commands.command(description=described("describe-ask"))
    @app_commands.describe(
        question=described("describe-ask-question"),
        section=described("describe-ask-section"),
        private=described("describe-ask-private"),
    )
    async def ask(
        self,
        interaction: Interaction,
        question: app_commands.Range[str, MIN_QUESTION, LONGEST_COMMAND],
        section: app_commands.Range[str, 1, _LONGEST_CHOICE] | None = None,
        private: bool | None = None,
    ) -> None:
        """Take a question; the answer comes when its turn has come."""
        incoming = heard_command(interaction, question, section=section)
        await self.take(interaction, incoming, private)

    @ask.autocomplete("section")
    async def _sections(self, interaction: Interaction, typed: str) -> list[Choice]:
        incoming = heard_command(interaction, typed)
        try:
            here = await self._desk.here(incoming.location)
            course_id = await self._desk.course_of(here)
            if course_id is None:
                return []
            names = await self._directory.sections_like(
                here.reader, course_id, typed, limit=_CHOICES, longest=_LONGEST_CHOICE
            )
        except (StoreError, RequestError, MembershipUnknown) as error:
            logger.warning("no sections could be suggested: %s", error)
            return []
        return [app_commands.Choice(name=visible(name), value=name) for name in names]

    async def _explain(self, interaction: Interaction, message: discord.Message) -> None:
        """Take a message as the quote to explain."""
        target = _target(interaction, message.id)
        quote, parts = text_of(target) or None, parts_about(target)
        if quote is None and not parts.files:
            unread = unread_instead(parts.unread) if parts.unread else None
            await tell(interaction, unread or text("asking-nothing-to-explain"))
            return
        me = interaction.client.user
        explains = str(target.id) if me is not None and target.author.id == me.id else None
        incoming = heard_command(interaction, "", quote=quote, parts=parts, explains=explains)
        await self.take(interaction, incoming, None)

    async def take(
        self, interaction: Interaction, incoming: IncomingMessage, private: bool | None
    ) -> None:
        """Put a question into the inbox, then acknowledge the command.

        Discord waits three seconds for that. When the database takes longer, the asker gets
        a notice, and the answer follows as soon as the question is stored.
        """
        hidden = incoming.private or (
            not incoming.direct and self._desk.keeps_private(incoming.location)
        )
        asking = _Asking(incoming, time.monotonic(), True if hidden else private)
        accepting = asyncio.create_task(self._accepted(asking))
        await asyncio.wait({accepting}, timeout=PATIENCE)
        if not accepting.done():
            await self._tell_slow(interaction, asking)
        try:
            received = await accepting
        except StoreError as error:
            logger.error("a question could not be accepted: %s", error)
            await _apologise(interaction, error.user_message)
            return
        self._wake()
        await acknowledge(interaction, received)

    async def _tell_slow(self, interaction: Interaction, asking: "_Asking") -> None:
        """Acknowledge a command that is not stored yet; an answer for all takes its place."""
        if asking.private is False:
            await respond(lambda: interaction.response.defer(thinking=True))
            return
        asking.was_told = True
        await _say_slow(interaction)

    async def _accepted(self, asking: "_Asking") -> Received:
        """Have a question accepted, and offer it again while the connection fails.

        A write whose connection breaks may have been done: who reads at once that the question
        failed would read its answer later.
        """
        while True:
            try:
                return await self._offered(asking)
            except StoreError as error:
                waited = time.monotonic() - asking.heard_at
                if type(error) is not StoreError or waited > _TRIED_FOR:
                    raise
                logger.info("a question waits for the database: %s", error)
            await asyncio.sleep(_PAUSE)

    async def _offered(self, asking: "_Asking") -> Received:
        rules = await self._desk.rules(asking.incoming)
        if asking.private is None:
            asking.private = bool(rules.private)
        received = await self._desk.receive(asking.shown, rules)
        assert received is not None  # a command always is for us
        self._meter.time(ACCEPTING, PLATFORM, seconds=time.monotonic() - asking.heard_at)
        return received


async def _say_slow(interaction: Interaction) -> None:
    """Notify the asker alone, once, that it takes long to store a question."""
    await respond(lambda: interaction.response.send_message(text("asking-slow"), ephemeral=True))


async def _apologise(interaction: Interaction, sentence: str) -> None:
    """Notify the asker alone that a question is not stored; what all would see is removed."""
    if interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
        await respond(interaction.delete_original_response)
        nobody = discord.AllowedMentions.none()
        await respond(
            lambda: interaction.followup.send(sentence, ephemeral=True, allowed_mentions=nobody)
        )
        return
    await tell_instead(interaction, sentence)


async def acknowledge(interaction: Interaction, received: Received) -> None:
    """Respond to Discord, within its three seconds, that the answer will follow.

    Only what is in the inbox is acknowledged. When the interaction is lost, or was
    acknowledged before a restart, the answer finds its way all the same. An answer that stands
    apart would leave what is deferred for all unfinished: its asker reads again what Discord may
    not have taken the first time.
    """
    arrival, acceptance = received.arrival, received.accepted.acceptance
    is_stopped = acceptance in {Acceptance.LIMITED, Acceptance.PASSED_OVER}
    is_refused = arrival.refusal is not None or is_stopped
    if arrival.address.get("apart") and not is_refused:
        await _say_slow(interaction)
        return
    hidden = bool(arrival.address["ephemeral"]) or is_refused
    await respond(lambda: interaction.response.defer(ephemeral=hidden, thinking=True))
    if acceptance is Acceptance.PASSED_OVER:
        await respond(interaction.delete_original_response)


def _target(interaction: Interaction, message_id: int) -> RawMessage:
    """Return the message of a menu's command, as Discord sent it."""
    resolved = mapping(mapping(interaction.data).get("resolved"))
    return read_message(mapping(resolved.get(AS_SENT)).get(str(message_id)))


@dataclass(slots=True)
class _Asking:
    """A command's question on its way into the inbox."""

    incoming: IncomingMessage
    heard_at: float
    """By `time.monotonic()`."""
    private: bool | None
    """Who is to see the answer; None: the channel's rules say it, and are not known yet."""
    was_told: bool = False
    """Whether the asker was notified, before it was accepted, that it takes long."""

    @property
    def shown(self) -> IncomingMessage:
        """What was heard, with who is to see the answer."""
        incoming = self.incoming
        if self.private:
            hidden = {"ephemeral": True, "open_thread": False}
            return replace(incoming, private=True, address={**incoming.address, **hidden})
        if self.was_told:
            return replace(incoming, address={**incoming.address, "apart": True})
        return incoming


async def sync_changed(tree: app_commands.CommandTree[Any]) -> bool:
    """Register the tree's commands unless Discord has them like that; return whether it did.

    Registering is limited to a few hundred a day, and a restart is no reason for it. Commands
    that Discord has and the tree has not, such as those of an older version, are gone then.
    """
    known, ours = await _known(tree.client), await _ours(tree)
    if _by_name(known) == _by_name(ours):
        return False
    await tree.sync()
    logger.info("registered %d commands with Discord", len(ours))
    return True


async def _known(client: discord.Client) -> list[dict[str, Any]]:
    """Return the commands that Discord has.

    discord.py's own objects leave out where a command may be used, and its call the translations.
    """
    path = "/applications/{application_id}/commands"
    route = Route("GET", path, application_id=client.application_id)
    known: list[dict[str, Any]] = await client.http.request(
        route, params={"with_localizations": "true"}
    )
    return known


async def _ours(tree: app_commands.CommandTree[Any]) -> list[dict[str, Any]]:
    kinds = (discord.AppCommandType.chat_input, discord.AppCommandType.message)
    commands = [command for kind in kinds for command in tree.get_commands(type=kind)]
    translator = tree.translator
    if translator is None:
        return [command.to_dict(tree) for command in commands]
    return [await command.get_translated_payload(tree, translator) for command in commands]


def _by_name(commands: Any) -> dict[tuple[int, str], Any]:
    return {(command["type"], command["name"]): _comparable(command) for command in commands}


def _comparable(value: Any) -> Any:
    """Return a command without what Discord adds, and without what only says nothing."""
    if isinstance(value, dict):
        cleaned = {name: _comparable(value[name]) for name in _COMPARED & value.keys()}
        for name in _TRANSLATIONS & value.keys():
            cleaned[name] = dict(value[name] or {})
        if "default_member_permissions" in cleaned:  # a number here, text there
            cleaned["default_member_permissions"] = str(value["default_member_permissions"] or "")
        return {
            name: said for name, said in cleaned.items() if said not in (None, False, [], "", {})
        }
    if isinstance(value, list | tuple):
        return [_comparable(item) for item in value]
    return value


_COMPARED = frozenset(
    "type name description options required autocomplete choices value min_length max_length "
    "min_value max_value channel_types contexts integration_types "
    "default_member_permissions".split()
)
_TRANSLATIONS = frozenset({"name_localizations", "description_localizations"})
