"""Finds the parts of an edition that a quote may stand in, by the words that it has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.embeddings.base import Vectors
from core.index.base import SearchQuery, VectorIndex
from core.models import Chunk
from core.retrieval.editions.open_edition import OpenEdition
from core.retrieval.scoring import weighted

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
