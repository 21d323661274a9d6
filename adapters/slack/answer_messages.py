"""The messages that show one answer in a thread, each once however often it is sent."""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from adapters.chat.base import PostKeeper
from adapters.slack import outbound
from adapters.slack.notices import (
    QUESTION_PART,
    link_to_thread,
    message_id,
    metadata,
    parts_of,
    strays,
    timestamp,
)
from adapters.slack.outbound import Address, Growing, Post
from adapters.slack.refusals import (
    ABOUT_ONE_ANSWER,
    CANNOT_DELETE,
    CHANNEL_IS_CLOSED,
    MESSAGE_GONE,
    NOT_STREAMING,
    STILL_STREAMING,
    Refused,
    TooMany,
)
from adapters.slack.rest import Json, Rest
from adapters.slack.streaming import Session, Stream, beginning
from core.domain.errors import Unclear
from core.storage.inbox.base import Job, Posted, request_id_for

logger = logging.getLogger(__name__)


_BEFORE = timedelta(minutes=5)
"""How far our clock and Slack's may differ where messages are looked for."""
_NO_SUCH_THREAD = CHANNEL_IS_CLOSED | {"thread_not_found", "missing_scope"}


async def retract(rest: Rest, job: Job) -> None:
    """Delete the messages posted for a job; what is gone is gone.

    Raises:
        DeliveryError: when Slack does not do it now.
    """
    address = Address.of(job)
    if address.ephemeral:
        return  # only its reader has it
    for message in reversed(job.posted.messages):
        await delete(rest, address.channel, timestamp(message))
    if address.posts_question and address.root is not None:
        await delete(rest, address.channel, address.root)


async def tidy(rest: Rest, job: Job) -> None:
    """Delete the bot's messages that answer a job's question other than those it knows.

    Raises:
        DeliveryError: when Slack does not do it now.
    """
    address = Address.of(job)
    if address.ephemeral:
        return
    known = {timestamp(message) for message in job.posted.messages}
    requests = {request_id_for(job.arrival.key)}
    if job.arrival.request is not None:
        requests.add(job.arrival.request.request_id)
    roots = {address.root, None} if address.posts_question else {address.root}
    for root in roots:
        messages = await messages_for(rest, job, root, patient=False)
        known_here = known | ({address.root} if address.root else set())
        found = strays(messages, await rest.me(), job.arrival.key, requests, known_here)
        for ts in found:
            await delete(rest, address.channel, ts)


async def messages_for(
    rest: Rest, job: Job, root: str | None, *, patient: bool = True
) -> Sequence[Json]:
    """Return the messages among which those of a job are: its thread's, or its channel's.

    What is closed to us has none.

    Args:
        patient: Whether to read on where Slack lets us read fifteen messages a minute.

    Raises:
        DeliveryError: when Slack does not tell now.
    """
    address = Address.of(job)
    since = address.question or f"{(job.accepted_at - _BEFORE).timestamp():.6f}"
    try:
        if root is None:
            return await rest.messages(address.channel, since, patient=patient)
        return await rest.replies(address.channel, root, since, patient=patient)
    except Refused as refusal:
        if refusal.word not in _NO_SUCH_THREAD:
            raise
        return ()


async def delete(rest: Rest, channel: str, ts: str) -> None:
    """Delete a message; what is gone or closed to us is no error.

    Raises:
        DeliveryError: when Slack does not do it now.
    """
    try:
        await rest.delete(channel, ts)
    except Refused as refusal:
        if refusal.word not in CANNOT_DELETE | CHANNEL_IS_CLOSED:
            raise


_MOST_DETOURS = 5
_MOST_POSTS = 3
"""How often a part is posted that is not found afterwards; then it is tried again later."""
_SETTLES_IN = 1.0
"""Seconds after which a post that was applied unseen can be read."""


class AnswerMessages:
    """The messages of one answer in a thread.

    The first is a stream where Slack allows it, else a post that is edited; it ends as a
    message that was set as a whole. The others are posts below it.
    """

    is_one_message = False

    def __init__(
        self,
        rest: Rest,
        job: Job,
        keeper: PostKeeper,
        session: Session | None = None,
        *,
        asker: str | None = None,
    ) -> None:
        """Prepare to show.

        Args:
            session: What Slack shows of the question meanwhile.
            asker: The name that stands below a question which the bot posts.
        """
        self._session = session
        self._asker = asker
        self._rest = rest
        self._job = job
        self._keeper = keeper
        self._address = Address.of(job)
        self._channel = self._address.channel
        self._root = self._address.root
        self._ids = {part: timestamp(one) for part, one in enumerate(job.posted.messages)}
        self._lost: Counter[int] = Counter()
        self._content: dict[int, Post] = {}
        self._found: dict[int, str] | None = None
        """What an earlier holder may have posted without telling, once it was looked for."""
        self._stream: Stream | None = None

    @property
    def posted(self) -> Posted:
        """What Slack has of it so far."""
        messages = tuple(message_id(self._channel, self._ids[part]) for part in sorted(self._ids))
        own_root = self._root if self._address.posts_question else self._job.posted.thread
        return Posted(messages, own_root)

    async def open(self, post: Post, *, renew: bool) -> None:
        """Show the placeholder unless a message of the answer is there already.

        Args:
            renew: Show it in place of an earlier answer, too.
        """
        budget = self._rest.workspace.budget
        budget.expect_update(self._rest)
        if self._address.posts_question and self._root is None:
            await self._open_thread()
        if self._session is not None:
            self._session.begin(self._root)
        if 0 not in self._ids and self._job.taken_over:
            await self._adopt(0)
        if 0 in self._ids:
            if renew:
                await self.show(0, post)
                budget.expect_update(self._rest)
        elif self._is_whole(post) or not await self._begin_stream(post):
            await self.show(0, post)

    @staticmethod
    def _is_whole(post: Post) -> bool:
        """Return whether a post is no stream's: of no answer, or one that notifies its reader."""
        return post.request_id is None or post.pings is not None

    async def grow(self, growing: Growing) -> None:
        """Show an unfinished answer, unless other answers need the call.

        A stream that shows text which was withdrawn meanwhile is ended.
        """
        stream = self._stream
        if stream is not None and (growing.settled or not stream.sent):
            is_streamed = await self._is_streamed(stream, growing)
        else:
            is_streamed = False
        if not is_streamed:
            await self._end_stream()
            await self._edit(growing.post)

    async def show(self, part: int, post: Post) -> None:
        """Show the post as this part of the answer.

        Raises:
            DeliveryError: when no detour is left, or Slack does not answer.
        """
        if part == 0 and await self._has_finished_stream(post):
            return
        if part == 0:
            await self._end_stream()
        if self._content.get(part) == post:
            return
        for _ in range(_MOST_DETOURS):
            try:
                await self._put(part, post)
            except Refused as refusal:
                await self._find_detour(part, refusal)
            else:
                self._content[part] = post
                return
        raise AssertionError("each detour is taken once")

    async def cut(self, parts: int) -> None:
        """Delete what an earlier, longer answer showed after this many parts."""
        for part in sorted(self._ids, reverse=True):
            if part >= parts:
                await delete(self._rest, self._channel, self._ids[part])
                del self._ids[part]
                await self._keeper.keep(self.posted)

    def close(self) -> None:
        """Keep no call for this answer any more."""
        self._rest.workspace.budget.release(self._rest)

    # --- one message --------------------------------------------------------------------

    async def _edit(self, post: Post) -> None:
        """Show an unfinished answer by an edit, if one is to spare."""
        if 0 not in self._ids or self._content.get(0) == post:
            return
        self._content.pop(0, None)
        ours = metadata(self._job.arrival.key, 0)
        try:
            if await self._rest.update_if_spare(self._channel, self._ids[0], post, ours):
                self._content[0] = post
        except Refused as refusal:
            if refusal.word == STILL_STREAMING:
                await self._end_unknown_stream()
            elif refusal.permanent:
                logger.debug("left to the end of the answer: %s", refusal)

    async def _put(self, part: int, post: Post) -> None:
        if part not in self._ids and self._job.taken_over:
            await self._adopt(part)
        if part in self._ids:
            ours = metadata(self._job.arrival.key, part)
            await self._rest.update(self._channel, self._ids[part], post, ours)
        else:
            await self._know(part, await self._post(part, post))

    async def _post(self, part: int, post: Post) -> str:
        """Post a part once, also where it is not known whether it was posted."""
        ours = metadata(self._job.arrival.key, part)
        root = None if part == QUESTION_PART else self._root
        for _ in range(_MOST_POSTS):
            try:
                return await self._rest.post(self._channel, root, post, ours)
            except asyncio.CancelledError:
                self._keeper.mark_ambiguous()
                raise
            except Unclear as error:
                found = await self._look_again()
                if part in found:
                    return found[part]
                failure = error
        raise failure

    async def _look_again(self) -> dict[int, str]:
        self._keeper.mark_ambiguous()
        await asyncio.sleep(_SETTLES_IN)
        return await self._earlier()

    async def _adopt(self, part: int) -> None:
        """Know the message that an earlier holder posted as a part without telling."""
        if self._found is None:
            self._found = await self._earlier()
        if part in self._found:
            await self._know(part, self._found.pop(part))

    async def _earlier(self) -> dict[int, str]:
        request = self._job.arrival.request
        messages = await messages_for(self._rest, self._job, self._root)
        me, key = await self._rest.me(), self._job.arrival.key
        return parts_of(messages, me, key, request.request_id if request else None)

    async def _know(self, part: int, ts: str) -> None:
        if self._ids.get(part) != ts:
            self._ids[part] = ts
            await self._keeper.keep(self.posted)

    async def _find_detour(self, part: int, refusal: Refused) -> None:
        """Change the way to the reader so that a refused post may be tried again; else raise."""
        if refusal.word in MESSAGE_GONE and not self._lost[part]:
            self._lost[part] += 1
            self._ids.pop(part, None)
        elif refusal.word == STILL_STREAMING and part == 0:
            await self._end_unknown_stream()
        else:
            if refusal.permanent:
                logger.warning("an answer cannot be shown: %s", refusal)
            raise refusal

    # --- threads and streams ------------------------------------------------------------

    async def _open_thread(self) -> None:
        """Post the question, or find it posted; the thread below it has its timestamp."""
        request = self._job.arrival.request
        found = await self._earlier() if self._job.taken_over else {}
        root = found.get(QUESTION_PART)
        if root is None:
            asked = outbound.question(request.query_text if request else "…", self._asker)
            root = await self._post(QUESTION_PART, asked)
            self._root = root
            await self._keeper.keep(self.posted)
            await link_to_thread(self._rest, self._job, root)
            return
        self._root = root
        await self._keeper.keep(self.posted)

    async def _begin_stream(self, post: Post) -> bool:
        """Show the placeholder as a stream; return whether it is shown."""
        if self._root is None or not self._rest.may_begin_stream():
            return False
        reader = (self._address.asker, self._address.team)
        is_stoppable = self._session is not None and await self._session.has_stop_button()
        chunks = beginning(post, with_button=not is_stoppable)
        try:
            ts = await self._rest.begin_stream(self._channel, self._root, reader, chunks)
        except Refused as refusal:
            self._note(refusal)
            return False
        except asyncio.CancelledError:
            self._keeper.mark_ambiguous()
            raise
        except Unclear:
            found = await self._look_again()
            if 0 in found:
                await self._know(0, found[0])
            return 0 in found
        self._stream = self._stream_at(ts, may_stay=is_stoppable)
        await self._know(0, ts)
        return True

    def _stream_at(self, ts: str, *, may_stay: bool = False) -> Stream:
        request = self._job.arrival.request
        request_id = (
            request_id_for(self._job.arrival.key) if request is None else request.request_id
        )
        return Stream(self._rest, self._channel, ts, request_id, may_stay=may_stay)

    async def _is_streamed(self, stream: Stream, growing: Growing) -> bool:
        """Let the stream grow; return whether it may go on growing."""
        try:
            await stream.show(growing)
        except Refused as refusal:
            self._note(refusal)
            return isinstance(refusal, TooMany)
        except Unclear:
            return False  # what was added once must not be added again
        return True

    def _note(self, refusal: Refused) -> None:
        """Stream nothing for a while in a workspace where Slack does not have it."""
        if refusal.permanent and refusal.word not in ABOUT_ONE_ANSWER:
            logger.warning("answers are edited for some minutes, not streamed: %s", refusal)
            self._rest.workspace.streams.refused()

    async def _has_finished_stream(self, post: Post) -> bool:
        """End a stream as the post that it becomes; return whether that is shown now."""
        stream = self._stream
        if stream is None or not stream.becomes(post):
            return False
        try:
            await stream.finish(post, metadata(self._job.arrival.key, 0), self._status("active"))
        except Refused as refusal:
            if not refusal.permanent:
                raise
            logger.debug("a stream is replaced by a message: %s", refusal)
            return False
        self._stream, self._content[0] = None, post
        if self._session is not None:
            self._session.ended()
        return True

    def _status(self, status: str) -> str | None:
        """Return what the session is to have after a stream; None: there is no session."""
        return status if self._session is not None and self._session.has_status else None

    async def _end_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            # The answer goes on as a message: Slack would say "active" if it was not told.
            await stream.end(metadata(self._job.arrival.key, 0), self._status("processing"))
        except Refused as refusal:
            if not refusal.permanent:
                self._stream = stream
                raise
            if refusal.word != NOT_STREAMING and refusal.word not in MESSAGE_GONE:
                self._note(refusal)
                await self._give_up_stream()

    async def _end_unknown_stream(self) -> None:
        """End the stream that an earlier holder, or no one for sure, has begun."""
        self._stream = self._stream_at(self._ids[0])
        await self._end_stream()

    async def _give_up_stream(self) -> None:
        """Delete a stream that cannot be ended: another message takes its place."""
        await delete(self._rest, self._channel, self._ids.pop(0))
