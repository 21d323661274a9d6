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
