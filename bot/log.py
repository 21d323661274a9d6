"""What the process says: its log, and what a command tells on standard error."""

import json
import logging
import sys
from datetime import UTC, datetime
from textwrap import indent
from typing import Any, TextIO

from bot.settings import LogFormat, wanted_log_format
from core.domain.telemetry import REQUEST, SAID_IN_ANSWER


class _Lines(logging.Formatter):
    """One line a record; with the traceback of what was not expected, if that is wanted."""

    def __init__(self, *, with_tracebacks: bool) -> None:
        super().__init__()
        self._with_tracebacks = with_tracebacks

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        error = record.exc_info[1] if record.exc_info else None
        about = REQUEST.get()
        line = f"{record.levelname} {record.name}: {record.getMessage()}"
        if about is not None and about not in line:
            line += f" [{about}]"
        if error is not None:
            line += f" ({type(error).__name__}: {error})"
        line = _on_one_line(line)
        if record.exc_info and self._with_tracebacks:
            # Further lines are indented: no text in them passes for a record of its own.
            line += f"\n{indent(self.formatException(record.exc_info), '    ')}"
        return line


class _JsonLines(logging.Formatter):
    """One JSON object a record, on one line whatever the record holds."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (about := REQUEST.get()) is not None:
            line["request"] = about
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


class _CurrentStderr(logging.StreamHandler[TextIO]):
    """Writes to what stderr is at the moment: an answer that grows at a terminal stands in."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record."""
        self.stream = sys.stderr
        super().emit(record)


def configure_logging(
    level: str,
    written_as: LogFormat = "text",
    *,
    with_tracebacks: bool = False,
    beside_answers: bool = False,
) -> None:
    """Send everything from `level` up to stderr; of other libraries, warnings at least.

    Args:
        with_tracebacks: Also in text; JSON, and DEBUG, always have them.
        beside_answers: Whether the asker reads the log as well: from WARNING up, it leaves out
            what the answer says.
    """
    handler = _CurrentStderr()
    if written_as == "json":
        handler.setFormatter(_JsonLines())
    else:
        with_tracebacks = with_tracebacks or level == "DEBUG"
        handler.setFormatter(_Lines(with_tracebacks=with_tracebacks))
    handler.addFilter(_is_for_operators)  # at DEBUG, libraries tell all that they send and store
    if beside_answers and logging.getLevelNamesMapping()[level] >= logging.WARNING:
        handler.addFilter(_is_not_said)
    logging.basicConfig(level=level, handlers=[handler])


def tell(message: str, level: str = "INFO") -> None:
    """Print something besides the output at the terminal, whatever the log's level.

    Where log lines are JSON, it is such a line: their reader reads nothing else.
    """
    if wanted_log_format() == "json":
        fields = {"levelname": level, "name": "bot", "msg": message}
        message = _JsonLines().format(logging.makeLogRecord(fields))
    print(message, file=sys.stderr, flush=True)


def tell_progress(message: str) -> None:
    """Print how far some work is; at a terminal, in place of what was printed so before.

    An empty message ends it: at a terminal, nothing of it is left.
    """
    if sys.stderr.isatty() and wanted_log_format() != "json":
        print(f"{_CLEARED}{message}", end="\r", file=sys.stderr, flush=True)
    elif message:
        tell(message)


def _on_one_line(text: str) -> str:
    """Return a text whose line breaks and control characters are written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _is_for_operators(record: logging.LogRecord) -> bool:
    """Return whether a record is of our own, or serious."""
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in _OURS


def _is_not_said(record: logging.LogRecord) -> bool:
    """Return whether no answer says what a record is about."""
    return not any(getattr(record, name, False) for name in SAID_IN_ANSWER)


_CLEARED = "\r\x1b[2K"
"""Empties the line of a terminal; what is logged next is written over it."""
_OURS = frozenset({"bot", "adapters", "core", "migrations"})
