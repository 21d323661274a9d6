"""Jobs for SlackReply, and what a reader of the local Slack sees of its work."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.posting import message_id
from adapters.slack.reply import SlackReply
from adapters.slack.workspaces import Workspaces
from core.inbox.base import Arrival, Job, Kind, Posted
from core.models import AgentRequest, now
from tests.samples import request
from tests.wire.discord_replies import Kept, finished, long_text
from tests.wire.slack import Interaction, Message, SlackServer, User, World
from tests.wire.slack.entities import written

__all__ = ["Kept", "finished", "long_text"]

QUESTION = "What is a heap?"


class Tokens:
    """Clients with the token of the server's first installation."""

    def __init__(self, server: SlackServer) -> None:
        self._server = server

    async def of(self, team: str, enterprise: str | None) -> AsyncWebClient:
        world = self._server.world
        assert team == world.workspace.id
        token = world.installation.token
        return AsyncWebClient(token=token, base_url=self._server.api_url)


def workspaces_of(server: SlackServer, *, streams: bool = True, minute: float = 60.0) -> Workspaces:
    """Return what all answers on a server share."""
    shared = Workspaces(Tokens(server), minute=minute)
    shared.of(server.world.workspace.id, None).may_stream = streams
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
    **changes: Any,
) -> Job:
    """Return the job of a command that only its user sees answered."""
    address = _command_address(world, interaction.user) | {"ephemeral": True}
    return _job(
        "slack:t:4.5.6",
        address,
        asked,
        token=world.response_url(interaction),
        token_expires_at=expires_at or now() + timedelta(minutes=30),
        **changes,
    )


def again(job: Job, kept: Kept) -> Job:
    """Return the job as the next worker claims it."""
    return replace(job, fence=job.fence + 1, posted=kept.posted)


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


def notes(message: Message) -> str:
    """Return a message's small print."""
    found = [one for one in message.blocks if one["type"] == "context"]
    return "\n".join(written(found))


def labels(message: Message) -> list[str]:
    """Return what is written on a message's buttons."""
    kinds = ("actions", "context_actions")
    return [text for one in message.blocks if one["type"] in kinds for text in written([one])]


def ids(*messages: Message) -> tuple[str, ...]:
    """Return what messages are known by in the inbox."""
    return tuple(message_id(one.channel.id, one.ts) for one in messages)


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


def _job(
    key: str,
    address: dict[str, Any],
    asked: AgentRequest | None,
    *,
    fence: int = 1,
    posted: Posted | None = None,
    kind: Kind = Kind.ASK,
    refusal: str | None = None,
    **fields: Any,
) -> Job:
    if asked is None and refusal is None:
        asked = request(query_text=QUESTION)
    arrival = Arrival(
        key=key,
        platform="slack",
        workspace=address["team"],
        channel=address["channel"],
        lane=key,
        position=1,
        user_id="reader-1",
        address={"enterprise": None, "ephemeral": False, "post_question": False, **address},
        kind=kind,
        request=asked,
        refusal=refusal,
        **fields,
    )
    return Job(arrival, fence, now() + timedelta(seconds=15), now(), posted=posted or Posted())
