"""The last lines of the threads that the bot takes part in: in memory alone, of a few threads."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

_MOST_THREADS = 2_000
_MOST_LINES = 5
"""More before a line tell nothing of it."""
_MOST_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class RecentLine:
    """A line that a person wrote."""

    user_id: str
    """A pseudonym."""
    text: str
    said_at: datetime


class RecentLines:
    """Remembers lines by thread; what another process heard, or a former one, is not known."""

    def __init__(self) -> None:
        self._threads = OrderedDict[str, list[RecentLine]]()

    def of(self, lane: str) -> list[RecentLine]:
        """Return the last lines of a thread that are known, oldest first."""
        return list(self._threads.get(lane, ()))

    def note(self, lane: str, user_id: str, text: str, said_at: datetime) -> None:
        """Remember a line."""
        lines = self._threads.setdefault(lane, [])
        lines.append(RecentLine(user_id, text[:_MOST_CHARACTERS], said_at))
        del lines[:-_MOST_LINES]
        self._threads.move_to_end(lane)
        if len(self._threads) > _MOST_THREADS:
            self._threads.popitem(last=False)
