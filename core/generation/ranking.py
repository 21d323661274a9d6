"""Scores excerpts against a question: by meaning, by rare words, by where they stand."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.embeddings.base import Embedder
from core.generation.base import GenerationTask
from core.generation.cues import Cue, offers, places_of_definition
from core.generation.excerpts import Excerpt, ExcerptKind
from core.generation.inquiry import EncodeTerms, Inquiry
from core.models import RetrievedChunk

MEANING = 0.45
WORDS = 0.35
CHUNK = 0.3
"""Weights of cosine, of covered question terms and of the chunk's similarity score."""
HEADING = 0.4
BEFORE = 0.3
"""What a question term counts that only the heading, or the excerpt before, has."""
CUE = 0.06
DEFINITION = 0.2
NEAR_QUOTE = 0.2
QUOTE_REACH = 800
"""Characters over which nearness to the quote fades to about a third."""
EMBEDDED = 14
"""Excerpts that are embedded at question time: about 30 ms on two cores."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An excerpt with its score and what it is about."""

    excerpt: Excerpt
    terms: frozenset[int]
    score: float


async def rank(
    excerpts: Sequence[Excerpt],
    task: GenerationTask,
    inquiry: Inquiry,
    encode_terms: EncodeTerms,
    embedder: Embedder,
) -> list[Scored]:
    """Return the best few citable excerpts, scored, in the order they were given.

    Raises:
        EmbeddingError: when the embedder gives no usable vectors.
    """
    scored = score_by_words(excerpts, task, inquiry, encode_terms)
    best = sorted(range(len(scored)), key=lambda i: -scored[i].score)[:EMBEDDED]
    kept = [scored[i] for i in sorted(best)]
    cosines = await _cosines([s.excerpt for s in kept], task.evidence, inquiry, embedder)
    return [
        Scored(s.excerpt, s.terms, s.score + MEANING * cosine)
        for s, cosine in zip(kept, cosines, strict=True)
    ]


def score_by_words(
    excerpts: Sequence[Excerpt],
    task: GenerationTask,
    inquiry: Inquiry,
    encode_terms: EncodeTerms,
) -> list[Scored]:
    """Return the citable excerpts with all of their score that needs no model."""
    headings = [frozenset(encode_terms(" ".join(chunk.headings))) for chunk in task.evidence]
    nearness = _nearness_to_quote(task)
    scored: list[Scored] = []
    before: frozenset[int] = frozenset()
    for excerpt in excerpts:
        terms = frozenset(encode_terms(excerpt.quote))
        if excerpt.citable:
            heading = headings[excerpt.chunk_number]
            context = before if excerpt.follows else frozenset[int]()
            words = (
                inquiry.coverage(terms)
                + HEADING * inquiry.coverage(heading - terms)
                + BEFORE * inquiry.coverage(context - heading - terms)
            )
            place = CHUNK * task.evidence[excerpt.chunk_number].similarity_score
            bonus = _bonus(excerpt, inquiry, encode_terms) + nearness(excerpt)
            scored.append(Scored(excerpt, terms, WORDS * words + place + bonus))
        before = terms
    return scored


async def _cosines(
    excerpts: Sequence[Excerpt],
    evidence: Sequence[RetrievedChunk],
    inquiry: Inquiry,
    embedder: Embedder,
) -> Sequence[float]:
    if not excerpts:
        return []
    question = (await embedder.embed_queries(inquiry.embedded)).mean(axis=0)
    texts = [f"{_heading(evidence[e.chunk_number])}: {e.text}" for e in excerpts]
    vectors = await embedder.embed_passages(texts)
    length = float(np.linalg.norm(question)) or 1.0
    return [float(cosine) for cosine in vectors @ question / length]


def _heading(chunk: RetrievedChunk) -> str:
    return chunk.headings[-1] if chunk.headings else chunk.page_title


def _bonus(excerpt: Excerpt, inquiry: Inquiry, encode_terms: EncodeTerms) -> float:
    """Return what the question's wording adds for this kind of sentence."""
    if excerpt.kind in {ExcerptKind.CODE, ExcerptKind.TABLE}:
        return CUE
    bonus = sum(CUE for cue in inquiry.cues if offers(excerpt.quote, cue, inquiry.text))
    if inquiry.defines and _defines(excerpt.quote, inquiry.defines, encode_terms):
        bonus += DEFINITION
    return bonus


def _defines(sentence: str, term: frozenset[int], encode_terms: EncodeTerms) -> bool:
    """Return whether the sentence's subject, or what it calls something, is the term."""
    for place in places_of_definition(sentence):
        named = frozenset(encode_terms(re.sub(r"\(.*?\)", "", place)))
        if term <= named and len(named) <= len(term) + 2:
            return True
    return False


def _nearness_to_quote(task: GenerationTask) -> Callable[[Excerpt], float]:
    """Return the bonus of an excerpt for standing near the quoted passage."""
    quote = task.quote_location
    if quote is None or quote.char_start is None or quote.char_end is None:
        return lambda _: 0.0
    start, end, document = quote.char_start, quote.char_end, quote.document_id

    def nearness(excerpt: Excerpt) -> float:
        in_document, position = excerpt.place
        if in_document != document:
            return 0.0
        distance = max(start - position - len(excerpt.quote), position - end, 0)
        return NEAR_QUOTE * math.exp(-distance / QUOTE_REACH)

    return nearness
