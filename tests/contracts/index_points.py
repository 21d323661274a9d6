"""A synthetic course for the vector indexes, with an independent account of its scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID, uuid5

import numpy as np

from core.domain import Chunk
from core.index.base import IndexedPoint, Part, SearchQuery, VectorIndex
from core.index.terms import Bm25Encoder, TermStatistics
from core.providers.embeddings.base import Vectors

DIMENSIONS = 16
GENERATION = UUID(int=7)
WORDS = [
    "market",
    "price",
    "demand",
    "supply",
    "cost",
    "labour",
    "wage",
    "trade",
    "money",
    "bank",
    "profit",
    "tax",
    "firm",
    "budget",
    "inflation",
    "interest",
    "growth",
    "capital",
    "curve",
    "surplus",
]
ENCODER = Bm25Encoder()


def document_id(number: int) -> UUID:
    """Return the id of the course's n-th document."""
    return UUID(int=1_000 + number)


def course(documents: int = 4, chunks: int = 5, seed: int = 1) -> list[IndexedPoint]:
    """Return the points of a small book, in no order of reading."""
    random = np.random.default_rng(seed)
    made = [_point(d, n, chunks, random) for d in range(documents) for n in range(chunks)]
    return [made[i] for i in random.permutation(len(made))]


def unit_vector(random: np.random.Generator) -> Vectors:
    """Return a random direction."""
    vector = random.standard_normal(DIMENSIONS).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def question(text: str = "supply and demand", seed: int = 9, **changes: object) -> SearchQuery:
    """Return a question with a random dense vector."""
    dense, words = unit_vector(np.random.default_rng(seed)), ENCODER.query(text)
    rarity = tuple(STATISTICS.rarity(words.indices).tolist())
    return SearchQuery(dense=dense, words=replace(words, values=rarity), **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that a query found, with both scores."""

    chunk: Chunk
    cosine: float
    bm25: float


async def found_in(index: VectorIndex, query: SearchQuery, *parts: Part | str) -> list[Candidate]:
    """Return what a search finds, with the chunks."""
    searched = [Part(part) if isinstance(part, str) else part for part in parts]
    found = []
    for part, hits in zip(searched, await index.search(searched, query), strict=True):
        chunks = await index.fetch(part.collection, hits.ids)
        scores = zip(hits.cosines.tolist(), hits.bm25.tolist(), strict=True)
        found += [Candidate(c, *own) for c, own in zip(chunks, scores, strict=True)]
    return found


def expected_scores(
    points: Sequence[IndexedPoint], query: SearchQuery
) -> dict[UUID, tuple[float, float]]:
    """Return each chunk's cosine and BM25 weight, computed by the book."""
    weights = dict(zip(query.words.indices, query.words.values, strict=True))
    scores = {}
    for point in points:
        terms = zip(point.sparse.indices, point.sparse.values, strict=True)
        bm25 = sum(weights.get(term, 0.0) * value for term, value in terms)
        scores[point.chunk.chunk_id] = (float(point.dense @ query.dense), bm25)
    return scores


def _point(document: int, number: int, chunks: int, random: np.random.Generator) -> IndexedPoint:
    text = " ".join(random.choice(WORDS, size=12)) + "."
    [words] = ENCODER.passages([text])
    chunk = Chunk(
        chunk_id=uuid5(GENERATION, f"{document}/{number}"),
        course_id="economics",
        document_id=document_id(document),
        generation=GENERATION,
        content_text=text,
        source_file=f"chapter-{document}.md",
        source_url=f"https://book.example.org/chapter-{document}#part-{number}",
        page_title=f"Chapter {document}",
        headings=(f"Chapter {document}", f"Part {number}"),
        chunk_index=number,
        total_chunks=chunks,
        token_count=20,
        char_start=number * 100,
        char_end=number * 100 + len(text),
        sentences=((0, len(text)),),
        sentence_vectors=bytes(range(DIMENSIONS)),
        terms=words.indices,
        metadata={"line_start": number + 1, "note": "Größe ≥ 1"},
    )
    return IndexedPoint(
        chunk=chunk,
        section_ids=(f"module-{document % 2}", f"chapter-{document}", f"{document}-{number % 2}"),
        dense=unit_vector(random),
        sparse=words,
        number=document * chunks + number,
    )


STATISTICS = TermStatistics.count([point.sparse.indices for point in course()])
"""Of the book that `course` makes."""
