"""Contains what a platform sends that cannot be read: it is logged, counted and passed over."""

import logging
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from core.errors import BotError, StoreDataError
from core.telemetry.metering import UNREADABLE, Meter

logger = logging.getLogger(__name__)

OTHER = "other"
"""Stands in the metrics for every type of event that is not known."""
_NAME = re.compile(r"[\w.:/-]{1,64}", re.ASCII)


class UnreadableEvent(ValueError):
    """A payload lacks what it cannot be read without; the text names the field, not its value."""


class Unreadable:
    """Notes the events of one platform that cannot be read.

    Once the platform ends, whatever fails is taken for our own end, as of a connection that was
    closed: nothing is noted and nothing is passed over, so that the next start finds it.
    """

    is_ending = False

    def __init__(self, platform: str, events: Collection[str], meter: Meter) -> None:
        """Prepare to note.

        Args:
            events: The types of events that have a count of their own.
        """
        self._platform = platform
        self._events = frozenset(events)
        self._meter = meter

    def end(self) -> None:
        """Blame no event any more: connections are about to be closed."""
        self.is_ending = True

    def note(self, event: object, event_id: object, error: Exception) -> None:
        """Log and count an event; nothing of what it says is logged.

        Args:
            event: Its type, as the platform says it.
            event_id: What the platform knows it by.
        """
        kind = _shown(event)
        if self.is_ending:
            logger.info("an event of %s was not taken in before the end: %s", self._platform, kind)
            return
        self._meter.count(UNREADABLE, self._platform, kind if kind in self._events else OTHER)
        logger.error(
            "an event of %s cannot be read and is passed over: %s %s, %s",
            *(self._platform, kind, _shown(event_id), place_of(error)),
            exc_info=without_text(error),
        )

    @contextmanager
    def contained(self, event: object, event_id: object) -> Iterator[None]:
        """Let no failure out of the block that is for good, whatever it is.

        Those that the product names may be over later; they are raised, and so is all that fails
        once the platform ends.
        """
        try:
            yield
        except StoreDataError as error:  # no database will ever hold it
            self.note(event, event_id, error)
        except BotError:
            raise
        except Exception as error:
            if self.is_ending:
                raise
            self.note(event, event_id, error)


def without_text(error: BaseException) -> Exception:
    """Return an error with the traceback of another, whose text may quote what people wrote."""
    return UnreadableEvent(type(error).__name__).with_traceback(error.__traceback__)


def place_of(error: BaseException) -> str:
    """Return an error's class and the line that raised it."""
    frames = extract_tb(error.__traceback__)
    line = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{line}"


def _shown(value: object) -> str:
    """Return a type or an id as it may be logged; text of any other form may be anything."""
    text = str(value) if isinstance(value, str | int) else ""
    return text if _NAME.fullmatch(text) else "?"
