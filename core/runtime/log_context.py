"""Which request the lines of a log are about."""

from contextvars import ContextVar

REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
"""The key of the event that is being worked on here; tasks begun meanwhile inherit it."""
