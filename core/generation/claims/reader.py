"""Reads a model's answer while it arrives: claims with their sentences, and what is missing."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from core.generation.base import Claim, ClaimKind, NotCovered
from core.generation.claims.json_reader import JsonReader
from core.generation.claims.layout import ClaimLayout
from core.generation.claims.lines import LineReader
from core.generation.claims.schema import Missing, WrittenClaim
from core.generation.claims.sentences import Numbering
from core.text.characters import visible

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
