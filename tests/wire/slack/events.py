"""What apps hear of: Events API bodies, for the apps that subscribed and may."""

import copy
import secrets
from collections.abc import Iterator

from tests.wire.slack.entities import (
    AgentSession,
    Channel,
    ChannelKind,
    Installation,
    Message,
    User,
    View,
)
from tests.wire.slack.errors import Json
from tests.wire.slack.mentions import mentions
from tests.wire.slack.payloads import message_payload, view_payload
from tests.wire.slack.state import Dispatch, State

_UNSCOPED = "none"


class Events:
    """Emits events to installations."""

    def __init__(self, state: State) -> None:
        self._state = state

    def posted(self, message: Message) -> None:
        """Tell of a new message, and those it mentions a second time."""
        self._message(message, message_payload(message))
        self._mentioned(message, set())

    def edited(self, message: Message, before: Json) -> None:
        """Tell of a change; `before` is the message as it was."""
        self._sub_event(
            message,
            {
                "subtype": "message_changed",
                "message": message_payload(message),
                "previous_message": before,
            },
        )
        self._mentioned(message, set(_mentioned_in(before)))

    def deleted(self, message: Message, before: Json) -> None:
        """Tell of a deletion; a thread's first message leaves a tombstone, by a change."""
        if not message.deleted:
            changed = {"message": message_payload(message), "previous_message": before}
            self._sub_event(message, {"subtype": "message_changed", **changed})
            return
        gone = {"deleted_ts": message.ts, "previous_message": before}
        self._sub_event(message, {"subtype": "message_deleted", **gone})

    def joined(self, user: User, channel: Channel) -> None:
        """Tell that somebody, maybe the bot itself, joined a channel."""
        event = {
            "type": "member_joined_channel",
            "user": user.id,
            "channel": channel.id,
            "channel_type": "C" if channel.kind is ChannelKind.PUBLIC else "G",
            "team": user.workspace.id,
        }
        for installation in self._audience(channel):
            scope = f"{channel.kind.family}:read"
            self.send(installation, event, "member_joined_channel", scope, channel)

    def reacted(self, user: User, message: Message, name: str, what: str) -> None:
        """Tell of a reaction that was `added` or `removed`."""
        kind = f"reaction_{what}"
        event = {
            "type": kind,
            "user": user.id,
            "reaction": name,
            "item_user": message.author.id,
            "item": {"type": "message", "channel": message.channel.id, "ts": message.ts},
        }
        for installation in self._audience(message.channel):
            self.send(installation, event, kind, "reactions:read", message.channel)

    def home_opened(
        self, installation: Installation, user: User, channel: Channel, tab: str, view: View | None
    ) -> None:
        """Tell that somebody looks at the app's home or messages tab, and at what besides."""
        event: Json = {
            "type": "app_home_opened",
            "user": user.id,
            "channel": channel.id,
            "tab": tab,
        }
        if view is not None and tab == "home":
            event["view"] = view_payload(view)
        if installation.app.is_agent:
            event["context"] = self._context(user)
        self.send(installation, event, "app_home_opened", _UNSCOPED)

    def context_changed(self, installation: Installation, user: User, channel: Channel) -> None:
        """Tell an agent that somebody looks at something else while it is open."""
        event: Json = {
            "type": "app_context_changed",
            "user": user.id,
            "channel": channel.id,
            "context": self._context(user),
        }
        if installation.app.is_agent:
            self.send(installation, event, "app_context_changed", _UNSCOPED)

    def session_stopped(self, session: AgentSession, user: User, streams: list[str]) -> None:
        """Tell that somebody pressed the stop button of a session."""
        event: Json = {
            "type": "agent_session_stopped",
            "user": user.id,
            "channel": session.channel.id,
            "thread_ts": session.thread_ts,
            "streaming_message_ts": streams,
        }
        self.send(session.installation, event, "agent_session_stopped", "chat:write")

    def session_renamed(self, session: AgentSession, user: User, before: str | None) -> None:
        """Tell that somebody gave a session another title."""
        event: Json = {
            "type": "agent_session_title_changed",
            "user": user.id,
            "channel": session.channel.id,
            "thread_ts": session.thread_ts,
            "title": session.title,
            "team_id": session.installation.workspace.id,
        }
        if before is not None:
            event["previous_title"] = before
        self.send(session.installation, event, "agent_session_title_changed", "chat:write")

    def uninstalled(self, installation: Installation) -> None:
        """Tell, in either order in real life, that the tokens died and the app is out."""
        tokens = {"oauth": [], "bot": [installation.bot.id]}
        event = {"type": "tokens_revoked", "tokens": tokens}
        self.send(installation, event, "tokens_revoked", _UNSCOPED)
        self.send(installation, {"type": "app_uninstalled"}, "app_uninstalled", _UNSCOPED)

    def send(
        self,
        installation: Installation,
        event: Json,
        subscription: str,
        scope: str,
        channel: Channel | None = None,
    ) -> None:
        """Emit an event if the app subscribed and holds the scope."""
        app = installation.app
        if subscription not in app.events:
            return
        if scope != _UNSCOPED and scope not in installation.scopes:
            return
        event = {**copy.deepcopy(event)}
        event.setdefault("event_ts", event.get("ts") or self._state.timestamps.next())
        body = self._body(installation, event, channel)
        self._state.emit(Dispatch(app, "events_api", str(event["type"]), body))

    def _message(self, message: Message, event: Json) -> None:
        channel = message.channel
        event |= {"channel": channel.id, "channel_type": channel.kind.value}
        family = channel.kind.family
        for installation in self._audience(channel):
            seen = self._seen_by_agents(installation, message)
            told = {**event, **seen}
            self.send(installation, told, f"message.{family}", f"{family}:history", channel)

    def _seen_by_agents(self, installation: Installation, message: Message) -> Json:
        """Return what a direct message tells an agent besides: what its author looks at."""
        is_direct = message.channel.kind is ChannelKind.IM and not message.author.bot
        if not is_direct or not installation.app.is_agent:
            return {}
        return {"app_context": self._context(message.author)}

    def _context(self, user: User) -> Json:
        entities = self._state.looking.get(user.id)
        return {"entities": entities} if entities else {}

    def _sub_event(self, message: Message, event: Json) -> None:
        event = {"type": "message", "hidden": True, "ts": self._state.timestamps.next(), **event}
        self._message(message, event)

    def _mentioned(self, message: Message, already: set[str]) -> None:
        if message.channel.kind is ChannelKind.IM or message.subtype == "tombstone":
            return
        named = {m.id for m in mentions(message, names=False) if m.kind == "user"} - already
        for installation in self._audience(message.channel):
            if installation.bot.id in named and message.installation is not installation:
                event = message_payload(message) | {"type": "app_mention"}
                event["channel"] = message.channel.id
                scope = "app_mentions:read"
                self.send(installation, event, "app_mention", scope, message.channel)

    def _audience(self, channel: Channel) -> Iterator[Installation]:
        """Yield one installation of each app with a bot in the channel, as Slack does."""
        told = set()
        for installation in self._state.installations:
            present = installation.bot.id in channel.members
            if installation.active and present and installation.app.id not in told:
                told.add(installation.app.id)
                yield installation

    def _body(self, installation: Installation, event: Json, channel: Channel | None) -> Json:
        workspace = installation.workspace
        # With Slack Connect, bolt goes by `authorizations`: `team_id` may be the sender's.
        sender = event.get("team") if channel is not None and channel.shared else None
        return {
            "token": installation.app.verification_token,
            "team_id": sender or workspace.id,
            "enterprise_id": workspace.enterprise_id,
            "context_team_id": workspace.id,
            "context_enterprise_id": workspace.enterprise_id,
            "api_app_id": installation.app.id,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{secrets.token_hex(5).upper()}",
            "event_time": int(self._state.clock.wall().timestamp()),
            "authorizations": [
                {
                    "enterprise_id": workspace.enterprise_id,
                    "team_id": workspace.id,
                    "user_id": installation.bot.id,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": channel is not None and channel.shared,
            "event_context": f"4-{secrets.token_hex(12)}",
        }


def _mentioned_in(payload: Json) -> list[str]:
    text = str(payload.get("text", ""))
    return [part.split(">")[0].split("|")[0] for part in text.split("<@")[1:]]
