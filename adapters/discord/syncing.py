"""Tells Discord which commands there are, when they differ from what it knows."""

import logging
from typing import Any

import discord
from discord import app_commands

logger = logging.getLogger(__name__)


async def sync_changed(tree: app_commands.CommandTree[Any]) -> bool:
    """Register the tree's commands unless Discord has them like that; return whether it did.

    Registering is limited to a few hundred a day, and a restart is no reason for it.
    """
    client = tree.client
    assert client.application_id is not None, "known since the login"
    # discord.py's own objects for known commands leave out where a command may be used.
    known = await client.http.get_global_commands(client.application_id)
    ours = [
        command.to_dict(tree)
        for kind in (discord.AppCommandType.chat_input, discord.AppCommandType.message)
        for command in tree.get_commands(type=kind)
    ]
    if _by_name(known) == _by_name(ours):
        return False
    await tree.sync()
    logger.info("registered %d commands with Discord", len(ours))
    return True


def _by_name(commands: Any) -> dict[tuple[int, str], Any]:
    return {(command["type"], command["name"]): _comparable(command) for command in commands}


def _comparable(value: Any) -> Any:
    """Return a command without what Discord adds, and without what only says nothing."""
    if isinstance(value, dict):
        cleaned = {name: _comparable(value[name]) for name in _COMPARED & value.keys()}
        if "default_member_permissions" in cleaned:  # a number here, text there
            cleaned["default_member_permissions"] = str(value["default_member_permissions"] or "")
        return {name: said for name, said in cleaned.items() if said not in (None, False, [], "")}
    if isinstance(value, list | tuple):
        return [_comparable(item) for item in value]
    return value


_COMPARED = frozenset(
    "type name description options required autocomplete choices value min_length max_length "
    "min_value max_value channel_types contexts integration_types "
    "default_member_permissions".split()
)
