"""The few calls that an answer needs; what may be repeated is, and the SDK's errors die here."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.chat.base import clean_text, mapping, mappings
from adapters.slack import client as budget
from adapters.slack.client import SlackClient
from adapters.slack.installations import Workspace, Workspaces
from adapters.slack.outbound import Block, Post, blocks_of_post, fallback
from adapters.slack.refusals import INVALID_ARGUMENTS, Failed, Refused, TooMany, of_status, refused
from core.domain.errors import DeliveryError, Unclear

logger = logging.getLogger(__name__)


Json = dict[str, Any]

_QUIET: Json = {
    "link_names": False,
    "parse": "none",
    "unfurl_links": False,
    "unfurl_media": False,
}
"""No one is notified by a name, nothing is fetched for a preview."""
_PAUSES = (0.5, 2.0, None)
"""Seconds before a call is repeated that may be; then it is given up."""
_MOST_REFUSALS = 4
"""How often a call waits for its turn before it is tried again later."""
_TIMEOUT = 20.0
"""Seconds for one call, after which it is not known what became of it."""
_LOOKING: Json = {"inclusive": "true", "include_all_metadata": "true", "limit": "100"}
_MOST_PAGES = 10
"""Of a hundred messages: the janitor has twelve seconds to read them, and Slack lets an app read
fifty pages a minute, others included.
"""
_FEW = 15
"""Messages in a page of an app that Slack lets read one page a minute, whatever it asks for."""
_DECLINED = re.compile(r'"ok"\s*:\s*false')
_BROKEN = (aiohttp.ClientError, OSError, TimeoutError)


class Rest:
    """Slack's Web API, as far as one answer needs it.

    Each call waits for its turn in the workspace's budget. What sets what it sets is repeated
    when it is not known whether it was done; a post and a piece of a stream never are. Methods
    raise Refused, Unclear or another DeliveryError, and what `check` raises.
    """

    def __init__(
        self, client: SlackClient, workspace: Workspace, check: Callable[[], None]
    ) -> None:
        """Prepare to send.

        Args:
            check: Called before each call; raises when nothing may be sent any more.
        """
        self._client = client.checked(check)
        self.workspace = workspace
        self._check = check

    @classmethod
    async def of(
        cls, workspaces: Workspaces, place: tuple[str, str | None], check: Callable[[], None]
    ) -> "Rest":
        """Return the way into a workspace: a team's id, and its enterprise's.

        Raises:
            DeliveryError: when the app is not installed there.
        """
        client = await workspaces.clients.of(*place)
        return cls(client, workspaces.of(*place), check)

    async def me(self) -> str:
        """Return the bot's own user id."""
        if self.workspace.me is None:
            answer = await self._repeated("auth.test", {})
            self.workspace.me = str(answer["user_id"])
        return self.workspace.me

    # --- messages -----------------------------------------------------------------------

    async def post(self, channel: str, thread: str | None, post: Post, metadata: Json) -> str:
        """Post a message once, and return its timestamp.

        Raises:
            Unclear: when it may have been posted all the same.
        """
        body = self._message(post) | {"channel": channel, "metadata": metadata}
        body |= {"thread_ts": thread} if thread else {}
        return str((await self._once(budget.POST, body))["ts"])

    async def update(self, channel: str, ts: str, post: Post, metadata: Json) -> None:
        """Show the post in place of what the message showed."""
        body = self._message(post) | {"channel": channel, "ts": ts, "metadata": metadata}
        await self._repeated(budget.UPDATE, body)

    async def update_if_spare(self, channel: str, ts: str, post: Post, metadata: Json) -> bool:
        """Do as `update`, once; False: others need the call."""
        if not self.workspace.budget.may_show(budget.UPDATE):
            return False
        body = self._message(post) | {"channel": channel, "ts": ts, "metadata": metadata}
        await self._send(budget.UPDATE, body)
        return True

    async def delete(self, channel: str, ts: str) -> None:
        """Delete a message."""
        await self._repeated("chat.delete", {"channel": channel, "ts": ts})

    async def whisper(self, channel: str, thread: str | None, reader: str, post: Post) -> None:
        """Show a message to one reader alone."""
        body = self._message(post) | {"channel": channel, "user": reader}
        body |= {"thread_ts": thread} if thread else {}
        await self._once("chat.postEphemeral", body)

    async def respond(self, url: str, post: Post, *, replaces: bool) -> None:
        """Show a message to the user of the command or press that `url` answers.

        Args:
            replaces: Show it in place of what the user was shown before: for a command that is
                the acknowledgement, and sending it again shows nothing twice.
        """
        self._check()
        client = self._client
        webhook = AsyncWebhookClient(
            url, ssl=client.ssl, proxy=client.proxy, session=client.session
        )
        webhook.retry_handlers = []
        body = self._message(post) | {"response_type": "ephemeral", "replace_original": replaces}
        try:
            async with asyncio.timeout(_TIMEOUT):
                answer = await webhook.send_dict(body)
        except _BROKEN as error:
            raise _broken("to respond", error) from error
        if answer.status_code != 200 or _DECLINED.search(answer.body):
            word = "" if answer.status_code >= 500 else "response_url"
            raise of_status("to respond", answer.status_code, answer.headers, word)

    def _message(self, post: Post) -> Json:
        shown = blocks_of_post(post, escape_code=self.workspace.escape_code)
        return {"text": fallback(post), "blocks": shown, **_QUIET}

    # --- reactions and links ------------------------------------------------------------

    async def change_reaction(self, method: str, channel: str, ts: str, name: str) -> None:
        """Add or remove a reaction of the bot's, as often as it takes."""
        await self._repeated(method, {"channel": channel, "timestamp": ts, "name": name})

    # --- streams ------------------------------------------------------------------------

    def may_begin_stream(self) -> bool:
        """Take the calls that a stream needs from the budget; False: there are none."""
        return self.workspace.streams.is_there and self.workspace.budget.may_stream(self)

    async def begin_stream(
        self, channel: str, thread: str, reader: tuple[str, str], chunks: Sequence[Block]
    ) -> str:
        """Begin a message that grows, and return its timestamp.

        Args:
            reader: The ids of the user it is for, and of the user's team.

        Raises:
            Unclear: when it may have begun all the same.
        """
        body = {
            "channel": channel,
            "thread_ts": thread,
            "recipient_user_id": reader[0],
            "recipient_team_id": reader[1],
            "chunks": list(chunks),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        try:
            return str((await self._send(budget.START, body))["ts"])
        except DeliveryError:
            self.workspace.budget.release_stream(self)
            raise

    async def append_if_spare(self, channel: str, ts: str, chunks: Sequence[Block]) -> bool:
        """Let a message grow; False: others need the call.

        Raises:
            Unclear: when it may have grown all the same.
        """
        if not self.workspace.budget.may_show(budget.APPEND):
            return False
        await self._send(budget.APPEND, {"channel": channel, "ts": ts, "chunks": list(chunks)})
        return True

    async def end_stream(
        self,
        channel: str,
        ts: str,
        metadata: Json,
        chunks: Sequence[Block] = (),
        below: Sequence[Block] = (),
        status: str | None = None,
    ) -> None:
        """Let a message grow no more, with blocks below what it shows.

        Args:
            status: What the session of its thread has then; None: it has no session.
        """
        body: Json = {"channel": channel, "ts": ts, "metadata": metadata}
        body |= {"blocks": list(below)} if below else {}
        body |= {"chunks": list(chunks)} if chunks else {}
        try:
            await self._repeated(budget.STOP, body | ({"session_status": status} if status else {}))
        except Refused as refusal:
            if status is None or refusal.word != INVALID_ARGUMENTS:
                raise
            await self._repeated(budget.STOP, body)  # a workspace without this argument

    async def permalink(self, channel: str, ts: str) -> str:
        """Return a message's address."""
        found = await self._once("chat.getPermalink", {"channel": channel, "message_ts": ts})
        return str(found["permalink"])

    # --- looking ------------------------------------------------------------------------

    async def replies(
        self, channel: str, root: str, since: str, *, patient: bool = True
    ) -> Sequence[Json]:
        """Return the first thousand messages of a thread from a timestamp on, oldest first.

        Args:
            patient: As for `messages`.
        """
        body = {"channel": channel, "ts": root, "oldest": since, **_LOOKING}
        return await self._read("conversations.replies", body, patient=patient)

    async def messages(self, channel: str, since: str, *, patient: bool = True) -> Sequence[Json]:
        """Return the latest thousand messages of a channel that are not older than a timestamp.

        Args:
            patient: Whether to read on where Slack lets us read fifteen messages a minute.
        """
        body = {"channel": channel, "oldest": since, **_LOOKING}
        return await self._read("conversations.history", body, patient=patient)

    async def _read(self, method: str, body: Json, *, patient: bool) -> Sequence[Json]:
        """Return the messages of all pages, each once; of no more pages than the most."""
        found, cursor = dict[str, Json](), ""
        for _ in range(_MOST_PAGES):
            page = await self._repeated(method, body | ({"cursor": cursor} if cursor else {}))
            messages = mappings(page.get("messages"))
            found |= {ts: dict(one) for one in messages if (ts := clean_text(one.get("ts")))}
            cursor = clean_text(mapping(page.get("response_metadata")).get("next_cursor"))
            if not cursor or (len(found) <= _FEW and not patient):
                break
        if cursor:
            logger.warning("%s was not read to its end", method)
        return list(found.values())

    # --- calls --------------------------------------------------------------------------

    async def _repeated(self, method: str, body: Json) -> Mapping[str, Any]:
        """Call a method until it is known to be done."""
        for pause in _PAUSES:
            try:
                return await self._once(method, body)
            except Unclear:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last pause is None")

    async def _once(self, method: str, body: Json) -> Mapping[str, Any]:
        """Call a method in its turn, again only where Slack says that it was too much."""
        for refusals in range(_MOST_REFUSALS):
            await self.workspace.budget.wait(method, self, body.get("channel"))
            try:
                return await self._send(method, body)
            except TooMany:
                if refusals + 1 == _MOST_REFUSALS:
                    raise
        raise AssertionError("the last refusal is raised")

    async def _send(self, method: str, body: Json) -> Mapping[str, Any]:
        try:
            return await self._translated(method, self._called(method, body))
        except TooMany as error:
            self.workspace.budget.close(method, error.seconds)
            raise

    def _called(self, method: str, body: Json) -> Awaitable[Any]:
        if method.startswith(("conversations.", "chat.get")):  # these read no JSON
            return self._client.api_call(method, params=body)
        return self._client.api_call(method, json=body)

    async def _translated(self, method: str, call: Awaitable[Any]) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(_TIMEOUT):
                answer = await call
        except SlackApiError as error:
            raise refused(method, error) from error
        except aiohttp.ContentTypeError as error:
            raise of_status(method, error.status, error.headers or {}, "") from error
        except _BROKEN as error:
            raise _broken(method, error) from error
        data: Mapping[str, Any] = answer.data
        return data


def _broken(method: str, error: Exception) -> Unclear:
    """Return what a broken connection means: without one, Slack certainly did nothing."""
    kind = Failed if isinstance(error, aiohttp.ClientConnectorError) else Unclear
    return kind(f"{method}: {type(error).__name__}")


FrozenJson = Mapping[str, Any]
Place = tuple[str, str | None]
"""The ids of a workspace and of its organisation."""

_PATIENCE = 1.5
"""Seconds for one call: a user waits for an answer that can do without."""


class Lookups:
    """Reads what may be read of a workspace."""

    def __init__(self, workspaces: Workspaces, *, patience: float = _PATIENCE) -> None:
        self._workspaces = workspaces
        self._patience = patience

    async def call(self, place: Place, method: str, /, **params: Any) -> FrozenJson | None:
        """Return what a method says; None where it is not to be had now, or not for us."""
        if not self._workspaces.of(*place).budget.may_show(method):
            return None
        try:
            async with asyncio.timeout(self._patience):
                client = await self._workspaces.clients.of(*place)
                answer = await client.api_call(method, params=params)
        except SlackApiError as error:
            logger.info("%s", refused(method, error))
            return None
        except (DeliveryError, aiohttp.ClientError, OSError, TimeoutError) as error:
            logger.info("%s: %s", method, type(error).__name__)
            return None
        return answer.data if isinstance(answer.data, dict) else None
