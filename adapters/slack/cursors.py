"""Keeps up to which moment Slack was read, and knows where something may have been said since."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from adapters.intake.read_cursor import ReadCursor
from adapters.intake.reconcile import MOST_QUESTIONS
from adapters.slack.inbound import PLATFORM
from core.inbox.places import InboxPlaces, PlacedQuestion
from core.inbox.store import Inbox


class SlackCursors(ReadCursor):
    """Keeps how far Slack was heard, and where something may have been said since."""

    def __init__(self, inbox: Inbox, places: InboxPlaces) -> None:
        super().__init__(inbox, PLATFORM)
        self._places = places

    async def positions(self) -> Mapping[str, int]:
        """Return the position of the latest question by channel."""
        return await self._inbox.cursors(PLATFORM)

    async def threads(self, workspace: str, since: datetime) -> Sequence[tuple[str, str]]:
        """Return the channel and first message of the threads a user asked in since then."""
        found = await self._places.threads(PLATFORM, workspace, since)
        return [(channel, thread) for channel, thread in found if _TS.fullmatch(thread)]

    async def questions(self, since: datetime) -> Sequence[PlacedQuestion]:
        """Return the latest questions in messages since a moment, oldest first."""
        return await self._places.asked_since(PLATFORM, since, MOST_QUESTIONS)


_TS = re.compile(r"\d+\.\d+")
