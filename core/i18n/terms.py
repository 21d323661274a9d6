"""Words that an operator chooses and that messages mention: the names of commands."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_terms: ContextVar[Mapping[str, str] | None] = ContextVar("terms", default=None)
_USUAL = {
    "ask_command": "/ask",
    "glossator_command": "/glossator",
    "course_command": "/course",
}


def current_terms() -> Mapping[str, str]:
    """Return what stands for each term's placeholder in this task."""
    return _terms.get() or _USUAL


@contextmanager
def use_terms(terms: Mapping[str, str]) -> Iterator[None]:
    """Show messages with these terms within the block, and in tasks started there."""
    token = _terms.set({**_USUAL, **terms})
    try:
        yield
    finally:
        _terms.reset(token)
