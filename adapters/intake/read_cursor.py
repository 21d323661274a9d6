"""Keeps up to which moment a platform was heard without a gap."""

from datetime import UTC, datetime

from core.inbox.store import Inbox

_EVERYWHERE = "*"
"""Stands where a cursor has its channel."""


class ReadCursor:
    """A platform's moment next to the cursors of its channels; methods raise StoreError."""

    def __init__(self, inbox: Inbox, platform: str) -> None:
        self._inbox = inbox
        self._platform = platform

    async def note(self, moment: datetime) -> None:
        """Keep the moment up to which nothing was missed."""
        milliseconds = int(moment.timestamp() * 1_000)
        await self._inbox.advance_cursor(self._platform, _EVERYWHERE, milliseconds)

    async def last(self) -> datetime | None:
        """Return the latest such moment; None before the first connection ever."""
        milliseconds = (await self._inbox.cursors(self._platform)).get(_EVERYWHERE)
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1_000, UTC)
