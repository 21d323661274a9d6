"""Registers the commands with Discord, when they differ from what it knows."""

import logging
from typing import Any

import discord
from discord import app_commands
from discord.http import Route

logger = logging.getLogger(__name__)


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
