"""What the sandbox and its child say to one another, checked by the side that trusts less."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from core.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, BlockRole, EntryPart, ParsedDocument
from core.ingestion.formats.pdf.scans import MOST_PIXELS, PagePicture

LENGTH_BYTES = 4
"""A frame is its length, four bytes, most significant first, then that many bytes."""
MAX_FRAME_BYTES = 13_000_000
MAX_TEXT_CHARACTERS = 20_000_000
MAX_BLOCK_CHARACTERS = 2_000_000
"""At most six bytes each in a frame: JSON writes what is not ASCII as escapes."""
MAX_BLOCKS = 200_000
_PART_BYTES = 256_000
_MAX_SHORT_TEXT = 2_000
_MAX_SHORT_TEXTS = 1_000
_MOST_DPI = 1_000
_LOCATOR_NAMES = frozenset({"page", "slide", "cell", "second", "line_start", "line_end"})
_SURROGATES = re.compile("[\ud800-\udfff]")


class InvalidMessage(Exception):
    """The child said something that no intact child says."""


@dataclass(frozen=True, slots=True)
class ParseJob:
    """A document to parse, whole in memory."""

    data: bytes
    name: str
    """Its path below `include_root`, or any name; the suffix tells its format."""
    media_type: str | None = None
    dialect: str = "markdown"
    """Which Markdown it is written in; other formats ignore it."""
    include_root: Path | None = None
    """The folder from which its pages may include files; none allows no includes."""
    include_folders: tuple[str, ...] = ()
    """Folders in `include_root`, besides the page's own, where included files are looked for."""
    most_scans: int = 0
    """How many pages without text the child may ask to have recognised."""
    missing: str = ""
    """Where none are recognised: why, and what is to be done."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of an answer: a document or the reason why there is none."""

    document: ParsedDocument | None
    reason: str
    retire: bool
    """Whether the child holds so much memory that another should take its place."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The child is about to draw a page, and then asks for the text on it."""


@dataclass(frozen=True, slots=True)
class PictureHead:
    """What is known of a picture whose pixels are the next frame."""

    width: int
    height: int
    dpi: int

    def picture(self, pixels: bytes) -> PagePicture:
        """Return the picture.

        Raises:
            InvalidMessage: when it has not as many pixels as was said.
        """
        if len(pixels) != self.width * self.height:
            raise InvalidMessage("a picture is not as large as was said")
        return PagePicture(self.width, self.height, self.dpi, pixels)


def job_parts(job: ParseJob, seconds: float) -> Iterator[bytes | memoryview]:
    """Yield a job as the child reads it: what is known of the document, then its bytes.

    The bytes come in small parts, so that a pipe's buffer never holds them all again.
    """
    root = str(job.include_root.absolute()) if job.include_root else None
    yield _frame({**_description(job), "include_root": root, "seconds": seconds})
    yield len(job.data).to_bytes(LENGTH_BYTES, "big")
    whole = memoryview(job.data)
    for start in range(0, len(whole), _PART_BYTES):
        yield whole[start : start + _PART_BYTES]


def read_job(stream: BinaryIO) -> tuple[ParseJob, float] | None:
    """Return the next job and its seconds of processor time, or none at the end."""
    if not (length := stream.read(LENGTH_BYTES)):
        return None
    fields = json.loads(stream.read(int.from_bytes(length, "big")))
    seconds = fields.pop("seconds")
    root = fields.pop("include_root")
    fields["include_folders"] = tuple(fields["include_folders"])
    data = stream.read(int.from_bytes(stream.read(LENGTH_BYTES), "big"))
    return ParseJob(data, **fields, include_root=Path(root) if root else None), seconds


def drawing_frame() -> bytes:
    """Return what the child says before it draws the pages of a document."""
    return _frame({"drawing": True})


def picture_frames(picture: PagePicture) -> Iterator[bytes]:
    """Yield the picture of a page as the child sends it."""
    size = {"width": picture.width, "height": picture.height, "dpi": picture.dpi}
    yield _frame({"picture": size})
    yield len(picture.pixels).to_bytes(LENGTH_BYTES, "big")
    yield picture.pixels


def text_parts(text: bytes) -> tuple[bytes, bytes]:
    """Return what was recognised on a picture as the child reads it."""
    return len(text).to_bytes(LENGTH_BYTES, "big"), text


def read_text(stream: BinaryIO) -> bytes:
    """Return what was recognised on the picture that was sent."""
    return stream.read(int.from_bytes(stream.read(LENGTH_BYTES), "big"))


def ready_frame() -> bytes:
    """Return what the child says when it is about to read its first job."""
    return _frame({"ready": True})


def document_frames(document: ParsedDocument, *, retire: bool) -> Iterator[bytes]:
    """Yield a document block by block, so that neither side holds it a second time.

    Raises:
        UnsupportedDocument: before the first frame, when it is too long.
    """
    _check_size(document)
    for block in document.blocks:
        yield _frame(
            {
                "kind": block.kind,
                "text": block.text,
                "level": block.level,
                "anchor": block.anchor and _short(block.anchor),
                "locator": dict(block.locator),
                "role": block.role,
                "linked": block.linked,
                "recognised": block.recognised,
                "entry": block.entry,
            }
        )
    yield _frame(
        {
            "title": _short(document.title) if document.title else None,
            "metadata": {_short(k): _short(v) for k, v in document.metadata.items()},
            "warnings": [_short(text) for text in document.warnings[:_MAX_SHORT_TEXTS]],
            "retire": retire,
        }
    )


def refusal_frame(reason: str, *, retire: bool) -> bytes:
    """Return why a document has no answer."""
    return _frame({"reason": _short(reason), "retire": retire})


class Answer:
    """Collects what the child says about one document, and trusts none of it."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._characters = 0

    def take(self, body: bytes) -> Finished | Drawing | PictureHead | None:
        """Return the end of the answer, or what is asked before it; none for a part of it.

        Raises:
            InvalidMessage: when a field is missing, too large or not of its type.
        """
        try:
            fields = json.loads(body)
            return self._take(fields)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InvalidMessage(f"{type(error).__name__} in a frame") from error

    def _take(self, fields: dict[str, Any]) -> Finished | Drawing | PictureHead | None:
        if "kind" in fields:
            self._add(_block(fields))
            return None
        if "drawing" in fields:
            return Drawing()
        if "picture" in fields:
            return _picture_head(**fields["picture"])
        if "reason" in fields:
            return Finished(None, _checked_text(fields["reason"]), fields["retire"] is True)
        title, warnings = fields["title"], fields["warnings"]
        metadata = fields["metadata"]
        _check(len(warnings) <= _MAX_SHORT_TEXTS and len(metadata) <= _MAX_SHORT_TEXTS)
        document = ParsedDocument(
            _checked_text(title) if title is not None else None,
            tuple(self._blocks),
            {_checked_text(name): _checked_text(value) for name, value in metadata.items()},
            tuple(_checked_text(text) for text in warnings),
        )
        return Finished(document, "", fields["retire"] is True)

    def _add(self, block: Block) -> None:
        self._blocks.append(block)
        self._characters += len(block.text)
        _check(len(self._blocks) <= MAX_BLOCKS and self._characters <= MAX_TEXT_CHARACTERS)


def _check_size(document: ParsedDocument) -> None:
    lengths = [len(block.text) for block in document.blocks]
    for measured, limit, what in (
        (len(lengths), MAX_BLOCKS, "more than {:,} paragraphs"),
        (sum(lengths), MAX_TEXT_CHARACTERS, "more than {:,} characters of text"),
        (max(lengths, default=0), MAX_BLOCK_CHARACTERS, "a passage of more than {:,} characters"),
    ):
        if measured > limit:
            raise UnsupportedDocument(f"has {what.format(limit)}")


def _frame(message: Mapping[str, Any]) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def _short(text: str) -> str:
    return text[:_MAX_SHORT_TEXT]


def _description(job: ParseJob) -> dict[str, Any]:
    names = ("name", "media_type", "dialect", "include_folders", "most_scans", "missing")
    return {name: getattr(job, name) for name in names}


def _block(fields: dict[str, Any]) -> Block:
    level, anchor, locator = fields["level"], fields["anchor"], fields["locator"]
    _check(type(level) is int and 0 <= level <= 1_000)
    _check(_LOCATOR_NAMES.issuperset(locator))
    _check(all(_is_place(name, place) for name, place in locator.items()))
    text = _checked_text(fields["text"], MAX_BLOCK_CHARACTERS)
    _check(bool(text.strip()))
    anchor = _checked_text(anchor) if anchor is not None else None
    linked = fields["linked"]
    _check(type(linked) in (int, float) and 0 <= linked <= 1)
    recognised = fields["recognised"]
    _check(type(recognised) is bool)
    kind, role = BlockKind(fields["kind"]), BlockRole(fields["role"])
    entry = None if fields["entry"] is None else EntryPart(fields["entry"])
    return Block(kind, text, level, anchor, locator, role, linked, recognised, entry)


def _picture_head(width: Any, height: Any, dpi: Any) -> PictureHead:
    _check(all(type(one) is int and one > 0 for one in (width, height, dpi)))
    _check(width * height <= MOST_PIXELS and dpi <= _MOST_DPI)
    return PictureHead(width, height, dpi)


def _is_place(name: str, place: Any) -> bool:
    return type(place) is int and (place > 0 or (place == 0 and name == "second"))


def _checked_text(value: Any, limit: int = _MAX_SHORT_TEXT) -> str:
    _check(isinstance(value, str) and len(value) <= limit)
    _check(not _SURROGATES.search(value))
    return str(value)


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError("a field is out of bounds")
