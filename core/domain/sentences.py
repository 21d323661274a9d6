"""Where sentences begin and end, so that a citation is never half of one."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from core.domain.markdown import code_spans, fences_in

STOPS = "。｡।॥۔։።။។᠃᠉"
"""Full stops: Chinese and Japanese, Devanagari and its kin, Urdu, Armenian, Ethiopic, Burmese,
Khmer, Mongolian. From the characters with Unicode's property Sentence_Terminal (UAX #44)."""
QUESTIONS = "？؟፧"
MARKS = f"{STOPS}！{QUESTIONS}"
"""Marks that end a sentence without a blank or a capital after them, of scripts but Latin's kin."""

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
_SINGLE = re.compile(r"(?:^|[\s(\[“\"'])[A-Z]\.$")
_NEXT_INITIAL = re.compile(r"\s+[A-Z]\.(?=\s)")
_ENDS_SENTENCE_ANYWAY = re.compile(r"\b(?:etc|U\.S|a\.m|p\.m|Inc|Ltd|Co|Corp|Jr|Sr|al)\.$")
_OPENER = re.compile(
    r"[\s\"'“‘(\[]*(?:The|A|An|This|That|These|Those|It|He|She|They|We|You|I|In|On|At|For|From|By|"
    r"With|But|And|Or|So|If|As|When|While|After|Before|Since|Because|Although|However|Thus|Then|"
    r"There|Here|What|Why|How|Who|Which|Its|Their|Our|His|Her|Some|Many|Most|All|Each|Both|No|Not)"
    r"\b"
)
_TABLE = re.compile(r"(?:^[ \t]*\|[^\n]*(?:\n|\Z))+", re.M)
_FORMULA = re.compile(r"\$\$.+?\$\$", re.S)
_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t])")
_LIST_NUMBER = re.compile(r"^\s*(?:\d{1,3}|[A-Za-z])[.)]$")
_LONGEST_LEAD = 40
_GERMAN_ORDINAL = re.compile(
    r"\b(?:de[rmns]|die|das|im|vom|zum|zur|beim|ab|bis|seit|eine[rmns]?|seine[rmns]?) \d{1,4}\.$"
)
_GERMAN_OPENER = re.compile(
    r"\s*(?:D(?:er|ie|as|em|en|ann|anach|och)|Eine?|E[rs]|Sie|Wir|Ich|I[mn]|A[mn]|Auf|Aber|Und"
    r"|Wenn|Als|Bei|Nach|Diese[rsmn]?)\b"
)
_MONTH = re.compile(
    r"\s*(?:Januar|Jänner|Februar|Feber|März|April|Mai|Juni|Juli|August|September|Oktober"
    r"|November|Dezember)\b"
)
_DAY = re.compile(r"\b\d{1,2}\.$")


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
    for piece, whole in _pieces(text):
        if whole:
            spans.append(piece)
        else:
            spans.extend(_split_prose(text, piece))
    return spans


def sentences(text: str) -> list[str]:
    """Return the sentences of `text` in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _pieces(text: str) -> Iterator[tuple[Span, bool]]:
    """Yield paragraphs to be split, and fences, tables and formulas that stay whole."""
    position = 0
    for start, end in sorted(_whole(text)):
        if start < position:
            continue
        yield from ((span, False) for span in _paragraphs(text, position, start))
        trimmed = _trim(text, start, end)
        if trimmed:
            yield trimmed, True
        position = end
    yield from ((span, False) for span in _paragraphs(text, position, len(text)))


def _whole(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the fences are, then the tables and formulas between them."""
    fences = [(fence.start, fence.end) for fence in fences_in(text)]
    yield from fences
    for (_, start), (end, _) in pairwise([(0, 0), *fences, (len(text), len(text))]):
        for one in (_TABLE, _FORMULA):
            yield from (match.span() for match in one.finditer(text, start, end))


def _paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    position = start
    for match in _PARAGRAPH_BREAK.finditer(text, start, end):
        if span := _trim(text, position, match.start()):
            yield span
        position = match.end()
    if span := _trim(text, position, end):
        yield span


def _split_prose(text: str, piece: Span) -> Iterator[Span]:
    start = piece.start
    code = list(code_spans(text, piece.start, piece.end))
    for match in _TERMINATOR.finditer(text, piece.start, piece.end):
        if any(first < match.end() < end for first, end in code):
            continue
        if match.end() < piece.end and not _is_end(text, start, match.start(), match.end()):
            continue
        if span := _trim(text, start, match.end()):
            yield span
        start = match.end()
    if span := _trim(text, start, piece.end):
        yield span


def _is_end(text: str, start: int, mark: int, end: int) -> bool:
    """Return whether the terminator at `mark` closes the sentence that began at `start`."""
    if text[mark] not in ".…":
        return _next_begins_sentence(text, end) or text[mark] in MARKS
    lead = text[max(start, mark - _LONGEST_LEAD) : mark + 1]
    if _LIST_NUMBER.match(text[start : mark + 1]):
        return False
    if _ABBREVIATION.search(lead):
        return bool(_ENDS_SENTENCE_ANYWAY.search(lead)) and _OPENER.match(text, end) is not None
    if _DAY.search(lead) and _MONTH.match(text, end):
        return False
    if _GERMAN_ORDINAL.search(lead):
        return _OPENER.match(text, end) is not None or _GERMAN_OPENER.match(text, end) is not None
    if _SINGLE.search(lead) and _NEXT_INITIAL.match(text, end):
        return False
    if _INITIAL.search(lead):
        return _OPENER.match(text, end) is not None
    return _next_begins_sentence(text, end)


def _next_begins_sentence(text: str, end: int) -> bool:
    following = text[end : end + 8].lstrip()
    return not following or not following[0].islower()


def _trim(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end) if start < end else None


_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, all but tab and line feed
    r"\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff"  # zero width, bidi controls
    r"\ud800-\udfff\U000e0000-\U000e007f]"  # lone surrogates, tag characters
)


def visible(text: str) -> str:
    """Return the text without control characters and without what is not seen."""
    return _INVISIBLE.sub("", text)


_PIECE = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]|[^\W\d_]{1,9}|\d{1,3}|_{1,9}|[^\w\s]"
)
"""One CJK or Thai character, nine letters, three digits, or one other mark."""

TOKEN_MARGIN = 1.5
"""Tokens reckoned for each one counted: the count leaves out blanks, is up to 10 % off on English
prose, and a language with long words or its own script takes more."""


def count_tokens(text: str) -> int:
    """Return about how many WordPiece tokens `text` has (within 10 % on English prose)."""
    return len(_PIECE.findall(text))


def reckon_tokens(text: str) -> int:
    """Return how many tokens of a model `text` takes at most, or nearly so."""
    return round(count_tokens(text) * TOKEN_MARGIN)
