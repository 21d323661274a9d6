"""An answer on a chat platform: shown while it grows, then as it is."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from adapters.base import EarlierThread
from adapters.delivery.throttle import Throttle
from core.errors import DeliveryError
from core.inbox.base import Job, Posted
from core.models import AgentResponse

logger = logging.getLogger(__name__)

Content = TypeVar("Content")
Shows = TypeVar("Shows", contravariant=True)

_READING_AFTER = 0.4
"""Seconds without text until readers see what is read; most answers need no such line."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """How far an answer has come."""

    text: str
    headings: tuple[str, ...]
    """The sections that are read, best first; to be shown as long as there is no text."""


class Messages(Protocol[Shows]):
    """The messages that show one answer."""

    @property
    def posted(self) -> Posted:
        """What the platform has of it so far."""
        ...

    async def show(self, part: int, post: Shows) -> None:
        """Show the post as this part of the answer; raises DeliveryError."""
        ...

    async def cut(self, parts: int) -> None:
        """Show nothing after this many parts."""
        ...

    def close(self) -> None:
        """Note that nothing more will be shown."""
        ...


class StreamingReply(ABC, Generic[Content]):
    """What the replies of all chat platforms do alike; `Content` is what one message shows."""

    def __init__(
        self, job: Job, messages: Messages[Content], *, longest: int, interval: float
    ) -> None:
        """Prepare to show an answer.

        Args:
            longest: Characters of a growing answer after which nothing is added any more.
            interval: Seconds between two edits while it grows.
        """
        self._job = job
        self._messages = messages
        self._longest = longest
        self._text = ""
        self._headings: tuple[str, ...] = ()
        self._pacing = Throttle(self._edit, interval=interval)

    @property
    def posted(self) -> Posted:
        """What the platform has of the answer so far."""
        return self._messages.posted

    async def reading(self, headings: Sequence[str]) -> None:
        """Say which sections are read, unless there is text soon."""
        self._headings = tuple(headings)
        await self._pacing.show(self._unfinished, after=_READING_AFTER)

    async def update(self, delta: str) -> None:
        """Show some more of the answer, soon."""
        is_full = len(self._text) > self._longest
        self._text += delta
        if not is_full:
            await self._pacing.show(self._unfinished)

    async def withdraw(self) -> None:
        """Show no text any more, and what follows from the beginning."""
        self._text = ""
        await self._pacing.show(self._unfinished)

    async def finish(self, response: AgentResponse, earlier: EarlierThread | None = None) -> None:
        """Show the finished answer, in as many messages as it needs."""
        await self._show_all(await asyncio.to_thread(self._answer, response, earlier))

    async def leave(self) -> None:
        """Show nothing more."""
        await self._pacing.stop()
        self._messages.close()

    @abstractmethod
    def _answer(self, response: AgentResponse, earlier: EarlierThread | None) -> Sequence[Content]:
        """Return the messages of an answer; takes some hundredths of a second of computing."""

    @abstractmethod
    async def _grow(self, unfinished: Unfinished) -> None:
        """Show an unfinished answer; raises DeliveryError."""

    @property
    def _unfinished(self) -> Unfinished:
        return Unfinished(self._text, self._headings)

    async def _edit(self, unfinished: Unfinished) -> None:
        """Show unfinished text; what is not taken now, a later edit makes good."""
        try:
            await self._grow(unfinished)
        except DeliveryError as error:
            if error.permanent:
                raise
            logger.debug("an edit of a growing answer was left out: %s", error)

    async def _show_all(self, posts: Sequence[Content]) -> None:
        await self._pacing.stop()
        for part, post in enumerate(posts):
            await self._messages.show(part, post)
        await self._messages.cut(len(posts))
        self._messages.close()
