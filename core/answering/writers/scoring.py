"""Scores the pieces of the evidence against a question: by meaning and by rare words."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from core.answering.writers.base import GenerationTask
from core.answering.writers.pieces import (
    ENTRY,
    LAID_OUT,
    LISTS,
    TABLE,
    Line,
    Piece,
    cells_of,
)
from core.domain import EXPLAIN_QUOTE, ConversationTurn, QuoteLocation, RetrievedChunk, gist_of
from core.domain.sentences import sentences
from core.index.terms import TermStatistics
from core.providers.embeddings.base import Embedder, Vectors, vectors_of

_ASKED = re.compile(
    r"^\W*(?:what(?:['’]s| is| are| was| were)(?: meant by)?|define|explain)\s+"
    r"(?:the (?:term|meaning of|definition of|concept of|notion of)\s+)?"
    r"[\"'“‘`]*(?P<term>.{2,60}?)\W*$"
    r"|^\W*what (?:does|do|did) (?P<meaning>.{2,60}?) (?:mean|stand for|refer to)\W*$",
    re.I,
)
_LONGEST_TERM = 6
"""Words."""
_COPULA = re.compile(
    r"\b(?:is|are|was|were|means?|refers? to|describes?|denotes?|occurs? when|consists? of"
    r"|measures?|represents?|includes?|happens when)\b",
    re.I,
)
_ENTRY_NAMES = re.compile(r"\s*(?:[-*•+][ \t]+)?(?P<names>[^\n]{1,200}?):(?:\s|$)")
_OPTION = re.compile(r"^(?P<name>--?[^\s=\[]+).*", re.S)
"""An option with its argument: `--jobs N`, `--jobs=N`, `--color[=WHEN]`."""
_OTHER_TERMS = 2
"""Terms that what a sentence defines may have beyond the term asked for."""


def defined_term(question: str) -> str | None:
    """Return X of "What is X?", "Define X" and the like; none for any other question."""
    match = _ASKED.match(question.strip())
    if match is None:
        return None
    term: str = match["term"] or match["meaning"]
    return term if len(term.split()) <= _LONGEST_TERM else None


def terms_of_entry(entry: str) -> list[str]:
    """Return what an entry of a definition or option list defines.

    Of `-j N, --jobs N: Use N threads.` that is each option without its argument, and of
    `open(file, mode): ...` the name of the function.
    """
    names = _ENTRY_NAMES.match(entry)
    written = names["names"].replace("`", "").partition("(")[0] if names else ""
    parts = written.split(", ") if written else []
    return [_OPTION.sub(r"\g<name>", part).strip() for part in parts]


def gives_definition(
    sentence: str, term: frozenset[int], encode_terms: Callable[[str], Sequence[int]]
) -> bool:
    """Return whether a sentence's subject or predicate is the term asked for.

    Args:
        sentence: One sentence of the book.
        term: The term ids of what is to be defined; empty: nothing is.
        encode_terms: Gives the term ids of a text in the book's language.
    """
    verb = _COPULA.search(sentence) if term else None
    if verb is None:
        return False
    places = (sentence[: verb.start()], sentence[verb.end() :])
    named = (frozenset(encode_terms(place)) for place in places)
    return any(term <= one and len(one - term) <= _OTHER_TERMS for one in named)


CONTEXT = 0.5
"""What a word of the quote, of the question before or of the section searched counts."""
PREVIOUS_ANSWER = 0.25
INQUIRY_LONGEST_EMBEDDED = 600
"""Characters of a quote or of an earlier question that are embedded."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question as pieces are scored against it."""

    weights: Mapping[int, float]
    """What each term counts; they sum to 1 unless there are none."""
    embedded: tuple[str, ...]
    """Texts whose mean vector stands for the question; the first is the question itself."""
    given: tuple[frozenset[int], ...] = ()
    """The terms of each sentence of the quote that is explained."""
    known: tuple[frozenset[int], ...] = ()
    """The terms of each sentence of the answer before, where the question leans on it."""
    own: Mapping[int, float] = field(default_factory=dict)
    """What each term of the question itself counts where it leans; they sum to 1, too."""
    defines: frozenset[int] = frozenset()
    """The terms of X in "What is X?"."""

    def coverage(self, terms: frozenset[int], *, known: bool = False) -> float:
        """Return the weight of the question's terms among `terms`, 0 to 1.

        Args:
            known: Whether a text says what the answer before said: all of what the question leans
                on is in it, so only the question's own terms count.
        """
        weights = self.own if known else self.weights
        return sum(weight for term, weight in weights.items() if term in terms)


def read_inquiry(task: GenerationTask) -> Inquiry:
    """Return what the task asks, with the quote, turn or section that its question rests on."""
    if task.selected_text is not None:
        return _about_quote(task, task.selected_text)
    term = defined_term(task.question)
    own = task.encode_terms(term or task.question)
    if task.leans and task.history:
        return _about_turn(task, task.history[-1], own)
    before = " ".join(gist_of(task.thread)) or task.section
    if task.leans and before:
        said = before[-INQUIRY_LONGEST_EMBEDDED:]
        parts = [(own, 1.0), (task.encode_terms(said), CONTEXT)]
        return Inquiry(_weigh(parts, task.statistics), (task.question, f"{said} {task.question}"))
    defines = frozenset(own) if term else frozenset[int]()
    return Inquiry(_weigh([(own, 1.0)], task.statistics), (task.question,), defines=defines)


def _about_quote(task: GenerationTask, quote: str) -> Inquiry:
    """Mix question and quote; without a question of its own, ask for what explains the quote."""
    key, start = task.encode_terms(quote), quote[:INQUIRY_LONGEST_EMBEDDED]
    if task.question != EXPLAIN_QUOTE:
        parts = [(task.encode_terms(task.question), 1.0), (key, CONTEXT)]
        return Inquiry(_weigh(parts, task.statistics), (f"{task.question} {start}",))
    said = tuple(frozenset(task.encode_terms(sentence)) for sentence in sentences(quote))
    return Inquiry(_weigh([(key, 1.0)], task.statistics), (start,), given=said)


def _about_turn(task: GenerationTask, turn: ConversationTurn, own: Sequence[int]) -> Inquiry:
    """Mix the question with the turn before it, whose answer is known."""
    cited = turn.agent_response.citations
    said = [task.encode_terms(one) for citation in cited for one in sentences(citation.quote)]
    before = task.encode_terms(turn.question)
    parts = [(own, 1.0), (before, CONTEXT), *((one, PREVIOUS_ANSWER) for one in said)]
    with_context = f"{turn.question[:INQUIRY_LONGEST_EMBEDDED]} {task.question}"
    return Inquiry(
        _weigh(parts, task.statistics),
        (task.question, with_context),
        known=tuple(frozenset(one) for one in said),
        own=_weigh([(own, 1.0)], task.statistics),
    )


def _weigh(
    parts: Sequence[tuple[Sequence[int], float]], statistics: TermStatistics
) -> dict[int, float]:
    """Return each term's share of the rarity of all; a term's largest factor counts."""
    factors: dict[int, float] = {}
    for terms, factor in parts:
        for term in terms:
            factors[term] = max(factor, factors.get(term, 0.0))
    weights = statistics.rarity(list(factors)) * np.fromiter(factors.values(), np.float64)
    total = float(weights.sum())
    return dict(zip(factors, (weights / total).tolist(), strict=True)) if total else {}


_NUMBER = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)(?![\w]|\.\d)")


@dataclass(frozen=True, slots=True)
class AskedNumbers:
    """The numbers of a question with the terms that each is parted into."""

    parts: Mapping[str, frozenset[int]]

    def are_held(self, text: str) -> bool:
        """Return whether a text has one of the numbers as it was asked."""
        held = _held(text) if self.parts else frozenset()
        return not self.parts.keys().isdisjoint(held)

    def without_parts(self, terms: frozenset[int], text: str) -> frozenset[int]:
        """Return the terms of a text less those of numbers that it does not have as a whole."""
        held = _held(text) if self.parts else frozenset()
        for number, parts in self.parts.items():
            if number not in held:
                terms -= parts
        return terms


def _held(text: str) -> frozenset[str]:
    """Return the numbers of a text with what they begin with: `3.1.2` is also of `3.1`."""
    found = (number.split(".") for number in _NUMBER.findall(text))
    return frozenset(".".join(parts[:n]) for parts in found for n in range(2, len(parts) + 1))


def asked_numbers(question: str, encode_terms: Callable[[str], Sequence[int]]) -> AskedNumbers:
    """Return the numbers of a question, which the index knows by their parts alone."""
    return AskedNumbers({n: frozenset(encode_terms(n)) for n in _NUMBER.findall(question)})


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
CLEARLY = 0.1
"""Share of the question's words, by rarity, that a line has more than any other that answers."""
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
    likeness: float = 0.0
    """The cosine of the question and what of it is most like it."""
    line: Line | None = None
    """The item or row that answers, where it is a block of which one does."""


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
    likenesses = await _likenesses([s.piece for s in kept], task.evidence, inquiry, embedder)
    return [
        replace(
            s,
            score=s.score + MEANING * _factor(s.piece) * own.whole,
            likeness=own.whole,
            line=_line_of(s.piece, own, task, inquiry),
        )
        for s, own in zip(kept, likenesses, strict=True)
    ]


class _Likeness(NamedTuple):
    """How like a question a piece is."""

    whole: float
    """The cosine of its mean vector, or of the sentence that is most like the question."""
    parts: Mapping[int, float] = MappingProxyType({})
    """That of each of its sentences, by where it starts in the piece."""


def _line_of(
    piece: Piece, likeness: _Likeness, task: GenerationTask, inquiry: Inquiry
) -> Line | None:
    """Return the line of a block that answers clearly better than the others.

    Of a table, its first cell says what a row is about.
    """
    scored = []
    for line in piece.lines:
        terms = frozenset(task.encode_terms(line.text))
        name = cells_of(line.text)[0] if piece.kind == TABLE else line.text
        named = inquiry.coverage(frozenset(task.encode_terms(name)))
        inside = [n for start, n in likeness.parts.items() if line.start <= start < line.end]
        meant = max(inside, default=0.0) if piece.kind in LISTS else 0.0
        scored.append((named + inquiry.coverage(terms) + meant, line))
    best = sorted(scored, key=lambda one: -one[0])[:2]
    if not best or not best[0][0] or (len(best) > 1 and best[0][0] - best[1][0] < CLEARLY):
        return None
    return best[0][1]


def says_again(terms: frozenset[int], said: Sequence[frozenset[int]]) -> bool:
    """Return whether a text with these terms adds next to nothing to one already said."""
    return any(len(terms & other) >= SAME * max(1, len(terms)) for other in said)


def _by_words(pieces: Sequence[Piece], task: GenerationTask, inquiry: Inquiry) -> list[Scored]:
    """Return the pieces that may answer, with all of their score that needs no model."""
    numbers = asked_numbers(task.question, task.encode_terms)
    headings = [_read_heading(c, task, inquiry, numbers) for c in task.evidence]
    scored: list[Scored] = []
    citable = [piece for piece in pieces if piece.citable]
    has_new = not all(piece.known for piece in citable)
    for piece in citable:
        terms = frozenset(task.encode_terms(piece.quote))
        read = [terms] if piece.kind != TABLE else _rows(piece, task.encode_terms)
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
    if piece.kind == TABLE:
        return any(one <= inquiry.weights.keys() for one in _names_of_rows(piece, task))
    return gives_definition(piece.quote, inquiry.defines, task.encode_terms)


def _is_named(entry: str, task: GenerationTask, inquiry: Inquiry) -> bool:
    """Return whether most of what is asked is the term of an entry, or one of its terms."""
    terms = (frozenset(task.encode_terms(one)) for one in terms_of_entry(entry))
    asked = inquiry.weights.keys()
    return any(one and one <= asked and inquiry.coverage(one) >= MOSTLY for one in terms)


def _names_of_rows(table: Piece, task: GenerationTask) -> Iterator[frozenset[int]]:
    """Yield the terms of what each row of a table is about: its first cell."""
    names = (frozenset(task.encode_terms(cells_of(row.text)[0])) for row in table.lines)
    return filter(None, names)


def _rows(table: Piece, encode_terms: Callable[[str], Sequence[int]]) -> list[frozenset[int]]:
    """Return the terms of each row of a table in Markdown, with those of its head.

    A long table has more words than any sentence, and they do not stand together.
    """
    return [frozenset(encode_terms(f"{table.head} {row.text}")) for row in table.lines]


def _factor(piece: Piece) -> float:
    return KNOWN if piece.known else 1.0


def _speaking(scored: Sequence[Scored], inquiry: Inquiry) -> list[Scored]:
    """Return the pieces that may answer: prose, and what is laid out well ahead of it by words."""
    prose = [s for s in scored if s.piece.kind not in LAID_OUT]
    if not any(inquiry.coverage(s.terms) for s in prose):
        return list(scored)
    mark = max(s.score for s in prose) + AHEAD
    ahead = [s for s in scored if s.piece.kind in LAID_OUT and s.score > mark]
    return [s for s in scored if s.piece.kind not in LAID_OUT or s in ahead]


async def _likenesses(
    pieces: Sequence[Piece],
    evidence: Sequence[RetrievedChunk],
    inquiry: Inquiry,
    embedder: Embedder,
) -> Sequence[_Likeness]:
    """Return how like the question each piece is, by the vectors that its chunk came with.

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
        embedded = await embedder.embed_passages([text[:LONGEST_EMBEDDED] for text in texts])
        vectors = [{0: one} for one in embedded]
    asked_of = [alone if piece.known else whole for piece in pieces]
    return [_likest(own, one) for own, one in zip(vectors, asked_of, strict=True)]


def _likest(vectors: Mapping[int, Vectors], question: Vectors) -> _Likeness:
    mean = _unit(np.mean([*vectors.values()], axis=0))
    parts = {start: float(vector @ question) for start, vector in vectors.items()}
    return _Likeness(max(float(mean @ question), *parts.values()), parts)


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / (float(np.linalg.norm(vector)) or 1.0), np.float32)


def _stored(
    pieces: Sequence[Piece], evidence: Sequence[RetrievedChunk]
) -> list[dict[int, Vectors]] | None:
    """Return the unit vectors of the pieces' sentences by their starts; None: one came without."""
    known = {number: vectors_of(evidence[number]) for number in {p.chunk_number for p in pieces}}
    found = []
    for piece in pieces:
        chunk, own = evidence[piece.chunk_number], known[piece.chunk_number]
        if own is None:
            return None
        rows = {
            start - piece.start: own[row]
            for row, (start, end) in enumerate(chunk.sentences)
            if start < piece.end and piece.start < end
        }
        found.append(rows or {0: own.mean(axis=0)})
    return found


def _nearness(piece: Piece, quote: QuoteLocation | None) -> float:
    """Return the bonus of a piece for standing near the quoted passage."""
    document, start = piece.place
    if quote is None or quote.document_id != document:
        return 0.0
    first, end = quote.char_start or 0, quote.char_end or 0
    distance = max(first - start - len(piece.quote), start - end, 0)
    return NEAR_QUOTE * math.exp(-distance / QUOTE_REACH)
