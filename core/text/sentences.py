"""Where sentences begin and end, so that a citation is never half of one."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from core.markdown.code import fences_in
from core.markdown.spans import code_spans

STOPS = "。｡।॥۔։።။។᠃᠉"
"""Full stops without a blank or a capital after them: Chinese and Japanese, Devanagari and its kin,
Urdu, Armenian, Ethiopic, Burmese, Khmer, Mongolian. Source: UAX #44, Sentence_Terminal."""
QUESTIONS = "？؟፧"
MARKS = f"{STOPS}！{QUESTIONS}"
_TERMINATOR = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)"
    rf"|[{MARKS}]+[”’」』）]*(?:[\"'»)\]]++(?=\s|$))?"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"'])(?:(?:[A-Za-z]\.)+[A-Za-z]?|"
    r"(?:Mr|Mrs|Ms|Dr|Prof|Rev|Gen|Sen|Rep|Gov|Capt|Lt|Col|Sgt|St|Mt|Jr|Sr|Inc|Ltd|Co|Corp|Bros|"
    r"vs|etc|cf|al|approx|ca|dept|est|fig|figs|eq|eqs|sec|ch|chap|vol|no|nos|pp|ed|eds|ibid|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|z\.B|bzw|usw|Nr|Abb|Kap))\.$",
    re.IGNORECASE,
)
_INITIAL = re.compile(r"(?:^|[A-Z][\w.'’-]*\s)[A-Z]\.$")
_INITIALS = re.compile(r"\b[A-Z]\.\s+[A-Z]\.\s")
_OPENER = re.compile(
    r"[\s\"'“‘(\[]*(?:The|A|An|This|That|These|Those|It|He|She|They|We|You|I|In|On|At|For|From|By|"
    r"With|But|And|Or|So|If|As|When|While|After|Before|Since|Because|Although|However|Thus|Then|"
    r"There|Here|What|Why|How|Who|Which|Its|Their|Our|His|Her|Some|Many|Most|All|Each|Both|No|Not|"
    r"D(?:er|ie|as|em|en|ann|anach|och)|Eine?|E[rs]|Sie|Wir|Ich|I[mn]|A[mn]|Auf|Aber|Und|Wenn|Als|"
    r"Bei|Nach|Diese[rsmn]?)\b"
)
_TABLE_OR_FORMULA = re.compile(r"(?:^[ \t]*\|[^\n]*(?:\n|\Z))+|\$\$(?s:.+?)\$\$", re.M)
_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t])")
_LIST_NUMBER = re.compile(r"^\s*(?:\d{1,3}|[A-Za-z])[.)]$")
_LONGEST_LEAD = 40
_GERMAN_ORDINAL = re.compile(
    r"\b(?:de[rmns]|die|das|am|im|vom|zum|zur|beim|ab|bis|seit|eine[rmns]?|seine[rmns]?"
    r"|\w+(?:tag|woch),) \d{1,4}\.$"
)


class Span(NamedTuple):
    """A half-open range of characters."""

    start: int
    end: int


def sentence_spans(text: str) -> list[Span]:
    """Return the spans of the sentences of `text`, in order, without surrounding blanks.

    A fence, a table or a display formula is one "sentence"; so is a list item that has no
    full stop, and no sentence ends inside a span of code. Headings and lines without a
    terminator end at their blank line. The rules are made for English and hold for other
    European languages and for the marks of other scripts.
    """
    spans: list[Span] = []
    position = 0
    for start, end in [*sorted(_whole(text)), (len(text), len(text))]:
        if start >= position:
            for paragraph in _paragraphs(text, position, start):
                spans.extend(_split_prose(text, paragraph))
            spans.extend(_trimmed(text, start, end))
            position = end
    return spans


def sentences(text: str) -> list[str]:
    """Return the sentences of `text` in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _whole(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the fences are, then the tables and formulas between them."""
    fences = [(fence.start, fence.end) for fence in fences_in(text)]
    yield from fences
    for (_, start), (end, _) in pairwise([(0, 0), *fences, (len(text), len(text))]):
        yield from (match.span() for match in _TABLE_OR_FORMULA.finditer(text, start, end))


def _paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _PARAGRAPH_BREAK.finditer(text, start, end):
        yield from _trimmed(text, start, match.start())
        start = match.end()
    yield from _trimmed(text, start, end)


def _split_prose(text: str, piece: Span) -> Iterator[Span]:
    start = piece.start
    code = list(code_spans(text, piece.start, piece.end))
    for match in _TERMINATOR.finditer(text, piece.start, piece.end):
        if any(first < match.end() < end for first, end in code):
            continue
        if match.end() < piece.end and not _is_end(text, start, match.start(), match.end()):
            continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, piece.end)


def _is_end(text: str, start: int, mark: int, end: int) -> bool:
    """Return whether the terminator at `mark` closes the sentence that began at `start`."""
    if text[mark] not in ".…":
        return _next_begins_sentence(text, end) or text[mark] in MARKS
    lead = text[max(start, mark - _LONGEST_LEAD) : mark + 1]
    if _LIST_NUMBER.match(text[start : mark + 1]) or _INITIALS.match(text, mark - 1):
        return False
    if any(rule.search(lead) for rule in (_ABBREVIATION, _INITIAL, _GERMAN_ORDINAL)):
        return _OPENER.match(text, end) is not None
    return _next_begins_sentence(text, end)


def _next_begins_sentence(text: str, end: int) -> bool:
    return not text[end : end + 8].lstrip()[:1].islower()


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the span without surrounding blanks, unless it has nothing else."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    if kept := piece.strip():
        yield Span(start, start + len(kept))
