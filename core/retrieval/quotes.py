"""Finds where a quoted passage stands in a book, even re-wrapped or damaged."""

import asyncio
import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from core.domain import Chunk, QuoteLocation, QuoteStatus, RetrievedChunk
from core.domain.errors import EmbeddingError
from core.index.base import SearchQuery, VectorIndex
from core.providers.embeddings.base import Vectors
from core.retrieval.editions import OpenEdition
from core.retrieval.ranking import weighted
from core.retrieval.retrieval import retrieved

Offsets = NDArray[np.int32]

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
_LOWEST_SHARE = 0.1
_LOWEST_SCORE = 0.6

# The tail of a long gap is cheap: a dropped clause is one alteration, not thirty.
_LONG_GAP = 4
_LONG_GAP_COST = 0.5

_DOCUMENT_BREAK = "\n"  # no letter, so no quote matches across it


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """Where a quote stands in the book, and how closely it agrees.

    Attributes:
        status: `verbatim` when all letters and digits agree in order, whatever
            stands between them; `altered` when most of them do.
        document_id: The document, none when not found.
        char_start: First character of the passage in the document's own text.
        char_end: One past its last letter or digit.
        score: 0 to 1, likeness of the aligned part of the quote to the passage.
    """

    status: QuoteStatus
    document_id: str | None = None
    char_start: int = 0
    char_end: int = 0
    score: float = 0.0


_NOT_FOUND = QuoteMatch(QuoteStatus.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class _Alignment:
    """A stretch of the folded quote laid on a stretch of the folded book."""

    quote_start: int
    quote_end: int
    book_start: int
    book_end: int
    evidence: float

    def convinces(self, length: int) -> bool:
        """Return whether this is no chance likeness in a quote of `length`."""
        share = self.evidence / length
        return (
            share >= _LOWEST_SHARE
            and self.evidence >= _EVIDENCE_NEEDED - _EVIDENCE_PER_SHARE * share
        )


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
        self._text = _DOCUMENT_BREAK.join(letters for letters, _ in folded)
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
        return self._match(
            QuoteStatus.VERBATIM, _Alignment(0, len(quote), at, at + len(quote), len(quote)), quote
        )

    def _altered(self, quote: str) -> QuoteMatch | None:
        alignments = (self._align(quote, start, end) for start, end in self._windows(quote))
        best = max(alignments, key=lambda found: (found.evidence, -found.book_start), default=None)
        if best is None or not best.convinces(len(quote)):
            return None
        match = self._match(QuoteStatus.ALTERED, self._tightened(quote, best), quote)
        return match if match.score >= _LOWEST_SCORE else None

    def _match(self, status: QuoteStatus, found: _Alignment, quote: str) -> QuoteMatch:
        mine = quote[found.quote_start : found.quote_end]
        return QuoteMatch(
            status,
            self._ids[self._document_at(found.book_start)],
            int(self._offsets[found.book_start]),
            int(self._offsets[found.book_end - 1]) + 1,
            Levenshtein.normalized_similarity(mine, self._text[found.book_start : found.book_end]),
        )

    def _document_at(self, position: int) -> int:
        return int(np.searchsorted(self._ends, position))

    def _document_span(self, position: int) -> tuple[int, int]:
        document = self._document_at(position)
        return int(self._ends[document - 1]) + 1 if document else 0, int(self._ends[document])

    def _windows(self, quote: str) -> Iterator[tuple[int, int]]:
        """Yield the stretches of the book likeliest to hold `quote`, best first."""
        wanted = np.zeros(1 << _BUCKET_BITS, np.bool_)
        wanted[_gram_buckets(quote)] = True
        hits = np.flatnonzero(wanted[self._grams])
        if not len(hits):
            return
        votes = self._votes(hits, len(quote))
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

    def _votes(self, hits: NDArray[np.int64], length: int) -> NDArray[np.float64]:
        """Return, for the window starting at each hit, the rarity of its hits."""
        buckets = self._grams[hits]
        rarity = np.log2(len(self._grams) / np.bincount(buckets)[buckets])
        mass = np.concatenate(([0.0], np.cumsum(rarity)))
        ends = np.minimum(hits + length, self._ends[np.searchsorted(self._ends, hits)])
        votes: NDArray[np.float64] = mass[np.searchsorted(hits, ends)] - mass[:-1]
        return votes

    def _align(self, quote: str, start: int, end: int) -> _Alignment:
        """Return the best stretch of an alignment with one window of the book."""
        window = self._text[start:end]
        best = _Alignment(0, 0, start, start, 0.0)
        evidence, quote_start, book_start = 0.0, 0, 0
        for step in Levenshtein.opcodes(quote, window):
            mine, theirs = step.src_end - step.src_start, step.dest_end - step.dest_start
            if step.tag != "equal":
                evidence -= _gap_cost(max(mine, theirs))
                continue
            if evidence <= 0:
                evidence, quote_start, book_start = 0.0, step.src_start, step.dest_start
            evidence += mine
            if evidence > best.evidence:
                best = _Alignment(
                    quote_start, step.src_end, start + book_start, start + step.dest_end, evidence
                )
        return best

    def _tightened(self, quote: str, found: _Alignment) -> _Alignment:
        """Return `found` with its ends put right.

        In a window with room to spare the first and last letters of a quote may as
        well match strays far away; without the room they fall into place.
        """
        floor, ceiling = self._document_span(found.book_start)
        start = max(floor, found.book_start - found.quote_start)
        end = min(ceiling, found.book_end + len(quote) - found.quote_end)
        again = self._align(quote, start, end)
        return self._grown(quote, again if again.evidence >= found.evidence else found)

    def _grown(self, quote: str, found: _Alignment) -> _Alignment:
        """Return `found` grown over equal letters and to the ends of its words."""
        before, after = found.quote_start, found.quote_end
        shift_before, shift_after = found.book_start - before, found.book_end - after
        while before and (
            self._inside_word(before + shift_before)
            or self._has(quote[before - 1], before + shift_before - 1)
        ):
            before -= 1
        while after < len(quote) and (
            self._inside_word(after + shift_after) or self._has(quote[after], after + shift_after)
        ):
            after += 1
        return _Alignment(before, after, before + shift_before, after + shift_after, found.evidence)

    def _has(self, letter: str, position: int) -> bool:
        return 0 <= position < len(self._text) and self._text[position] == letter

    def _inside_word(self, position: int) -> bool:
        """Return whether nothing stood between this letter and the one before."""
        if not 0 < position < len(self._text):
            return False
        before, here = self._offsets[position - 1 : position + 1]
        return bool(before >= 0 and 0 <= here - before <= 1)


def information(letters: str) -> int:
    """Return how many Latin letters say as much: a Chinese character is worth about three."""
    return len(letters) + 2 * sum("\u2e80" <= letter <= "\u9fff" for letter in letters)


def _gap_cost(length: int) -> float:
    return min(length, _LONG_GAP) + _LONG_GAP_COST * max(0, length - _LONG_GAP)


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


def _fold(text: str) -> tuple[str, Offsets]:
    """Return the folded letters and digits of `text`, and where each stood."""
    table = {character: _fold_character(character) for character in set(text)}
    folded = [table[character] for character in text]
    lengths = np.fromiter(map(len, folded), np.intp, len(folded))
    return "".join(folded), np.repeat(np.arange(len(text), dtype=np.int32), lengths)


@lru_cache(maxsize=1 << 14)
def _fold_character(character: str) -> str:
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(part for part in folded if part.isalnum())


_LIKELIEST = 24
"""Chunks that are looked at: a quote of these was always among the first few."""
_LETTERS_A_CHUNK = 400
"""A chunk is rarely shorter, so that so many letters reach beyond one neighbour at most."""


@dataclass(frozen=True, slots=True)
class ChunkWindow:
    """Chunks of one document that follow one another."""

    chunks: tuple[Chunk, ...]

    @property
    def start(self) -> int:
        """Where its text begins in the document, in characters."""
        return self.chunks[0].char_start

    @property
    def text(self) -> str:
        """The document's text from `start`; blanks stand for what no chunk has."""
        text = ""
        for chunk in self.chunks:
            text = text.ljust(chunk.char_start - self.start) + chunk.content_text
        return text


async def windows(
    index: VectorIndex, opened: OpenEdition, quote: str, direction: Vectors | None
) -> list[ChunkWindow]:
    """Return where a quote may stand, in the order of the book.

    Args:
        direction: The quote's vector, by which it is looked for; None: by its words.
    """
    words = opened.encoder.query(quote)
    if direction is None and not words.indices:
        return []
    dense = np.zeros(opened.edition.dimensions, np.float32) if direction is None else direction
    query = SearchQuery(dense, weighted(opened.terms, words), limit=_LIKELIEST)
    hits = await index.search(opened.parts, query)
    score = [one.bm25 if direction is None else one.cosines for one in hits]
    entries = [
        (float(value), place, int(number))
        for place, (one, values) in enumerate(zip(hits, score, strict=True))
        for number, value in zip(one.ids, values, strict=True)
        if value > 0
    ]
    reach = 1 + len(quote) // _LETTERS_A_CHUNK
    found: list[ChunkWindow] = []
    for place, part in enumerate(opened.parts):
        likeliest = sorted(entries, reverse=True)[:_LIKELIEST]
        numbers = {
            near
            for _, own, number in likeliest
            if own == place
            for near in range(max(0, number - reach), number + reach + 1)
        }
        chunks = await index.fetch(part.collection, sorted(numbers))
        found += runs(opened.own(c for c in chunks if c.document_id not in part.hidden))
    return found


def runs(chunks: Iterable[Chunk]) -> list[ChunkWindow]:
    """Return the runs of neighbours among chunks in reading order."""
    found: list[list[Chunk]] = []
    for chunk in chunks:
        if found and _follows(found[-1][-1], chunk):
            found[-1].append(chunk)
        else:
            found.append([chunk])
    return [ChunkWindow(tuple(run)) for run in found]


def _follows(before: Chunk, chunk: Chunk) -> bool:
    same = before.document_id == chunk.document_id
    return same and chunk.chunk_index == before.chunk_index + 1


def documents_of(found: Sequence[ChunkWindow]) -> list[tuple[str, str]]:
    """Return the windows as the texts that a quote is located in, by their numbers."""
    return [(str(number), window.text) for number, window in enumerate(found)]


_NEIGHBOURS = 1
"""Chunks before and after a quote that are read with it."""


@dataclass(frozen=True, slots=True)
class LocatedQuote:
    """Where a quote stands, and the text there."""

    location: QuoteLocation | None = None
    chunks: tuple[RetrievedChunk, ...] = ()
    """Those that it touches."""
    around: tuple[RetrievedChunk, ...] = ()
    """These, with their neighbours in the same section."""


class QuoteLocator:
    """Finds quotes in editions, by the index's own words: no text stays in memory."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index

    async def locate(self, opened: OpenEdition, quote: str | None) -> LocatedQuote:
        """Return where a quote stands, and the chunks there.

        Raises:
            VectorIndexError: when the index fails, or the edition was replaced.
        """
        if quote is None:
            return LocatedQuote()
        match, found = await self._match(opened, quote)
        if match.document_id is None:
            return LocatedQuote(QuoteLocation(status=match.status, score=match.score))
        window = found[int(match.document_id)]
        start, end = window.start + match.char_start, window.start + match.char_end
        touched = [c for c in window.chunks if c.char_start < end and start < c.char_end]
        if not touched:  # it stands in a heading
            return LocatedQuote(QuoteLocation(status=QuoteStatus.NOT_FOUND, score=match.score))
        location = QuoteLocation(
            status=match.status,
            chunk_ids=tuple(chunk.chunk_id for chunk in touched),
            document_id=touched[0].document_id,
            char_start=start,
            char_end=end,
            score=match.score,
        )
        chunks, around = (
            tuple(retrieved(chunk, match.score, opened.edition.generation) for chunk in some)
            for some in (touched, _around(window, touched))
        )
        return LocatedQuote(location, chunks, around)

    async def _match(
        self, opened: OpenEdition, quote: str
    ) -> "tuple[QuoteMatch, list[ChunkWindow]]":
        """Return the match, and the windows of which one is named in it.

        What damage has left no word whole of is looked for by its meaning.
        """

        found = await windows(self._index, opened, quote, None)
        match = await asyncio.to_thread(lambda: BookText(documents_of(found)).locate(quote))
        if match.document_id is None and (near := await _direction(opened, quote)) is not None:
            found = await windows(self._index, opened, quote, near)
            match = await asyncio.to_thread(lambda: BookText(documents_of(found)).locate(quote))
        return match, found


async def _direction(opened: OpenEdition, quote: str) -> Vectors | None:
    try:
        [direction] = await opened.embedder.embed_queries([quote])
    except EmbeddingError:
        return None
    return np.asarray(direction, np.float32)


def _around(window: ChunkWindow, touched: Sequence[Chunk]) -> list[Chunk]:
    first, last = touched[0], touched[-1]
    places = range(first.chunk_index - _NEIGHBOURS, last.chunk_index + _NEIGHBOURS + 1)
    return [
        chunk
        for chunk in window.chunks
        if chunk.chunk_index in places and chunk.headings in {first.headings, last.headings}
    ]
