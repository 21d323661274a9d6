"""Reads a model's answer while it arrives: claims with their sentences, and what is missing."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.generation.base import Claim, NotCovered, QuotedWords
from core.generation.claims.json_stream import JsonReader
from core.generation.claims.layout import ClaimCutter, begins_block, begins_item
from core.generation.claims.lines import ClaimLine, LineReader
from core.generation.claims.schema import Missing
from core.generation.claims.sentences import Numbering
from core.markdown.writing import lasting
from core.text.characters import visible

ClaimOrRefusal = Claim | NotCovered

MOST_NUMBERS = 16
"""Sentences of one claim; a claim that names more is about nothing in particular."""
_LONGEST_OPENING = 40
"""Characters within which it is clear whether an answer begins as JSON."""
_JSON = re.compile(r"(?:```+[ \t]*(?:json[c5]?)?[ \t]*\r?\n\s*)?(?:\[\s*)?\{", re.IGNORECASE)
_MAY_BE_JSON = re.compile(
    r"(?:`+[ \t]*(?:j|js|jso|json[c5]?)?[ \t]*\r?(?:\n\s*)?)?(?:\[\s*)?", re.IGNORECASE
)
_LATER_JSON = re.compile(r"\s*(?:```+[ \t]*json|\{\s*(?:\"claims\"\s*:|$))", re.IGNORECASE)
"""How a line begins from which on an answer is JSON after all."""


class AnswerReader:
    """Turns an answer into claims; `feed` it in pieces of any size, then `close` it.

    It reads JSON, also within a code fence, and plain lines. A claim comes as soon as it is
    whole. How the text is cut into pieces makes no difference, and no text is an error.
    """

    def __init__(self, numbering: Numbering) -> None:
        """Read claims that cite the sentences of `numbering`."""
        self._numbering = numbering
        self._cutter = ClaimCutter()
        self._held: str | None = ""
        """What came before it was clear how the answer is written; None: that is clear."""
        self._json: JsonReader | None = None
        self._lines = LineReader()
        self._begun = ""
        """A line that has not ended."""
        self._after_layout = False
        self._is_first = True
        self._is_refused = False

    def feed(self, text: str) -> Iterator[ClaimOrRefusal]:
        """Yield what is complete by now; to be taken to its end before the next piece."""
        text = visible(text)
        if self._held is not None:
            self._held = (self._held + text).lstrip()
            if _JSON.match(self._held):
                self._json = JsonReader()
            elif len(self._held) < _LONGEST_OPENING and _MAY_BE_JSON.fullmatch(self._held):
                return
            text, self._held = self._held, None
        yield from self._read(text)

    def close(self) -> Iterator[ClaimOrRefusal]:
        """Yield the rest."""
        held, self._held = self._held or "", None
        yield from self._read(f"{held}\n" if self._json is None else held)
        if self._json is None:
            for line in self._lines.close():
                yield from self._line(line)

    def _read(self, text: str) -> Iterator[ClaimOrRefusal]:
        while self._json is None:
            line, feed, text = text.partition("\n")
            self._begun += line
            if not feed:
                return
            line, self._begun = self._begun, ""
            if _LATER_JSON.match(line):
                self._json, text = JsonReader(), f"{line}\n{text}"
            else:
                for said in self._lines.feed(f"{line}\n"):
                    yield from self._line(said)
        for value in self._json.feed(text):
            yield from self._value(value)

    def _value(self, value: Mapping[str, Any]) -> Iterator[ClaimOrRefusal]:
        text = value.get("text")
        if isinstance(text, str):
            yield from self._claims(
                visible(text), _integers(value.get("sentences")), value.get("example") is True
            )
        if value.get("missing") in (Missing.PART, Missing.ALL):
            yield from self._refuse()

    def _line(self, line: ClaimLine | Missing) -> Iterator[ClaimOrRefusal]:
        if isinstance(line, Missing):
            yield from self._refuse()
        else:
            text = "\n" * line.breaks + line.text if line.breaks > 1 else line.text
            yield from self._claims(text, line.numbers, line.example)

    def _refuse(self) -> Iterator[NotCovered]:
        """Yield that something is not covered, once in an answer."""
        if not self._is_refused:
            self._is_refused = True
            yield NotCovered()

    def _claims(self, text: str, numbers: tuple[int, ...] | None, example: bool) -> Iterator[Claim]:
        """Yield the sentences of a claim, each with all sentences of the book that carry it.

        One that names sentences is no example of the model's own, though it says so: small models
        mark all their claims as examples, and what is cited can be checked.
        """
        if example and not numbers:
            if text.strip():
                yield Claim(" ".join(text.split()), example=True, lead="\n\n")
                self._after_layout = True
            return
        quotes = self._quotes(numbers)
        is_item, is_block = begins_item(text), begins_block(text)
        if text.startswith("\n\n") or is_block or (self._after_layout and not is_item):
            before = "\n\n"
        else:
            before = "\n" if is_item else " "
        body = text.strip("\n").rstrip()
        body = body[: len(body) - len(body.lstrip())] + lasting(body)
        if self._is_first:
            before = "\n" if is_item or is_block else ""
        self._after_layout = is_item or is_block
        for claim in self._cutter.cut(f"{before}{body}", quotes or ()):
            self._is_first = False
            yield claim if quotes is not None else claim.invented()

    def _quotes(self, numbers: tuple[int, ...] | None) -> tuple[QuotedWords, ...] | None:
        if numbers is None or len(numbers) > MOST_NUMBERS:
            return None
        return self._numbering.quotes(numbers)


def _integers(value: object) -> tuple[int, ...] | None:
    """Return the numbers of a list; None: there is something else in it."""
    if not isinstance(value, list):
        return None
    numbers = []
    for one in value:
        if isinstance(one, str) and re.fullmatch(r"\[?\d{1,6}\]?", one.strip()):
            one = int(one.strip().strip("[]"))
        if isinstance(one, float) and one.is_integer():
            one = int(one)
        if isinstance(one, bool) or not isinstance(one, int):
            return None
        numbers.append(one)
    return tuple(dict.fromkeys(numbers))
