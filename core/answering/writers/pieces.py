"""Cuts the evidence into what a passage is made of: sentences, and blocks that stay whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from core.domain import RetrievedChunk
from core.domain.links import one_line
from core.domain.markdown import fence_opened_by
from core.domain.sentences import MARKS, QUESTIONS, STOPS, Span, count_tokens, sentence_spans

SHORTEST = 5
"""Tokens; anything shorter is a label."""
LONGEST = 140
"""Tokens; anything longer is text whose full stops were lost."""

_PUNCTUATED = re.compile(rf"[.!?…{MARKS}][\"'”’»」』）)\]]*\s*$", re.M)
_ENDS = re.compile(rf"[.!…！{STOPS}][\"'”’»」』）)\]]*$")
_ASKS = re.compile(rf"[?;{QUESTIONS}][\"'”’»」』）)\]]*$")
_STARTS_SMALL = re.compile(r"(?!`)[\W_]*[a-zß-öø-ÿа-яα-ω]")
_CONTINUES = re.compile(
    r"\(\w\)|\W*(?:also|and|but|or|where|which"
    r"|[a-z]{3,}s\s+(?:an?|the|this|that|these|how|what|why|which|some|several|its|their|both))\s"
)
"""What goes on after a formula or a reference that the text left out: "shows the curve"."""
_CAPTION = re.compile(
    r"\(?(?:Figure|Fig\.|Table|Listing|Exhibit|Image|Photo|Abb\.|Abbildung|Tabelle|Figura|Tableau)"
    r"\s*\d[\d.\-–]*[a-z]?\s*[:.)]?(?!\s+(?:[a-z]|[A-Z]\w+\s+is\b))|\(?(?:Credit|Source|Photo)s?:",
    re.I,
)
_POINTER = re.compile(
    r"\(?(?:See|Refer to|Turn to|Recall|Read|Visit|View|Watch|Click|Go to|Siehe|Voir)\b.{0,90}$",
    re.I | re.S,
)
_SIGNPOST = re.compile(
    r"(?:In|By the end of|Throughout|At the end of|After reading|The rest of|Later in)\s+"
    r"(?:this|the next|the following|that) (?:chapter|section|module|lesson|unit|book|part)\b"
    r"|This (?:section|unit)\b|.*\bthis (?:chapter|module|lesson)\b"
    r"|.*\b(?:we|it|you)(?: will|[’']ll) (?:now |then |also |first |next )?(?:consider|explore"
    r"|discuss|examine|learn|look at|see how|cover|introduce|explain|return to|talk about)\b",
    re.I | re.S,
)
_EXERCISE_HEADING = re.compile(
    r"[\W\d]*(?!frequently asked)"
    r"(?:exercises?|problems?|problem sets?|quiz(?:zes)?|homework|assignments?|test yourself"
    r"|(?:\w+[ -]){0,2}questions|references|bibliography|further reading)\W*",
    re.I,
)
_PRONOUN = re.compile(
    r"[\W_]*(?:he|she|it|they|this|that|these|those|his|her|its|their|such|however)\b", re.I
)


def is_citable(sentence: str, *, punctuated: bool = True, begins: bool = False) -> bool:
    """Return whether the sentence says something by itself.

    Refused are fragments, questions, captions, pointers ("See Figure 3.") and signposts ("In this
    chapter ...").

    Args:
        punctuated: Whether the text around it ends its sentences with full stops; where it does
            not (slides), a line without one is no fragment.
        begins: Whether a paragraph begins with it, so that it is whole though its first letter is
            small: "mRNA carries ...".
    """
    if _ASKS.search(sentence) or sentence.count("(") != sentence.count(")"):
        return False
    if punctuated and not _ENDS.search(sentence):
        return False
    if _STARTS_SMALL.match(sentence) and (not begins or _CONTINUES.match(sentence)):
        return False
    if any(said.match(sentence) for said in (_CAPTION, _POINTER, _SIGNPOST)):
        return False
    return SHORTEST <= count_tokens(sentence) <= LONGEST


def is_ended(text: str) -> bool:
    """Return whether a text ends as a sentence does."""
    return _ENDS.search(text) is not None or _ASKS.search(text) is not None


def is_exercise(headings: Sequence[str]) -> bool:
    """Return whether the headings are above exercises, or above what is read elsewhere."""
    return any(_EXERCISE_HEADING.fullmatch(heading) for heading in headings)


def leans_on_previous(sentence: str) -> bool:
    """Return whether it begins with a pronoun or a "however" that needs another sentence."""
    return _PRONOUN.match(sentence) is not None


def is_punctuated(text: str) -> bool:
    """Return whether the sentences of a text end with full stops; those of slides do not."""
    return _PUNCTUATED.search(text) is not None


PROSE = "prose"
LISTS = frozenset({"list", "ordered_list"})
ENTRY = "entry"
"""A term or option with what is said of it, which is shown whole."""
TABLE = "table"
LAID_OUT = frozenset({TABLE, "formula", "code"})
"""Blocks that say little without the sentences around them."""
WORDS_A_LINE = 7
_ANNOUNCING = ":："
_MARK = re.compile(r"(?:[-*•+]|\d{1,3}[.)])[ \t]+")


_ITEM = re.compile(r"^ {0,3}(?:[-*•+]|\d{1,3}[.)])[ \t]+", re.M)
_ROW = re.compile(r"^[ \t]*\|.*$", re.M)
_RULE = "|-: \t"
"""What the line below a table's head is made of."""


class Line(NamedTuple):
    """An item of a list or a row of a table, with its place in the block."""

    start: int
    end: int
    text: str


def cells_of(row: str) -> list[str]:
    """Return the cells of a row of a table in Markdown."""
    return [cell.strip() for cell in row.strip().strip("|").replace("\\|", "¦").split("|")]


@dataclass(frozen=True, slots=True)
class Piece:
    """A verbatim part of one chunk: a sentence, or a block with the line that announces it."""

    chunk_number: int
    """Position of its chunk in the evidence, from 0."""
    start: int
    end: int
    """Its span in the chunk's text."""
    quote: str
    kind: str
    """`prose`, or the kind of its block as in `ChunkBlock`."""
    section: tuple[str, ...]
    """The headings that it stands below."""
    place: tuple[UUID, int]
    """Its document and where it starts there, in characters."""
    citable: bool = True
    """Whether it may answer by itself, and begin or end a passage."""
    shown: bool = True
    """Whether it may stand inside a passage."""
    follows: bool = False
    """Comes right after the piece before it in the same section."""
    opens: bool = False
    """Begins a paragraph."""
    known: bool = False
    """Says what the answer before said."""

    @property
    def text(self) -> str:
        """The quote as it is shown: a sentence on one line, a block as it is."""
        return one_line(self.quote) if self.kind == PROSE else self.quote

    @property
    def lines(self) -> list[Line]:
        """The items of a list, or the rows of a table below its head; of anything else, none."""
        if self.kind in LISTS:
            starts = [found.start() for found in _ITEM.finditer(self.quote)]
            ends = [*starts[1:], len(self.quote)]
            return [Line(a, b, self.quote[a:b].strip()) for a, b in zip(starts, ends, strict=True)]
        if self.kind != TABLE:
            return []
        rows = [found for found in _ROW.finditer(self.quote) if set(found[0]) - set(_RULE)]
        return [Line(*found.span(), found[0].strip()) for found in rows[1:]]

    @property
    def head(self) -> str:
        """What stands above the lines of a block: its announcement, or the head of a table."""
        first = _ROW.search(self.quote) if self.kind == TABLE else _ITEM.search(self.quote)
        if first is None:
            return ""
        return self.quote[: first.end() if self.kind == TABLE else first.start()].strip()

    def alone(self, line: Line) -> str:
        """Return a line of the block as it is shown by itself: a row comes with its head."""
        if self.kind in LISTS:
            return one_line(_MARK.sub("", line.text, count=1))
        head = self.head.rpartition("\n")[-1]
        return f"{head}\n{'|'.join(['', *['---'] * len(cells_of(head)), ''])}\n{line.text}"

    @property
    def leans(self) -> bool:
        """Whether it begins with words that only the piece before it explains."""
        return self.kind == PROSE and leans_on_previous(self.quote)

    @property
    def words(self) -> int:
        """How many words long it is to a reader; a line of a block is as long as several."""
        words = len(self.quote.split())
        lines = self.quote.count("\n") + 1
        return words if self.kind not in LAID_OUT else max(words, WORDS_A_LINE * lines)

    def hidden(self) -> "Piece":
        """Return the piece as one that no passage shows."""
        return replace(self, citable=False, shown=False)


def cut(evidence: Sequence[RetrievedChunk]) -> list[Piece]:
    """Return all pieces in reading order: documents as ranked, then by position."""
    ids = [chunk.document_id for chunk in evidence]
    pieces: list[Piece] = []
    due = None
    for number, chunk in sorted(
        enumerate(evidence), key=lambda pair: (ids.index(pair[1].document_id), pair[1].char_start)
    ):
        place = (chunk.document_id, chunk.headings, chunk.chunk_index)
        pieces += _cut(number, chunk, follows=place == due)
        due = (*place[:2], chunk.chunk_index + 1)
    return pieces


def _cut(number: int, chunk: RetrievedChunk, *, follows: bool) -> Iterator[Piece]:
    text = chunk.content_text
    punctuated, is_read = is_punctuated(text), not is_exercise(chunk.headings)
    end, ended = 0, True
    for start, stop, kind in _parts(chunk):
        quote = text[start:stop]
        fit = tells(chunk, start, stop)
        opens = end == 0 or "\n" in text[end:start]
        said = kind != PROSE or (
            is_read and is_citable(quote, punctuated=punctuated, begins=opens and ended)
        )
        yield Piece(
            chunk_number=number,
            start=start,
            end=stop,
            quote=quote,
            kind=kind,
            section=chunk.headings,
            place=(chunk.document_id, chunk.char_start + start),
            citable=fit and said,
            shown=fit,
            follows=follows or end > 0,
            opens=opens,
        )
        end, ended = stop, kind not in LAID_OUT and (kind != PROSE or is_ended(quote))


def _parts(chunk: RetrievedChunk) -> list[tuple[int, int, str]]:
    """Return the spans of sentences and blocks; a sentence that announces a block is of it."""
    parts: list[tuple[int, int, str]] = []
    for start, end, kind in laid_out(chunk, LISTS | LAID_OUT | {ENTRY}):
        _, last, before = parts[-1] if parts else (0, 0, kind)
        announced = before == PROSE and chunk.content_text[last - 1] in _ANNOUNCING
        if announced and kind not in {PROSE, ENTRY}:
            start, _, _ = parts.pop()
        parts.append((start, end, kind))
    return parts


def laid_out(chunk: RetrievedChunk, kinds: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of sentences and of whole blocks of some kinds, in order, apart, each once.

    Of a passage that is no stored chunk, they are read off the text.
    """
    text = chunk.content_text
    spans = [Span(*span) for span in chunk.sentences] or sentence_spans(text)
    known = [(b.start, b.end, b.kind) for b in chunk.blocks] or _blocks_in(text, spans)
    blocks = [block for block in known if block[2] in kinds]
    prose = [
        (start, end, PROSE)
        for start, end in spans
        if not any(first < end and start < last for first, last, _ in blocks)
    ]
    end = 0
    for part in sorted([*blocks, *prose]):
        if part[0] >= end:
            yield part
            end = part[1]


def _blocks_in(text: str, spans: Sequence[Span]) -> list[tuple[int, int, str]]:
    """Return the blocks of a text by how their lines begin."""
    blocks: list[tuple[int, int, str]] = []
    for start, end in spans:
        goes_on = bool(blocks) and blocks[-1][2] in LISTS
        if _MARK.match(text, start) or (goes_on and "\n" not in text[blocks[-1][1] : start]):
            first = blocks.pop()[0] if goes_on else start
            blocks.append((first, end, "list"))
        else:
            blocks.append((start, end, _kind(text[start:end])))
    return blocks


def _kind(quote: str) -> str:
    if fence_opened_by(quote.partition("\n")[0]):
        return "code"
    if quote.startswith("|"):
        return TABLE
    return "formula" if quote.startswith("$$") else PROSE


def tells(chunk: RetrievedChunk, start: int, end: int) -> bool:
    """Return whether a stretch is of the text that answers, and not of what stands around it."""
    return not any(
        block.start < end and start < block.end
        for block in chunk.blocks
        if block.kind not in LAID_OUT | LISTS | {ENTRY}
    )
