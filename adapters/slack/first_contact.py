"""What was said in a thread before the bot was asked there for the first time."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from uuid import UUID

from adapters.slack.address import Address
from adapters.slack.inbound import is_spoken, position_of
from adapters.slack.lookups import Json, Lookups, Place
from adapters.slack.payloads import readable_message
from adapters.slack.plain import all_of
from adapters.unreadable import UnreadableEvent
from core.errors import StoreError
from core.models import MAX_THREAD_MESSAGE, AgentRequest, ThreadMessage

logger = logging.getLogger(__name__)

_REPLIES = "conversations.replies"
_ASKED_FOR = 200
"""Messages of one call, oldest first; Slack gives fifteen to apps that others install."""
_MOST = 15
"""Messages that a question takes along."""
_EVERY = 60.0


class FirstContact:
    """Reads a thread once: from then on our own store knows what was said in it.

    Slack lets apps that others install read one thread a minute in a workspace, and we keep to
    that everywhere; nobody waits for it.
    """

    def __init__(
        self,
        lookups: Lookups,
        knows: Callable[[UUID], Awaitable[bool]],
        *,
        every: float = _EVERY,
    ) -> None:
        """Prepare to read.

        Args:
            knows: Returns whether a session has turns; raises StoreError.
            every: Seconds between two threads of a workspace.
        """
        self._lookups = lookups
        self._knows = knows
        self._every = every
        self._read_at: dict[Place, float] = {}

    async def complete(self, address: Address, request: AgentRequest) -> AgentRequest:
        """Return a request with what was said before it in a thread that is met now."""
        root, asked = address.root, address.question
        if root is None or asked is None or root == asked or address.channel.startswith("D"):
            return request
        if request.session_id is None or await self._is_known(request.session_id):
            return request
        found = await self._read(address, root, asked)
        if found is None:
            return request.model_copy(update={"thread_partly_seen": True})
        said = list(_said_before(_readable(found.get("messages")), asked, address.asker))
        partly = bool(found.get("has_more")) or len(said) > _MOST
        return request.model_copy(
            update={"thread_messages": _first_and_latest(said), "thread_partly_seen": partly}
        )

    async def _is_known(self, session_id: UUID) -> bool:
        try:
            return await self._knows(session_id)
        except StoreError as error:
            logger.warning("nobody knows whether a thread is new: %s", error)
            return True

    async def _read(self, address: Address, root: str, asked: str) -> Json | None:
        """Return a thread, from its first message on; None: it cannot be read now.

        What stands at its end has no call of its own: Slack pages from the oldest message on.
        """
        place, moment = (address.team, address.enterprise), time.monotonic()
        if moment - self._read_at.get(place, -self._every) < self._every:
            return None
        self._read_at[place] = moment
        return await self._lookups.call(
            place, _REPLIES, channel=address.channel, ts=root, latest=asked, limit=_ASKED_FOR
        )


def _first_and_latest(said: Sequence[ThreadMessage]) -> tuple[ThreadMessage, ...]:
    """Return as much as a question takes along: what began a thread, and its end."""
    if len(said) <= _MOST:
        return tuple(said)
    return (said[0], *said[len(said) - _MOST + 1 :])


def _readable(messages: object) -> Iterator[Json]:
    """Yield the messages of a thread that can be read."""
    for message in messages if isinstance(messages, list) else ():
        with suppress(UnreadableEvent):
            yield readable_message(message)


def _said_before(messages: Iterable[Json], asked: str, asker: str) -> Iterator[ThreadMessage]:
    """Yield what people wrote before a question; apps and Slack itself are left out."""
    for message in messages:
        text = all_of(message).strip()[:MAX_THREAD_MESSAGE]
        is_earlier = position_of(str(message["ts"])) < position_of(asked)
        if text and is_earlier and is_spoken(message):
            yield ThreadMessage(text=text, by_asker=message.get("user") == asker)
