"""Orders what a query found: the documents most likely to answer come first."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.index.base import Candidate
from core.models import Chunk

DENSE_SHARE = 0.5
"""Weight of the cosine in the mix of standardised cosine and BM25."""
SHARPNESS = 2.5
"""How much a document's best chunk outweighs the sum of its middling ones."""
CHAPTER_WEIGHT = 0.5
"""Points (standard deviations) for a document whose chapter holds all of the evidence."""
_CHUNKS_OF_A_PAGE = 60
"""A file with more chunks is no single page."""
_EPSILON = 1e-9
_SMALLEST = 1e-30

Unit = tuple[str, ...]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A candidate with its place."""

    candidate: Candidate
    score: float
    """Mean 0 and spread about 1 over the candidates of one question; comparable there alone."""
    document_rank: int
    """Place of its document, from 0."""
    document_share: float
    """The document's part of all evidence: over all documents these sum to 1."""


def rank(candidates: Sequence[Candidate]) -> list[RankedChunk]:
    """Return every candidate once, best first; the order of the input makes no difference.

    The best chunk of each document comes first, in the order of the documents, then all
    others by their own score: the first `k` show `k` documents where so many were found.

    A chunk's score is the mean of its standardised cosine and BM25 (Fox & Shaw 1994, CombSUM
    with z-scores after Renda & Straccia 2003). A document's score is the log of the sum of
    its chunks' exponentials, plus a little where its chapter holds much of the evidence.
    """
    if not candidates:
        return []
    items = sorted(candidates, key=lambda c: c.chunk.chunk_id.int)
    scores = _chunk_scores(items)
    documents: dict[Unit, list[int]] = {}
    for i in np.argsort(-scores, kind="stable").tolist():
        documents.setdefault(unit_of(items[i].chunk), []).append(i)
    totals = _document_scores(items, scores, documents)
    order = sorted(documents, key=lambda name: (-totals[name], name))
    shares = _shares([totals[name] for name in order])
    first, rest = [], []
    for place, (name, share) in enumerate(zip(order, shares, strict=True)):
        best, *others = (
            RankedChunk(items[i], float(scores[i]), place, share) for i in documents[name]
        )
        first.append(best)
        rest += others
    rest.sort(key=lambda r: (-r.score, r.document_rank, r.candidate.chunk.chunk_index))
    return first + rest


def unit_of(chunk: Chunk) -> Unit:
    """Return what counts as one document: a page, or one part of a file that holds a book.

    A long file is taken apart by its two topmost headings, else by its pages or slides.
    """
    if chunk.total_chunks <= _CHUNKS_OF_A_PAGE:
        return (str(chunk.document_id),)
    parts = chunk.headings[:2] or tuple(str(place) for place in chunk.metadata.values())
    return (str(chunk.document_id), *parts)


def _chunk_scores(items: Sequence[Candidate]) -> Floats:
    dense = _standardised(np.array([item.cosine for item in items]))
    sparse = _standardised(np.array([item.bm25 for item in items]))
    return DENSE_SHARE * dense + (1 - DENSE_SHARE) * sparse


def _standardised(values: Floats) -> Floats:
    """Shift to mean 0 and scale to deviation 1; all zeros when there is no spread."""
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > _EPSILON else np.zeros_like(values)


def _document_scores(
    items: Sequence[Candidate], scores: Floats, documents: dict[Unit, list[int]]
) -> dict[Unit, float]:
    top = float(scores.max())
    mass = np.exp(SHARPNESS * (scores - top))
    sums = {name: max(float(mass[members].sum()), _SMALLEST) for name, members in documents.items()}
    chapters = {name: _chapter(items[members[0]]) for name, members in documents.items()}
    held: dict[str, float] = {}
    for name, total in sums.items():
        held[chapters[name]] = held.get(chapters[name], 0.0) + total
    whole = sum(sums.values())
    return {
        name: top + math.log(total) / SHARPNESS + CHAPTER_WEIGHT * held[chapters[name]] / whole
        for name, total in sums.items()
    }


def _chapter(item: Candidate) -> str:
    """Return what groups documents: their module, else their topmost heading."""
    chunk = item.chunk
    return chunk.module_name or (chunk.headings[0] if chunk.headings else chunk.page_title)


def _shares(totals: Sequence[float]) -> list[float]:
    parts = [math.exp(SHARPNESS * (total - totals[0])) for total in totals]
    whole = sum(parts)
    return [part / whole for part in parts]
