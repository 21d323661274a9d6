"""A synthetic course for the vector indexes, with an independent account of its scores."""

from collections.abc import Sequence
from math import log
from uuid import UUID, uuid5

import numpy as np

from core.embeddings.base import Vectors
from core.index.base import IndexedPoint, SearchQuery
from core.index.sparse import Bm25Encoder
from core.models import Chunk

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
    dense = unit_vector(np.random.default_rng(seed))
    return SearchQuery(dense=dense, sparse=ENCODER.query(text), **changes)  # type: ignore[arg-type]


def expected_scores(
    points: Sequence[IndexedPoint], query: SearchQuery
) -> dict[UUID, tuple[float, float]]:
    """Return each chunk's cosine and BM25 weight, computed by the book."""
    weights = [dict(zip(p.sparse.indices, p.sparse.values, strict=True)) for p in points]
    total = sum(1 for terms in weights if terms)
    scores = {}
    for point, terms in zip(points, weights, strict=True):
        bm25 = 0.0
        for term in query.sparse.indices:
            holders = sum(1 for other in weights if term in other)
            bm25 += log((total - holders + 0.5) / (holders + 0.5) + 1) * terms.get(term, 0.0)
        scores[point.chunk.chunk_id] = (float(point.dense @ query.dense), bm25)
    return scores


def _point(document: int, number: int, chunks: int, random: np.random.Generator) -> IndexedPoint:
    text = " ".join(random.choice(WORDS, size=12)) + "."
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
        metadata={"line_start": number + 1, "note": "Größe ≥ 1"},
    )
    return IndexedPoint(
        chunk=chunk,
        section_ids=(f"module-{document % 2}", f"chapter-{document}", f"{document}-{number % 2}"),
        dense=unit_vector(random),
        sparse=ENCODER.passages([text])[0],
    )
