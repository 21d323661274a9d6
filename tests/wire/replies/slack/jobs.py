"""Jobs for SlackReply, and what a reader of the local Slack sees of its work."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from adapters.slack.client import ClosedMethods, SlackClient
from adapters.slack.installations import Workspaces
from adapters.slack.notices import message_id
from adapters.slack.outbound import COMMANDED
from adapters.slack.reply import SlackReply
from core.domain import AgentRequest, now
from core.storage.inbox.base import Job
from tests.wire.replies.jobs import Kept, finished, job_of
from tests.wire.slack import Interaction, Message, SlackServer, User, World
from tests.wire.slack.entities import written


class Tokens:
    """Clients with the token of the server's first installation."""

    def __init__(self, server: SlackServer, closed: ClosedMethods | None = None) -> None:
        self._server = server
        self._closed = closed or ClosedMethods()

    async def of(self, team: str, enterprise: str | None) -> SlackClient:
        world = self._server.world
        assert team == world.workspace.id
        token = world.installation.token
        return SlackClient(self._server.api_url, token, closed=self._closed)

    async def close(self) -> None:
        """There is nothing to close."""


def workspaces_of(server: SlackServer, *, streams: bool = True, minute: float = 60.0) -> Workspaces:
    """Return what all answers on a server share."""
    shared = Workspaces(Tokens(server), minute=minute)
    if not streams:
        shared.of(server.world.workspace.id, None).streams.refused()
    return shared


def about_message(question: Message, *, asked: AgentRequest | None = None, **changes: Any) -> Job:
    """Return the job of a question that stands in a message."""
    address = {
        "channel": question.channel.id,
        "thread": question.thread_ts,
        "message": question.ts,
        "asker": question.author.id,
        "team": question.author.workspace.id,
    }
    key = changes.pop("key", f"slack:{address['team']}:{question.channel.id}:{question.ts}")
    return _job(key, address, asked, **changes)


def about_command(
    world: World, user: User, *, asked: AgentRequest | None = None, **changes: Any
) -> Job:
    """Return the job of a command whose question the bot posts."""
    address = _command_address(world, user) | {"post_question": True}
    return _job("slack:t:1.2.3", address, asked, **changes)


def about_whisper(
    world: World,
    interaction: Interaction,
    *,
    asked: AgentRequest | None = None,
    expires_at: datetime | None = None,
    commanded: bool = True,
    **changes: Any,
) -> Job:
    """Return the job of a command, or of a press, that only its user sees answered."""
    address = _command_address(world, interaction.user) | {"ephemeral": True}
    address |= {COMMANDED: commanded}
    return _job(
        "slack:t:4.5.6",
        address,
        asked,
        token=world.response_url(interaction),
        token_expires_at=expires_at or now() + timedelta(minutes=30),
        **changes,
    )


async def opened(shared: Workspaces, job: Job, kept: Kept | None = None) -> SlackReply:
    """Return a reply that does not wait between two changes."""
    return await SlackReply.open(shared, job, kept or Kept(job.posted), interval=0.0)


async def answered(
    shared: Workspaces, job: Job, kept: Kept | None = None, text: str = "A tree [1]."
) -> SlackReply:
    """Answer a job from its beginning to its end."""
    reply = await opened(shared, job, kept)
    await reply.update("A tree is a graph. It")
    await reply.finish(finished(job, text))
    return reply


def by_bot(world: World, reader: User | None = None) -> list[Message]:
    """Return what the bot shows, in all places."""
    places = list(world.channels.values())
    shown = [one for place in places for one in world.transcript(place, reader)]
    return [one for one in shown if one.author is world.bot]


def body(message: Message) -> str:
    """Return a message's Markdown, as its reader sees it."""
    texts = [str(one["text"]) for one in message.blocks if one["type"] == "markdown"]
    return _unescaped("\n".join(texts))


def as_read(text: str) -> str:
    """Return our own words without what keeps Slack from acting on them."""
    return _unescaped(text).replace("\u200b", "").replace("\\", "")


def notes(message: Message) -> str:
    """Return a message's small print."""
    found = [one for one in message.blocks if one["type"] == "context"]
    return "\n".join(written(found))


def labels(message: Message) -> list[str]:
    """Return what is written on a message's buttons."""
    rows = [one for one in message.blocks if one["type"] in ("actions", "context_actions")]
    return [label for row in rows for element in row["elements"] for label in _labels(element)]


def ids(*messages: Message) -> tuple[str, ...]:
    """Return what messages are known by in the inbox."""
    return tuple(message_id(one.channel.id, one.ts) for one in messages)


def _labels(element: Mapping[str, Any]) -> list[str]:
    votes = (element.get("positive_button"), element.get("negative_button"))
    shown = (*votes, element, *element.get("options", ()))
    return [str(one["text"]["text"]) for one in shown if one and "text" in one]


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _command_address(world: World, user: User) -> dict[str, Any]:
    return {
        "channel": world.channel.id,
        "thread": None,
        "message": None,
        "asker": user.id,
        "team": user.workspace.id,
    }


def _job(key: str, address: dict[str, Any], asked: AgentRequest | None, **fields: Any) -> Job:
    address = {"enterprise": None, "ephemeral": False, "post_question": False, **address}
    return job_of("slack", key, address, asked, workspace=address["team"], **fields)
