"""What the sandbox and its child say to one another, checked by the side that trusts less."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from core.domain.errors import ProgramMissing, UnsupportedDocument
from core.ingestion.document import (
    Block,
    BlockKind,
    BlockRole,
    EntryPart,
    Omission,
    ParsedDocument,
)
from core.ingestion.formats import registry
from core.ingestion.formats.scans import MOST_PIXELS, PagePicture
from core.ingestion.sandbox.kernel import Held

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
MOST_OMISSIONS = 20_000
"""Of a document; what more it has of a kind is one omission, with its count."""
_OMISSIONS_A_FRAME = 2_000
_MAX_PLACE = 200
_MAX_COUNT = 1 << 40
_MOST_CONVERTED = 100_000_000
_CONVERTED_A_FRAME = 8_000_000
_SURROGATES = re.compile("[\ud800-\udfff]")


class InvalidMessage(Exception):
    """The child said something that no intact child says."""


@dataclass(frozen=True, slots=True)
class ParseJob:
    """A document to parse, whole in memory."""

    data: bytes
    name: str
    """Its path in the course, or any name; the suffix tells its format."""
    media_type: str | None = None
    dialect: str = "markdown"
    """Which Markdown it is written in; other formats ignore it."""
    read_include: Callable[[str], str | None] | None = None
    """Gives the text of a file that the page includes, on this side; none: it includes none."""
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
    lacks_program: bool = False
    """Whether there is no document because a program is not on this machine."""


@dataclass(frozen=True, slots=True)
class ToConvert:
    """The child asks what pandoc makes of a text that comes in the next frames."""

    name: str
    """What pandoc calls its format."""
    frames: int


@dataclass(frozen=True, slots=True)
class ToInclude:
    """The child asks for the text of a file that its page includes."""

    path: str


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


Said = Finished | Drawing | PictureHead | ToConvert | ToInclude


def job_parts(job: ParseJob, seconds: float) -> Iterator[bytes | memoryview]:
    """Yield a job as the child reads it: what is known of the document, then its bytes.

    The bytes come in small parts, so that a pipe's buffer never holds them all again.
    """
    yield _frame({**_description(job), "seconds": seconds})
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
    data = stream.read(int.from_bytes(stream.read(LENGTH_BYTES), "big"))
    return ParseJob(data, **fields), seconds


def include_frame(path: str) -> bytes | None:
    """Return what the child says when it needs the text of a file that its page includes.

    None for what is no path of any file.
    """
    if len(path) > _MAX_SHORT_TEXT or _SURROGATES.search(path):
        return None
    return _frame({"include": path})


def included_parts(text: str | None) -> tuple[bytes, bytes]:
    """Return the text of such a file, or that there is none, as the child reads it."""
    body = json.dumps(text).encode()
    return len(body).to_bytes(LENGTH_BYTES, "big"), body


def read_included(stream: BinaryIO) -> str | None:
    """Return the text of the file that was asked for."""
    body = stream.read(int.from_bytes(stream.read(LENGTH_BYTES), "big"))
    text: str | None = json.loads(body)
    return text


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


def conversion_frames(name: str, text: bytes) -> Iterator[bytes]:
    """Yield a text that pandoc is to read as the child sends it.

    Raises:
        UnsupportedDocument: before the first frame, when it is too long.
    """
    if len(text) > _MOST_CONVERTED:
        raise UnsupportedDocument(f"is larger than {_MOST_CONVERTED // 1_000_000} MB")
    starts = range(0, len(text), _CONVERTED_A_FRAME)
    yield _frame({"convert": name, "frames": len(starts)})
    for start in starts:
        part = text[start : start + _CONVERTED_A_FRAME]
        yield len(part).to_bytes(LENGTH_BYTES, "big") + part


def tree_parts(tree: bytes | UnsupportedDocument) -> Iterator[bytes]:
    """Yield what pandoc made of a text, or why it made nothing, as the child reads it."""
    if isinstance(tree, UnsupportedDocument):
        yield _frame({"reason": str(tree), "lacks_program": isinstance(tree, ProgramMissing)})
        return
    yield _frame({"reason": ""})
    yield len(tree).to_bytes(LENGTH_BYTES, "big")
    yield tree


def read_tree(stream: BinaryIO) -> bytes:
    """Return what pandoc made of the text that was sent.

    Raises:
        UnsupportedDocument: when it made nothing; ProgramMissing without pandoc.
    """
    said = json.loads(stream.read(int.from_bytes(stream.read(LENGTH_BYTES), "big")))
    if said["reason"]:
        raise (ProgramMissing if said["lacks_program"] else UnsupportedDocument)(said["reason"])
    return stream.read(int.from_bytes(stream.read(LENGTH_BYTES), "big"))


def ready_frame(held: Held) -> bytes:
    """Return what the child says when it is about to read its first job: how it is held."""
    return _frame(held._asdict())


def read_ready(body: bytes) -> Held:
    """Return how the child is held; nobody else's text has reached it yet.

    Raises:
        InvalidMessage: when it does not say so.
    """
    try:
        return Held(**json.loads(body))
    except (ValueError, TypeError) as error:
        raise InvalidMessage("the child does not say how it is held") from error


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
    for start in range(0, len(omissions := _few(document.left_out)), _OMISSIONS_A_FRAME):
        part = omissions[start : start + _OMISSIONS_A_FRAME]
        told = [[o.kind[:_MAX_PLACE], o.where[:_MAX_PLACE], o.words, o.count] for o in part]
        yield _frame({"left_out": told})
    yield _frame(
        {
            "format": document.format,
            "title": _short(document.title) if document.title else None,
            "metadata": {_short(k): _short(v) for k, v in document.metadata.items()},
            "warnings": [_short(text) for text in document.warnings[:_MAX_SHORT_TEXTS]],
            "retire": retire,
        }
    )


def _few(left_out: Sequence[Omission]) -> Sequence[Omission]:
    """Return omissions, where they are very many with one of each kind for the last ones."""
    if len(left_out) <= MOST_OMISSIONS:
        return left_out
    rest: dict[str, Omission] = {}
    for one in left_out[MOST_OMISSIONS:]:
        kind = one.kind if one.kind in rest or len(rest) < _MAX_SHORT_TEXTS else "other element"
        so_far = rest.get(kind, Omission(kind, "further on", count=0))
        rest[kind] = replace(so_far, words=so_far.words + one.words, count=so_far.count + one.count)
    return [*left_out[:MOST_OMISSIONS], *rest.values()]


def refusal_frame(reason: str, *, retire: bool, lacks_program: bool = False) -> bytes:
    """Return why a document has no answer."""
    return _frame({"reason": _short(reason), "retire": retire, "lacks_program": lacks_program})


class Answer:
    """Collects what the child says about one document, and trusts none of it."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._left_out: list[Omission] = []
        self._formats = frozenset(each.name for each in registry.FORMATS)
        self._places = frozenset(place for each in registry.FORMATS for place in each.places)
        self._characters = 0

    def take(self, body: bytes) -> Said | None:
        """Return the end of the answer, or what is asked before it; none for a part of it.

        Raises:
            InvalidMessage: when a field is missing, too large or not of its type.
        """
        try:
            fields = json.loads(body)
            return self._take(fields)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InvalidMessage(f"{type(error).__name__} in a frame") from error

    def _take(self, fields: dict[str, Any]) -> Said | None:
        if "kind" in fields:
            _check(self._places.issuperset(fields["locator"]))
            self._add(_block(fields))
            return None
        if "left_out" in fields:
            self._left_out += [_omission(*one) for one in fields["left_out"]]
            _check(len(self._left_out) <= MOST_OMISSIONS + _MAX_SHORT_TEXTS + 1)
            return None
        if "convert" in fields:
            frames = fields["frames"]
            most = _MOST_CONVERTED // _CONVERTED_A_FRAME + 1
            _check(type(frames) is int and 0 < frames <= most)
            return ToConvert(_checked_text(fields["convert"]), frames)
        if "include" in fields:
            return ToInclude(_checked_text(fields["include"]))
        if "drawing" in fields:
            return Drawing()
        if "picture" in fields:
            return _picture_head(**fields["picture"])
        if "reason" in fields:
            lacks_program = fields.get("lacks_program") is True
            reason = _checked_text(fields["reason"])
            return Finished(None, reason, fields["retire"] is True, lacks_program)
        title, warnings = fields["title"], fields["warnings"]
        metadata = fields["metadata"]
        _check(len(warnings) <= _MAX_SHORT_TEXTS and len(metadata) <= _MAX_SHORT_TEXTS)
        _check(fields["format"] in self._formats)
        document = ParsedDocument(
            _checked_text(title) if title is not None else None,
            tuple(self._blocks),
            {_checked_text(name): _checked_text(value) for name, value in metadata.items()},
            tuple(_checked_text(text) for text in warnings),
            tuple(self._left_out),
            str(fields["format"]),
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
    names = ("name", "media_type", "dialect", "most_scans", "missing")
    return {name: getattr(job, name) for name in names}


def _block(fields: dict[str, Any]) -> Block:
    level, anchor, locator = fields["level"], fields["anchor"], fields["locator"]
    _check(type(level) is int and 0 <= level <= 1_000)
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


def _omission(kind: Any, where: Any, words: Any, count: Any) -> Omission:
    _check(all(type(one) is int and 0 <= one <= _MAX_COUNT for one in (words, count)))
    kind, where = (_checked_text(text, _MAX_PLACE) for text in (kind, where))
    return Omission(kind, where, words, count)


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
