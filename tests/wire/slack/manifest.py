"""What Slack refuses in the manifest of a new app.

Facts of slackapi/manifest-schema (schema 2.0.0, `agent_view` since 0.5.0), of
docs.slack.dev/ai/migrating-to-agent-messaging and of its events' pages, all read 2026-11-25.
"""

import re
from typing import Any

from tests.wire.slack.errors import Complaints, Json, SlackError

BOT_SCOPES = frozenset(
    "app_mentions:read assistant:write bookmarks:read bookmarks:write channels:history"
    " channels:join channels:manage channels:read chat:write chat:write.customize"
    " chat:write.public commands emoji:read files:read files:write groups:history groups:read"
    " groups:write im:history im:read im:write links:read links:write metadata.message:read"
    " mpim:history mpim:read mpim:write pins:read pins:write reactions:read reactions:write"
    " team:read usergroups:read usergroups:write users.profile:read users:read"
    " users:read.email users:write".split()
)
_EVENT_NEEDS: dict[str, str | None] = {
    "agent_session_stopped": "chat:write",
    "agent_session_title_changed": "chat:write",
    "app_context_changed": None,
    "app_home_opened": None,
    "app_mention": "app_mentions:read",
    "app_uninstalled": None,
    "member_joined_channel": "channels:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "tokens_revoked": None,
}
"""Events that a bot may subscribe to, and the scope that each needs."""
_OF_AGENTS = frozenset(
    {"agent_session_stopped", "agent_session_title_changed", "app_context_changed"}
)
_TOP = frozenset({"_metadata", "display_information", "features", "oauth_config", "settings"})
_FEATURES = frozenset(
    {"agent_view", "app_home", "assistant_view", "bot_user", "shortcuts", "slash_commands"}
)
_SETTINGS = frozenset(
    {
        "event_subscriptions",
        "interactivity",
        "org_deploy_enabled",
        "socket_mode_enabled",
        "token_rotation_enabled",
    }
)
_COLOUR = re.compile(r"#[0-9a-fA-F]{3}([0-9a-fA-F]{3})?")


def check_manifest(manifest: Any) -> Json:
    """Return a manifest, or refuse it with all that is wrong."""
    found = Complaints()
    if not isinstance(manifest, dict):
        raise SlackError("invalid_manifest", "must be an object [json-pointer:]")
    found.fields("", manifest, _TOP)
    features: Json = manifest.get("features") or {}
    scopes = frozenset(((manifest.get("oauth_config") or {}).get("scopes") or {}).get("bot") or ())
    _check_display(found, manifest.get("display_information") or {})
    _check_features(found, features)
    _check_view(found, features, scopes)
    for scope in sorted(scopes - BOT_SCOPES):
        found.add("/oauth_config/scopes/bot", f"unknown scope: {scope}")
    _check_settings(found, manifest.get("settings") or {}, features, scopes)
    if found.found:
        raise SlackError("invalid_manifest", *found.found)
    return manifest


def _check_display(found: Complaints, shown: Json) -> None:
    found.text("/display_information/name", shown.get("name"), 35)
    if "description" in shown:
        found.text("/display_information/description", shown["description"], 140)
    if not _COLOUR.fullmatch(str(shown.get("background_color", "#000"))):
        found.add("/display_information/background_color", "must be a hex color")


def _check_features(found: Complaints, features: Json) -> None:
    found.fields("/features", features, _FEATURES)
    for number, command in enumerate(features.get("slash_commands") or ()):
        at = f"/features/slash_commands/{number}"
        known = {"command", "description", "usage_hint", "should_escape", "url"}
        found.fields(at, command, frozenset(known))
        found.text(f"{at}/command", command.get("command"), 32, 2)
        found.text(f"{at}/description", command.get("description"), 2000)
        if not str(command.get("command")).startswith("/"):
            found.add(f"{at}/command", "must begin with /")
        if "usage_hint" in command:
            found.text(f"{at}/usage_hint", command["usage_hint"], 1000)
    for number, shortcut in enumerate(features.get("shortcuts") or ()):
        at = f"/features/shortcuts/{number}"
        found.text(f"{at}/name", shortcut.get("name"), 24)
        found.text(f"{at}/description", shortcut.get("description"), 150)
        found.required(at, shortcut, "type", "callback_id")
    found.text("/features/bot_user/display_name", features["bot_user"].get("display_name"), 80)


def _check_view(found: Complaints, features: Json, scopes: frozenset[str]) -> None:
    agent = features.get("agent_view")
    if "assistant_view" in features:
        found.add("/features/assistant_view", "is not allowed for new apps; use agent_view")
    if agent is None and "assistant:write" in scopes:
        found.add("/oauth_config/scopes/bot", "assistant:write needs an agent's view")
    if agent is not None and "assistant:write" not in scopes:
        found.add("/oauth_config/scopes/bot", "an agent's view needs assistant:write")
    if agent is not None:
        at = "/features/agent_view"
        known = frozenset({"agent_description", "suggested_prompts", "actions"})
        found.fields(at, agent, known)
        if "agent_description" in agent:
            found.text(f"{at}/agent_description", agent["agent_description"], 300)
        prompts = found.count(f"{at}/suggested_prompts", agent.get("suggested_prompts", []), 4, 0)
        for number, prompt in enumerate(prompts):
            found.required(f"{at}/suggested_prompts/{number}", prompt, "title", "message")


def _check_settings(
    found: Complaints, settings: Json, features: Json, scopes: frozenset[str]
) -> None:
    found.fields("/settings", settings, _SETTINGS)
    events: Json = settings.get("event_subscriptions") or {}
    at = "/settings/event_subscriptions"
    if not settings.get("socket_mode_enabled") and not events.get("request_url"):
        found.add(at, "missing required field: request_url")
    foreign = frozenset() if "agent_view" in features else _OF_AGENTS
    for event in events.get("bot_events") or ():
        here = f"{at}/bot_events"
        if event not in _EVENT_NEEDS or event in foreign:
            found.add(here, f"unknown event: {event}")
        elif (scope := _EVENT_NEEDS[event]) is not None and scope not in scopes:
            found.add(here, f"{event} needs the scope {scope}")
