"""Finds where a quoted passage stands in a book, even re-wrapped or damaged."""

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.models import QuoteStatus

# Below this many letters and digits, any book holds almost any phrase.
_FEWEST_LETTERS = 12

# Six letters survive damage to every tenth one about every second time.
_GRAM = 6
_BUCKET_BITS = 20
_MULTIPLIER = np.uint32(0x9E3779B1)
_CANDIDATES = 3

# Evidence is matched letters less edits. Passages of other books reach about 30 by
# stock phrases alone; one that mostly matches needs less than one that partly does.
_EVIDENCE_NEEDED = 42.0
_EVIDENCE_PER_SHARE = 30.0

# The tail of a long gap is cheap: a dropped clause is one alteration, not thirty.
_LONG_GAP = 4
_LONG_GAP_COST = 0.5


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """Where a quote stands in the book, and how closely it agrees."""

    status: QuoteStatus
    """`verbatim` when all letters and digits agree in order; `altered` when most of them do."""
    document_id: str | None = None
    char_start: int = 0
    char_end: int = 0
    """The passage in the document's own text, up to its last letter or digit."""
    score: float = 0.0
    """0 to 1, likeness of the aligned part of the quote to the passage."""


_NOT_FOUND = QuoteMatch(QuoteStatus.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class _Alignment:
    """A stretch of the folded quote laid on a stretch of the folded book."""

    quote_start: int
    quote_end: int
    book_start: int
    book_end: int
    evidence: float


class BookText:
    """A book in which quotes can be located; immutable, safe to share by threads.

    Only letters and digits count, without case, accents and compatibility forms,
    so wrapping, hyphens, quotation marks and Markdown marks make no difference.
    Costs about 10 bytes a letter.
    """

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        """Read `documents`, pairs of id and text, in the book's order."""
        folded = [_fold(text) for _, text in documents]
        self._ids = [document_id for document_id, _ in documents]
        # A line feed is no letter, so that no quote matches across it.
        self._text = "\n".join(letters for letters, _ in folded)
        lengths = np.array([len(letters) for letters, _ in folded], np.int64)
        self._ends = np.cumsum(lengths + 1) - 1
        offsets = [np.append(places, np.int32(-1)) for _, places in folded]
        self._offsets = np.concatenate([np.empty(0, np.int32), *offsets])
        self._grams = _gram_buckets(self._text)

    def locate(self, quote: str) -> QuoteMatch:
        """Return the place of `quote` in the book; of equal places the first."""
        folded, _ = _fold(quote)
        if information(folded) < _FEWEST_LETTERS:
            return _NOT_FOUND
        return self._verbatim(folded) or self._altered(folded) or _NOT_FOUND

    def _verbatim(self, quote: str) -> QuoteMatch | None:
        at = self._text.find(quote)
        if at < 0:
            return None
        # A short phrase that is used all over the book points nowhere.
        if information(quote) - 2 * math.log2(self._text.count(quote)) < _FEWEST_LETTERS:
            return _NOT_FOUND
        found = _Alignment(0, len(quote), at, at + len(quote), len(quote))
        return self._match(QuoteStatus.VERBATIM, found, quote)

    def _altered(self, quote: str) -> QuoteMatch | None:
        alignments = (self._align(quote, start, end) for start, end in self._windows(quote))
        best = max(alignments, key=lambda found: (found.evidence, -found.book_start), default=None)
        if best is None:
            return None
        needed = _EVIDENCE_NEEDED - _EVIDENCE_PER_SHARE * best.evidence / len(quote)
        if best.evidence < needed:
            return None
        # In a window with room to spare, the ends of a quote may as well match strays far away.
        floor, ceiling = self._document_span(best.book_start)
        start = max(floor, best.book_start - best.quote_start)
        end = min(ceiling, best.book_end + len(quote) - best.quote_end)
        again = self._align(quote, start, end)
        best = again if again.evidence >= best.evidence else best
        return self._match(QuoteStatus.ALTERED, best, quote)

    def _match(self, status: QuoteStatus, found: _Alignment, quote: str) -> QuoteMatch:
        from rapidfuzz.distance import Levenshtein

        mine = quote[found.quote_start : found.quote_end]
        return QuoteMatch(
            status,
            self._ids[np.searchsorted(self._ends, found.book_start)],
            int(self._offsets[found.book_start]),
            int(self._offsets[found.book_end - 1]) + 1,
            Levenshtein.normalized_similarity(mine, self._text[found.book_start : found.book_end]),
        )

    def _document_span(self, position: int) -> tuple[int, int]:
        document = np.searchsorted(self._ends, position)
        return int(self._ends[document - 1]) + 1 if document else 0, int(self._ends[document])

    def _windows(self, quote: str) -> Iterator[tuple[int, int]]:
        """Yield the stretches of the book likeliest to hold `quote`, best first."""
        wanted = np.zeros(1 << _BUCKET_BITS, np.bool_)
        wanted[_gram_buckets(quote)] = True
        hits = np.flatnonzero(wanted[self._grams])
        if not len(hits):
            return
        buckets = self._grams[hits]
        rarity = np.log2(len(self._grams) / np.bincount(buckets)[buckets])
        mass = np.concatenate(([0.0], np.cumsum(rarity)))
        ends = np.minimum(hits + len(quote), self._ends[np.searchsorted(self._ends, hits)])
        votes = mass[np.searchsorted(hits, ends)] - mass[:-1]  # of the window from each hit on
        margin = 32 + len(quote) // 4
        for _ in range(_CANDIDATES):
            best = int(np.argmax(votes))
            if votes[best] <= 0:
                return
            start = int(hits[best])
            floor, ceiling = self._document_span(start)
            yield max(floor, start - margin), min(ceiling, start + len(quote) + margin)
            reach = len(quote) // 2
            first, last = np.searchsorted(hits, [start - reach, start + reach + 1])
            votes[first:last] = 0.0

    def _align(self, quote: str, start: int, end: int) -> _Alignment:
        """Return the best stretch of an alignment with one window of the book."""
        from rapidfuzz.distance import Levenshtein

        window = self._text[start:end]
        best = _Alignment(0, 0, start, start, 0.0)
        evidence, quote_start, book_start = 0.0, 0, 0
        for step in Levenshtein.opcodes(quote, window):
            mine, theirs = step.src_end - step.src_start, step.dest_end - step.dest_start
            if step.tag != "equal":
                gap = max(mine, theirs)
                evidence -= min(gap, _LONG_GAP) + _LONG_GAP_COST * max(0, gap - _LONG_GAP)
                continue
            if evidence <= 0:
                evidence, quote_start, book_start = 0.0, step.src_start, step.dest_start
            evidence += mine
            if evidence > best.evidence:
                best = _Alignment(
                    quote_start, step.src_end, start + book_start, start + step.dest_end, evidence
                )
        return best


def information(letters: str) -> int:
    """Return how many Latin letters say as much: a Chinese character is worth about three."""
    return len(letters) + 2 * sum("\u2e80" <= letter <= "\u9fff" for letter in letters)


def _gram_buckets(text: str) -> NDArray[np.uint32]:
    """Return the hash bucket of every run of `_GRAM` characters, in order."""
    # "surrogatepass": a chat may deliver half of a surrogate pair.
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    length = max(0, len(codes) - _GRAM + 1)
    value = codes[:length].copy()
    for shift in range(1, _GRAM):
        value *= _MULTIPLIER
        value += codes[shift : shift + length]
    value *= _MULTIPLIER
    return value >> np.uint32(32 - _BUCKET_BITS)


def _fold(text: str) -> tuple[str, NDArray[np.int32]]:
    """Return the folded letters and digits of `text`, and where each stood."""
    table = {character: _fold_character(character) for character in set(text)}
    folded = [table[character] for character in text]
    lengths = np.fromiter(map(len, folded), np.intp, len(folded))
    return "".join(folded), np.repeat(np.arange(len(text), dtype=np.int32), lengths)


@lru_cache(maxsize=1 << 14)
def _fold_character(character: str) -> str:
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(part for part in folded if part.isalnum())
