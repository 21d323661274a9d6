"""Decides whether cited passages carry what an answer says, apart from the product's own check."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.embeddings.base import Embedder
from core.evaluation.agreement import names_agree, numbers_agree, stands_in
from core.evaluation.polarity import EncodeTerms, directions_agree, negations_agree
from core.evaluation.statements import CitedPassage, Statement
from core.index.terms import TermStatistics
from core.text.sentences import sentences

COVERED = 0.6
"""The share of a sentence's words, by rarity, that its chunks have to hold."""
CLOSE = 0.5
"""The cosine that a sentence and the nearest sentence of its chunks have to reach."""

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
        """Return whether the passages together contain what the sentence claims.

        They do when the sentence stands in a quote word for word. Else their chunks have to
        hold its words and names, and a sentence near to it in meaning; and the quotes with that
        sentence have to hold its numbers, and may neither negate it nor say the opposite.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        if any(stands_in(sentence, passage.quote) for passage in passages):
            return True
        text = "\n\n".join(passage.chunk for passage in passages)
        if self._coverage(sentence, text) < COVERED or not names_agree(sentence, text):
            return False
        nearest, cosine = await self._nearest(sentence, text)
        support = "\n\n".join((*(passage.quote for passage in passages), nearest))
        return (
            cosine >= CLOSE
            and numbers_agree(sentence, support)
            and directions_agree(sentence, support, self._encode_terms)
            and negations_agree(sentence, support, self._encode_terms)
        )

    def _coverage(self, sentence: str, text: str) -> float:
        return self._statistics.coverage(self._encode_terms(sentence), self._encode_terms(text))

    async def _nearest(self, sentence: str, text: str) -> tuple[str, float]:
        """Return the sentence of the text that is nearest in meaning, and its cosine."""
        candidates = sentences(text)
        vectors = await self._embedder.embed_passages([sentence, *candidates])
        cosines = vectors[1:] @ vectors[0]
        best = int(np.argmax(cosines))
        return candidates[best], float(cosines[best])


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
