"""Plain text: paragraphs, and headings only where the author marked them beyond doubt."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.domain.sentences import MARKS
from core.ingestion.document import Block, BlockKind, ParsedDocument, document_of
from core.ingestion.formats.decoding import decode_text
from core.ingestion.formats.includes import SourceLine, source_lines

_UNDERLINE = re.compile(r"(={3,}|-{3,}|~{3,})\s*$")
_LIST_ITEM = re.compile(r"(\s*)([-*•]|\d{1,3}[.)])\s+(?=\S)")
_CHAPTER = re.compile(r"(?:CHAPTER|Chapter|PART|Part|APPENDIX|Appendix) (?:\d+|[IVXLC]+|[A-Z])\b")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){1,3})\.?\s+[A-Z]")
_MAX_HEADING = 80


@dataclass(frozen=True, slots=True)
class _Passage:
    """Lines between two blank lines."""

    lines: tuple[str, ...]
    start: int
    page: int


def parse_plain(data: bytes, *, charset: str | None = None) -> ParsedDocument:
    """Return a text file as paragraphs, list items and headings.

    A heading is a line of its own that is underlined, in capitals, begins with "Chapter 3" or
    has a number of at least two parts, "2.1 Demand". Form feeds count as page breaks.
    """
    decoded = decode_text(data, declared=charset)
    blocks = [block for passage in _passages(decoded.text) for block in _blocks(passage)]
    return document_of(None, blocks, warnings=decoded.warnings)


def _passages(text: str) -> Iterator[_Passage]:
    page, lines, has_pages = 1, list[str](), "\f" in text
    number = 0
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        breaks, line = line.count("\f"), line.replace("\f", "").rstrip()
        if lines and (not line or breaks):
            yield _Passage(tuple(lines), number - len(lines), page if has_pages else 0)
            lines = []
        page += breaks
        if line:
            lines.append(line)


def _blocks(passage: _Passage) -> Iterator[Block]:
    lines, start = list(passage.lines), passage.start
    if len(lines) > 1 and _is_underlined(lines[0], lines[1]):
        level = 1 if lines[1].startswith("=") else 2
        yield _block(passage, BlockKind.HEADING, lines[0].strip(), start, 2, level)
        lines, start = lines[2:], start + 2
    elif len(lines) == 1 and (level := _heading_level(lines[0].strip())):
        yield _block(passage, BlockKind.HEADING, lines[0].strip(), start, 1, level)
        return
    for group in _items(lines):
        kind, level = BlockKind.PARAGRAPH, 0
        if marker := _LIST_ITEM.match(group[0]):
            kind, level = BlockKind.LIST_ITEM, 1 + len(marker[1].expandtabs(4)) // 2
        yield _block(passage, kind, _joined(group), start, len(group), level)
        start += len(group)


def _block(
    passage: _Passage, kind: BlockKind, text: str, start: int, height: int, level: int
) -> Block:
    locator = {"line_start": start, "line_end": start + height - 1}
    if passage.page:
        locator["page"] = passage.page
    return Block(kind, text, level, locator=locator)


def _is_underlined(title: str, rule: str) -> bool:
    """Return whether `rule` underlines `title`: about as long, so no separator line."""
    width = len(title.strip())
    return bool(_UNDERLINE.match(rule)) and width <= _MAX_HEADING and len(rule) >= width // 2


def _heading_level(line: str) -> int:
    if len(line) > _MAX_HEADING or line[-1] in ".,;:":
        return 0
    if _CHAPTER.match(line):
        return 1
    if numbered := _NUMBERED.match(line):
        return 1 + numbered[1].count(".")
    words = re.findall(r"[^\W\d_]{2,}", line)
    return 2 if line.isupper() and sum(map(len, words)) >= 5 and line[0].isalnum() else 0


def _items(lines: list[str]) -> Iterator[list[str]]:
    """Split a passage before each list item."""
    group: list[str] = []
    for line in lines:
        if group and _LIST_ITEM.match(line):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _joined(lines: list[str]) -> str:
    """Return the lines as one, unless their indentation or columns carry meaning."""
    text = "\n".join(lines).strip("\n")
    if _LIST_ITEM.match(lines[0]):
        return re.sub(r"\s+", " ", text).strip()
    shaped = any(line[0].isspace() or "   " in line or "\t" in line for line in lines)
    return text if shaped else text.replace("\n", " ")


_CLOCK = r"(?:(?P<{0}h>\d{{1,4}}):)?(?P<{0}m>\d{{1,2}}):(?P<{0}s>\d{{1,2}})(?:[.,]\d{{1,9}})?"
_TIMING = re.compile(
    rf"[ \t]*{_CLOCK.format('from_')}[ \t]*-->[ \t]*{_CLOCK.format('to_')}(?:[ \t].*)?"
)
_ARROW = "-->"
_HEADER = re.compile(r"WEBVTT(?:[ \t]+(?:-[ \t]*)?(.*))?")
_OTHER_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)\b")
_VOICE = re.compile(r"<v(?:\.[\w.-]{1,50})?[ \t]+([^<>]{1,100})>")
_TAG = re.compile(r"</?(?:[biucv]|ruby|rt|lang|font)\b[^<>]{0,200}>|\{\\[^{}]{0,200}\}")
_WORD_TIME = re.compile(r"<(?:\d{1,4}:)?\d{1,2}:\d{1,2}[.,]\d{1,9}>")
_SENTENCE_END = re.compile(rf"[.!?…{MARKS}][\"'”’»」』）)\]]*\Z")
_NEXT_SPEAKER = re.compile(r"(?:[-–—]|>>)[ \t]?\S|[^\W\d_][\w .'-]{0,40}:[ \t]")
_ENOUGH = 150
_TOO_LONG = 600
"""Characters of a paragraph: from the first on it ends with a sentence, from the second anyway."""
_PAUSE_SECONDS = 4
_UNREAD = "The time in line {} cannot be read; what is said there counts to the cue before."
_MOST_TOLD = 20
"""Such lines that are named of a file."""


@dataclass(slots=True)
class _Cue:
    """What is shown at one time; seconds, and lines of the file counted from 1."""

    start: int
    end: int
    number: int
    lines: list[SourceLine] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The number of its last line."""
        return self.lines[-1].number if self.lines else self.number

    @property
    def text(self) -> str:
        """Its words on one line."""
        return " ".join(" ".join(line.text for line in self.lines).split())


def parse_subtitles(data: bytes, *, charset: str | None = None) -> ParsedDocument:
    """Return an `.srt` or `.vtt` file as paragraphs, each with the second at which it begins.

    Of captions that roll up, each of which repeats the line before, every line is taken once.
    Libraries for these formats drop what they cannot read, or refuse the file, and give no lines.

    Source: W3C, "WebVTT: The Web Video Text Tracks Format"; SubRip has no standard.
    """
    decoded = decode_text(data, declared=charset)
    lines = source_lines(decoded.text)
    header = _HEADER.fullmatch(lines[0].text)
    cues = list(_cues(lines, is_vtt=header is not None))
    if _WORD_TIME.search(decoded.text):
        cues = list(_each_line_once(cues))
    title = header[1].strip() if header and header[1] else None
    unread = [line.number for line in lines if _is_unread(line.text)]
    warnings = [*decoded.warnings, *map(_UNREAD.format, unread[:_MOST_TOLD])]
    return document_of(title or None, _paragraphs(cues), warnings=warnings)


def _is_unread(line: str) -> bool:
    """Return whether a line has a time that cannot be read."""
    return _ARROW in line and _TIMING.fullmatch(line) is None


def _cues(lines: Sequence[SourceLine], *, is_vtt: bool) -> Iterator[_Cue]:
    """Yield what is shown, in order of the file."""
    cue: _Cue | None = None
    texts = ["", *(line.text.strip() for line in lines), ""]
    is_other = False
    for number, line in enumerate(lines, start=1):
        before, this, after = texts[number - 1 : number + 2]
        if timing := _TIMING.fullmatch(line.text):
            if cue is not None:
                yield cue
            cue = _Cue(_seconds(timing, "from_"), _seconds(timing, "to_"), line.number)
            is_other = False
            continue
        if not before:
            is_other = is_vtt and _OTHER_BLOCK.match(this) is not None
        is_name = _ARROW in after and (this.isdecimal() or (is_vtt and not before))
        if _is_unread(line.text):
            is_other = False
            continue
        if cue is not None and not is_other and not is_name and (words := _words(line.text)):
            cue.lines.append(SourceLine(words, line.number))
    if cue is not None:
        yield cue


def _seconds(timing: re.Match[str], prefix: str) -> int:
    hours, minutes, seconds = (int(timing[prefix + unit] or 0) for unit in "hms")
    return hours * 3600 + minutes * 60 + seconds


def _words(line: str) -> str:
    """Return a line without markup; who speaks stays, as `Name: `."""
    line = _VOICE.sub(lambda voice: f"{voice[1].strip()}: ", line)
    return html.unescape(_TAG.sub("", _WORD_TIME.sub("", line))).strip()


def _each_line_once(cues: Sequence[_Cue]) -> Iterator[_Cue]:
    shown = ""
    for cue in cues:
        while cue.lines and cue.lines[0].text == shown:
            cue.lines.pop(0)
        if cue.lines:
            shown = cue.lines[-1].text
            yield cue


def _paragraphs(cues: Sequence[_Cue]) -> Iterator[Block]:
    group: list[_Cue] = []
    for cue in cues:
        if group and _begins(group, cue):
            yield _paragraph(group)
            group = []
        if cue.lines:
            group.append(cue)
    if group:
        yield _paragraph(group)


def _begins(group: Sequence[_Cue], cue: _Cue) -> bool:
    """Return whether a paragraph begins with `cue`."""
    length = sum(len(one.text) for one in group)
    ended = _SENTENCE_END.search(group[-1].text) is not None
    paused = cue.start - group[-1].end >= _PAUSE_SECONDS
    speaks = _NEXT_SPEAKER.match(cue.text) is not None
    return paused or speaks or (ended and length >= _ENOUGH) or length >= _TOO_LONG


def _paragraph(group: Sequence[_Cue]) -> Block:
    text = " ".join(cue.text for cue in group)
    first, last = group[0], group[-1]
    locator = {"second": first.start, "line_start": first.number, "line_end": last.last}
    return Block(BlockKind.PARAGRAPH, text, locator=locator)
