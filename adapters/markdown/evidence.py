"""The paragraphs that an answer rests on, each place once, with the words that are cited."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from adapters.markdown.footnotes import Footnote, place_in_book
from core.markdown.code import code_in
from core.markdown.locating import Code, CodeKind
from core.models import AgentResponse

_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
_RULE_OF_TABLE = frozenset({*"|:- "})
"""What the line below a table's header is made of."""
_MARKER = re.compile(r"\[\d+\]")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some words of a paragraph, or code in it."""

    text: str
    """Prose as it is written, or the content of the code."""
    code: Code | None = None
    cited: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of the book of which something is cited."""

    stretches: tuple[Stretch, ...]
    table: str = ""
    """Its Markdown, where it is a table, in which no words are marked."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One place in the book, with what is cited of it."""

    place: Footnote
    paragraphs: tuple[Paragraph, ...]


def exhibits(response: AgentResponse) -> list[Exhibit]:
    """Return the paragraphs that an answer cites, by place, in order of first citation."""
    chunks = {chunk.chunk_id: chunk for chunk in response.grounding_chunks}
    markers: dict[Footnote, tuple[int, ...]] = {}
    spans: dict[Footnote, dict[str, list[Span]]] = {}
    for citation in response.citations:
        chunk = chunks[citation.chunk_id]
        place = place_in_book(chunk)
        markers[place] = (*markers.get(place, ()), citation.marker)
        texts = spans.setdefault(place, {})
        texts.setdefault(chunk.content_text, []).append((citation.char_start, citation.char_end))
    return [
        Exhibit(
            replace(place, markers=numbers),
            tuple(one for text, cited in spans[place].items() for one in _paragraphs(text, cited)),
        )
        for place, numbers in markers.items()
    ]


def adds_to(response: AgentResponse) -> bool:
    """Return whether the paragraphs that an answer cites say more than the answer shows."""
    shown = _letters(response.response_text)
    return any(
        _letters("".join(one.text for one in paragraph.stretches)) not in shown
        for exhibit in exhibits(response)
        for paragraph in exhibit.paragraphs
    )


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without the numbers of its citations."""
    return "".join(filter(str.isalnum, _MARKER.sub("", text).casefold()))


def _paragraphs(text: str, cited: Sequence[Span]) -> Iterator[Paragraph]:
    """Yield the paragraphs of a text that the spans reach into."""
    for start, end in _paragraph_spans(text):
        inside = [(max(a, start) - start, min(b, end) - start) for a, b in _merged(cited)]
        if inside := [(a, b) for a, b in inside if a < b]:
            paragraph = text[start:end]
            table = paragraph if _is_table(paragraph) else ""
            yield Paragraph(tuple(_stretches(paragraph, inside)), table)


def _merged(spans: Sequence[Span]) -> Iterator[Span]:
    """Yield spans of which none touches another, so that no word of the book is divided."""
    start = end = 0
    for a, b in sorted(spans):
        if a > end:
            yield start, end
            start = a
        end = max(end, b)
    yield start, end


def _paragraph_spans(text: str) -> Iterator[Span]:
    """Yield where paragraphs begin and end; a blank line inside of code ends none."""
    code = [one for one in code_in(text) if one.kind is not CodeKind.SPAN]
    start = 0
    for gap in _BLANK_LINES.finditer(text):
        if not any(one.start < gap.start() < one.end - 1 for one in code):
            yield start, gap.start()
            start = gap.end()
    yield start, len(text)


def _stretches(text: str, cited: Sequence[Span]) -> Iterator[Stretch]:
    position = 0
    for code in code_in(text):
        yield from _prose(text, position, code.start, cited)
        reached = any(a < code.end and code.start < b for a, b in cited)
        yield Stretch(code.content, code, reached)
        position = code.end
    yield from _prose(text, position, len(text), cited)


def _prose(text: str, start: int, end: int, cited: Sequence[Span]) -> Iterator[Stretch]:
    """Yield prose, divided where cited words begin and end."""
    inside = [(max(a, start), min(b, end)) for a, b in cited]
    edges = {start, end, *(edge for a, b in inside if a < b for edge in (a, b))}
    for a, b in pairwise(sorted(edges)):
        if words := text[a:b]:
            yield Stretch(words, cited=any(c <= a and b <= d for c, d in inside))


def _is_table(text: str) -> bool:
    lines = text.strip().splitlines()
    has_header = len(lines) > 1 and {*lines[1]} <= _RULE_OF_TABLE
    return has_header and all(line.lstrip().startswith("|") for line in lines)
