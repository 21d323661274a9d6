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
    """Notes the events of one platform that cannot be read."""

    def __init__(self, platform: str, events: Collection[str], meter: Meter) -> None:
        """Prepare to note.

        Args:
            events: The types of events that have a count of their own.
        """
        self._platform = platform
        self._events = frozenset(events)
        self._meter = meter

    def note(self, event: object, event_id: object, error: Exception) -> None:
        """Log and count an event; nothing of what it says is logged.

        Args:
            event: Its type, as the platform says it.
            event_id: What the platform knows it by.
        """
        kind = _shown(event)
        self._meter.count(UNREADABLE, self._platform, kind if kind in self._events else OTHER)
        logger.error(
            "an event of %s cannot be read and is passed over: %s %s, %s",
            *(self._platform, kind, _shown(event_id), place_of(error)),
            exc_info=without_text(error),
        )

    @contextmanager
    def contained(self, event: object, event_id: object) -> Iterator[None]:
        """Let no failure out of the block that is for good, whatever it is.

        Those that the product names may be over later; they are raised.
        """
        try:
            yield
        except StoreDataError as error:  # no database will ever hold it
            self.note(event, event_id, error)
        except BotError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one event, the next one is read
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
