"""Sets up logging once: plain lines on stderr, tracebacks for those who ask for DEBUG."""

import logging
import sys


class _WithoutTraceback(logging.Formatter):
    """Names the exception in the line instead of printing where it came from."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        error = record.exc_info[1] if record.exc_info else None
        line = f"{record.levelname} {record.name}: {record.getMessage()}"
        return f"{line} ({type(error).__name__}: {error})" if error else line


def configure_logging(level: str) -> None:
    """Send everything from `level` up to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    if level != "DEBUG":
        handler.setFormatter(_WithoutTraceback())
    logging.basicConfig(level=level, handlers=[handler])
