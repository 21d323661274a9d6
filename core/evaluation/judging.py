"""Decides whether cited passages carry what an answer says, apart from the product's own check."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.embeddings.base import Embedder
from core.evaluation.statements import CitedPassage, Statement, stands_in
from core.index.terms import TermStatistics
from core.text.sentences import sentences

COVERED = 0.6
"""The share of a sentence's words, by rarity, that its chunks have to hold."""
CLOSE = 0.5
"""The cosine that a sentence and the nearest sentence of its chunks have to reach."""

EncodeTerms = Callable[[str], Sequence[int]]
"""Gives the ids of the words of a text that carry meaning, stemmed."""
Carries = Callable[[str, Sequence[CitedPassage]], Awaitable[bool]]
"""Says whether passages, taken together, carry a sentence."""


class PassageJudge:
    """Compares a sentence with the chunks that it cites, in one book's language."""

    def __init__(
        self, embedder: Embedder, statistics: TermStatistics, encode_terms: EncodeTerms
    ) -> None:
        """`statistics` tells how rare the book's words are, `encode_terms` gives their ids."""
        self._embedder = embedder
        self._statistics = statistics
        self._encode_terms = encode_terms

    async def carries(self, sentence: str, passages: Sequence[CitedPassage]) -> bool:
        """Return whether the passages together speak of what the sentence claims.

        They do when the sentence stands in a quote word for word. Else their chunks have to
        hold its words, and a sentence near to it in meaning.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        if any(stands_in(sentence, passage.quote) for passage in passages):
            return True
        text = "\n\n".join(passage.chunk for passage in passages)
        return self._coverage(sentence, text) >= COVERED and await self._is_near(sentence, text)

    def _coverage(self, sentence: str, text: str) -> float:
        return self._statistics.coverage(self._encode_terms(sentence), self._encode_terms(text))

    async def _is_near(self, sentence: str, text: str) -> bool:
        vectors = await self._embedder.embed_passages([sentence, *sentences(text)])
        return float(np.max(vectors[1:] @ vectors[0])) >= CLOSE


@dataclass(frozen=True, slots=True)
class JudgedStatement:
    """A sentence of an answer with what is to be thought of its citations."""

    statement: Statement
    carried: bool
    """Whether its passages together carry it; without a citation nothing does."""
    right: tuple[bool, ...]
    """For each of its citations whether it is needed or enough to carry it."""


async def judged(statement: Statement, carries: Carries) -> JudgedStatement:
    """Return the statement with its citations judged.

    A citation is right when its passage alone carries the sentence, or when all do together
    but the others without it do not.

    Source: Gao et al., Enabling Large Language Models to Generate Text with Citations (2023).
    """
    passages = statement.passages
    carried = bool(passages) and await carries(statement.text, passages)
    if len(passages) < 2:
        return JudgedStatement(statement, carried, (carried,) * len(passages))
    right = []
    for number, passage in enumerate(passages):
        others = passages[:number] + passages[number + 1 :]
        enough = await carries(statement.text, [passage])
        needed = carried and not enough and not await carries(statement.text, others)
        right.append(enough or needed)
    return JudgedStatement(statement, carried, tuple(right))
