"""Mends the misspelt words of a question against the words of the book."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from core.domain import EXPLAIN_QUOTE, Again, RetrievalToolInput
from core.domain.errors import ConfigurationError, EmbeddingError
from core.domain.text_features import probability, shipped
from core.providers.embeddings.base import Embedder, Vectors
from core.retrieval.ranking import BUILT_IN, ScoredChunk

_WORD = re.compile(r"(?<![\w@/:.`'’-])[^\W\d_]+(?![\w@/:`'’-]|\.\w)")
"""A word that is only letters, and no part of a name, a path or code."""
_FEWEST_LETTERS = 5
"""Below it, too many words lie one letter apart."""
_FEW_WORDS = 3
_TWO_MISTAKES = 8
"""Letters from which a word may hold two mistakes."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A question as it is searched for."""

    question: str
    words: tuple[str, ...] = ()
    """What was put instead of misspelt words, in the order of the question."""


class Speller:
    """Knows a book's words; without any, it mends nothing."""

    def __init__(self, words: Mapping[str, int], is_known: Callable[[str], bool]) -> None:
        """Take the words in lower case with their counts.

        Args:
            is_known: Returns whether the book has a word in any form, or it is a mere function
                word of the book's language.
        """
        self._counts = words
        self._words = list(words)
        self._is_known = is_known

    def mend(self, question: str) -> Mended:
        """Return the question with the book's words for those that the book cannot have.

        A known word stays, and so does a capitalised one inside a sentence: it is a name. Of
        words that are equally near, the one that the book has oftener is taken.
        """
        written = _WORD.findall(question)
        unknown = sum(not self._knows(word.casefold()) for word in written)
        if not unknown or not self._words:
            return Mended(question)
        if unknown * 2 > max(len(written), _FEW_WORDS):
            return Mended(question)  # it is in another language, or about another thing
        found: list[str] = []

        def replaced(match: re.Match[str]) -> str:
            word, before = match.group(), question[: match.start()].rstrip()
            begins = not before or before[-1] in ".!?"
            if word != word.lower() and not (begins and word[1:].islower()):
                return word
            right = self._nearest(word.casefold())
            if right is None:
                return word
            found.append(right)
            return right.capitalize() if word[0].isupper() else right

        mended = _WORD.sub(replaced, question)
        return Mended(mended, tuple(dict.fromkeys(found)))

    @cached_property
    def _bare(self) -> dict[str, str]:
        """The words with marks by their letters alone; most questions never need them."""
        return {_letters(word): word for word in self._words if not word.isalpha()}

    def _knows(self, word: str) -> bool:
        return word in self._counts or self._is_known(word)

    def _nearest(self, word: str) -> str | None:
        if self._knows(word):
            return None
        if (marked := self._bare.get(word)) is not None:
            return marked
        if len(word) < _FEWEST_LETTERS:
            return None
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        most = 1 + (len(word) >= _TWO_MISTAKES)
        near = process.extract(
            word, self._words, scorer=OSA.distance, score_cutoff=most, limit=None
        )
        likely = [
            (distance, -self._counts[other], other)
            for other, distance, _ in near
            if other[0] == word[0]
        ]
        return min(likely)[2] if likely else None


def _letters(word: str) -> str:
    return "".join(letter for letter in word if letter.isalpha())


WEIGHTS = Path(__file__).with_name("again.npy")
"""(3, dimensions + 1) float16: of each `Again`, in its order, the weights and then the bias."""
SURE_OF_AGAIN = 0.4
MOST_WORDS = 8
"""A longer text asks something else."""


async def wanted_again(question: str, embedder: Embedder) -> Again | None:
    """Return what of the answer before a question asks for; None: it is about something else.

    So it is wherever the head's own model is not at hand.
    """
    if embedder.name != BUILT_IN or not 0 < len(question.split()) <= MOST_WORDS:
        return None
    try:
        [vector] = await embedder.embed_queries([question])
    except EmbeddingError:
        return None
    chances = probabilities(vector[None], again_weights())[0]
    best = int(np.argmax(chances))
    return [*Again][best] if chances[best] >= SURE_OF_AGAIN else None


def probabilities(vectors: Vectors, heads: Vectors) -> Vectors:
    """Return (n_texts, 3) the probability of each wish, by itself.

    Args:
        vectors: (n_texts, dimensions) by the built-in model.
        heads: (3, dimensions + 1) the weights, the bias last.
    """
    odds = vectors @ heads[:, :-1].T + heads[:, -1]
    return np.asarray(1 / (1 + np.exp(-odds)), np.float32)


@cache
def again_weights() -> Vectors:
    """Return the weights that the package ships; read at their first use."""
    stored: Vectors = np.load(WEIGHTS).astype(np.float32)
    return stored


COURTESY_WEIGHTS = Path(__file__).with_name("courtesy.npy")
"""(2, dimensions + 1) float16: of each head a weight for each dimension, then the bias."""
AROUND, ALONE = 0, 1
"""The head of what may stand around a question, and that of what asks nothing by itself."""
ACTS = Path(__file__).with_name("acts.npy")
"""(4, dimensions + 1) float16: of each `Act`, in its order, the weights and then the bias."""
COURTESY_SURE = 0.5
SURE_OF_ACT = 0.35
_SURE_OF_WORD = 0.8
"""Of a word alone, which may be a term that the model does not know, such as `MCV`."""
_PARTS = re.compile(r"(?<=[.!?,:;…])\s+|\s+[-–—]+\s+|\s*\n\s*")
_MOST_WORDS = 8
"""A longer part has something to say."""


class Act(StrEnum):
    """What people say to a bot that no book answers."""

    WISH = "wish"
    """That it does something, such as to ask them questions."""
    OBJECTION = "objection"
    """That it is wrong, or that they do not understand."""
    IDENTITY = "identity"
    """Who it is, and what it can do."""
    LOST = "lost"
    """Something that means nothing unless something was said before."""


async def act_of(message: str, embedder: Embedder) -> Act | None:
    """Return what a message does that no book answers; None: it asks something.

    So it is where the heads' own model is not at hand.
    """
    if embedder.name != BUILT_IN or not 0 < len(message.split()) <= _MOST_WORDS:
        return None
    try:
        [vector] = await embedder.embed_queries([message])
    except (EmbeddingError, ConfigurationError):
        return None
    chances = [chance for head in act_weights() for chance in courtesy(vector[None], head)]
    best = int(np.argmax(chances))
    sure = SURE_OF_ACT if len(message.split()) > 1 else _SURE_OF_WORD
    return [*Act][best] if chances[best] >= sure else None


async def without_courtesy(question: str, embedder: Embedder) -> str:
    """Return the question without courtesy at its edges; all of it where nothing else is left.

    Only whole parts between marks are left out, and only where the head's own model is at hand.
    """
    parts = _parts(question)
    if len(parts) < 2:
        return question
    polite = await _are_polite(parts, embedder, AROUND)
    if all(polite):
        return question
    first = polite.index(False)
    last = len(polite) - polite[::-1].index(False)
    if (first, last) == (0, len(parts)):
        return question
    start = question.index(parts[first])
    end = question.rindex(parts[last - 1]) + len(parts[last - 1])
    return question[start:end]


async def is_courtesy_alone(message: str, embedder: Embedder) -> bool:
    """Return whether a message greets, thanks or takes leave, and asks nothing.

    It never is where the head's own model is not at hand.
    """
    parts = _parts(message)
    return bool(parts) and all(await _are_polite(parts, embedder, ALONE))


def _parts(text: str) -> list[str]:
    return [part for part in _PARTS.split(text) if part.strip()]


async def _are_polite(parts: list[str], embedder: Embedder, head: int) -> list[bool]:
    """Return of each part whether it is courtesy; of none, where that cannot be known."""
    if embedder.name != BUILT_IN or all(len(part.split()) > _MOST_WORDS for part in parts):
        return [False] * len(parts)
    try:
        vectors = await embedder.embed_queries(parts)
    except (EmbeddingError, ConfigurationError):
        return [False] * len(parts)
    return [
        len(part.split()) <= _MOST_WORDS and chance >= COURTESY_SURE
        for part, chance in zip(parts, courtesy(vectors, courtesy_weights()[head]), strict=True)
    ]


def courtesy(vectors: Vectors, head: Vectors) -> list[float]:
    """Return the probability that each text is mere courtesy.

    Args:
        vectors: (n_texts, dimensions) by the built-in model.
        head: (dimensions + 1,) the weights of one, the bias last.
    """
    odds = vectors @ head[:-1] + head[-1]
    return [float(value) for value in 1 / (1 + np.exp(-odds))]


@cache
def courtesy_weights() -> Vectors:
    """Return the weights of both heads, as the package ships them; read at their first use."""
    stored: Vectors = np.load(COURTESY_WEIGHTS).astype(np.float32)
    return stored


@cache
def act_weights() -> Vectors:
    """Return the weights of the acts, as the package ships them; read at their first use."""
    stored: Vectors = np.load(ACTS).astype(np.float32)
    return stored


FOLLOWUPS_WEIGHTS = Path(__file__).with_name("leaning.json")
"""What `python -m tests.bench.fit_leaning` writes."""
UNKNOWN = 0.5
"""How much a question is taken to lean where no weights fit: both readings count alike."""


def texts_of(
    asked: RetrievalToolInput, earlier: Sequence[str], section: str | None
) -> tuple[str, ...]:
    """Return the question alone or, if it may lean on something, also its context and that.

    The context says what is asked, should the question lean: after the two questions before it or
    the heading of the section that is searched. With a quote, it is the quote itself.
    """
    question, quote = asked.query_text, asked.selected_text
    if quote is not None:
        return (quote,) if question == EXPLAIN_QUOTE else (question, quote, quote)
    before = [*earlier[-2:]] or ([section] if section else [])
    return (question, "\n".join([*before, question]), before[-1]) if before else (question,)


def leaning_figures(
    alone: Sequence[ScoredChunk],
    together: Sequence[ScoredChunk],
    vectors: Vectors,
    words: int,
) -> dict[str, float]:
    """Return what tells a leaning question: what it finds alone and together with its context.

    Args:
        alone: What the question finds by itself, best first; one chunk at least.
        together: What it finds after its context; one chunk at least.
        vectors: (2, dimensions) of the question and of what was said before it.
        words: How many terms of the question count.
    """
    best = max(one.score for one in alone)
    return {
        "score": best,
        "cosine": max(one.evidence.cosine for one in alone),
        "coverage": alone[0].evidence.coverage,
        "words": math.log1p(words),
        "gain": max(one.score for one in together) - best,
        "likeness": float(vectors[0] @ vectors[1]),
    }


def leaning(figures: dict[str, float]) -> float:
    """Return how much a question leans on its context, 0 to 1."""
    return probability(shipped(FOLLOWUPS_WEIGHTS).log_odds(figures))
