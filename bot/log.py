"""Sets up logging once: plain lines on stderr, tracebacks for those who ask for DEBUG."""

import logging
import sys
from typing import TextIO


class _WithoutTraceback(logging.Formatter):
    """Names the exception in the line instead of printing where it came from."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        error = record.exc_info[1] if record.exc_info else None
        line = f"{record.levelname} {record.name}: {record.getMessage()}"
        return f"{line} ({type(error).__name__}: {error})" if error else line


class _CurrentStderr(logging.StreamHandler[TextIO]):
    """Writes to what stderr is at the moment: an answer that grows at a terminal stands in."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record."""
        self.stream = sys.stderr
        super().emit(record)


def configure_logging(level: str) -> None:
    """Send everything from `level` up to stderr; of other libraries, warnings at least."""
    handler = _CurrentStderr()
    if level != "DEBUG":
        handler.setFormatter(_WithoutTraceback())
        handler.addFilter(_is_for_operators)
    logging.basicConfig(level=level, handlers=[handler])


def _is_for_operators(record: logging.LogRecord) -> bool:
    """Return whether a record is of our own, or serious."""
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in _OURS


_OURS = frozenset({"bot", "adapters", "core", "migrations"})
