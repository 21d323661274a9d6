"""What one answer of a model may take: time, tokens and searches."""

import time
from dataclasses import dataclass

from core.generation.base import GenerationTask

_MARGIN = 0.1
"""Seconds before a limit at which we give up: the caller keeps the same limits, and
is called first with what was used."""


@dataclass
class Allowance:
    """How much is left for one answer, which tells it what it comes to."""

    task: GenerationTask
    until: float
    """The `time.monotonic()` at which the answer has to be complete."""
    window: int | None = None
    """Tokens that the model reads and writes at most in one call; None: not known."""
    searches: int = 2
    """How often the model may go and search before it has to write."""
    has_parts: bool = False
    """Whether the first part of the draft is there, which the task's deadline is about."""
    used: int = 0
    """Tokens of all calls that are over."""
    context: str = ""
    """What the next call is sent of the book and the quote, and no call before it was."""

    @property
    def moment(self) -> float:
        """The `time.monotonic()` at which the next piece comes too late."""
        limit = self.until
        if not self.has_parts and self.task.deadline is not None:
            limit = min(limit, self.task.deadline)
        return limit - _MARGIN

    def time_left(self) -> float:
        """Return the seconds that the next piece may take."""
        return self.moment - time.monotonic()

    def covers(self, tokens: int, *, calls: int = 1) -> bool:
        """Return whether so many calls may be made, each with a prompt of `tokens`."""
        limit = self.task.token_limit
        each = tokens + self.task.max_tokens
        return self.holds(tokens) and (limit is None or self.used + calls * each <= limit)

    def holds(self, tokens: int) -> bool:
        """Return whether the model has room for a prompt of `tokens` and an answer."""
        return self.window is None or tokens + self.task.max_tokens <= self.window
