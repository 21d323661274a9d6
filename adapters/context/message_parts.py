"""The attachments of a message: files to read as text, and parts that cannot be read."""

import mimetypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.models import UnreadPart

MOST_BYTES = 100_000
"""Size of the largest file that is read as text."""
MOST_OF_A_CANVAS = 1_000_000
"""Size of the largest canvas: most of it is markup."""
CANVASES = frozenset({"application/vnd.slack-docs"})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_MOST_FILES = 5
"""Files of one message that are read."""
_FILES = "files"
"""In an arrival's address: the files that the question comes with."""
_BY_TYPE = {
    "image": UnreadPart.IMAGE,
    "audio": UnreadPart.VOICE,
    "video": UnreadPart.VIDEO,
}


class Whose(StrEnum):
    """Which message a file belongs to."""

    QUESTION = "question"
    TARGET = "target"
    """The message that the question replies to, forwards or is about."""


class FileKind(StrEnum):
    """What a file is declared as, where that matters to who fetches it."""

    TEXT = "text"
    HTML = "html"
    CANVAS = "canvas"
    """A document of Slack's, which is fetched as HTML."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that may be text, as the platform describes it; not read yet."""

    url: str
    whose: Whose = Whose.QUESTION
    kind: FileKind = FileKind.TEXT


@dataclass(frozen=True, slots=True)
class MessageParts:
    """The files of a message, or of a question and the message that it is about."""

    files: tuple[TextFile, ...] = ()
    """At most five, each of at most 100,000 bytes."""
    unread: tuple[UnreadPart, ...] = ()
    """Kinds of parts that cannot be read, each once."""

    def __add__(self, other: "MessageParts") -> "MessageParts":
        kinds = tuple(dict.fromkeys((*self.unread, *other.unread)))
        return MessageParts((*self.files, *other.files)[:_MOST_FILES], kinds)

    @property
    def in_address(self) -> dict[str, Any]:
        """What an arrival's address keeps of the files: where they are, and no name."""
        files = [[one.url, one.whose.value, one.kind.value] for one in self.files]
        return {_FILES: files} if files else {}


NO_PARTS = MessageParts()


def parts_of(
    files: Iterable[tuple[str, str, str, int | None]], whose: Whose, *, voice: bool = False
) -> MessageParts:
    """Return the parts that attachments are.

    A file of an unknown type counts as text: whether it is one shows when it is read.

    Args:
        files: For each its URL, name, declared media type ("" if none) and size in bytes.
        voice: Whether the message is a recording of speech.
    """
    readable, unread = list[TextFile](), list[UnreadPart]()
    for url, name, declared, size in files:
        kind = UnreadPart.VOICE if voice else _unread_kind(name, declared, size)
        if kind is not None or not url:
            unread.append(kind or UnreadPart.FILE)
        else:
            readable.append(TextFile(url, whose, _kind(name, declared)))
    return MessageParts(tuple(readable)) + MessageParts((), tuple(unread))


def files_in(address: Mapping[str, Any]) -> tuple[TextFile, ...]:
    """Return the files that an arrival's address keeps."""
    kept = (one for one in address.get(_FILES, ()))
    return tuple(
        TextFile(str(url), Whose(whose), *map(FileKind, kind)) for url, whose, *kind in kept
    )


def _kind(name: str, declared: str) -> FileKind:
    media_type = _media_type(name, declared)
    if media_type in CANVASES:
        return FileKind.CANVAS
    return FileKind.HTML if media_type in _PAGES else FileKind.TEXT


def _media_type(name: str, declared: str) -> str:
    """Return a file's media type, by its name where none is declared."""
    media_type = declared.partition(";")[0].strip().lower()
    if media_type in ("", "application/octet-stream"):
        return mimetypes.guess_type(name)[0] or ""
    return media_type


def _unread_kind(name: str, declared: str, size: int | None) -> UnreadPart | None:
    """Return why a file cannot be read, judged by its type and size; None: it may be text."""
    media_type = _media_type(name, declared)
    if media_type == "application/pdf":
        return UnreadPart.PDF
    general = _BY_TYPE.get(media_type.partition("/")[0])
    # A TypeScript file is declared as an MPEG stream, which is the older use of its ending.
    if general is UnreadPart.VIDEO and name.lower().endswith(".ts"):
        general = None
    if general is not None:
        return general
    most = MOST_OF_A_CANVAS if media_type in CANVASES else MOST_BYTES
    return UnreadPart.FILE if size is not None and size > most else None
