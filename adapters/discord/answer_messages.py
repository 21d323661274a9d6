"""The messages that show one answer, and the detours when Discord does not take them."""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import discord

from adapters.chat.base import PostKeeper, mapping
from adapters.chat.buttons import parsed
from adapters.discord.members import text_in
from adapters.discord.outbound import Post, text_of
from adapters.discord.rest import (
    CHANNEL_IS_CLOSED,
    NO_ACCESS,
    NO_HISTORY,
    NO_PERMISSION,
    THREAD_ARCHIVED,
    THREAD_EXISTS,
    TOKEN_IS_DEAD,
    UNKNOWN_MESSAGE,
    Refused,
    Rest,
)
from adapters.discord.rest import Json as JsonDict
from adapters.discord.surroundings import EARLY_PAUSE, MOST_EARLY, Address, Response
from core.domain.errors import DeliveryError
from core.domain.i18n import text
from core.storage.inbox.base import Job, Posted, request_id_for

logger = logging.getLogger(__name__)


Json = Mapping[str, Any]


def nonce(key: str, channel: int, part: int, again: int = 0) -> str:
    """Return what Discord knows a post by for some minutes; 24 characters.

    Args:
        key: The key of the event that is answered.
        channel: Where the part is posted.
        again: How often this part was deleted by a user and posted again.
    """
    post = f"{key}:{channel}:{part}:{again}"
    return hashlib.blake2b(post.encode(), digest_size=12).hexdigest()


def first_part(
    messages: Iterable[Json],
    me: str,
    written: str,
    *,
    request_id: UUID | None,
    question: int | None,
) -> str | None:
    """Return the id of the message that answers a request already; None: there is none.

    It is ours, and has a button of the request, or has no button, replies to the question and
    shows the same. A reply with another text, such as that the question waits, is left as it
    is: it stands where an earlier answer may still have to go.

    Args:
        written: The part's text, as `layout.text_of` gives it.
        question: The message that the part replies to.
    """
    requests = set() if request_id is None else {request_id}
    found = (
        str(message["id"])
        for message in _ours(messages, me)
        if (buttons := _buttons(message)) & requests
        or (not buttons and _answers(message, requests, question) and _shows(message, written))
    )
    return next(found, None)


def same_text(
    messages: Iterable[Json], me: str, written: str, *, question: int | None, known: Collection[str]
) -> str | None:
    """Return the id of a message that shows a further part already; None: there is none.

    Args:
        written: The part's text, as `layout.text_of` gives it.
        question: The message that the part replies to.
        known: The messages of other parts.
    """
    for message in _ours(messages, me):
        is_it = _shows(message, written) and _replied(message) == question
        if is_it and message["id"] not in known:
            return str(message["id"])
    return None


def strays(
    messages: Iterable[Json],
    me: str,
    known: Collection[str],
    *,
    requests: Collection[UUID],
    question: int | None,
    own_thread: bool,
) -> list[str]:
    """Return the ids of our messages that answer a question other than the known ones.

    They have a button of the request, or reply to the question. In a thread that was opened
    for the answer, whose messages reply to nothing, they repeat a known one.
    """
    ours = list(_ours(messages, me))
    texts = {text_in(one) for one in ours if one["id"] in known and own_thread}
    return [
        str(one["id"])
        for one in ours
        if one["id"] not in known
        and (
            _answers(one, requests, question)
            or (text_in(one) in texts and _replied(one) is None and not _buttons(one))
        )
    ]


def _answers(message: Json, requests: Collection[UUID], question: int | None) -> bool:
    """Return whether a message is the answer: by its buttons, or without any by its reply."""
    if buttons := _buttons(message):
        return not buttons.isdisjoint(requests)
    return question is not None and _replied(message) == question


def _shows(message: Json, written: str) -> bool:
    return text_in(message) == written.strip()


def _replied(message: Json) -> int | None:
    number = (message.get("message_reference") or {}).get("message_id")
    return None if number is None else int(number)


def _buttons(message: Json) -> set[UUID]:
    """Return the requests that a message's buttons belong to."""
    return set(_requests(message.get("components") or ()))


def _ours(messages: Iterable[Json], me: str) -> Iterator[Json]:
    """Yield our own messages; others may have any form."""
    return (one for one in messages if mapping(one.get("author")).get("id") == me)


def _requests(components: Iterable[Json]) -> Iterator[UUID]:
    """Yield the requests that the buttons belong to, those inside rows included."""
    for component in components:
        if button := parsed(component.get("custom_id") or ""):
            yield button[1]
        yield from _requests(component.get("components") or ())


_EPHEMERAL = discord.MessageFlags(ephemeral=True).value


async def retract(rest: Rest, job: Job) -> None:
    """Delete the messages posted for a job, and put the thread on one of the bot's away.

    What is gone is gone. The thread is named by the question, and others may have written in it:
    it gets another name, and is archived.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    address = Address.of(job)
    thread = int(job.posted.thread) if job.posted.thread and address.question is None else None
    for part, message in reversed(list(enumerate(job.posted.messages))):
        if part == 0 and thread is not None:
            await _put_away(rest, thread)  # last in it: deleting in it would open it again
        await delete(rest, address.channel_of(part, job.posted), message)


async def tidy(rest: Rest, job: Job) -> None:
    """Delete the bot's messages that answer a job's question other than those it knows.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    address = Address.of(job)
    requests = {request_id_for(job.arrival.key)}
    if job.arrival.request is not None:
        requests.add(job.arrival.request.request_id)
    thread = int(job.posted.thread) if job.posted.thread else None
    for channel in {address.channel, thread or address.channel}:
        found = strays(
            await _messages(rest, channel, job.arrival.position),
            rest.me,
            job.posted.messages,
            requests=requests,
            question=address.question,
            own_thread=channel == thread,
        )
        for message in found:
            await delete(rest, channel, message, locked_is_gone=False)


async def delete_response(rest: Rest, response: Response) -> None:
    """Delete the response to an interaction, which may be on its way still.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    for _ in range(MOST_EARLY):
        try:
            await rest.delete_original(response.application, response.token)
        except Refused as refusal:
            if refusal.code not in {UNKNOWN_MESSAGE, *TOKEN_IS_DEAD}:
                raise
            if not response.may_be_early:
                return
            await asyncio.sleep(EARLY_PAUSE)
        else:
            return


async def is_for_all(rest: Rest, response: Response) -> bool:
    """Return whether readers of the channel see the response to an interaction, or saw it.

    False as well while Discord has none for so long that none is to be expected.

    Raises:
        DeliveryError: when Discord does not tell now.
    """
    for _ in range(MOST_EARLY):
        try:
            message = await rest.original(response.application, response.token)
        except Refused as refusal:
            if refusal.code in TOKEN_IS_DEAD and not response.may_be_early:
                return False
            if refusal.code not in {UNKNOWN_MESSAGE, *TOKEN_IS_DEAD}:
                raise
            if not response.may_be_early:
                return True  # it was deleted, as one for the asker alone never is
            await asyncio.sleep(EARLY_PAUSE)
        else:
            return not is_hidden(message)
    return False


def is_hidden(message: JsonDict) -> bool:
    """Return whether one person alone sees a message."""
    return bool(int(message.get("flags") or 0) & _EPHEMERAL)


async def delete(rest: Rest, channel: int, message: str, *, locked_is_gone: bool = True) -> None:
    """Delete a message, also in an archived thread; what is gone or closed to us is no error.

    Args:
        locked_is_gone: Whether a thread that is archived and locked counts as closed: nothing in
            it can be deleted until a moderator opens it again.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    try:
        try:
            await rest.delete(channel, message)
        except Refused as refusal:
            if refusal.code != THREAD_ARCHIVED:
                raise
            try:
                await rest.unarchive(channel)
            except Refused as locked:
                if locked_is_gone or not locked.permanent:
                    raise
                raise DeliveryError(f"{locked}; it may be opened again") from locked
            await rest.delete(channel, message)
    except Refused as refusal:
        if refusal.code not in {UNKNOWN_MESSAGE, *CHANNEL_IS_CLOSED}:
            raise


async def _put_away(rest: Rest, thread: int) -> None:
    try:
        await rest.change_thread(thread, name=text("discord-thread-retracted"), archived=True)
    except Refused as refusal:
        if not refusal.permanent:
            raise
        logger.info("a thread is left: %s", refusal)


async def _messages(rest: Rest, channel: int, behind: int) -> Sequence[JsonDict]:
    try:
        return await rest.messages_after(channel, behind)
    except Refused as refusal:
        if refusal.code not in CHANNEL_IS_CLOSED:
            raise
        return ()


_MOST_TRIES = 10 + MOST_EARLY


class AnswerMessages:
    """The messages of one answer, each shown once however often it is sent.

    The first stands where the question asks for it: as the response to an interaction, in the
    thread opened on a message, or as a reply. The others follow in the thread, or after it.
    """

    def __init__(self, rest: Rest, job: Job, keeper: PostKeeper, *, alone: bool = False) -> None:
        """Prepare to show.

        Args:
            alone: It is no answer, but a sentence that an interaction's asker alone may see.
        """
        self._rest = rest
        self._job = job
        self._keeper = keeper
        address = Address.of(job)
        self._is_private = address.ephemeral or (alone and address.of_interaction)
        self._address = address
        self._channel = address.channel
        self._thread = int(job.posted.thread) if job.posted.thread else None
        self._response: Response | None = address.response
        if address.apart and not alone:
            self._response = None
        self._reply_to = address.question
        self._direct = False
        self._ids = dict(enumerate(job.posted.messages))
        self._early = 0
        """How often the response was not there yet."""
        self._lost: Counter[int] = Counter()
        self._content: dict[int, Post] = {}
        self._unarchived = False

    @property
    def posted(self) -> Posted:
        """What Discord has of it so far."""
        messages = tuple(self._ids[part] for part in sorted(self._ids))
        return Posted(messages, str(self._thread) if self._thread else None)

    @property
    def is_one_message(self) -> bool:
        """Whether all of the answer has to fit the response to an interaction.

        What is private goes on in further messages that the asker alone sees.
        """
        return self._response is not None and self._thread is None and not self._is_private

    async def open(self, post: Post, thread_name: str | None, *, renew: bool) -> None:
        """Show the placeholder unless a message of the answer is there already.

        Args:
            thread_name: Names the thread that is opened, where that is allowed; None: no
                thread is to be opened.
            renew: Show it in place of an earlier answer, too.
        """
        if self._is_private and self._address.of_interaction and self._response is None:
            await self._go_direct()  # the token is gone: the channel would show it to all
        opens = self._address.opens_thread and self._thread is None
        question = self._address.question
        if thread_name and opens and question is not None and not self._ids:
            await self._open_thread(question, thread_name)
        if renew or 0 not in self._ids:
            await self.show(0, post)
        if thread_name and opens and question is None and not self._direct:
            await self._open_thread(int(self._ids[0]), thread_name)

    async def show(self, part: int, post: Post) -> None:
        """Show the post as this part of the answer.

        Raises:
            DeliveryError: when no detour is left, or the platform does not answer.
        """
        if self._content.get(part) == post:
            return
        for _ in range(_MOST_TRIES):
            try:
                await self._put(part, post)
            except Refused as refusal:
                if refusal.code == NO_PERMISSION and post.pictures:
                    post = post.without_pictures()  # perhaps it may not attach files
                else:
                    await self._find_detour(part, refusal)
            else:
                self._content[part] = post
                return
        raise AssertionError("each detour is taken once, and an early response has its own tries")

    async def cut(self, parts: int) -> None:
        """Delete what an earlier, longer answer showed after this many parts."""
        for part in sorted(self._ids, reverse=True):
            if part >= parts:
                await delete(self._rest, self._channel_of(part), self._ids[part])
                del self._ids[part]
                await self._keeper.keep(self.posted)

    def close(self) -> None:
        """Give nothing back: no calls are kept for an answer."""

    # --- one message --------------------------------------------------------------------

    async def _put(self, part: int, post: Post) -> None:
        if self._responds(part) and self._response is not None and self._response.is_over:
            await self._leave_response()
        if part == 0 and self._response is not None:
            response = self._response
            message = await self._rest.edit_original(response.application, response.token, post)
            if self._is_private or not is_hidden(message):
                await self._know(part, str(message["id"]))
                return
            # A process that died had sent the asker something; the answer is for the channel.
            await delete_response(self._rest, response)
            self._response = None
        if part > 0 and self._responds(part) and self._response is not None:
            await self._follow_up(part, post, self._response)
        elif part in self._ids:
            await self._rest.edit(self._channel_of(part), self._ids[part], post)
        else:
            await self._know(part, await self._create(part, post))

    def _responds(self, part: int) -> bool:
        """Return whether a part is shown by the interaction's token, as long as that lives."""
        return self._response is not None and (part == 0 or self._is_private)

    async def _follow_up(self, part: int, post: Post, response: Response) -> None:
        """Show a further part of a private answer, unless it was: what is finished stays so."""
        if part not in self._ids:
            await self._know(
                part, await self._rest.follow_up(response.application, response.token, post)
            )

    async def _create(self, part: int, post: Post) -> str:
        channel = self._channel_of(part)
        reply_to = self._reply_to if channel != self._thread else None
        message = None
        if self._job.taken_over:
            message = await self._earlier(part, post, reply_to)
        if message is None:
            message, written = await self._post(part, post, reply_to)
            if written == text_of(post):
                return message
        await self._rest.edit(channel, message, post)
        return message

    async def _post(self, part: int, post: Post, reply_to: int | None) -> tuple[str, str]:
        channel = self._channel_of(part)
        name = nonce(self._job.arrival.key, channel, part, self._lost[part])
        try:
            return await self._rest.post(channel, post, nonce=name, reply_to=reply_to)
        except (DeliveryError, asyncio.CancelledError) as error:
            if not (isinstance(error, DeliveryError) and error.permanent):
                self._keeper.mark_ambiguous()  # it may have been posted all the same
            raise

    async def _earlier(self, part: int, post: Post, reply_to: int | None) -> str | None:
        """Return the message that an earlier holder posted as this part without telling."""
        arrival, me = self._job.arrival, self._rest.me
        begin = int(self._ids.get(0, arrival.position))
        try:
            messages = await self._rest.messages_after(self._channel_of(part), begin)
        except Refused as refusal:
            if refusal.code not in CHANNEL_IS_CLOSED:
                raise
            return None  # it may not read there: the nonce is all we have
        if part == 0:
            request_id = arrival.request.request_id if arrival.request else None
            return first_part(
                messages, me, text_of(post), request_id=request_id, question=self._reply_to
            )
        known = set(self._ids.values())
        return same_text(messages, me, text_of(post), question=reply_to, known=known)

    async def _know(self, part: int, message: str) -> None:
        if self._ids.get(part) != message:
            self._ids[part] = message
            await self._keeper.keep(self.posted)

    def _channel_of(self, part: int) -> int:
        if self._thread is not None and self._address.stands_in_thread(part):
            return self._thread
        return self._channel

    # --- threads and detours ------------------------------------------------------------

    async def _open_thread(self, message: int, name: str) -> None:
        """Open a thread on a message, unless the server's rules forbid it."""
        try:
            self._thread = await self._rest.open_thread(self._channel, message, name)
        except Refused as refusal:
            if refusal.code == THREAD_EXISTS:
                self._thread = message  # a thread on a message has the message's id
            elif refusal.permanent:
                logger.info("no thread is opened, the answer stands in the channel: %s", refusal)
                return
            else:
                raise
        await self._keeper.keep(self.posted)

    async def _find_detour(self, part: int, refusal: Refused) -> None:
        """Change the way to the reader so that a refused post may be tried again; else raise."""
        code = refusal.code
        responding = self._responds(part)
        is_early = part == 0 and code == UNKNOWN_MESSAGE
        if responding and (is_early or code in TOKEN_IS_DEAD):
            await self._wait_or_leave_response()
        elif code == UNKNOWN_MESSAGE and not self._lost[part]:
            self._lost[part] += 1
            self._ids.pop(part, None)
        elif code == THREAD_ARCHIVED and not self._unarchived:
            self._unarchived = True
            await self._rest.unarchive(self._channel_of(part))
        elif code == NO_HISTORY and self._reply_to is not None:
            self._reply_to = None
        elif code in {NO_ACCESS, NO_PERMISSION} and self._channel_of(part) == self._thread:
            await self._leave_thread()
        elif code in CHANNEL_IS_CLOSED and self._may_go_direct(part):
            await self._go_direct()
        else:
            if refusal.permanent:
                logger.warning("an answer cannot be shown: %s", refusal)
            raise refusal

    async def _leave_thread(self) -> None:
        """Go on in the channel; a thread in which nothing can be said is put away, if it may be."""
        assert self._thread is not None
        thread, self._thread = self._thread, None
        if self._ids:
            return
        await self._keeper.keep(self.posted)
        try:
            await self._rest.change_thread(thread, archived=True)
        except DeliveryError as error:
            logger.info("an empty thread is left: %s", error)

    async def _wait_or_leave_response(self) -> None:
        assert self._response is not None
        self._early += 1
        if self._response.may_be_early and self._early <= MOST_EARLY:
            await asyncio.sleep(EARLY_PAUSE)
        else:
            await self._leave_response()

    async def _leave_response(self) -> None:
        """Go on with ordinary messages: in the channel, or directly what is private."""
        self._response = None
        if self._is_private:
            await self._go_direct()

    def _may_go_direct(self, part: int) -> bool:
        return part == 0 and self._address.of_interaction and not self._direct

    async def _go_direct(self) -> None:
        """Go on in the asker's direct messages, where no message of the bot's may be known yet."""
        self._channel = await self._rest.direct_channel(self._address.asker)
        self._direct, self._thread = True, None
        self._ids = {part: message for part, message in self._ids.items() if part == 0}
        self._lost.clear()
