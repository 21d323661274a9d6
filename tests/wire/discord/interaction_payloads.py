"""Interactions as the gateway shows them, and the options and fields that users fill in."""

from typing import Any

from tests.wire.discord.component_checks import walk
from tests.wire.discord.entities import Channel, Guild, Message, Role, User
from tests.wire.discord.errors import Json
from tests.wire.discord.interactions import Interaction, owners
from tests.wire.discord.message_payloads import dispatched
from tests.wire.discord.payloads import (
    channel_payload,
    full_member_payload,
    member_payload,
    role_payload,
    user_payload,
)
from tests.wire.discord.permissions import in_channel, in_guild
from tests.wire.discord.state import State

SUBCOMMANDS = (1, 2)
_TYPES: dict[int, type | tuple[type, ...]] = {
    3: str,
    4: int,
    5: bool,
    6: User,
    7: Channel,
    8: Role,
    10: (int, float),
}


def interaction_payload(interaction: Interaction) -> Json:
    """Return what INTERACTION_CREATE carries."""
    channel, user, bot = interaction.channel, interaction.user, interaction.application.user
    payload: Json = {
        "id": str(interaction.id),
        "application_id": str(interaction.application.id),
        "type": int(interaction.kind),
        "token": interaction.token,
        "version": 1,
        "data": interaction.data,
        "channel_id": str(channel.id),
        "channel": _partial_channel(channel, user),
        "locale": user.locale,
        "app_permissions": str(int(in_channel(channel, bot.id))),
        "entitlements": [],
        "authorizing_integration_owners": owners(interaction),
        "context": 0 if channel.guild else 1,
        "attachment_size_limit": 10 * 1024**2,
    }
    if interaction.message is not None:
        payload["message"] = dispatched(interaction.message, bot, content_intent=True)
    if channel.guild is None:
        return payload | {"user": user_payload(user)}
    member = full_member_payload(channel.guild.members[user.id])
    member["permissions"] = str(int(in_channel(channel, user.id)))
    return payload | {
        "guild_id": str(channel.guild.id),
        "guild": {"id": str(channel.guild.id), "locale": channel.guild.locale, "features": []},
        "guild_locale": channel.guild.locale,
        "member": member,
    }


def command_data(
    command: Json,
    path: list[str],
    options: Json,
    focused: str | None = None,
    guild: Guild | None = None,
) -> Json:
    """Return the data of a slash command, its options checked against their declaration.

    `path` holds the names of the subcommands; `focused` is the option that is being typed;
    `guild` is where the command is given.
    """
    declared, wrap = command.get("options") or [], []
    for name in path:
        group = next((o for o in declared if o["name"] == name), None)
        if group is None or group["type"] not in SUBCOMMANDS:
            raise LookupError(f"{command['name']} has no subcommand {name!r}")
        wrap.append(group)
        declared = group.get("options") or []
    given = _given(declared, options, focused)
    for group in reversed(wrap):
        given = [{"type": group["type"], "name": group["name"], "options": given}]
    data: Json = {"id": command["id"], "name": command["name"], "type": command["type"]}
    data["options"] = given
    if resolved := _resolved(list(options.values()), guild):
        data["resolved"] = resolved
    return data


def message_menu_data(command: Json, message: Message, state: State) -> Json:
    """Return the data of a message command, with its target resolved and readable."""
    reader = state.applications[int(command["application_id"])].user
    target = dispatched(message, reader, content_intent=True)
    return {
        "id": command["id"],
        "name": command["name"],
        "type": command["type"],
        "target_id": str(message.id),
        "resolved": {"messages": {str(message.id): target}},
    }


def component_data(message: Message, custom_id: str, values: list[str] | None) -> Json:
    """Return the data of a click; fails if the message has no such component to click.

    An option of a menu is named by its value.
    """
    for component in walk(message.components):
        if component.get("custom_id") == custom_id:
            if component.get("disabled"):
                raise LookupError(f"the component {custom_id!r} is disabled")
            data = {
                "custom_id": custom_id,
                "component_type": component["type"],
                "id": component["id"],
            }
            return data | ({} if values is None else {"values": values})
        if custom_id in {option["value"] for option in component.get("options") or ()}:
            return component_data(message, component["custom_id"], [custom_id])
    present = [c["custom_id"] for c in walk(message.components) if c.get("custom_id")]
    raise LookupError(f"the message has no component {custom_id!r}, only {present}")


def modal_data(modal: Json, fields: dict[str, Any]) -> Json:
    """Return the data of a filled-in modal; fails where Discord's form would not submit."""
    known = {c["custom_id"] for c in walk(modal["components"]) if c.get("custom_id")}
    if set(fields) - known:
        raise LookupError(f"the modal has no fields {set(fields) - known}, only {known}")
    number = iter(range(1, 100))
    shown = [_filled(c, fields, number) for c in modal["components"] if c["type"] != 10]
    return {"custom_id": modal["custom_id"], "components": shown}


def _filled(component: Json, fields: dict[str, Any], number: Any) -> Json:
    answer: Json = {"type": component["type"], "id": component.get("id") or next(number)}
    if component["type"] == 1:
        return answer | {
            "components": [_filled(c, fields, number) for c in component["components"]]
        }
    if component["type"] == 18:
        return answer | {"component": _filled(component["component"], fields, number)}
    custom_id = component["custom_id"]
    answer["custom_id"] = custom_id
    if component["type"] == 21:
        chosen = fields.get(custom_id)
        if chosen not in {None if not component.get("required", True) else chosen} | {
            option["value"] for option in component["options"]
        }:
            raise ValueError(f"the group {custom_id!r} has no option {chosen!r}")
        return answer | {"value": chosen}
    if component["type"] != 4:
        return answer | {"values": fields.get(custom_id, [])}
    value = str(fields.get(custom_id, component.get("value") or ""))
    fewest = component.get("min_length", 1 if component.get("required", True) else 0)
    if not fewest <= len(value) <= component.get("max_length", 4000):
        raise ValueError(f"the field {custom_id!r} cannot be submitted with {value!r}")
    return answer | {"value": value}


def _given(declared: list[Json], options: Json, focused: str | None) -> list[Json]:
    unknown = set(options) - {option["name"] for option in declared}
    if unknown:
        raise LookupError(f"the command has no options {sorted(unknown)}")
    given = []
    for option in declared:
        name = option["name"]
        if name not in options:
            if option.get("required") and focused is None:
                raise ValueError(f"the option {name!r} is required")
            continue
        if focused is None:
            _check_value(option, options[name])
        value = options[name]
        entry = {"type": option["type"], "name": name, "value": getattr(value, "id", value)}
        if hasattr(value, "id"):
            entry["value"] = str(value.id)
        given.append(entry | ({"focused": True} if name == focused else {}))
    return given


def _check_value(option: Json, value: Any) -> None:
    expected = _TYPES.get(option["type"])
    if expected and (not isinstance(value, expected) or (expected is int and value is True)):
        raise ValueError(f"the option {option['name']!r} cannot take {value!r}")
    choices = [choice["value"] for choice in option.get("choices") or []]
    if choices and value not in choices:
        raise ValueError(f"the option {option['name']!r} takes one of {choices}")
    if isinstance(value, str):
        longest = option.get("max_length", 6000)
        if not option.get("min_length", 0) <= len(value) <= longest:
            raise ValueError(f"the option {option['name']!r} has a length Discord refuses")


def _resolved(values: list[Any], guild: Guild | None) -> Json:
    resolved: Json = {}
    for value in values:
        if isinstance(value, User):
            resolved.setdefault("users", {})[str(value.id)] = user_payload(value)
            if guild is not None and (member := guild.members.get(value.id)) is not None:
                shown = member_payload(member) | {
                    "permissions": str(int(in_guild(guild, value.id)))
                }
                resolved.setdefault("members", {})[str(value.id)] = shown
        elif isinstance(value, Role):
            resolved.setdefault("roles", {})[str(value.id)] = role_payload(value)
        elif isinstance(value, Channel):
            shown = channel_payload(value) | {"permissions": "0"}
            resolved.setdefault("channels", {})[str(value.id)] = shown
    return resolved


def _partial_channel(channel: Channel, user: User) -> Json:
    return channel_payload(channel) | {"permissions": str(int(in_channel(channel, user.id)))}
