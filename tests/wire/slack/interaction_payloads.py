"""Commands, clicks, shortcuts and submissions as the wire shows them."""

from typing import TYPE_CHECKING, Any

from tests.wire.slack.entities import Message, View
from tests.wire.slack.errors import Json
from tests.wire.slack.interactions import Interaction
from tests.wire.slack.modals import with_ids
from tests.wire.slack.payloads import message_payload, view_payload

if TYPE_CHECKING:
    from tests.wire.slack.world import World

_CLICKABLE = {"button", "icon_button", "feedback_buttons", "overflow", "static_select"}


def command_payload(world: "World", interaction: Interaction, command: str, text: str) -> Json:
    """Return a slash command."""
    user, channel = interaction.user, interaction.channel
    assert channel is not None
    workspace = user.workspace
    named = {"im": "directmessage", "group": "privategroup"}.get(channel.kind.value, channel.name)
    payload = {
        "token": interaction.installation.app.verification_token,
        "team_id": workspace.id,
        "team_domain": workspace.domain,
        "channel_id": channel.id,
        "channel_name": named,
        "user_id": user.id,
        "user_name": user.name,
        "command": command,
        "text": text,
        "api_app_id": interaction.installation.app.id,
        "is_enterprise_install": "false",
        "response_url": world.response_url(interaction),
        "trigger_id": interaction.trigger_id,
    }
    if workspace.enterprise_id:
        payload |= {"enterprise_id": workspace.enterprise_id, "enterprise_name": workspace.name}
    return payload


def shortcut_payload(world: "World", interaction: Interaction, callback_id: str) -> Json:
    """Return a message shortcut, or a global one."""
    payload = _common(interaction) | {
        "callback_id": callback_id,
        "action_ts": world.timestamps.next(),
        "trigger_id": interaction.trigger_id,
    }
    if interaction.message is None:
        return payload
    return payload | {
        "message_ts": interaction.message.ts,
        "message": message_payload(interaction.message),
        "channel": _channel(interaction),
        "response_url": world.response_url(interaction),
    }


def action_payload(world: "World", interaction: Interaction, action: Json) -> Json:
    """Return a click in a view or a message, which is not repeated if it is ephemeral."""
    payload = _common(interaction) | {
        "trigger_id": interaction.trigger_id,
        "actions": [{**action, "action_ts": world.timestamps.next()}],
    }
    if interaction.view is not None:
        view = interaction.view
        return payload | {
            "container": {"type": "view", "view_id": view.id},
            "view": view_payload(view),
        }
    message = interaction.message
    assert message is not None
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel.id,
        "is_ephemeral": message.ephemeral,
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    if not message.ephemeral:
        payload["message"] = _numbered(message)
    return payload | {
        "container": container,
        "channel": _channel(interaction),
        "state": {"values": {}},
        "response_url": world.response_url(interaction),
    }


def view_event_payload(interaction: Interaction, *, cleared: bool = False) -> Json:
    """Return a modal's submission, or that it was closed."""
    assert interaction.view is not None
    payload = _common(interaction) | {"view": view_payload(interaction.view)}
    if interaction.kind == "view_closed":
        return payload | {"is_cleared": cleared}
    return payload | {"trigger_id": interaction.trigger_id, "response_urls": []}


def find_action(holder: Message | View, action_id: str, choice: str | None) -> Json:
    """Return the action of pressing an element, by its action id.

    `choice` is a value: of an option, of one of two feedback buttons, or of one of many buttons. An
    option of an overflow menu is also named by what its value begins with.

    Raises:
        LookupError: There is no such element, or no such choice.
    """
    blocks = _numbered(holder)["blocks"] if isinstance(holder, Message) else holder.body["blocks"]
    for block in blocks:
        for element in [*block.get("elements", []), block.get("accessory") or {}]:
            if element.get("type") == "button" and choice not in (None, element.get("value")):
                continue
            values = [option["value"] for option in element.get("options") or ()]
            in_menu = next((one for one in values if one.startswith(f"{action_id}:")), None)
            if element.get("type") == "overflow" and in_menu is not None:
                return find_action(holder, element["action_id"], in_menu)
            if element.get("action_id") == action_id and element.get("type") in _CLICKABLE:
                return {
                    "type": element["type"],
                    "action_id": action_id,
                    "block_id": block["block_id"],
                    **_pressed(element, choice),
                }
    raise LookupError(f"nothing to press is called {action_id!r}")


def _pressed(element: Json, choice: str | None) -> Json:
    match element["type"]:
        case "feedback_buttons":
            for side in ("positive_button", "negative_button"):
                if element[side]["value"] == choice:
                    return {"text": element[side]["text"], "value": choice}
            raise LookupError(f"no feedback button has the value {choice!r}")
        case "overflow" | "static_select":
            groups = element.get("option_groups") or [element]
            for option in (one for group in groups for one in group["options"]):
                if option["value"] == choice:
                    return {"selected_option": option}
            raise LookupError(f"no option has the value {choice!r}")
        case _:
            keys = ("text", "value", "style", "icon", "url")
            return {key: element[key] for key in keys if key in element}


def typed(view: View, fields: dict[str, Any]) -> Json:
    """Return the state of a modal after somebody filled in fields, by action or block id.

    Raises:
        ValueError: Slack's client would not send this.
        LookupError: A field is not in the view.
    """
    left = dict(fields)
    values: Json = {}
    for block in view.body["blocks"]:
        if block["type"] != "input":
            continue
        element = block["element"]
        names = [n for n in (element["action_id"], block["block_id"]) if n in left]
        value = left.pop(names[0]) if names else element.get("initial_value")
        if value in (None, "") and not block.get("optional"):
            raise ValueError(f"{block['block_id']} must be filled in")
        values[block["block_id"]] = {element["action_id"]: _state(element, value)}
    if left:
        raise LookupError(f"no such inputs: {sorted(left)}")
    return values


def _state(element: Json, value: Any) -> Json:
    kind = element["type"]
    if kind == "plain_text_input":
        longest, shortest = element.get("max_length", 3000), element.get("min_length", 0)
        if value is not None and not shortest <= len(value) <= longest:
            raise ValueError(f"must be between {shortest} and {longest} characters")
        return {"type": kind, "value": value}
    if kind in ("static_select", "radio_buttons"):
        chosen = [o for o in element["options"] if o["value"] == value]
        first = element.get("initial_option")
        return {"type": kind, "selected_option": chosen[0] if chosen else first}
    if kind in ("checkboxes", "multi_static_select"):
        wanted = value or []
        return {
            "type": kind,
            "selected_options": [o for o in element["options"] if o["value"] in wanted],
        }
    return {"type": kind, f"selected_{kind.removesuffix('s_select')}": value}


def _common(interaction: Interaction) -> Json:
    user, installation = interaction.user, interaction.installation
    workspace = user.workspace
    enterprise = workspace.enterprise_id
    return {
        "type": interaction.kind.value,
        "token": installation.app.verification_token,
        "api_app_id": installation.app.id,
        "team": {"id": workspace.id, "domain": workspace.domain},
        "enterprise": {"id": enterprise, "name": workspace.name} if enterprise else None,
        "user": {
            "id": user.id,
            "username": user.name,
            "name": user.name,
            "team_id": workspace.id,
        },
        "is_enterprise_install": False,
    }


def _channel(interaction: Interaction) -> Json:
    assert interaction.channel is not None
    return {"id": interaction.channel.id, "name": interaction.channel.name or "directmessage"}


def _numbered(message: Message) -> Json:
    payload = message_payload(message)
    blocks = payload.get("blocks", [])
    return payload | {"blocks": [with_ids(block, number) for number, block in enumerate(blocks)]}
