"""What a book holds about each of many questions, before any threshold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bot.wiring import Services
from core.evaluation.questions import GoldQuestion
from core.index.base import SearchQuery
from core.models import MAX_QUESTION
from core.retrieval.finding import Judging, Ranking, find
from core.retrieval.scoring import scale_for, term_weights, weighted
from core.retrieval.searching import CANDIDATES

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Found:
    """What one question found, in the ranking's order."""

    evidence: Floats
    """(n_chunks, 3) cosine, normalised BM25 and coverage; at least one row."""
    relevant: npt.NDArray[np.bool_]
    """(n_chunks,) whether the chunk lies in a document that answers the question."""


async def ask_book(
    opened: Services, course_id: str, questions: Sequence[GoldQuestion]
) -> list[Found]:
    """Return what the course holds about each question, in order."""
    opened = await opened.retriever.opened(course_id)
    scale = scale_for(opened.local.name)
    found = []
    for question in questions:
        text = question.question[:MAX_QUESTION]
        dense = (await opened.local.embed_queries([text]))[0]
        sparse = opened.encoder.query(text)
        words = weighted(opened.terms, sparse)
        query = SearchQuery(dense, sparse, words, limit=CANDIDATES)
        judging = Judging(
            scale,
            term_weights(words),
            threshold=0.0,
            top_k=CANDIDATES,
            most_documents=2 * CANDIDATES,
        )
        found.append(_found(await find(opened.index, opened, query, judging), question))
    return found


def _found(ranking: Ranking, question: GoldQuestion) -> Found:
    parts = [(s.evidence.cosine, s.evidence.bm25, s.evidence.coverage) for s in ranking.scored]
    files = [one.chunk.source_file for one in ranking.read]
    return Found(np.array(parts), np.array([name in question.relevant for name in files]))
