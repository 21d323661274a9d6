"""What the page is sent of Slack: what one person sees there."""

from dataclasses import asdict

from tests.wire.playground.side import View
from tests.wire.playground.slack.message_views import message_view
from tests.wire.playground.slack.stage import Stage
from tests.wire.slack.entities import AgentSession, Channel, Message, User
from tests.wire.slack.entities import View as Surface
from tests.wire.slack.errors import Json
from tests.wire.slack.state import Change


class Views:
    """Cuts the world to what one person may see of it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._world = stage.world

    def snapshot(self, reader: User) -> Json:
        """Return everything that a person sees now."""
        world, places = self._world, self._stage.places(reader)
        return {
            "me": reader.id,
            "bot_id": world.bot.id,
            "server": world.workspace.name,
            "people": [self.person(user) for user in self._stage.everyone],
            "channels": [self._channel(channel) for channel in places],
            "messages": [
                message_view(message, reader)
                for place in places
                for message in world.transcript(place, reader)
            ],
            "sessions": [_session(s) for s in world.sessions.values() if s.channel in places],
            "prompts": self._prompts(reader),
            "home": self._home(reader),
            "modal": self._modal(reader),
            "commands": self._stage.commands,
            "shortcuts": self._stage.shortcuts,
            "examples": self._stage.examples(),
        }

    def change(self, change: Change, reader: User) -> View | None:
        """Return a change as a person's page gets it; None where it is not for them."""
        subject = change.subject
        if isinstance(subject, Message):
            return self._changed(subject, reader)
        match change.name:
            case "modal":
                return "modal", self._modal(reader)
            case "home":
                return "home", self._home(reader)
            case "prompts":
                return "prompts", self._prompts(reader)
        if isinstance(subject, AgentSession) and subject.channel in self._stage.places(reader):
            return "session", _session(subject)
        return None

    def person(self, user: User) -> Json:
        """Return an account, with its name for readers and what it is."""
        role = "app" if user.bot else "staff" if user.admin else "student"
        return {"id": user.id, "name": user.name.title(), "role": role}

    def _changed(self, message: Message, reader: User) -> View | None:
        if message.channel not in self._stage.places(reader):
            return None
        if message.deleted:
            return "gone", {"id": message.ts, "root": message.thread_ts}
        seen = self._world.sees(reader, message)
        return ("message", message_view(message, reader)) if seen else None

    def _channel(self, channel: Channel) -> Json:
        direct = self._stage.is_direct(channel)
        return {"id": channel.id, "name": channel.name, "direct": direct}

    def _prompts(self, reader: User) -> Json | None:
        """Return what the reader's Messages tab suggests to ask."""
        suggested = self._world.prompts.get(self._world.dm(reader).id)
        return asdict(suggested) if suggested else None

    def _home(self, reader: User) -> Json | None:
        home = self._world.homes.get((self._world.app.id, reader.id))
        return _surface(home) if home else None

    def _modal(self, reader: User) -> Json | None:
        top = self._world.modals.top(reader)
        return _surface(top) if top else None


def _surface(view: Surface) -> Json:
    """Return a modal or a Home."""
    texts = {name: (view.body.get(name) or {}).get("text") for name in ("title", "submit", "close")}
    return {"id": view.id, **texts, "blocks": view.body["blocks"], "errors": view.errors}


def _session(session: AgentSession) -> Json:
    """Return what the app does in a thread, and what the thread is called."""
    return {
        "channel": session.channel.id,
        "thread": session.thread_ts,
        "title": session.title,
        "status": session.status,
    }
