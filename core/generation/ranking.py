"""Scores excerpts against a question: by meaning, by rare words, by where they stand."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.embeddings.base import Embedder, Vectors
from core.embeddings.sentences import vectors_of
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
BLOCK = 0.15
STEPS = 0.15
DEFINITION = 0.2
NEAR_QUOTE = 0.2
QUOTE_REACH = 800
"""Characters over which nearness to the quote fades to about a third."""
EMBEDDED = 12
LONGEST_EMBEDDED = 300
"""Excerpts that are compared by meaning; characters of each where it is embedded for that."""
BLOCKS = frozenset({ExcerptKind.CODE, ExcerptKind.TABLE})
RELEVANT = 0.5
"""Similarity score from which a chunk counts though it shares no word with the question."""
_PARENTHESES = re.compile(r"\(.*?\)")


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
    scored = _wanted(score_by_words(excerpts, task, inquiry, encode_terms), inquiry)
    if not _is_relevant(scored, task.evidence, inquiry):
        return []
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


def _wanted(scored: Sequence[Scored], inquiry: Inquiry) -> list[Scored]:
    """Return the excerpts without code and tables, unless those are asked for or all there is."""
    prose = [s for s in scored if s.excerpt.kind not in BLOCKS]
    asked = Cue.EXAMPLE in inquiry.cues
    return list(scored) if asked or not any(inquiry.coverage(s.terms) for s in prose) else prose


def _is_relevant(
    scored: Sequence[Scored], evidence: Sequence[RetrievedChunk], inquiry: Inquiry
) -> bool:
    """Return whether anything shares a word with the question or means something like it."""
    return any(inquiry.coverage(s.terms) for s in scored) or any(
        evidence[s.excerpt.chunk_number].similarity_score >= RELEVANT for s in scored
    )


async def _cosines(
    excerpts: Sequence[Excerpt],
    evidence: Sequence[RetrievedChunk],
    inquiry: Inquiry,
    embedder: Embedder,
) -> Sequence[float]:
    """Return the cosine of question and each excerpt, by the vectors that its chunk came with.

    In a course of an older format the excerpts are embedded now.
    """
    if not excerpts:
        return []
    question = (await embedder.embed_queries(inquiry.embedded)).mean(axis=0)
    question /= float(np.linalg.norm(question)) or 1.0
    vectors = _stored(excerpts, evidence)
    if vectors is None:
        texts = [f"{_heading(evidence[e.chunk_number])}: {e.text}" for e in excerpts]
        vectors = await embedder.embed_passages([text[:LONGEST_EMBEDDED] for text in texts])
    return [float(cosine) for cosine in vectors @ question]


def _stored(excerpts: Sequence[Excerpt], evidence: Sequence[RetrievedChunk]) -> Vectors | None:
    """Return the unit vectors of the excerpts' sentences, of several their mean."""
    known = {number: vectors_of(evidence[number]) for number in {e.chunk_number for e in excerpts}}
    rows = []
    for excerpt in excerpts:
        chunk, own = evidence[excerpt.chunk_number], known[excerpt.chunk_number]
        if own is None:
            return None
        inside = [s < excerpt.end and excerpt.start < e for s, e in chunk.sentences]
        rows.append((own[inside] if any(inside) else own).mean(axis=0))
    vectors = np.stack(rows)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _heading(chunk: RetrievedChunk) -> str:
    return chunk.headings[-1] if chunk.headings else chunk.page_title


def _bonus(excerpt: Excerpt, inquiry: Inquiry, encode_terms: EncodeTerms) -> float:
    """Return what the question's wording adds for this kind of sentence."""
    if excerpt.kind in BLOCKS:
        return BLOCK if Cue.EXAMPLE in inquiry.cues else 0.0
    if excerpt.kind is ExcerptKind.STEPS:
        wanted = inquiry.steps is not None and inquiry.steps.plainly and excerpt.tells_to_do
        return STEPS if wanted else 0.0
    bonus = sum(CUE for cue in inquiry.cues if offers(excerpt.quote, cue, inquiry.text))
    if (inquiry.defines or inquiry.explains) and _defines(excerpt.quote, inquiry, encode_terms):
        bonus += DEFINITION
    return bonus


def _defines(sentence: str, inquiry: Inquiry, encode_terms: EncodeTerms) -> bool:
    """Return whether the sentence's subject, or what it calls something, is asked about."""
    for place in places_of_definition(sentence):
        named = frozenset(encode_terms(_PARENTHESES.sub("", place)))
        if inquiry.defines and inquiry.defines <= named and len(named - inquiry.defines) <= 2:
            return True
        if named and named <= inquiry.explains:
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
