"""Completes a question with what it points at: files, the message before it, the last answer."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from adapters.context.long_question import as_material, asks, gist
from adapters.context.message_parts import TextFile, Whose, files_in
from adapters.context.pointing import Earlier, Pointer, Pointing, Who, is_called
from core.errors import EmbeddingError, RequestError, StoreError
from core.i18n import Message
from core.inbox.base import Answered, Job
from core.inbox.store import Inbox
from core.models import (
    EXPLAIN_QUOTE,
    MAX_THREAD_MESSAGE,
    MOST_CHOICES,
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

MOST_MESSAGES = 30
"""Messages before a question that are looked at."""
MOST_TAKEN = 15
"""Of those, the ones that the first question of a thread takes along."""
MENTIONED = "mentioned"
"""In an arrival's address: the people whom a question to the bot mentions, by their ids."""
_LATEST = 3
"""Questions of a person among which the one before is looked for."""


class CannotRead(RequestError):
    """All that a question is about is content that cannot be read."""

    def __init__(self, kinds: Sequence[UnreadPart]) -> None:
        """Name the kinds that the asker has to put into words."""
        self.kinds = tuple(kinds)
        super().__init__(user_message=unread_instead(kinds))


class MayNotRead(RequestError):
    """The platform gives the bot no files; whom that concerns, the sentence says."""


class CannotFind(RequestError):
    """No message is there that a question which only points can mean."""

    def __init__(self) -> None:
        super().__init__(user_message=Message("asking-which-message"))


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
        """Return the text of a file; None when it is none, or cannot be had.

        Raises:
            MayNotRead: when the platform gives the bot no files.
        """
        ...

    async def window(self) -> MessageWindow | None:
        """Return what stands before the question; None when it cannot be read."""
        ...

    async def names(self, authors: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return what people are called, by their ids; no one of whom it cannot be found out."""
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
            CannotFind: when it points at a message that is not there.
            MayNotRead: when all that it is about is a file that the platform does not give.
        """
        request = await self._with_files(request, files_in(job.arrival.address), around)
        if request.stands_alone or request.verified_answer is not None:
            return request
        pointer = await self._pointer(request)
        if request.selected_text is not None:
            return _answering_quote(request) if pointer and pointer.is_question else request
        is_new = around.in_thread and not await self._is_known(request)
        if pointer or is_new:
            window = await around.window()
            request = _with_thread(request, window) if is_new else request
            if pointer and window is not None:
                return await self._adopted(job, request, pointer, window, around)
        if not request.thread_messages and not around.in_thread:
            request = await self._after_the_last(job, request)
        return request

    async def _with_files(
        self, request: AgentRequest, files: Sequence[TextFile], around: Surroundings
    ) -> AgentRequest:
        """Return the request with the text of its files as its quote, or as its question."""
        texts, unread = list[tuple[TextFile, str]](), list(request.unread)
        refusal: MayNotRead | None = None
        for file in files:
            try:
                found = await around.read(file)
            except MayNotRead as error:
                refusal, found = error, None
            if found is not None and found.strip():
                texts.append((file, found.strip()))
            elif UnreadPart.FILE not in unread:
                unread.append(UnreadPart.FILE)
        request = request.model_copy(update={"unread": tuple(unread)})
        is_bare = request.query_text == EXPLAIN_QUOTE and request.selected_text is None
        if not texts:
            if is_bare and files:
                raise refusal or CannotRead(request.unread)
            return request
        whole = "\n\n".join(text for _, text in texts)
        is_own = all(file.whose is Whose.QUESTION for file, _ in texts)
        if is_bare and is_own and asks(whole):
            material = as_material(whole, by_asker=True)
            return request.model_copy(
                update={"query_text": gist(whole), "thread_messages": material}
            )
        return _quoting(request, whole) if request.selected_text is None else request

    async def _pointer(self, request: AgentRequest) -> Pointer | None:
        try:
            return await self._pointing.read(request.query_text)
        except EmbeddingError as error:
            logger.warning("what a question points at is not looked for: %s", error)
            return None

    async def _adopted(
        self,
        job: Job,
        request: AgentRequest,
        pointer: Pointer,
        window: MessageWindow,
        around: Surroundings,
    ) -> AgentRequest:
        """Return a question that only points, as one about the message that it points at.

        A message that asks is asked in its place; any other is its quote. What the bot itself said
        last needs nothing: the question follows up on it. Of several messages that it may mean,
        the question takes along what they ask.

        Raises:
            CannotRead: when the message holds only what cannot be read.
            CannotFind: when there is no such message.
        """
        begins = [window.begins_with] if window.begins_with is not None else []
        said = [*begins, *window.messages][-MOST_MESSAGES:]
        mentioned = frozenset(map(str, job.arrival.address.get(MENTIONED, ())))
        names: Mapping[str, Sequence[str]] = {}
        if pointer.who is Who.NAMED:
            authors = dict.fromkeys(one.author for one in said if one.author and not one.ours)
            names = await around.names([*authors])

        def is_named(one: Earlier) -> bool:
            if pointer.who is Who.MENTIONED:
                return one.author in mentioned
            return is_called(pointer.name, names.get(one.author, ()))

        asked_at = job.arrival.sent_at or job.accepted_at
        try:
            meant = await self._pointing.among(pointer, said, is_named, asked_at)
        except EmbeddingError as error:
            logger.warning("what a question points at is not found: %s", error)
            return request
        if meant.stands:
            return request
        if not meant.messages:
            if pointer.is_bare:
                return request
            raise CannotFind
        if len(meant.messages) == 1:
            return _about(request, meant.messages[0])
        texts = [gist(one.text.strip()) for one in meant.messages[-MOST_CHOICES:]]
        return request.model_copy(update={"may_mean": tuple(texts), "thread_messages": ()})

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
    said = [*begins, *latest[len(begins) - MOST_TAKEN :]]
    messages = tuple(
        ThreadMessage(text=one.text.strip()[:MAX_THREAD_MESSAGE], by_asker=one.by_asker)
        for one in said
        if one.text.strip()
    )
    kept = (*messages, *request.thread_messages)[:MOST_TAKEN]
    is_partial = window.is_partial or len(begins) + len(latest) > MOST_TAKEN
    return request.model_copy(update={"thread_messages": kept, "thread_partly_seen": is_partial})


def _about(request: AgentRequest, target: Earlier) -> AgentRequest:
    """Return a question that only points, as one about a message; raises CannotRead."""
    text = target.text.strip()
    if not text:
        if target.parts.unread:
            raise CannotRead(target.parts.unread)
        return request
    if not asks(text):
        return _quoting(request, text)
    long = as_material(text, by_asker=target.by_asker) if gist(text) != text else ()
    kept = (*request.thread_messages, *long)[-MOST_TAKEN:]
    return request.model_copy(update={"query_text": gist(text), "thread_messages": kept})


def _answering_quote(request: AgentRequest) -> AgentRequest:
    """Return a question that wants a quoted question answered as that one."""
    quoted = request.selected_text or ""
    if not asks(quoted):
        return request
    alone = {"selected_text": None, "context_mode": ContextMode.FULL_BOOK}
    return _about(request.model_copy(update=alone), Earlier(quoted))


def _quoting(request: AgentRequest, text: str) -> AgentRequest:
    quote, cut = cut_selected_text(text)
    return request.model_copy(
        update={
            "context_mode": ContextMode.SELECTED_TEXT,
            "selected_text": quote,
            "selected_text_cut": cut,
        }
    )
