"""How fast a model reads and writes, measured while it answers."""

from collections import deque
from dataclasses import dataclass

_WEIGHT = 0.3
"""Of the latest measurement, in a mean of them all."""
_LEAST_READ = 128
"""Tokens that tell how fast a prompt is read; fewer take no longer than none."""
_LEAST_WRITTEN = 8
_LEAST_WAITED = 1.0
"""Seconds in vain that tell something of a model of which nothing is known."""
_REMEMBERED = 16
"""Calls."""
_PROMPTS = 3
"""The latest that tell how much is kept from call to call."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a model is, by what its latest calls took."""

    read_rate: float
    """Tokens of a prompt that it reads in a second, as they are reckoned before a call."""
    write_rate: float | None = None
    """Tokens that it writes in a second, thinking included; None: not measured."""
    latency: float = 0.0
    """Seconds that even the smallest prompt takes."""
    cached: int = 0
    """Tokens at the beginning of a prompt that its service keeps from call to call."""

    def tokens_within(self, seconds: float) -> int:
        """Return how long a prompt may be for its first words to come in that time."""
        return self.cached + round(max(0.0, seconds - self.latency) * self.read_rate)

    def seconds(self, read: int, written: int = 0) -> float:
        """Return what a call takes: up to its first words, and for `written` tokens of reply."""
        waited = self.latency + max(0, read - self.cached) / self.read_rate
        return waited + (written / self.write_rate if self.write_rate else 0.0)


class Speedometer:
    """Measures calls, each with more weight than all before it."""

    def __init__(self) -> None:
        self._read_rate: float | None = None
        self._write_rate: float | None = None
        self._first: deque[float] = deque(maxlen=_REMEMBERED)
        self._cached: deque[int] = deque(maxlen=_PROMPTS)

    @property
    def speed(self) -> Speed | None:
        """The speed so far; None: no call has told how fast prompts are read."""
        if self._read_rate is None:
            return None
        cached = min(self._cached, default=0)
        return Speed(self._read_rate, self._write_rate, min(self._first), cached)

    def note_reading(self, tokens: int, cached: int, seconds: float) -> None:
        """Take up how long a prompt took, of which `cached` tokens did not have to be read."""
        self._first.append(seconds)
        if tokens - cached < _LEAST_READ:
            return
        # With calls of one length alone, the latency cannot be told from the reading.
        taken = max(seconds - min(self._first), seconds / 2, 1e-3)
        self._read_rate = _mean(self._read_rate, (tokens - cached) / taken)

    def note_waiting(self, tokens: int, seconds: float) -> None:
        """Take up that a prompt was not read in that time, which tells only if it is long."""
        usual = self.speed
        if seconds > (_LEAST_WAITED if usual is None else usual.seconds(tokens)):
            self.note_reading(tokens, usual.cached if usual else 0, seconds)

    def note_kept(self, cached: int) -> None:
        """Take up how much of a prompt a service had kept."""
        self._cached.append(cached)

    def forget_kept(self) -> None:
        """Begin anew with what is kept: the prompts so far were not like those to come."""
        self._cached.clear()

    def note_writing(self, tokens: int, seconds: float) -> None:
        """Take up how long a reply took from its first words to its last."""
        if tokens >= _LEAST_WRITTEN and seconds > 0:
            self._write_rate = _mean(self._write_rate, tokens / seconds)


def _mean(before: float | None, now: float) -> float:
    return now if before is None else before + _WEIGHT * (now - before)
