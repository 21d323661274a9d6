"""Where in the book a passage stands that a reader quotes."""

import re

from core.grounding.quoting import QuotedPassage
from core.models import Chunk, QuoteLocation, RetrievedChunk

_CLOSING = re.compile(r"[.!?…,;:]*[\"'”’»)\]]*")
"""What ends a sentence after its last letter."""
_FEWEST_LETTERS = 12
"""A quote with fewer letters and digits is looked for in vain: any book may hold it."""


def place_in_book(chunk: RetrievedChunk) -> str:
    """Return the headings that lead to a chunk."""
    return " › ".join(titles_of(chunk))


def titles_of(chunk: Chunk) -> tuple[str, ...]:
    """Return the page's title and the headings below it."""
    return tuple(dict.fromkeys((chunk.page_title, *chunk.headings)))


def quoted_part(chunk: RetrievedChunk, location: QuoteLocation) -> QuotedPassage:
    """Return the part of a chunk that a quote was found in, with the stops after it."""
    text = chunk.content_text
    start = max((location.char_start or 0) - chunk.char_start, 0)
    end = min((location.char_end or 0) - chunk.char_start, len(text))
    closing = _CLOSING.match(text, end)
    end = closing.end() if closing else end
    return QuotedPassage(text, start, end, titles_of(chunk))


def is_short(quote: str | None) -> bool:
    """Return whether a quote may stand in any book."""
    return sum(letter.isalnum() for letter in quote or "") < _FEWEST_LETTERS
