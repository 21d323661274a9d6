"""What is said of content that cannot be read: images, PDFs, recordings, large files."""

from collections.abc import Sequence

from core.i18n import text
from core.models import UnreadPart


def unread_instead(kinds: Sequence[UnreadPart]) -> str:
    """Return which kinds cannot be read, and what to do instead."""
    return text("unread-only", kinds=_named(kinds))


def unread_besides(kinds: Sequence[UnreadPart]) -> str:
    """Return that an answer leaves these kinds out of account."""
    return text("unread-too", kinds=_named(kinds))


def _named(kinds: Sequence[UnreadPart]) -> str:
    names = {
        UnreadPart.IMAGE: text("unread-kind-image"),
        UnreadPart.PDF: text("unread-kind-pdf"),
        UnreadPart.VOICE: text("unread-kind-voice"),
        UnreadPart.VIDEO: text("unread-kind-video"),
        UnreadPart.FILE: text("unread-kind-file"),
    }
    named = [name for kind, name in names.items() if kind in kinds]
    *before, last = named
    if not before:
        return last
    if len(before) == 1:
        return text("either-of-two", before=before[0], last=last)
    return text("either-of-many", before=", ".join(before), last=last)
