"""Commands on Discord: its tree of them is made from the table, and questions are taken."""

import asyncio
import inspect
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any, Optional

import discord
from discord import app_commands
from discord.http import Route

from adapters.actions.command_names import CommandNames
from adapters.actions.commands import (
    COMMANDS,
    GROUPS,
    SUGGESTED,
    Argument,
    ArgumentKind,
    Command,
    Commands,
)
from adapters.actions.presses import Presses
from adapters.actions.use import Extent
from adapters.chat.acceptor import PATIENCE
from adapters.chat.base import mapping
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.places import Presence
from adapters.discord.inbound import PLATFORM, incoming_from_command, parts_about, text_of
from adapters.discord.notices import (
    Interaction,
    acknowledge,
    respond,
    say_slow,
    tell,
    tell_instead,
)
from adapters.discord.odd_events import AS_SENT
from adapters.discord.payloads import RawMessage, read_message
from adapters.discord.presses import TERMS, DiscordUse
from core.domain.errors import StoreError
from core.domain.i18n import FALLBACK, Message, language_of, text
from core.domain.links import unread_instead
from core.domain.telemetry import ACCEPTING, NO_METER, Meter
from core.storage.access import NamedStaff, StaffKind

logger = logging.getLogger(__name__)


def described(message_id: str) -> app_commands.locale_str:
    """Return a message as discord.py takes it: in English, with what finds its translation."""
    return localized(Message(message_id))


def localized(message: Message) -> app_commands.locale_str:
    """Return a message without values as `described` does."""
    return app_commands.locale_str(message.in_language(FALLBACK), id=message.id)


class CatalogueTranslator(app_commands.Translator):
    """Finds in the catalogues what `localized` made."""

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
        message_id = string.extras.get("id")
        return None if message_id is None else Message(str(message_id)).in_language(language)


_TRIED_FOR = 20.0
"""Seconds in which a question is offered to a failing database again."""
_PAUSE = 0.5


class Questions:
    """Takes questions from commands and puts them into the inbox before it responds."""

    def __init__(self, desk: FrontDesk, wake: Callable[[], None], meter: Meter = NO_METER) -> None:
        self._desk = desk
        self._meter = meter
        self._wake = wake

    async def explain(self, interaction: Interaction, message: discord.Message) -> None:
        """Take a message as the quote to explain."""
        target = _target(interaction, message.id)
        quote, parts = text_of(target) or None, parts_about(target)
        if quote is None and not parts.files:
            unread = unread_instead(parts.unread) if parts.unread else None
            await tell(interaction, unread or text("asking-nothing-to-explain"))
            return
        me = interaction.client.user
        explains = str(target.id) if me is not None and target.author.id == me.id else None
        incoming = incoming_from_command(
            interaction, "", quote=quote, parts=parts, explains=explains
        )
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
        await say_slow(interaction)

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


EXTENTS = {
    "this channel": (Extent.CHANNEL, Message("choice-this-channel")),
    "this category": (Extent.CATEGORY, Message("choice-this-category")),
    "this server": (Extent.TENANT, Message("choice-this-server")),
}
LEFT_OUT = frozenset({"outsiders"})
"""Arguments of which Discord knows nothing."""
_KEYWORDS = frozenset({"from"})
Choice = app_commands.Choice[str]
Suggest = Callable[[Interaction, str], Coroutine[Any, Any, list[Choice]]]


class AppCommands:
    """Registers the commands, and does what their users choose."""

    def __init__(
        self, commands: Commands, presses: Presses, questions: Questions, names: CommandNames
    ) -> None:
        self._commands = commands
        self._presses = presses
        self._questions = questions
        self._names = names

    def register(self, tree: app_commands.CommandTree[Any]) -> None:
        """Add the commands, and the two in the menu of a message, to a tree."""
        groups = dict[tuple[str, ...], app_commands.Group]()
        for command in COMMANDS:
            made = self._made(command)
            if len(command.path) == 1:
                tree.add_command(made)
            else:
                self._group(command.path[:-1], groups, tree).add_command(made)
        explain = app_commands.ContextMenu(
            name=described("describe-explain"), callback=self._questions.explain
        )
        verify = app_commands.ContextMenu(
            name=described("describe-verify-answer"), callback=self._verify
        )
        app_commands.default_permissions(manage_guild=True)(verify)
        app_commands.guild_only(verify)
        tree.add_command(explain)
        tree.add_command(verify)

    def _group(
        self,
        path: tuple[str, ...],
        groups: dict[tuple[str, ...], app_commands.Group],
        tree: app_commands.CommandTree[Any],
    ) -> app_commands.Group:
        """Return a group, added to what is around it.

        The permission only tells Discord's client to whom `/course` is shown at first: who may
        use it is checked with each use.
        """
        if path in groups:
            return groups[path]
        description = localized(GROUPS[path])
        if len(path) > 1:
            group = app_commands.Group(name=path[-1], description=description)
            self._group(path[:-1], groups, tree).add_command(group)
        else:
            group = app_commands.Group(name=self._name(path), description=description)
            if path == ("course",):
                app_commands.default_permissions(manage_guild=True)(group)
                app_commands.guild_only(group)
            tree.add_command(group)
        groups[path] = group
        return group

    def _name(self, path: tuple[str, ...]) -> str:
        return str(getattr(self._names, path[0])) if len(path) == 1 else path[-1]

    def _made(self, command: Command) -> app_commands.Command[Any, ..., None]:
        """Return a command as discord.py reads it: from the signature of a function."""
        arguments = {_safe(one): one for one in command.arguments if one.name not in LEFT_OUT}

        async def callback(interaction: Interaction, **given: Any) -> None:
            await self._used(command, interaction, given)

        parameters = [inspect.Parameter("interaction", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        for name, one in arguments.items():
            default = inspect.Parameter.empty if one.required else None
            kind, annotation = inspect.Parameter.POSITIONAL_OR_KEYWORD, _annotation(one)
            parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
        callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        app_commands.describe(**{n: localized(one.describes) for n, one in arguments.items()})(
            callback
        )
        app_commands.rename(**{n: one.name for n, one in arguments.items() if n != one.name})(
            callback
        )
        app_commands.choices(**{n: _choices(one) for n, one in arguments.items() if _choices(one)})(
            callback
        )
        app_commands.autocomplete(
            **{
                n: self._suggesting(one.kind)
                for n, one in arguments.items()
                if one.kind in SUGGESTED
            }
        )(callback)
        return app_commands.Command(
            name=self._name(command.path),
            description=localized(command.describes),
            callback=callback,
        )

    def _suggesting(self, kind: ArgumentKind) -> Suggest:
        async def suggested(interaction: Interaction, typed: str) -> list[Choice]:
            use = DiscordUse(interaction)
            found = await self._commands.suggested(kind, use, typed)
            return [app_commands.Choice(name=name, value=value) for name, value in found]

        return suggested

    async def _used(
        self, command: Command, interaction: Interaction, given: Mapping[str, Any]
    ) -> None:
        arguments = _read(command, given)
        if command.does is None:
            asked = self._commands.question(command, arguments, PLATFORM)
            if asked is None:
                await tell(interaction, str(TERMS.how_to_ask))
                return
            incoming = incoming_from_command(interaction, asked.text, section=asked.section)
            incoming = replace(incoming, course=asked.course)
            await self._questions.take(interaction, incoming, asked.private)
            return
        use = DiscordUse(interaction)
        extent = arguments.get("where", Extent.CHANNEL)
        await use.shown(lambda use: self._commands.run(command, use, lambda: arguments, extent))

    async def _verify(self, interaction: Interaction, message: discord.Message) -> None:
        """Open the form in which an answer of the bot is corrected."""
        use = DiscordUse(interaction)
        if use.not_to_set_up:
            await tell(interaction, use.not_to_set_up)
            return
        await use.shown(lambda use: self._presses.verify_message(str(message.id), use))


def _safe(argument: Argument) -> str:
    return f"{argument.name}_" if argument.name in _KEYWORDS else argument.name


def _annotation(argument: Argument) -> Any:
    kinds: Mapping[ArgumentKind, Any] = {
        ArgumentKind.FLAG: bool,
        ArgumentKind.GROUP: discord.Role,
        ArgumentKind.PERSON: discord.Member | discord.User,
    }
    kind = kinds.get(argument.kind, str)
    if kind is str and argument.longest:
        kind = app_commands.Range[str, argument.shortest, argument.longest]
    return kind if argument.required else Optional[kind]  # noqa: UP045 - of a value


def _choices(argument: Argument) -> list[Choice]:
    """Return what can be chosen, in plain words."""
    shown = argument.choices
    if argument.kind is ArgumentKind.EXTENT:
        shown = tuple((value, name) for value, (_, name) in EXTENTS.items())
    return [app_commands.Choice(name=localized(name), value=value) for value, name in shown]


def _read(command: Command, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, by the names in the table."""
    read = {
        one.name: given[_safe(one)]
        for one in command.arguments
        if given.get(_safe(one)) is not None
    }
    if "where" in read:
        read["where"] = EXTENTS[read["where"]][0]
    course = read.get("course")
    for name, kind in (("role", StaffKind.ROLE), ("person", StaffKind.PERSON)):
        if name in read:
            read[name] = NamedStaff(kind, str(read[name].id), course)
    return read


async def shown(_: Presence, named: NamedStaff) -> str:
    """Return a role or person as Discord shows its name, with the id of one who may be gone."""
    sign = "@&" if named.kind is StaffKind.ROLE else "@"
    return f"<{sign}{named.id}> (`{named.id}`)"


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
