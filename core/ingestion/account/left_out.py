"""A file of a source that is no document of the course, and why."""

from dataclasses import dataclass

from core.ingestion.account.text_formats import is_text_like


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or page that was seen and not read."""

    path: str
    """As documents of the source are named; the address of a web page."""
    reason: str
    """Follows the path: "is not in the summary"."""
    is_missed: bool
    """Whether the course may lack its text: it is text-like, and not known to be no text of it."""


def missed(path: str, reason: str) -> LeftOut:
    """Return a file whose text the course may lack, if it has one."""
    return LeftOut(path, reason, is_text_like(path))


def foreign(path: str, reason: str) -> LeftOut:
    """Return a file that is known to hold no text of the course, whatever its suffix."""
    return LeftOut(path, reason, False)
