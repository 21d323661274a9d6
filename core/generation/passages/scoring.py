"""Scores the pieces of the evidence against a question: by meaning and by rare words."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from core.embeddings.base import Embedder, Vectors
from core.embeddings.sentences import vectors_of
from core.generation.base import GenerationTask
from core.generation.passages.definitions import gives_definition, terms_of_entry
from core.generation.passages.inquiry import Inquiry
from core.generation.passages.numbers import AskedNumbers, asked_numbers
from core.generation.passages.pieces import ENTRY, LAID_OUT, TABLE, Piece, cut
from core.models import QuoteLocation, RetrievedChunk

MEANING = 0.7
WORDS = 0.5
CHUNK = 0.3
"""Weights of cosine, of covered question terms and of the chunk's similarity score."""
HEADING = 0.4
HEADING_NAMED = 0.8
"""What a question term counts that only the heading has; that of a section that is named."""
NAMED = 0.4
"""Share of the question's terms, by rarity, that the heading of a named section has."""
NUMBER = 0.3
"""What a text gains that has a number of the question, such as a version, or its heading."""
DEFINITION = 0.2
"""What a sentence or row that gives the definition asked for gains, or an entry that is named."""
MOSTLY = 0.5
"""Share of the question's terms, by rarity, that an entry's term must be of to be named by it."""
AHEAD = 0.08
"""By how much a table's score by words must exceed that of all prose, so that it may answer."""
BESIDE_ROW = 2
"""Words of a question that its row need not have: two in "How much is the exam worth?"."""
_RULE = "|-: "
"""What the line below a table's head is made of."""
KNOWN = 1.2
"""What the words and the meaning of a sentence count that the answer before showed: it is compared
with the question alone, which is less, and what was just shown is to be looked at first."""
NEAR_QUOTE = 0.2
QUOTE_REACH = 800
"""Characters over which nearness to the quote fades to about a third."""
EMBEDDED = 16
LONGEST_EMBEDDED = 300
"""Pieces that are compared by meaning; characters of each where it is embedded for that."""
SAME = 0.8
"""Share of a text's terms that another has, from which it only says the same again."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A piece with its score and what it is about."""

    piece: Piece
    terms: frozenset[int]
    score: float
    alone: bool = False
    """Whether it is an entry that has words of the question, and so needs none around it."""


async def rank(
    pieces: Sequence[Piece], task: GenerationTask, inquiry: Inquiry, embedder: Embedder
) -> list[Scored]:
    """Return the best few pieces that may answer, scored, in the order they were given.

    Raises:
        EmbeddingError: when the embedder gives no usable vectors.
    """
    scored = _speaking(_by_words(pieces, task, inquiry), inquiry)
    best = sorted(range(len(scored)), key=lambda i: -scored[i].score)[:EMBEDDED]
    kept = [scored[i] for i in sorted(best)]
    cosines = await _cosines([s.piece for s in kept], task.evidence, inquiry, embedder)
    return [
        replace(s, score=s.score + MEANING * _factor(s.piece) * cosine)
        for s, cosine in zip(kept, cosines, strict=True)
    ]


def says_again(terms: frozenset[int], said: Sequence[frozenset[int]]) -> bool:
    """Return whether a text with these terms adds next to nothing to one already said."""
    return any(len(terms & other) >= SAME * max(1, len(terms)) for other in said)


def names_row(
    question: str, evidence: Sequence[RetrievedChunk], encode_terms: Callable[[str], Sequence[int]]
) -> bool:
    """Return whether a question has all words of the first cell of a table's row, and few others.

    What else it asks may be the table's own, or its heading's.
    """
    asked = frozenset(encode_terms(question))
    return any(
        _names_row_of(piece.quote, asked, evidence[piece.chunk_number].headings, encode_terms)
        for piece in cut(evidence)
        if piece.kind == TABLE
    )


def _names_row_of(
    table: str,
    asked: frozenset[int],
    headings: Sequence[str],
    encode_terms: Callable[[str], Sequence[int]],
) -> bool:
    head, rows = _lines(table)
    around = frozenset(encode_terms(" ".join((*headings, head))))
    for row in rows:
        label = frozenset(encode_terms(row.strip("| ").partition("|")[0]))
        if label and label <= asked:
            rest = asked - label - around - frozenset(encode_terms(row))
            if len(rest) <= BESIDE_ROW:
                return True
    return False


def _by_words(pieces: Sequence[Piece], task: GenerationTask, inquiry: Inquiry) -> list[Scored]:
    """Return the pieces that may answer, with all of their score that needs no model."""
    numbers = asked_numbers(task.question, task.encode_terms)
    headings = [_read_heading(c, task, inquiry, numbers) for c in task.evidence]
    scored: list[Scored] = []
    citable = [piece for piece in pieces if piece.citable]
    has_new = not all(piece.known for piece in citable)
    for piece in citable:
        terms = frozenset(task.encode_terms(piece.quote))
        read = [terms] if piece.kind != TABLE else _rows(piece.quote, task.encode_terms)
        coverage = partial(inquiry.coverage, known=piece.known)
        own = numbers.without_parts(max(read, key=coverage, default=terms), piece.quote)
        if has_new and piece.known and not coverage(own):
            continue  # the question by itself does not point at it
        heading = headings[piece.chunk_number]
        covered = coverage(own) + heading.factor * coverage(heading.terms - own)
        score = WORDS * _factor(piece) * covered
        score += NUMBER * (heading.has_number or numbers.are_held(piece.quote))
        score += CHUNK * task.evidence[piece.chunk_number].similarity_score
        score += _nearness(piece, task.quote_location)
        score += DEFINITION * _defines(piece, task, inquiry)
        alone = piece.kind == ENTRY and inquiry.coverage(own) > 0
        scored.append(Scored(piece, terms, score, alone))
    return scored


@dataclass(frozen=True, slots=True)
class _Heading:
    """The headings above a chunk, as a question is compared with them."""

    terms: frozenset[int]
    factor: float
    """What a term of the question counts that only they have."""
    has_number: bool
    """Whether the last of them has a number that was asked."""


def _read_heading(
    chunk: RetrievedChunk, task: GenerationTask, inquiry: Inquiry, numbers: AskedNumbers
) -> _Heading:
    """Return the headings of a chunk.

    Its section is named where the question has all words of its own heading, or a number of it.
    """
    path, last = " ".join(chunk.headings), chunk.headings[-1] if chunk.headings else ""
    terms, own = (frozenset(task.encode_terms(text)) for text in (path, last))
    is_said = bool(own) and own <= inquiry.weights.keys() and inquiry.coverage(own) >= NAMED
    has_number = numbers.are_held(last)
    factor = HEADING_NAMED if is_said or has_number else HEADING
    return _Heading(numbers.without_parts(terms, path), factor, has_number)


def _defines(piece: Piece, task: GenerationTask, inquiry: Inquiry) -> bool:
    """Return whether a sentence, entry or row of a table says what a term asked for is."""
    if piece.kind == ENTRY and _is_named(piece.quote, task, inquiry):
        return True
    if piece.kind == TABLE and _names_row_of(
        piece.quote,
        frozenset(task.encode_terms(task.question)),
        task.evidence[piece.chunk_number].headings,
        task.encode_terms,
    ):
        return True
    if piece.kind == TABLE and inquiry.defines:
        names = (line.strip("| ").partition("|")[0] for line in piece.quote.split("\n"))
        return any(frozenset(task.encode_terms(name)) == inquiry.defines for name in names)
    return gives_definition(piece.quote, inquiry.defines, task.encode_terms)


def _is_named(entry: str, task: GenerationTask, inquiry: Inquiry) -> bool:
    """Return whether most of what is asked is the term of an entry, or one of its terms."""
    terms = (frozenset(task.encode_terms(one)) for one in terms_of_entry(entry))
    asked = inquiry.weights.keys()
    return any(one and one <= asked and inquiry.coverage(one) >= MOSTLY for one in terms)


def _factor(piece: Piece) -> float:
    return KNOWN if piece.known else 1.0


def _rows(table: str, encode_terms: Callable[[str], Sequence[int]]) -> list[frozenset[int]]:
    """Return the terms of each row of a table in Markdown, with those of its head.

    A long table has more words than any sentence, and they do not stand together.
    """
    head, rows = _lines(table)
    return [frozenset(encode_terms(f"{head} {row}")) for row in rows]


def _lines(table: str) -> tuple[str, list[str]]:
    """Return the head of a table in Markdown, with what announces it, and its rows."""
    lines = [line for line in table.split("\n") if line.strip()]
    first = next((n for n, line in enumerate(lines) if line.lstrip().startswith("|")), 0)
    rows = [line for line in lines[first + 1 :] if set(line) - set(_RULE)]
    return " ".join(lines[: first + 1]), rows


def _speaking(scored: Sequence[Scored], inquiry: Inquiry) -> list[Scored]:
    """Return the pieces that may answer: prose, and tables well ahead of it by their words.

    Formulas and code answer only where no prose has a word of the question.
    """
    prose = [s for s in scored if s.piece.kind not in LAID_OUT]
    if not any(inquiry.coverage(s.terms) for s in prose):
        return list(scored)
    mark = max(s.score for s in prose) + AHEAD
    ahead = [s for s in scored if s.piece.kind == TABLE and s.score > mark]
    return [s for s in scored if s.piece.kind not in LAID_OUT or s in ahead]


async def _cosines(
    pieces: Sequence[Piece],
    evidence: Sequence[RetrievedChunk],
    inquiry: Inquiry,
    embedder: Embedder,
) -> Sequence[float]:
    """Return the cosine of question and each piece, by the vectors that its chunk came with.

    What the question leans on counts in it, but for a piece that the answer before showed.

    The pieces of a passage that is no stored chunk are embedded now.
    """
    if not pieces:
        return []
    asked = await embedder.embed_queries(inquiry.embedded)
    whole, alone = _unit(asked.mean(axis=0)), _unit(asked[0])
    vectors = _stored(pieces, evidence)
    if vectors is None:
        texts = [f"{' '.join(evidence[p.chunk_number].headings)}: {p.text}" for p in pieces]
        vectors = await embedder.embed_passages([text[:LONGEST_EMBEDDED] for text in texts])
    questions = np.stack([alone if piece.known else whole for piece in pieces])
    return [float(cosine) for cosine in (vectors * questions).sum(axis=1)]


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / (float(np.linalg.norm(vector)) or 1.0), np.float32)


def _stored(pieces: Sequence[Piece], evidence: Sequence[RetrievedChunk]) -> Vectors | None:
    """Return the unit vectors of the pieces' sentences, of several their mean."""
    known = {number: vectors_of(evidence[number]) for number in {p.chunk_number for p in pieces}}
    rows = []
    for piece in pieces:
        chunk, own = evidence[piece.chunk_number], known[piece.chunk_number]
        if own is None:
            return None
        spans = enumerate(chunk.sentences)
        inside = [row for row, (start, end) in spans if start < piece.end and piece.start < end]
        rows.append(own[inside or ...].mean(axis=0))
    vectors = np.stack(rows)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _nearness(piece: Piece, quote: QuoteLocation | None) -> float:
    """Return the bonus of a piece for standing near the quoted passage."""
    document, start = piece.place
    if quote is None or quote.document_id != document:
        return 0.0
    first, end = quote.char_start or 0, quote.char_end or 0
    distance = max(first - start - len(piece.quote), start - end, 0)
    return NEAR_QUOTE * math.exp(-distance / QUOTE_REACH)
