"""Turns the bytes of a text file into text, whatever encoding its author used."""

import codecs
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from xml.etree.ElementTree import ParseError

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import Block, ParsedDocument, document_of

_BYTE_ORDER_MARKS: Sequence[tuple[bytes, str]] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GUESSED_ENCODINGS = (
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
    *("shift_jis", "euc_jp", "euc_kr", "gb18030", "big5", "koi8_r", "iso8859_2", "iso8859_5"),
)
"""The encodings of the web; those of old Macintoshes and DOS would win by accident."""
_SAMPLE_BYTES = 64 * 1024
_FEW_CONTROLS = 32
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
"""What no text holds, unlike blanks, page breaks and the colours of a terminal."""
_CONTROL_BYTES = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1b")
_REPLACED = "\N{REPLACEMENT CHARACTER}"
_UTF8_LETTERS = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH = bytes(range(0x80, 0x100))
_MOST_PLACES = 5


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text with Unix line ends and without NULs, and what was lost on the way."""

    text: str
    warnings: tuple[str, ...] = field(default=())


def decode_text(data: bytes, *, declared: str | None = None) -> DecodedText:
    """Return the text in `data`.

    Tried in this order: the byte order mark, UTF-16 without a mark, UTF-8 with stray bytes, the
    encoding the document itself declares, the encoding its bytes look like. What none of them can
    read becomes the replacement character, with a warning; so there is one of control characters.
    """
    text, lossy = _decode(data, declared)
    warnings = [_lost(text)] if lossy else []
    if _CONTROLS.search(text):
        warnings.append("has control characters, as damaged or binary files do: look at its text")
    text = re.sub(r"\r\n?", "\n", text.replace("\0", ""))
    return DecodedText(text, tuple(warnings))


def looks_like_text(data: bytes) -> bool:
    """Return whether `data` is more likely text than a binary format."""
    sample = data[:_SAMPLE_BYTES]
    if _marked_encoding(sample) or _unmarked_utf16(sample):
        return True
    control = len(sample) - len(sample.translate(None, _CONTROL_BYTES))
    return control <= max(_FEW_CONTROLS, len(sample) // 200)


def _decode(data: bytes, declared: str | None) -> tuple[str, bool]:
    """Return the text and whether characters were lost."""
    if marked := _marked_encoding(data):
        mark, encoding = marked
        return _lossily(data[len(mark) :], encoding)
    utf16 = _unmarked_utf16(data[:_SAMPLE_BYTES])
    if utf16 is None and _is_mostly_utf8(data):
        return _lossily(data, "utf-8")
    for candidate in filter(None, (utf16, declared)):
        try:
            return data.decode(candidate), False
        except (LookupError, ValueError):
            continue  # not in this encoding, or no encoding of that name
    return _lossily(data, _guessed_encoding(data))


def _is_mostly_utf8(data: bytes) -> bool:
    """Return whether `data` is UTF-8, but for a few bytes that got in by accident.

    Letters of other encodings seldom look like a letter of UTF-8, and never mostly.
    """
    try:
        data.decode()
        return True
    except UnicodeDecodeError:
        letters = sum(map(len, _UTF8_LETTERS.findall(data)))
        others = len(data) - len(data.translate(None, _HIGH)) - letters
        return letters >= others


def _lost(text: str) -> str:
    places = [number for number, line in enumerate(text.split("\n"), 1) if _REPLACED in line]
    shown = ", ".join(map(str, places[:_MOST_PLACES])) + (", …" if places[_MOST_PLACES:] else "")
    plural = "" if len(places) == 1 else "s"
    count = text.count(_REPLACED)
    return (
        f"{count} character{'' if count == 1 else 's'} could not be decoded: line{plural} {shown}"
    )


def _marked_encoding(data: bytes) -> tuple[bytes, str] | None:
    return next((pair for pair in _BYTE_ORDER_MARKS if data.startswith(pair[0])), None)


def _lossily(data: bytes, encoding: str) -> tuple[str, bool]:
    text = data.decode(encoding, "replace")
    return text, _REPLACED in text


def _unmarked_utf16(sample: bytes) -> str | None:
    """Return the byte order in which nearly every second byte of the sample is zero."""
    half = len(sample) // 2
    if half < 2:
        return None
    high_first, high_second = sample[0::2].count(0), sample[1::2].count(0)
    if high_second > 0.7 * half and high_first < 0.1 * half:
        return "utf-16-le"
    if high_first > 0.7 * half and high_second < 0.1 * half:
        return "utf-16-be"
    return None


def _guessed_encoding(data: bytes) -> str:
    from charset_normalizer import from_bytes

    sample = data if len(data) <= _SAMPLE_BYTES else _around_first_high_byte(data)
    likely = list(from_bytes(sample, cp_isolation=list(_GUESSED_ENCODINGS)))
    if any("cp1252" in guess.could_be_from_charset and guess.chaos < 0.15 for guess in likely):
        return "cp1252"  # the commonest of those that fit equally well
    return likely[0].encoding if likely else "utf-8"


def _around_first_high_byte(data: bytes) -> bytes:
    """Return the part of `data` where an encoding differs from ASCII."""
    match = re.search(rb"[\x80-\xff]", data)
    start = max(0, match.start() - _SAMPLE_BYTES // 2) if match else 0
    return data[start : start + _SAMPLE_BYTES]


_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f"  # controls other than tab and newline
    "\u00ad\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb"  # soft hyphen, zero width, annotations
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction overrides
    "\ud800-\udfff"  # halves of a surrogate pair
    "\U000e0000-\U000e0fff"  # tags and the supplementary variation selectors
    "]+"
)
_STRAY_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])")
_LINE_SEPARATOR = re.compile("[\x85\u2028\u2029]")


def visible(text: str) -> str:
    """Return `text` without control, zero-width, direction and tag characters.

    The joiners that Persian, Indic scripts and emoji need stay between two characters
    outside ASCII; elsewhere they go too.
    """
    if text.isascii() and text.isprintable():
        return text
    return _STRAY_JOINER.sub("", _UNSEEN.sub("", _LINE_SEPARATOR.sub("\n", text)))


def visible_document(document: ParsedDocument) -> ParsedDocument:
    """Return the document with only visible characters in everything it says."""
    return document_of(
        visible(document.title).strip() or None if document.title else None,
        (_visible_block(block) for block in document.blocks),
        metadata=_visible_values(document.metadata),
        warnings=map(visible, document.warnings),
        left_out=(
            replace(each, kind=visible(each.kind), where=visible(each.where))
            for each in document.left_out
        ),
    )


def _visible_block(block: Block) -> Block:
    anchor = visible(block.anchor) if block.anchor else None
    return replace(block, text=visible(block.text), anchor=anchor or None)


def _visible_values(metadata: Mapping[str, str]) -> dict[str, str]:
    return {visible(name): visible(value) for name, value in metadata.items()}


MAX_MEMBERS = 5_000
MAX_UNPACKED_BYTES = 200_000_000
MAX_RATIO = 200
_SMALL_BYTES = 1_000_000
"""A small member may compress well: a blank XML part is mostly repetition."""


def check_container(data: bytes) -> None:
    """Raise `UnsupportedDocument` unless the zip is small, honest and free of DTDs.

    Sizes are those the archive declares; the reading side stops at them, so a part that
    declares too little is cut off and fails its checksum instead of filling the memory.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = archive.infolist()
            check_sizes(members)
            for member in members:
                if member.filename.endswith((".xml", ".rels", ".vml")):
                    _check_prolog(archive, member)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise UnsupportedDocument("is a damaged Office file") from error


def check_sizes(members: list[zipfile.ZipInfo]) -> None:
    """Raise `UnsupportedDocument` where the parts of an archive are too many or too large."""
    if len(members) > MAX_MEMBERS:
        raise UnsupportedDocument(f"has more than {MAX_MEMBERS:,} parts")
    if sum(member.file_size for member in members) > MAX_UNPACKED_BYTES:
        raise UnsupportedDocument(
            f"unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB (a zip bomb)"
        )
    for member in members:
        packed = max(member.compress_size, 1)
        if member.file_size > _SMALL_BYTES and member.file_size > MAX_RATIO * packed:
            raise UnsupportedDocument(f"has a part packed more than {MAX_RATIO} to 1 (a zip bomb)")


def _check_prolog(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Read an XML part up to its first element: a DTD can stand nowhere else."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    try:
        with archive.open(member) as part:
            next(iter(iterparse(part, events=("start",), forbid_dtd=True)), None)
    except DefusedXmlException as error:
        raise UnsupportedDocument("declares XML entities (a DTD), which is refused") from error
    except ParseError as error:
        raise UnsupportedDocument("has a part that is not well-formed XML") from error
