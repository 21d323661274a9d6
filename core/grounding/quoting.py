"""Finds the whole sentences of a chunk that a quote stands in, word for word."""

import re
from bisect import bisect_right
from dataclasses import dataclass

from core.grounding.folding import Folded, fold
from core.markdown.code import code_in
from core.text.sentences import Span, sentence_spans

_ELISION = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")
_WIDEST_ELISION = 600
_FEWEST_WORDS = 3
_WORDS = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]|[^\W_]+")
_TRIES = 50
"""Places inside of words that are passed over; more are no quote of anything."""


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """Whole sentences of a chunk that a claim rests on."""

    content: str
    """All of the chunk's text."""
    start: int
    end: int
    headings: tuple[str, ...] = ()
    """The path of titles above the chunk."""
    is_trusted: bool = False
    """Whether nothing of its source is withheld as planted."""

    @property
    def text(self) -> str:
        """The quoted sentences."""
        return self.content[self.start : self.end]


def locate_quote(content: str, quote: str) -> tuple[int, int] | None:
    """Return the span of the sentences of `content` that hold `quote` word for word.

    Case, accents, blanks, punctuation, Markdown marks, entities and invisible characters
    make no difference. Parts around an ellipsis have to follow each other within 600
    characters. Fewer than three words count only as a whole sentence, a list item or code.
    """
    book = fold(content)
    found = _find(content, book, [fold(quote).letters])
    if found is None:
        parts = [fold(part).letters for part in _ELISION.split(quote)]
        if len(parts) < 2 or any(_is_short(part) for part in _ELISION.split(quote)):
            return None
        found = _find(content, book, parts)
    if found is None:
        return None
    start, end = whole_sentences(content, found)
    if _is_short(quote) and not _is_complete(content, quote, found, Span(start, end)):
        return None
    return start, end


def _find(content: str, book: Folded, parts: list[str]) -> Span | None:
    """Return the span from the first part to the last one, in the text's own characters."""
    for first in _places(content, book, parts[0], 0, len(book.letters)):
        end = first + len(parts[0])
        for part in parts[1:]:
            limit = bisect_right(book.offsets, book.offsets[end - 1] + _WIDEST_ELISION)
            limit = min(len(book.letters), limit + len(part))
            place = next(iter(_places(content, book, part, end, limit)), None)
            if place is None:
                break
            end = place + len(part)
        else:
            return Span(book.offsets[first], book.offsets[end - 1] + 1)
    return None


def _places(content: str, book: Folded, part: str, start: int, end: int) -> list[int]:
    """Return where `part` stands as whole words, in order."""
    places: list[int] = []
    if not part:
        return places
    for _ in range(_TRIES):
        place = book.letters.find(part, start, end)
        if place < 0:
            break
        borders = (place, place + len(part))
        if all(book.holds_word_border(content, border) for border in borders):
            places.append(place)
        start = place + 1
    return places


def whole_sentences(content: str, found: Span) -> Span:
    """Return the span of the whole sentences that `found` touches."""
    start, end = found
    for sentence in sentence_spans(content):
        if sentence.end > found.start and sentence.start < found.end:
            if content.startswith("|", sentence.start):  # a row of a table is its sentence
                sentence = _rows(content, sentence, found)
            start, end = min(start, sentence.start), max(end, sentence.end)
    return Span(start, end)


def _rows(content: str, table: Span, found: Span) -> Span:
    """Return the span of those rows of a table that `found` touches."""
    start = max(content.rfind("\n", table.start, max(found.start, table.start)) + 1, table.start)
    end = content.find("\n", min(found.end, table.end), table.end)
    return Span(start, end if end >= 0 else table.end)


def _is_short(quote: str) -> bool:
    return len(_WORDS.findall(quote)) < _FEWEST_WORDS


def _is_complete(content: str, quote: str, found: Span, sentence: Span) -> bool:
    if fold(content[sentence.start : sentence.end]).letters == fold(quote).letters:
        return True
    around = (code for code in code_in(content) if code.start < found.start < code.end)
    return any(fold(code.content).letters == fold(quote).letters for code in around)
