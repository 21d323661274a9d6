"""Completes a question with what it points at: files, the message before it, the last answer."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from adapters.context.long_question import as_material, asks, gist
from adapters.context.message_parts import NO_PARTS, MessageParts, TextFile, Whose, files_in
from adapters.context.pointing import Pointing
from core.errors import EmbeddingError, RequestError, StoreError
from core.inbox.base import Answered, Job
from core.inbox.store import Inbox
from core.models import (
    EXPLAIN_QUOTE,
    MAX_THREAD_MESSAGE,
    AgentRequest,
    ContextMode,
    ConversationTurn,
    ThreadMessage,
    UnreadPart,
    cut_selected_text,
    now,
)
from core.storage.sessions.store import SessionStore
from core.text.unread import unread_instead

logger = logging.getLogger(__name__)

MOST_MESSAGES = 15
"""Messages before a question that are looked at."""
_NEAR = 5
"""Messages among which the one that is pointed at is looked for."""
_FEWEST_WORDS = 5
"""Words of a message that says something to be explained."""
_LATEST = 3
"""Questions of a person among which the one before is looked for."""


class CannotRead(RequestError):
    """All that a question is about is content that cannot be read."""

    def __init__(self, kinds: Sequence[UnreadPart]) -> None:
        """Name the kinds that the asker has to put into words."""
        self.kinds = tuple(kinds)
        super().__init__(user_message=unread_instead(kinds))


@dataclass(frozen=True, slots=True)
class Earlier:
    """A message that stands before the question."""

    text: str
    by_asker: bool = False
    ours: bool = False
    """Whether the bot wrote it."""
    to_bot: bool = False
    """Whether it mentions the bot, and so was a question of its own."""
    parts: MessageParts = NO_PARTS


@dataclass(frozen=True, slots=True)
class MessageWindow:
    """What stands right before a question, oldest first."""

    messages: tuple[Earlier, ...] = ()
    begins_with: Earlier | None = None
    """What the thread began with, where it is not among the messages: its title, or its root."""
    is_partial: bool = False
    """Whether more was said in the thread than could be read."""


class Surroundings(Protocol):
    """What a platform can read around a question; everything at once or not at all."""

    @property
    def in_thread(self) -> bool:
        """Whether it was asked in a thread."""
        ...

    async def read(self, file: TextFile) -> str | None:
        """Return the text of a file; None when it is none, or cannot be had."""
        ...

    async def window(self) -> MessageWindow | None:
        """Return what stands before the question; None when it cannot be read."""
        ...


class QuestionContext:
    """Finds what "this" and "that" mean, before the book is searched."""

    def __init__(
        self, pointing: Pointing, inbox: Inbox, sessions: SessionStore, *, goes_on_for: timedelta
    ) -> None:
        """Put the parts together.

        Args:
            goes_on_for: How long a command goes on with the last one of the same person in the
                same channel; zero: never.
        """
        self._pointing = pointing
        self._inbox = inbox
        self._sessions = sessions
        self._goes_on_for = goes_on_for

    async def complete(self, job: Job, request: AgentRequest, around: Surroundings) -> AgentRequest:
        """Return the request with its files, its thread and what it points at.

        Raises:
            CannotRead: when all that it is about is something that cannot be read.
        """
        request = await self._with_files(request, files_in(job.arrival.address), around)
        if request.selected_text is not None:
            return request
        points = await self._only_points(request)
        is_new = around.in_thread and not await self._is_known(request)
        if points or is_new:
            window = await around.window()
            request = _with_thread(request, window) if is_new else request
            if points and window is not None:
                request = _adopted(request, window)
        if not request.thread_messages and not around.in_thread:
            request = await self._after_the_last(job, request)
        return request

    async def _with_files(
        self, request: AgentRequest, files: Sequence[TextFile], around: Surroundings
    ) -> AgentRequest:
        """Return the request with the text of its files as its quote, or as its question."""
        texts, unread = list[tuple[TextFile, str]](), list(request.unread)
        for file in files:
            found = await around.read(file)
            if found is not None and found.strip():
                texts.append((file, found.strip()))
            elif UnreadPart.FILE not in unread:
                unread.append(UnreadPart.FILE)
        request = request.model_copy(update={"unread": tuple(unread)})
        is_bare = request.query_text == EXPLAIN_QUOTE and request.selected_text is None
        if not texts:
            if is_bare and files:
                raise CannotRead(request.unread)
            return request
        whole = "\n\n".join(text for _, text in texts)
        is_own = all(file.whose is Whose.QUESTION for file, _ in texts)
        if is_bare and is_own and asks(whole):
            material = as_material(whole, by_asker=True)
            return request.model_copy(
                update={"query_text": gist(whole), "thread_messages": material}
            )
        return _quoting(request, whole) if request.selected_text is None else request

    async def _only_points(self, request: AgentRequest) -> bool:
        try:
            return await self._pointing.only_points(request.query_text)
        except EmbeddingError as error:
            logger.warning("what a question points at is not looked for: %s", error)
            return False

    async def _is_known(self, request: AgentRequest) -> bool:
        """Return whether the session of a thread has turns already."""
        if request.session_id is None:
            return True
        try:
            return await self._sessions.get(request.session_id) is not None
        except StoreError as error:
            logger.warning("whether a thread is new cannot be looked up: %s", error)
            return True

    async def _after_the_last(self, job: Job, request: AgentRequest) -> AgentRequest:
        """Return a command's question with the one that its asker asked here right before."""
        if not self._goes_on_for or job.arrival.token is None:
            return request
        try:
            before = await self._last_turn(job)
        except StoreError as error:
            logger.warning("the question before cannot be looked up: %s", error)
            return request
        if before is None or before.agent_response.course_id != request.course_id:
            return request
        asked = before.selected_text if before.user_input == EXPLAIN_QUOTE else before.user_input
        if not asked:
            return request
        said = ThreadMessage(text=asked[:MAX_THREAD_MESSAGE], by_asker=True)
        return request.model_copy(update={"thread_messages": (said,)})

    async def _last_turn(self, job: Job) -> ConversationTurn | None:
        arrival = job.arrival
        for asked in await self._inbox.latest_of([arrival.user_id], _LATEST):
            if asked.key == arrival.key or not _is_in_sight(asked, job):
                continue
            turn = await self._sessions.turn_of(asked.request_id)
            if turn is not None and now() - turn.timestamp <= self._goes_on_for:
                return turn
        return None


def _is_in_sight(asked: Answered, job: Job) -> bool:
    """Return whether a question stood in the same channel, and was no more private."""
    arrival = job.arrival
    here = (arrival.platform, arrival.workspace, arrival.address.get("channel"))
    if (asked.platform, asked.workspace, asked.address.get("channel")) != here:
        return False
    return bool(arrival.address.get("ephemeral")) or not asked.address.get("ephemeral")


def _with_thread(request: AgentRequest, window: MessageWindow | None) -> AgentRequest:
    """Return the first question of a thread with what people said in it before."""
    if window is None:
        return request.model_copy(update={"thread_partly_seen": True})
    begins = [window.begins_with] if window.begins_with is not None else []
    latest = [one for one in window.messages if not one.ours and one.text.strip()]
    said = [*begins, *latest[len(begins) - MOST_MESSAGES :]]
    messages = tuple(
        ThreadMessage(text=one.text.strip()[:MAX_THREAD_MESSAGE], by_asker=one.by_asker)
        for one in said
        if one.text.strip()
    )
    kept = (*messages, *request.thread_messages)[:MOST_MESSAGES]
    return request.model_copy(
        update={"thread_messages": kept, "thread_partly_seen": window.is_partial}
    )


def _adopted(request: AgentRequest, window: MessageWindow) -> AgentRequest:
    """Return a question that only points, as one about the message right before it.

    A message that asks is asked in its place; any other is its quote. What the bot itself said
    last needs nothing: the question follows up on it.

    Raises:
        CannotRead: when the message before holds only what cannot be read.
    """
    target = _target(window)
    if target is None or target.ours:
        return request
    if not target.text.strip():
        if target.parts.unread:
            raise CannotRead(target.parts.unread)
        return request
    text = target.text.strip()
    if not asks(text):
        return _quoting(request, text)
    long = as_material(text, by_asker=target.by_asker) if gist(text) != text else ()
    kept = (*request.thread_messages, *long)[-MOST_MESSAGES:]
    return request.model_copy(update={"query_text": gist(text), "thread_messages": kept})


def _target(window: MessageWindow) -> Earlier | None:
    """Return the message that is meant: the latest one that asks, else the latest that says much.

    Nothing that stands in front of a message of the bot's is meant.
    """
    near = list[Earlier]()
    for message in reversed(window.messages[-_NEAR:]):
        if message.ours:
            break
        if not message.to_bot:
            near.append(message)
    if not near:
        is_ours = bool(window.messages) and window.messages[-1].ours
        return window.messages[-1] if is_ours else window.begins_with
    asking = (one for one in near if asks(one.text))
    telling = (one for one in near if len(one.text.split()) >= _FEWEST_WORDS or one.parts.unread)
    begins = window.begins_with
    if len(near) == len(window.messages) and begins is not None and asks(begins.text):
        return next(asking, begins)
    return next(asking, None) or next(telling, near[0])


def _quoting(request: AgentRequest, text: str) -> AgentRequest:
    quote, cut = cut_selected_text(text)
    return request.model_copy(
        update={
            "context_mode": ContextMode.SELECTED_TEXT,
            "selected_text": quote,
            "selected_text_cut": cut,
        }
    )
