"""What Slack shows of a question while it is answered: a status, a title and a stop button.

Read 2026-11-25 in docs.slack.dev/ai/agent-sessions: `agents.sessions.setStatus` begins a session
for the thread below a message, with its title; `chat.stopStream` sets it to `active` again; Slack
shows its own stop button while it is `processing`, if the app hears `agent_session_stopped`. Apps
that are no agents get `not_authorized`, older workspaces `unknown_method`: there the status of
`assistant.threads.*` is shown, which has no stop button, until sessions are tried again.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.chat.markdown.layout import shortened, visible
from adapters.slack.client import SlackClient
from adapters.slack.installations import Workspace, Workspaces
from adapters.slack.mrkdwn import markdown_escaped
from adapters.slack.notices import step_id
from adapters.slack.outbound import Address, Block, Growing, Post, buttons, ending
from adapters.slack.rest import Rest
from core.domain.errors import BotError
from core.domain.i18n import text
from core.storage.inbox.base import Job

logger = logging.getLogger(__name__)


LONGEST_TITLE = 60
"""Of the 200 characters that a title may have."""
_NO_SESSIONS = frozenset({"feature_disabled", "not_authorized", "unknown_method"})
_NO_STOP = "missing_agent_session_stopped_event_subscription"
_PATIENCE = 1.5
"""Seconds that an answer waits until it is known whether Slack shows a stop button."""
_TIMEOUT = 10.0
_BROKEN = (SlackClientError, BotError, aiohttp.ClientError, OSError, TimeoutError)


def title_of(asked: str) -> str:
    """Return what the session that answers a question is called."""
    return shortened(" ".join(visible(asked).split()), LONGEST_TITLE) or "…"


def digest(title: object) -> str:
    """Return what a title is known by without keeping its words."""
    return hashlib.sha256(str(title).encode()).hexdigest()[:32]


class Session:
    """The session that one question is answered in, as long as it is being answered."""

    def __init__(self, workspaces: Workspaces, job: Job) -> None:
        self._workspaces = workspaces
        self._job = job
        self._address = Address.of(job)
        self._root: str | None = None
        self._beginning: asyncio.Task[bool] | None = None
        self._is_over = False
        self._in_words = False
        """Whether the status is shown in words, as where there are no sessions."""

    @property
    def has_status(self) -> bool:
        """Whether Slack shows the status of a session, which the end of a stream can change."""
        return self._root is not None and not self._in_words and self._workspace.sessions.is_there

    @property
    def place(self) -> tuple[str, str, str] | None:
        """The workspace, channel and first message of its thread; None: it has not begun."""
        if self._root is None:
            return None
        return self._address.team, self._address.channel, self._root

    def begin(self, root: str | None) -> None:
        """Show that the question below a message is being answered; a second time does nothing."""
        if root is None or self._address.ephemeral or self._beginning is not None:
            return
        self._root = root
        self._beginning = asyncio.create_task(self._begin(root))

    async def has_stop_button(self) -> bool:
        """Return whether Slack shows a button of its own that stops the answer."""
        if self._beginning is None:
            return False
        await asyncio.wait({self._beginning}, timeout=_PATIENCE)
        return self._beginning.done() and self._beginning.result()

    def ended(self) -> None:
        """Note that Slack learned otherwise that nothing is being done any more."""
        self._is_over = True

    async def end(self) -> None:
        """Show that nothing is being done any more, whatever became of the question."""
        if self._beginning is not None:
            await asyncio.wait({self._beginning})
        if self._root is None and self._job.taken_over:  # who held it before may have begun
            self._root = self._address.root
        if self._root is not None and not self._is_over and not self._address.ephemeral:
            await self._show("active", text_shown="")

    async def _begin(self, root: str) -> bool:
        title = self._title()
        workspace = self._workspace
        answer = await self._show(
            "processing", text_shown=text("slack-status"), title=title, initiator=True
        )
        if answer is None:
            return False
        before = self._address.titled
        if before and self._address.question == root and before == digest(answer.get("title")):
            await self._rename(root, title)
        if answer.get("warning") == _NO_STOP:
            if not workspace.is_warned:
                workspace.is_warned = True
                logger.warning("Slack shows no stop button: subscribe to agent_session_stopped")
            return False
        return True

    async def _show(
        self, status: str, *, text_shown: str, title: str = "", initiator: bool = False
    ) -> Mapping[str, Any] | None:
        """Set the status, and return Slack's answer; None: there is no session."""
        assert self._root is not None
        where = {"channel_id": self._address.channel, "thread_ts": self._root}
        if self._workspace.sessions.is_there and not self._in_words:
            more = {"title": title} if title else {}
            if initiator:
                more["initiator_user_id"] = self._address.asker

            async def set_status(client: SlackClient) -> Any:
                return await client.agents_sessions_setStatus(status=status, **where, **more)

            return await self._called(set_status, text_shown)
        await self._show_text(text_shown)
        return None

    async def _called(
        self, call: Callable[[SlackClient], Awaitable[Any]], text_shown: str
    ) -> Mapping[str, Any] | None:
        try:
            answer = await self._answer(call)
        except SlackApiError as error:
            word = str(error.response.get("error"))
            if word not in _NO_SESSIONS:
                logger.info("a thread has no status: %s", word)
                return None
            logger.info("there are no agent sessions here: %s", word)
            self._workspace.sessions.refused()
            await self._show_text(text_shown)
        except _BROKEN as error:
            logger.info("a thread has no status: %s", error)
        else:
            return {"warning": answer.get("warning"), "title": answer.get("title")}
        return None

    async def _show_text(self, shown: str) -> None:
        """Show a status in words, as it was before there were sessions; an empty one ends it."""
        self._in_words = True
        loading = [text("slack-loading-reading"), text("slack-loading-checking")] if shown else []
        root = self._root or ""

        async def set_status(client: SlackClient) -> Any:
            return await client.assistant_threads_setStatus(
                channel_id=self._address.channel,
                thread_ts=root,
                status=shown,
                loading_messages=loading,
            )

        await self._decorate(set_status)

    async def _rename(self, root: str, title: str) -> None:
        channel = self._address.channel
        await self._decorate(
            lambda client: client.agents_sessions_rename(
                channel_id=channel, thread_ts=root, title=title
            )
        )

    async def _decorate(self, call: Callable[[SlackClient], Awaitable[Any]]) -> None:
        try:
            await self._answer(call)
        except _BROKEN as error:
            logger.info("a thread is not decorated: %s", error)

    async def _answer(self, call: Callable[[SlackClient], Awaitable[Any]]) -> Any:
        address = self._address
        async with asyncio.timeout(_TIMEOUT):
            client = await self._workspaces.clients.of(address.team, address.enterprise)
            return await call(client)

    def _title(self) -> str:
        """Return what a thread is called: by the question asked in it."""
        request = self._job.arrival.request
        return title_of(request.query_text if request else "")

    @property
    def _workspace(self) -> Workspace:
        return self._workspaces.of(self._address.team, self._address.enterprise)


class AgentSessions:
    """The sessions of all questions that this process answers."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces
        self._sessions: dict[str, Session] = {}

    def of(self, job: Job) -> Session:
        """Return the session of a job, the same until it has ended."""
        key = job.arrival.key
        if key not in self._sessions:
            self._sessions[key] = Session(self._workspaces, job)
        return self._sessions[key]

    async def end(self, job: Job) -> None:
        """End the session of a job, unless another question of its thread is answered by now."""
        session = self.of(job)
        self._sessions.pop(job.arrival.key)
        others = {other.place for other in self._sessions.values()}
        if session.place is None or session.place not in others:
            await session.end()


BUFFER = 256
"""Characters that are gathered before they are sent, as the SDK does."""
_SEARCH, _READ, _WRITE = "search", "read", "write"
"""What is done, in this order."""
_LONGEST_STEP = 75
_MOST_SOURCES = 10


def beginning(post: Post, *, with_button: bool) -> list[Block]:
    """Return what a stream begins with: what is being done, and a button that stops it.

    Args:
        with_button: Whether the button is needed, as Slack shows none of its own.
    """
    assert post.request_id is not None
    first = _step(post.request_id, (_SEARCH, text("notice-searching")), "in_progress")
    return [{"type": "blocks", "blocks": buttons(post)}, first] if with_button else [first]


class Stream:
    """What a stream shows so far: text, which can only grow, and what is being done."""

    def __init__(
        self, rest: Rest, channel: str, ts: str, request: UUID, *, may_stay: bool = False
    ) -> None:
        """Go on with a stream that has begun.

        Args:
            request: The id of the question, by which its steps are known.
            may_stay: Whether all that it shows may stay when it ends.
        """
        self._rest = rest
        self._channel = channel
        self._ts = ts
        self._request = request
        self._may_stay = may_stay
        self._doing = (_SEARCH, text("notice-searching"))
        self.sent = ""

    async def show(self, growing: Growing) -> None:
        """Send what is new in a longer text, once it is enough; before there is any, what is read.

        A text that does not go on from the one before is left to the end of the answer.

        Raises:
            Refused: when Slack does not take it.
            Unclear: when it may show the new text, or not: nothing must be added any more.
        """
        settled = self._escaped(growing.settled)
        if not settled:
            await self._show_step(growing.reads)
            return
        new = settled[len(self.sent) :]
        is_enough = len(new) >= BUFFER or (new and not self.sent)
        if not is_enough or not settled.startswith(self.sent):
            return
        writes = (_WRITE, text("slack-step-write"))
        chunks = [*self._next(writes), {"type": "markdown_text", "text": new}]
        if await self._rest.append_if_spare(self._channel, self._ts, chunks):
            self.sent, self._doing = settled, writes

    def becomes(self, post: Post) -> bool:
        """Return whether the stream can end as a post: with what it shows, and more below."""
        markdown, _ = ending(post, escape_code=self._rest.workspace.escape_code)
        return self._may_stay and markdown.startswith(self.sent)

    async def finish(self, post: Post, metadata: Block, status: str | None) -> None:
        """End it with all that a post shows which it does not show yet.

        Args:
            status: As of `Rest.end_stream`.

        Raises:
            Refused: when the message is gone, or ended before.
        """
        markdown, blocks = ending(post, escape_code=self._rest.workspace.escape_code)
        new = markdown[len(self.sent) :]
        chunks = list(self._last(post))
        chunks += [{"type": "markdown_text", "text": new}] if new else []
        await self._rest.end_stream(self._channel, self._ts, metadata, chunks, blocks, status)

    async def end(self, metadata: Block, status: str | None) -> None:
        """End it, also where it has ended by itself.

        Args:
            status: As of `Rest.end_stream`.

        Raises:
            Refused: when the message is gone, or ended before.
        """
        done = [_step(self._request, self._doing, "complete")]
        await self._rest.end_stream(self._channel, self._ts, metadata, done, status=status)

    async def _show_step(self, title: str | None) -> None:
        if title is None or self._doing[0] != _SEARCH:
            return
        reads = (_READ, shortened(title, _LONGEST_STEP))
        if await self._rest.append_if_spare(self._channel, self._ts, [*self._next(reads)]):
            self._doing = reads

    def _next(self, step: tuple[str, str]) -> Iterator[Block]:
        """Yield that what was being done is done, and something else begun."""
        if step != self._doing:
            yield _step(self._request, self._doing, "complete")
            yield _step(self._request, step, "in_progress")

    def _last(self, post: Post) -> Iterator[Block]:
        """Yield that all is done, whether it was checked, and with which pages of the book."""
        if not post.sources:
            yield _step(self._request, self._doing, "complete")
            return
        if self._doing[0] != _WRITE:
            yield _step(self._request, self._doing, "complete")
        found = [
            {"type": "url", "url": url, "text": shortened(title, _LONGEST_STEP)}
            for title, url in post.sources[:_MOST_SOURCES]
        ]
        title = text("slack-step-checked") if post.by_model else text("slack-step-shown")
        done = (_WRITE, title)
        yield {**_step(self._request, done, "complete"), "sources": found}

    def _escaped(self, markdown: str) -> str:
        return markdown_escaped(markdown, escape_code=self._rest.workspace.escape_code)


def _step(request: UUID, step: tuple[str, str], status: str) -> Block:
    name, title = step
    return {"type": "task_update", "id": step_id(request, name), "title": title, "status": status}
