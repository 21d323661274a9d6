"""What the page is sent of Slack: what one person sees there."""

from datetime import UTC, datetime

from tests.wire.playground.side import View
from tests.wire.playground.slack.stage import Stage
from tests.wire.slack.entities import AssistantThread, Channel, Message, User
from tests.wire.slack.entities import View as Surface
from tests.wire.slack.errors import Json
from tests.wire.slack.rich_text import rich_text
from tests.wire.slack.state import Change


class Views:
    """Cuts the world to what one person may see of it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._world = stage.world

    def snapshot(self, reader: User) -> Json:
        """Return everything that a person sees now."""
        world, places = self._world, self._stage.places(reader)
        threads = [t for t in world.threads.values() if t.user is reader]
        return {
            "me": reader.id,
            "bot_id": world.bot.id,
            "server": world.workspace.name,
            "people": [self.person(user) for user in (*self._stage.people, world.bot)],
            "channels": [self._channel(channel) for channel in places],
            "messages": [
                _message(message) for place in places for message in world.transcript(place, reader)
            ],
            "assistants": [_assistant(thread) for thread in threads],
            "statuses": self._statuses(reader),
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
            case "status":
                return "statuses", self._statuses(reader)
        if isinstance(subject, AssistantThread) and subject.user is reader:
            return "assistant", _assistant(subject)
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
        return ("message", _message(message)) if self._world.sees(reader, message) else None

    def _channel(self, channel: Channel) -> Json:
        direct = self._stage.is_direct(channel)
        return {"id": channel.id, "name": channel.name, "direct": direct}

    def _statuses(self, reader: User) -> Json:
        mine = {channel.id for channel in self._stage.places(reader)}
        doing = self._world.statuses.items()
        return {_place(*where): what["status"] for where, what in doing if where[0] in mine}

    def _home(self, reader: User) -> Json | None:
        home = self._world.homes.get((self._world.app.id, reader.id))
        return _surface(home) if home else None

    def _modal(self, reader: User) -> Json | None:
        top = self._world.modals.top(reader)
        return _surface(top) if top else None


def _message(message: Message) -> Json:
    """Return a message with all that it shows as blocks."""
    return {
        "id": message.ts,
        "channel_id": message.channel.id,
        "thread": message.thread_ts,
        "is_reply": message.is_reply,
        "broadcast": message.subtype == "thread_broadcast",
        "opens_panel": message.subtype == "assistant_app_thread",
        "author": {"id": message.author.id},
        "timestamp": datetime.fromtimestamp(float(message.ts), UTC).isoformat(),
        "text": message.text,
        "blocks": _blocks(message),
        "shared": [str(a.get("text") or a.get("fallback") or "") for a in message.attachments],
        "tasks": [*message.task_cards],
        "growing": message.stream is not None,
        "edited": message.edited_ts is not None and not message.author.bot,
        "ephemeral": message.ephemeral,
    }


def _blocks(message: Message) -> list[Json]:
    if message.streamed:
        return [{"type": "markdown", "text": message.text}, *message.blocks]
    return message.blocks or rich_text(message.text, "text")


def _assistant(thread: AssistantThread) -> Json:
    return {
        "place": _place(thread.channel.id, thread.ts),
        "channel": thread.channel.id,
        "ts": thread.ts,
        "title": thread.title,
        "prompts": thread.prompts,
        "prompts_title": thread.prompts_title,
    }


def _surface(view: Surface) -> Json:
    """Return a modal or a Home."""
    texts = {name: (view.body.get(name) or {}).get("text") for name in ("title", "submit", "close")}
    return {"id": view.id, **texts, "blocks": view.body["blocks"], "errors": view.errors}


def _place(channel_id: str, ts: str) -> str:
    return f"{channel_id}:{ts}"
