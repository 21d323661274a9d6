"""Reads the claims of an answer in plain lines, `text [3][7]`, for models that know no JSON."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import json_repair

from core.answering.writers.base import Claim, ClaimKind, NotCovered, QuotedWords
from core.answering.writers.prompt import (
    NOT_COVERED,
    PARTLY_COVERED,
    PREFIXES,
    Missing,
    Numbering,
    WrittenClaim,
)
from core.domain.links import lasting
from core.domain.markdown import (
    CodeKind,
    Fence,
    code_in,
    code_spans,
    fence_opened_by,
    is_block,
    is_closing,
    masked,
    outside_code,
)
from core.domain.sentences import visible

_NUMBERS = re.compile(
    r"(?:^|(?<=[\s.!?…:,;\"'”’»)|*_`]))(?:\[\d{1,6}(?:[,;] ?\d{1,6})*\][,;]?\s?)+"
)
_LAST_NUMBERS = re.compile(_NUMBERS.pattern + "$")
_NUMBER = re.compile(r"\d+")
_CLOSERS = ".!?…,;:)\"'”’»*_"
_LONGEST = 4_000
"""Characters of a block or a line; what is longer is taken as it is."""
_REFUSALS = {NOT_COVERED: Missing.ALL, PARTLY_COVERED: Missing.PART}


class LineReader:
    """Gives each claim with the line that ends it; no text is an error."""

    def __init__(self) -> None:
        self._line = ""
        self._block: list[str] = []
        """Lines of code or rows of a table, which the line below may give their numbers."""
        self._fence: Fence | None = None
        self._begins_paragraph = False

    def feed(self, text: str) -> Iterator[WrittenClaim | Missing]:
        """Yield what the lines say that end in `text`; a line that is too long ends earlier."""
        *ended, self._line = (self._line + text).split("\n")
        for line in ended:
            for start in range(0, max(len(line), 1), _LONGEST):
                yield from self._read(line[start : start + _LONGEST])

    def close(self) -> Iterator[WrittenClaim | Missing]:
        """Yield what the last line says."""
        yield from self.feed("\n")
        yield from self._end_block()

    def _read(self, line: str) -> Iterator[WrittenClaim | Missing]:
        if self._fence is not None:
            self._block.append(line)
            is_too_long = sum(map(len, self._block)) > _LONGEST
            if is_closing(line, self._fence) or is_too_long:
                self._fence = None
            return
        bare = line.strip()
        is_row = bare.startswith("|")
        if self._block and is_row and self._block[-1].lstrip().startswith("|"):
            self._block.append(line)
        elif self._block and not bare:
            return
        elif self._block and (numbers := _NUMBERS.fullmatch(bare)) is not None:
            yield from self._end_block(numbers.group())
        else:
            yield from self._end_block()
            self._fence = fence_opened_by(line)
            if self._fence is not None or is_row:
                self._block = [line]
            elif bare:
                yield from self._said(line)
            self._begins_paragraph = self._begins_paragraph or not bare

    def _said(self, line: str) -> Iterator[WrittenClaim | Missing]:
        if (missing := _REFUSALS.get(line.strip().strip("*_.").upper())) is not None:
            yield missing
            return
        kind, bare = None, line.lstrip()
        for prefix, named in PREFIXES.items():
            if bare.upper().startswith(prefix):
                kind, line = named, bare[len(prefix) :].lstrip()
        for text, numbers in _cut(line):
            before = "\n\n" if self._begins_paragraph else ""
            yield WrittenClaim(before + text, numbers, kind)
            self._begins_paragraph = False

    def _end_block(self, numbers: str = "") -> Iterator[WrittenClaim]:
        text, self._block = "\n".join(self._block), []
        if text:
            if not numbers and (cited := _LAST_NUMBERS.search(text)) is not None:
                text, numbers = text[: cited.start()].rstrip(), cited.group()
            yield WrittenClaim(f"\n\n{text}", _read_numbers(numbers))
            self._begins_paragraph = True


def _cut(line: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the parts of a line, each with the numbers that stand after it."""
    code = list(code_spans(line, 0, len(line)))
    start = 0
    for found in _NUMBERS.finditer(line):
        if any(begin < found.end() and found.start() < end for begin, end in code):
            continue
        text, end = line[start : found.start()].rstrip(), found.end()
        while end < len(line) and line[end] in _CLOSERS and not found.group()[-1].isspace():
            text += line[end]
            end += 1
        start = end
        if text.strip():
            yield text, _read_numbers(found.group())
    if rest := line[start:].rstrip():
        yield rest, ()


def _read_numbers(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(number) for number in _NUMBER.findall(text)))


_JSON_READER_LONGEST = 5_000
"""Characters from the end of one claim to that of the next; where there are more, it is lost."""
_MOST_BEGUN = 12
"""Objects begun since the last claim that may be the one which ends: the latest of them."""
_PIECE = re.compile(r"[^}]*\}|[^}]+")
_OBJECT = re.compile(r"\{\s*[\"']")
"""How an object begins; in a string a quotation mark has a backslash before it."""
_TEXTS = ("text", "claim", "content", "statement")
"""What models call a claim's text, as asked first."""
_HAS_TEXT = re.compile(rf"[\"'](?:{'|'.join(_TEXTS)})[\"']\s*:")
_JSON_READER_NUMBERS = re.compile(r"\d+(?:\.0)?(?![\w.])")
_SWALLOWED = re.compile(
    r"(?<!\\)\\(?:(?![\"\\/bfnrtu])|(?=[bf][a-z]{2}|t(?:heta|au|imes|an|ext|o)\b"
    r"|n(?:abla|eq?|u|ot)\b|r(?:ho|ight)\b))"
)
"""The backslash of a command of TeX, which JSON does not know, or takes for that of `\\f`."""
_MISSING = re.compile(rf'"missing"\s*:\s*"({Missing.PART}|{Missing.ALL})"')
_DECODER = json.JSONDecoder(strict=False)


class JsonReader:
    """Gives each claim with the bracket that ends it; no text is an error.

    An object with a `text` is a claim, whatever stands around it. What is broken is left out.
    """

    def __init__(self) -> None:
        self._text = ""
        """What came since the last claim."""

    def feed(self, text: str) -> Iterator[WrittenClaim | Missing]:
        """Yield what `text` ends, in order."""
        for piece in _PIECE.findall(text):
            self._text = (self._text + piece)[-_JSON_READER_LONGEST:]
            if piece.endswith("}"):
                yield from self._ended()

    def _ended(self) -> Iterator[WrittenClaim | Missing]:
        """Yield what the last bracket has ended."""
        if '"missing"' in self._text and (missing := _MISSING.search(self._text)) is not None:
            yield Missing(missing[1])
        if _HAS_TEXT.search(self._text) is None:
            return
        begun = [found.start() for found in _OBJECT.finditer(self._text)]
        for start in begun[-_MOST_BEGUN:]:
            value = self._object(start)
            found = (value.get(name) for name in _TEXTS) if value is not None else ()
            text = next((one for one in found if isinstance(one, str)), None)
            if value is not None and text is not None:
                self._text = ""
                numbers = _integers(value.get("sentences", []))
                yield WrittenClaim(visible(text), numbers, _kind(value.get("kind")))
                return

    def _object(self, start: int) -> dict[str, Any] | None:
        """Return the object from `start` to the end, mended where it is near one; None: it is none.

        What stands in it is a whole claim only where its brackets are even.
        """
        text = _SWALLOWED.sub(r"\\\\", self._text[start:])
        try:
            value, end = _DECODER.raw_decode(text)
        except RecursionError:
            return None
        except ValueError:
            if text.count("{") != text.count("}"):
                return None
            value, end = json_repair.loads(text), len(text)
            if not isinstance(value, dict) or "sentences" not in value:
                return None  # the bracket may stand inside of a text that goes on
        return value if end == len(text) and isinstance(value, dict) else None


def _kind(value: object) -> ClaimKind | None:
    """Return the kind of a name, in any case; None: there is no such kind."""
    try:
        return ClaimKind(str(value).strip().casefold())
    except ValueError:
        return None


def _integers(value: object) -> tuple[int, ...] | None:
    """Return the numbers, also of `3`, `"[3]"` and `{"id": 3}`; None: there is something else."""
    if isinstance(value, dict):
        value = list(value.values())
    found: list[int] = []
    for one in value if isinstance(value, list) else [value]:
        numbers = _integers(one) if isinstance(one, dict) else _json_reader_read_numbers(str(one))
        if numbers is None:
            return None
        found += numbers
    return tuple(dict.fromkeys(found))


def _json_reader_read_numbers(written: str) -> tuple[int, ...] | None:
    """Return the numbers of `1, 2` or `[1][2]`; None: there is something else."""
    rest = _JSON_READER_NUMBERS.sub("", written).strip("[](),; s")
    return None if rest else tuple(int(float(one)) for one in _JSON_READER_NUMBERS.findall(written))


_ITEM = re.compile(r"(?P<indent> *)(?:[-*•+]|(?P<number>\d{1,3})[.)])(?:[ \t]+|$)")
_HEADING = re.compile(r"^ {0,3}(?:#{1,6}(?:[ \t].*)?|([-*_])(?:[ \t]*\1){2,}[ \t]*)$", re.MULTILINE)
"""A heading or a rule."""
_NEXT_ITEM = re.compile(r"\n(?= *(?:[-*•+]|\d{1,3}[.)])[ \t])")
_MARKERS = re.compile(
    r"(?:^|(?<![ \t])[ \t]+|(?<=[.!?…,;:”’\"')]))\[\d{1,3}\](?:[ \t]?\[\d{1,3}\])*"
)


class ClaimLayout:
    """Gives each claim of an answer the layout in front of it, in reading order."""

    def __init__(self) -> None:
        self._is_first = True
        self._after_layout = False

    def claims(
        self, text: str, kind: ClaimKind, quotes: tuple[QuotedWords, ...]
    ) -> Iterator[Claim]:
        """Yield the claims of `text`: one, or one for each item of a list.

        Headings and markers of citations are left out.
        """
        body = text.lstrip("\n")
        feeds = len(text) - len(body)
        indent = body[: len(body) - len(body.lstrip(" "))] if _ITEM.match(body) else ""
        body = indent + _without_headings(lasting(body[len(indent) :]))
        if kind is ClaimKind.EXAMPLE:
            body = " ".join(body.split()) if not code_in(body) else body
        for place, piece in enumerate(_items(body, kind)):
            yield from self._claim(piece, feeds if place == 0 else 1, kind, quotes)

    def _claim(
        self, text: str, feeds: int, kind: ClaimKind, quotes: tuple[QuotedWords, ...]
    ) -> Iterator[Claim]:
        item = None if kind is ClaimKind.EXAMPLE or _nests_code(text) else _ITEM.match(text)
        lead, block = None, is_block(text) or _nests_code(text)
        if item:
            mark = f"{item['number']}." if item["number"] else "-"
            lead = "\n" * max(min(feeds, 2), 1) + f"{item['indent']}{mark} "
            text = text[item.end() :]
        elif (
            block
            or kind is ClaimKind.EXAMPLE
            or (not self._is_first and (feeds > 1 or self._after_layout))
        ):
            lead = "\n\n"
        text = outside_code(text, lambda prose: _MARKERS.sub("", prose)).strip()
        if any(map(str.isalnum, text)):
            self._is_first = False
            self._after_layout = bool(item) or block or kind is ClaimKind.EXAMPLE
            yield Claim(text, quotes, kind, lead)


def _items(text: str, kind: ClaimKind) -> list[str]:
    """Return the items of a list, each with its mark; a text that is none as it is."""
    if kind is ClaimKind.EXAMPLE or _nests_code(text):
        return [text]
    places = [0, *(found.end() for found in _NEXT_ITEM.finditer(masked(text, "x"))), len(text)]
    return [text[start:end].rstrip("\n") for start, end in pairwise(places)]


def _without_headings(text: str) -> str:
    """Return a text without its headings; one that has code, or stands alone, loses its mark."""
    for found in reversed(list(_HEADING.finditer(masked(text, "x")))):
        heading = text[found.start() : found.end()].lstrip("# ")
        is_alone = not (text[: found.start()] + text[found.end() :]).strip()
        kept = heading if code_in(heading) or (is_alone and heading.strip("-*_ ")) else ""
        text = text[: found.start()] + kept + text[found.end() :]
    return text.strip("\n")


def _nests_code(text: str) -> bool:
    """Return whether there is code in a list or a quote, which would not outlive a cut."""
    return any(code.kind is not CodeKind.SPAN and not code.top for code in code_in(text))


ClaimOrRefusal = Claim | NotCovered

MOST_NUMBERS = 16
"""Sentences of one claim; a claim that names more is about nothing in particular."""
_JSON = re.compile(r"`{3,9}[ \t]{0,9}json|(?:\[\s*)?\{", re.IGNORECASE)
"""How an answer in JSON begins."""
_LATER_JSON = re.compile(
    r"\s*(?:```+[ \t]*json|(?:\[\s*)?\{\s*(?:\"(?:claims|kind|text)\"\s*:|$))", re.IGNORECASE
)
"""How a line begins from which on an answer is JSON after all."""


class AnswerReader:
    """Turns an answer into claims; `feed` it in pieces of any size, then `close` it.

    It reads JSON, also within a code fence, and plain lines. A claim comes as soon as it is
    whole. How the text is cut into pieces makes no difference, and no text is an error.
    """

    def __init__(self, numbering: Numbering) -> None:
        """Read claims that cite the sentences of `numbering`."""
        self._numbering = numbering
        self._layout = ClaimLayout()
        self._lines = LineReader()
        self._json: JsonReader | None = None
        """None: as far as is known, it is written in lines."""
        self._line = ""
        """One that has not ended."""
        self._has_lines = False
        self._is_refused = False

    def feed(self, text: str) -> Iterator[Claim]:
        """Yield what is complete by now; to be taken to its end before the next piece."""
        text = visible(text)
        while self._json is None:
            line, feed, text = text.partition("\n")
            self._line = self._line + line if self._has_lines else (self._line + line).lstrip()
            if self._is_json(has_ended=bool(feed)):
                self._json, text = JsonReader(), f"{self._line}{feed}{text}"
            elif not feed:
                return
            else:
                ended, self._line = self._line, ""
                self._has_lines = self._has_lines or bool(ended)
                yield from self._take(self._lines.feed(f"{ended}\n"))
        yield from self._take(self._json.feed(text))

    def close(self) -> Iterator[ClaimOrRefusal]:
        """Yield the rest, and last that something is not covered."""
        if self._json is None:
            yield from self.feed("\n")
        if self._json is None:
            yield from self._take(self._lines.close())
        if self._is_refused:
            yield NotCovered()

    def _is_json(self, *, has_ended: bool) -> bool:
        """Return whether JSON begins with the line."""
        if not self._has_lines:
            return _JSON.match(self._line) is not None
        return has_ended and _LATER_JSON.match(self._line) is not None

    def _take(self, written: Iterable[WrittenClaim | Missing]) -> Iterator[Claim]:
        for one in written:
            if isinstance(one, WrittenClaim):
                yield from self._claims(one)
            else:
                self._is_refused = True

    def _claims(self, written: WrittenClaim) -> Iterator[Claim]:
        """Yield a claim with all sentences that carry it; one for each item of a list.

        What names sentences can be checked against them, so talk that does is a fact.
        """
        numbers, kind = written.sentences, written.kind
        if kind is None or (numbers and kind in (ClaimKind.TALK, ClaimKind.LEAD)):
            is_lead = not numbers and written.text.rstrip().endswith((":", "："))
            kind = ClaimKind.LEAD if is_lead else ClaimKind.FACT
        quotes = None
        if numbers is not None and len(numbers) <= MOST_NUMBERS:
            quotes = self._numbering.quotes(numbers)
        for claim in self._layout.claims(written.text, kind, quotes or ()):
            yield replace(claim, cites_unknown=quotes is None)
