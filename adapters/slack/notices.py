"""What only its asker sees: an answer in one message, shown when finished, or a sentence."""

import asyncio
import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from adapters.actions.use import File
from adapters.chat.base import PostKeeper
from adapters.chat.base import clean_text as reactions_text
from adapters.slack.client import SlackClient
from adapters.slack.installations import Workspaces
from adapters.slack.mrkdwn import link as link_in_mrkdwn
from adapters.slack.outbound import Address, Growing, Post, Response, pressed
from adapters.slack.refusals import Failed, Refused, share_file
from adapters.slack.rest import Rest
from core.domain.errors import DeliveryError, Unclear
from core.domain.i18n import text
from core.storage.inbox.base import Job, Kind, Twin
from core.teaching.radar_store import RadarChannel, RadarPost

logger = logging.getLogger(__name__)


Json = Mapping[str, Any]

EVENT_TYPE = "glossator_answer"
QUESTION_PART = -1
"""The question that the bot posts for the user who asked with a command."""
NOTICE_PART = -2
"""What an asker reads meanwhile where Slack shows nothing to one reader alone."""


def metadata(key: str, part: int) -> dict[str, Any]:
    """Return what Slack keeps with a message: the event that it answers, and which part it is."""
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key, "part": part}}


def message_id(channel: str, ts: str) -> str:
    """Return what a message is known by in the inbox: timestamps are a channel's own."""
    return f"{channel}:{ts}"


def timestamp(message_id: str) -> str:
    """Return the timestamp of a message by its id in the inbox."""
    return message_id.rpartition(":")[2]


def step_id(request: UUID, name: str) -> str:
    """Return the id of a step of an answer, which Slack shows as a block of that id."""
    return f"{request}:{name}"


def parts_of(
    messages: Iterable[Json], me: str, key: str, request_id: UUID | None
) -> dict[int, str]:
    """Return the timestamps of an answer's parts that are there already, oldest first.

    A stream that has not ended has no metadata yet: it is known by its steps, or its button.
    """
    requests = set() if request_id is None else {request_id}
    found = dict[int, str]()
    for message in _ours(messages, me):
        part = _part_of(message, key, requests)
        if part is not None:
            found.setdefault(part, message["ts"])
    return found


def strays(
    messages: Iterable[Json], me: str, key: str, requests: Collection[UUID], known: Collection[str]
) -> list[str]:
    """Return the timestamps of our messages that answer an event other than the known ones."""
    return [
        str(message["ts"])
        for message in _ours(messages, me)
        if message["ts"] not in known and _part_of(message, key, requests) is not None
    ]


def _part_of(message: Json, key: str, requests: Collection[UUID]) -> int | None:
    found = message.get("metadata") or {}
    if found.get("event_type") == EVENT_TYPE:
        payload = found.get("event_payload") or {}
        return payload.get("part") if payload.get("key") == key else None
    return 0 if requests and not _requests(message).isdisjoint(requests) else None


def _requests(message: Json) -> set[UUID]:
    """Return the requests that a message's buttons and steps belong to."""
    blocks = message.get("blocks") or ()
    actions = (element for block in blocks for element in _elements(block))
    steps = (step for block in blocks for step in _steps(block))
    of_buttons = {button[1] for action in actions if (button := pressed(action))}
    return of_buttons | {request for step in steps if (request := _request_of(step))}


def _steps(block: Json) -> Iterable[Json]:
    """Return the steps in a block: Slack shows each by itself, or all in a plan."""
    if block.get("type") == "plan":
        return block.get("tasks") or ()
    return (block,) if block.get("type") == "task_card" else ()


def _request_of(step: Json) -> UUID | None:
    try:
        return UUID(str(step.get("task_id")).partition(":")[0])
    except ValueError:
        return None


def _elements(block: Json) -> Iterable[Json]:
    return (block.get("elements") or ()) if block.get("type") == "actions" else ()


def _ours(messages: Iterable[Json], me: str) -> Iterator[Json]:
    return (message for message in messages if message.get("user") == me)


_PAUSES = (0.5, 2.0, None)
"""Seconds before a response is sent again that Slack may not have; then another way is taken."""


class EphemeralReply:
    """The one ephemeral message of an answer.

    It goes to the address that came with the command, which also works where the bot is no
    member; else, and when that is dead, into the channel. Slack tells no one which ephemeral
    messages there are: the job is settled before one is sent, and no other process sends it.
    """

    is_one_message = True

    def __init__(self, rest: Rest, job: Job, keeper: PostKeeper) -> None:
        self._rest = rest
        self._job = job
        self._keeper = keeper
        self.posted = job.posted

    async def open(self, post: Post, *, renew: bool) -> None:
        """Show nothing: the acknowledgement of the command says that it is being worked on."""

    async def grow(self, growing: Growing) -> None:
        """Show nothing until the answer is finished: the address may be used five times."""

    async def show(self, part: int, post: Post) -> None:
        """Show the post in place of the acknowledgement.

        Raises:
            DeliveryError: when Slack does not take it.
        """
        await self._keeper.send_once(lambda: _alone(self._rest, self._job, post))

    async def cut(self, parts: int) -> None:
        """Delete nothing: there is one message."""

    def close(self) -> None:
        """Give nothing back: no calls are kept for it."""


async def tell(rest: Rest, job: Job, post: Post, part: int = 0) -> None:
    """Show a sentence to the asker alone.

    Where Slack shows nothing to one reader alone, it is a reply to the message that asked.

    Raises:
        DeliveryError: when Slack does not take it.
    """
    address = Address.of(job)
    try:
        await _alone(rest, job, post)
    except Refused as refusal:
        if not refusal.permanent or address.question is None:
            raise
        ours = metadata(job.arrival.key, part)
        await rest.post(address.channel, address.root, post, ours)


async def link_to_thread(rest: Rest, job: Job, root: str) -> None:
    """Show who asked by a command where the answer will stand; what fails is left out."""
    address = Address.of(job)
    try:
        link = await rest.permalink(address.channel, root)
        shown = link_in_mrkdwn(text("slack-answer-link"), link)
        post = Post(text("slack-answered-in-thread"), notes=shown)
        await _alone(rest, job, post)
    except DeliveryError as error:
        logger.info("the asker got no link to the thread: %s", error)


async def _alone(rest: Rest, job: Job, post: Post) -> None:
    """Show a post to the asker alone: by the command's address, or else in the channel.

    A failure of Slack's is tried again, and so is a broken connection where a second response
    takes the place of the first. In the channel nothing takes the place of anything: what may
    have been shown there is not sent again.

    Raises:
        Unclear: when it may have been shown.
        DeliveryError: when it was not, for now or for good.
    """
    address, response = Address.of(job), Address.of(job).response
    failure = None
    if response is not None and not response.is_over:
        try:
            await _respond(rest, response, post)
        except Refused as refusal:  # it was not shown, for sure
            if response.replaces and not refusal.permanent:
                raise
            logger.info("a command is answered in its channel: %s", refusal)
        except Unclear as error:
            if not _may_come_again(response, error):
                raise
            logger.warning("a command is answered in its channel: %s", error)
            failure = error
        else:
            return
    try:
        await rest.whisper(address.channel, address.thread, address.asker, post)
    except Failed as error:
        raise DeliveryError(str(error)) from error
    except Refused as refusal:
        if failure is None or not refusal.permanent:
            raise
        raise DeliveryError(str(failure)) from refusal  # there is no other way than the address


async def _respond(rest: Rest, response: Response, post: Post) -> None:
    """Send a response until Slack has it; raises what the last try came to."""
    for pause in _PAUSES:
        try:
            await rest.respond(response.url, post, replaces=response.replaces)
        except Unclear as error:
            if pause is None or not _may_come_again(response, error):
                raise
            logger.info("a command is answered again in %.1f s: %s", pause, error)
            await asyncio.sleep(pause)
        else:
            return


def _may_come_again(response: Response, error: Unclear) -> bool:
    """Return whether sending a response again shows nothing twice, as far as can be known."""
    return response.replaces or isinstance(error, Failed)


OFFER, THANKS = "raising_hand", "+1"
_DONE = frozenset({"already_reacted", "missing_scope"})
"""An app that was installed before it asked for reactions shows none."""
_GONE = frozenset(
    {"no_reaction", "message_not_found", "channel_not_found", "is_archived", "missing_scope"}
)


async def react(workspaces: Workspaces, job: Job) -> None:
    """Show a reaction on a job's message, as `ChatAdapter.react` does."""
    name = OFFER if job.arrival.kind is Kind.OFFER else THANKS
    await _change(workspaces, job, "reactions.add", name, passes=_DONE)


async def unreact(workspaces: Workspaces, job: Job) -> None:
    """Remove the reaction of an offer, as `ChatAdapter.unreact` does."""
    await _change(workspaces, job, "reactions.remove", OFFER, passes=_GONE)


async def link(workspaces: Workspaces, job: Job, twin: Twin) -> str | None:
    """Return where an answer stands; None: Slack does not tell now."""
    rest = await _rest_for(workspaces, job)
    channel = str(twin.address.get("channel") or twin.channel)
    try:
        return await rest.permalink(channel, timestamp(twin.messages[0]))
    except DeliveryError as error:
        logger.info("a link to an answer cannot be had: %s", error)
        return None


async def _change(
    workspaces: Workspaces, job: Job, method: str, name: str, *, passes: frozenset[str]
) -> None:
    rest, address = await _rest_for(workspaces, job), Address.of(job)
    try:
        await rest.change_reaction(method, address.channel, reactions_text(address.question), name)
    except Refused as refusal:
        if refusal.word not in passes:
            raise


async def _rest_for(workspaces: Workspaces, job: Job) -> Rest:
    address = Address.of(job)
    return await Rest.of(workspaces, (address.team, address.enterprise), _hold_nothing_back)


def _hold_nothing_back() -> None:
    """Let every call pass: a reaction shown twice is shown once."""


_EVENT_TYPE = "glossator_radar"
_LOOKED_BACK = 8 * 86_400
"""Seconds that a post may be old which another process made."""


async def announce(
    rest: Rest, client: SlackClient, channel: RadarChannel, post: RadarPost, key: str
) -> None:
    """Post a text, and its picture in its thread, unless they stand in the channel already.

    Raises:
        DeliveryError: when Slack does not take the text; without its picture it stands, too.
    """
    since = f"{time.time() - _LOOKED_BACK:.6f}"
    me = await rest.me()
    ts = _standing(await rest.messages(channel.channel, since), me, key)
    if ts is None:
        metadata = {"event_type": _EVENT_TYPE, "event_payload": {"key": key}}
        ts = await rest.post(channel.channel, None, Post(post.text), metadata)
    elif _has_picture(await rest.replies(channel.channel, ts, ts), post.picture_name):
        return
    try:
        await share_file(client, channel.channel, ts, File(post.picture_name, post.picture))
    except DeliveryError as error:
        logger.info("a radar's picture was not posted: %s", error)


def _standing(messages: Iterable[Mapping[str, Any]], me: str, key: str) -> str | None:
    for message in messages:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        if metadata.get("event_type") == _EVENT_TYPE and payload.get("key") == key:
            return str(message["ts"]) if message.get("user") == me else None
    return None


def _has_picture(messages: Iterable[Mapping[str, Any]], name: str) -> bool:
    files = [file for message in messages for file in message.get("files") or ()]
    return any(file.get("name") == name for file in files)
