"""Which request the lines of a log are about."""

from collections.abc import Mapping
from contextvars import ContextVar

REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
"""The key of the event that is being worked on here; tasks begun meanwhile inherit it."""
SAID_IN_ANSWER: Mapping[str, object] = {"is_said_in_answer": True}
"""The `extra` of a line about what the answer itself says to the asker."""
