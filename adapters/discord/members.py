"""Who a user is in a Discord server: its admin, the holder of roles, or a member."""

import asyncio
import logging
from collections.abc import Iterable, Mapping

import aiohttp
import discord

from adapters.chat.base import clean_text, mapping, mappings
from core.storage.access import Member, MemberLookup, no_member

logger = logging.getLogger(__name__)


_PATIENCE = 1.5
"""Seconds that asking Discord may take."""


def member_of(author: discord.abc.User) -> Member | None:
    """Return what a server's member is there; None for apps, and outside of servers.

    Permissions are those of the whole server: what a channel allows makes no one an admin. The
    roles are those that the server has, without the one that everybody has.
    """
    if not isinstance(author, discord.Member) or author.bot:
        return None
    # discord.py lists None for the common role of a server that it does not know.
    roles = [role for role in author.roles if role is not None]
    granted = discord.Permissions()
    for role in roles:
        granted |= role.permissions
    owns = author.guild.owner_id == author.id
    return Member(
        id=str(author.id),
        is_admin=owns or granted.administrator or granted.manage_guild,
        holds=frozenset(str(role.id) for role in roles if not role.is_default()),
    )


def lookup_of(author: discord.abc.User, guild: discord.Guild | None) -> MemberLookup:
    """Return what finds out who gave a command, in the server that it came from."""
    if author.bot:
        return no_member
    return lookup_in(guild, author.id, author if isinstance(author, discord.Member) else None)


def lookup_in(
    guild: discord.Guild | None, user_id: int, told: discord.Member | None
) -> MemberLookup:
    """Return what finds out who a person is in a server.

    Args:
        guild: The server; None for a direct message, and where it is not known.
        user_id: The person, who is no app.
        told: The member, where the event names it, as live ones do; for an older message, found
            in the history, Discord is asked.
    """
    if guild is None:
        return no_member
    if told is not None:
        member = member_of(told)

        async def known(_: frozenset[str]) -> Member | None:
            return member

        return known

    async def asked(_: frozenset[str]) -> Member | None:
        try:
            async with asyncio.timeout(_PATIENCE):
                return member_of(await guild.fetch_member(user_id))
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            logger.info("Discord does not say who somebody is: %s", type(error).__name__)
            return None

    return asked


_TEXT_DISPLAY = 10
"""The type of a component that shows text."""


def text_in(message: Mapping[str, object]) -> str:
    """Return what is written in a message: its content, or the texts of its components."""
    return joined([clean_text(message.get("content")), *component_texts(message.get("components"))])


def joined(texts: Iterable[str]) -> str:
    """Return texts of one message with a blank line between them."""
    return "\n\n".join(stripped for one in texts if (stripped := one.strip()))


def texts_of_embeds(embeds: object) -> list[str]:
    """Return what the embeds of a message say, title first, one text an embed."""
    shown = []
    for embed in mappings(embeds):
        fields = [
            value
            for field in mappings(embed.get("fields"))
            for value in (clean_text(field.get("name")), clean_text(field.get("value")))
        ]
        lines = [clean_text(embed.get("title")), clean_text(embed.get("description")), *fields]
        shown.append("\n".join(line for line in lines if line.strip()))
    return [one for one in shown if one]


def poll_text(poll: object) -> str:
    """Return a poll: its question, then each answer as a list item."""
    said = mapping(poll)
    question = clean_text(mapping(said.get("question")).get("text"))
    answers = [
        clean_text(mapping(one.get("poll_media")).get("text"))
        for one in mappings(said.get("answers"))
    ]
    return "\n".join([line for line in (question, *(f"- {a}" for a in answers if a)) if line])


def component_texts(components: object, *, most: int = 200) -> list[str]:
    """Return the texts of Components V2 in reading order.

    Args:
        most: How many components are looked at, however deep they lie.
    """
    waiting, found = list(mappings(components)), list[str]()
    for _ in range(most):
        if not waiting:
            break
        component = waiting.pop(0)
        if component.get("type") == _TEXT_DISPLAY:
            found.append(clean_text(component.get("content")))
        waiting = [*mappings(component.get("components")), *waiting]
    return [one for one in found if one.strip()]


PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    add_reactions=True,
    attach_files=True,
    embed_links=True,
    read_message_history=True,
)
"""What the bot asks a server for."""


def lacking(granted: discord.Permissions) -> str:
    """Return the permissions that a server does not grant, in words; empty: it grants all."""
    if granted.administrator:
        return ""
    missing = (name for name, wanted in PERMISSIONS if wanted and not getattr(granted, name))
    return ", ".join(f"'{name.replace('_', ' ').title()}'" for name in missing)


def permits_thread(granted: discord.Permissions) -> bool:
    """Return whether a thread can be opened and written in; else it would stay empty."""
    return granted.create_public_threads and granted.send_messages_in_threads


def permissions_in(
    channel: discord.Thread | discord.abc.GuildChannel, member: discord.Member | None
) -> discord.Permissions | None:
    """Return what a user may do in a channel; None where the server's roles are not known."""
    if member is None or channel.guild.default_role is None:
        return None
    return channel.permissions_for(member)
