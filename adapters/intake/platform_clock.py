"""A platform's clock next to this machine's, by the `Date` of what the platform answers."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from core.models import now

logger = logging.getLogger(__name__)

TOLERATED = timedelta(minutes=1)
"""By which the clocks may differ; answers take time, and `Date` has whole seconds."""


class PlatformClock:
    """Knows how much this machine's clock lags a platform's; all of a process share one.

    Within what is tolerated there is no difference.
    """

    def __init__(self, platform: str, clock: Callable[[], datetime] = now) -> None:
        self._platform = platform
        self._clock = clock
        self.behind = timedelta()
        """What is added to this machine's time to get the platform's."""

    def note(self, date: str | None) -> None:
        """Learn from the `Date` of an answer that has just come; what cannot be read is ignored."""
        try:
            there = parsedate_to_datetime(date or "")
        except ValueError:
            return
        if there.tzinfo is None:
            return
        behind = there - self._clock()
        if abs(behind) <= TOLERATED:
            behind = timedelta()
        was_right, self.behind = not self.behind, behind
        if was_right and behind:
            logger.error("%s", self.warning)
        elif behind == timedelta() and not was_right:
            logger.warning("this machine's clock agrees with %s's again", self._platform)

    @property
    def warning(self) -> str | None:
        """What is wrong with this machine's clock; None: nothing that is known."""
        if not self.behind:
            return None
        minutes = abs(self.behind) / timedelta(minutes=1)
        side = "behind" if self.behind > timedelta() else "ahead of"
        return (
            f"this machine's clock is {minutes:.0f} minutes {side} {self._platform}'s: set it "
            "right, by NTP for example"
        )

    def now(self) -> datetime:
        """Return what the platform's clock shows."""
        return self.theirs(self._clock())

    def ours(self, moment: datetime) -> datetime:
        """Return what this machine's clock showed at a moment that the platform tells."""
        return moment - self.behind

    def theirs(self, moment: datetime) -> datetime:
        """Return what the platform's clock showed at a moment of this machine's."""
        return moment + self.behind
