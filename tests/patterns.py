"""The regular expressions of the program, and how long a test lets them try."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType


class OutOfPatienceError(Exception):
    """Raised in the midst of what computes for too long, even of a single match."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Let the block compute for so many seconds of this process's own, however busy others are.

    Raises:
        OutOfPatienceError: It has computed for longer; it is stopped, so nothing hangs.
    """

    def stop(signal_number: int, frame: FrameType | None) -> None:
        raise OutOfPatienceError(f"it takes more than {seconds} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def patterns_of(module: ModuleType) -> dict[str, re.Pattern[str]]:
    """Return every compiled pattern for text that a module holds, by the name that leads to it."""
    return {
        name: pattern
        for variable, value in vars(module).items()
        for name, pattern in _patterns_in(variable, value)
    }


def _patterns_in(name: str, value: object) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield name, value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for number, one in enumerate(value):
            yield from _patterns_in(f"{name}[{number}]", one)
