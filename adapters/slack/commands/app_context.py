"""What the user of an agent looks at meanwhile, as Slack tells it.

Read 2026-11-25 in docs.slack.dev: `app_home_opened` and `app_context_changed` have `context`,
direct messages `app_context`, each with `entities`, the most relevant first; none where the user
looks at nothing. A channel's value is its id, a message's an object with `channel_id`.
"""

from collections.abc import Mapping
from typing import Any

from adapters.payloads import mapping, mappings, text

_CHANNEL = "slack#/types/channel_id"
_MESSAGE = "slack#/types/message_context"


def channel_looked_at(context: object, team: str) -> str | None:
    """Return the channel of a workspace that a context tells of; None: it tells of none."""
    for entity in mappings(mapping(context).get("entities")):
        if text(entity.get("team_id")) in ("", team) and (channel := _channel(entity)):
            return channel
    return None


def _channel(entity: Mapping[str, Any]) -> str:
    value, kind = entity.get("value"), entity.get("type")
    if kind == _MESSAGE:
        return text(mapping(value).get("channel_id"))
    return text(value) if kind == _CHANNEL else ""
