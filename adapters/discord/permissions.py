"""What a server has to permit the bot, and what it does not."""

import discord

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
