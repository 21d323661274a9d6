"""Who a user is in a Discord server: its admin, the holder of roles, or a member."""

import asyncio
import logging

import aiohttp
import discord

from core.access.staff import Member, MemberLookup, no_member

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
