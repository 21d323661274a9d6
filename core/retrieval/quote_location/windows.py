"""Finds the parts of an edition that a quote may stand in, by the words that it has."""

from collections.abc import Iterable
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
    query = SearchQuery(dense, words, weighted(opened.terms, words), limit=_LIKELIEST)
    hits = await index.search(opened.parts, query)
    entries = [
        (float(value), place, int(number))
        for place, one in enumerate(hits)
        for number, value in zip(
            one.ids, one.bm25 if direction is None else one.cosines, strict=True
        )
        if value > 0
    ]
    reach = 1 + len(quote) // _LETTERS_A_CHUNK
    near: dict[int, set[int]] = {}
    for _, place, number in sorted(entries, reverse=True)[:_LIKELIEST]:
        near.setdefault(place, set()).update(range(max(0, number - reach), number + reach + 1))
    found: list[ChunkWindow] = []
    for place, part in enumerate(opened.parts):
        chunks = await index.fetch(part.collection, sorted(near.get(place, ())))
        found += runs(opened.own(c for c in chunks if c.document_id not in part.hidden))
    return found


def runs(chunks: Iterable[Chunk]) -> list[ChunkWindow]:
    """Return the runs of neighbours among chunks in reading order."""
    found: list[list[Chunk]] = []
    for chunk in chunks:
        before = found[-1][-1] if found else None
        place = (chunk.document_id, chunk.chunk_index - 1)
        if before is None or place != (before.document_id, before.chunk_index):
            found.append([])
        found[-1].append(chunk)
    return [ChunkWindow(tuple(run)) for run in found]
