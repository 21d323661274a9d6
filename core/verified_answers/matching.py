"""Finds which answer of the staff may serve a question, and decides whether it is shown."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from core.embeddings.base import SentenceEmbedder
from core.errors import EmbeddingError
from core.index.terms import TermStatistics
from core.verified_answers.base import ScopeKind, VerifiedAnswer, VerifiedScope
from core.verified_answers.folding import fold
from core.verified_answers.likeness import Wording, likeness, read_wordings

logger = logging.getLogger(__name__)

OFFERED_FROM = 0.274
"""Likeness from which an answer is offered, or a model is asked; fitted with its weights."""
SHOWN_FROM = 0.9
"""What a model's yes has to be worth, of 1, for an answer to be shown without being asked for."""
REFUSED_BELOW = 0.1
"""A model's yes below which an answer is not even offered."""
_MOST_JUDGED = 3
_MOST_OFFERED = 1
_REMEMBERED = 4_096
"""Wordings that stay read in memory, about 20 kB each."""

ServesBoth = Callable[[str, VerifiedAnswer], Awaitable[float | None]]
"""Asks a model whether one answer would serve a question and the one that it was given to; None:
it does not say."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The verified answers to a question: one that is shown, and others that are offered."""

    shown: VerifiedAnswer | None = None
    """It answers the question."""
    offered: tuple[VerifiedAnswer, ...] = ()
    """They may; likeliest first."""


class Matcher:
    """Compares questions with those that staff answered."""

    def __init__(self, embedder: SentenceEmbedder) -> None:
        """Compare by the words' meaning.

        Args:
            embedder: The offline model: it is the same for every course, and always there.
        """
        self._embedder = embedder
        self._read: OrderedDict[tuple[str, str], Wording] = OrderedDict()

    def exact(
        self, question: str, scope: VerifiedScope, answers: Sequence[VerifiedAnswer]
    ) -> VerifiedAnswer | None:
        """Return the answer to the very same question, of whichever wording; None: there is none.

        The latest, where several are.
        """
        folded = fold(question)
        same = (
            answer
            for answer in reversed(of_scope(answers, scope))
            if folded and any(fold(wording) == folded for wording in answer.wordings)
        )
        return next(same, None)

    async def like(
        self,
        question: str,
        scope: VerifiedScope,
        answers: Sequence[VerifiedAnswer],
        statistics: TermStatistics,
        encode: Callable[[str], Sequence[int]],
    ) -> list[tuple[float, VerifiedAnswer]]:
        """Return the answers that may serve a question, with their likeness, likeliest first.

        Without an answer of the embedding model there are none.
        """
        near = of_scope(answers, scope)
        if not near:
            return []
        course_id = near[0].course_id
        try:
            asked, *_ = await self._wordings([question], course_id, encode)
            texts = [(answer, wording) for answer in near for wording in answer.wordings]
            read = await self._wordings([text for _, text in texts], course_id, encode)
        except EmbeddingError as error:
            logger.warning("no answer of the staff is looked for: %s", error)
            return []

        def ranked() -> list[tuple[float, VerifiedAnswer]]:
            by_id = {answer.answer_id: answer for answer in near}
            scores = dict.fromkeys(by_id, 0.0)
            for (answer, _), wording in zip(texts, read, strict=True):
                score = likeness(asked, wording, statistics)
                scores[answer.answer_id] = max(scores[answer.answer_id], score)
            found = [(score, by_id[name]) for name, score in scores.items()]
            likely = [one for one in found if one[0] >= OFFERED_FROM]
            return sorted(likely, key=lambda one: -one[0])

        return await asyncio.to_thread(ranked)

    async def decide(
        self,
        question: str,
        likely: Sequence[tuple[float, VerifiedAnswer]],
        serves_both: ServesBoth | None,
    ) -> Matched:
        """Return what is shown or offered of the answers that may serve a question.

        Likeness offers and never shows: that is a model's to say.
        """
        if serves_both is None:
            return Matched(offered=tuple(answer for _, answer in likely[:_MOST_OFFERED]))
        candidates = [answer for _, answer in likely[:_MOST_JUDGED]]
        said = await asyncio.gather(*(serves_both(question, one) for one in candidates))
        sure = [
            (chance, one)
            for chance, one in zip(said, candidates, strict=True)
            if chance is not None and chance >= SHOWN_FROM
        ]
        if sure:
            return Matched(shown=max(sure, key=lambda entry: entry[0])[1])
        left = [
            one
            for chance, one in zip(said, candidates, strict=True)
            if chance is None or chance >= REFUSED_BELOW
        ]
        return Matched(offered=tuple(left[:_MOST_OFFERED]))

    async def _wordings(
        self, texts: Sequence[str], course_id: str, encode: Callable[[str], Sequence[int]]
    ) -> list[Wording]:
        known = {text: self._read.get((course_id, text)) for text in texts}
        new = [text for text, wording in known.items() if wording is None]
        if new:
            read = await read_wordings(new, self._embedder, encode)
            known |= dict(zip(new, read, strict=True))
        for text, wording in known.items():
            assert wording is not None
            self._read[course_id, text] = wording
            self._read.move_to_end((course_id, text))
        while len(self._read) > _REMEMBERED:
            self._read.popitem(last=False)
        return [self._read[course_id, text] for text in texts]


def of_scope(answers: Sequence[VerifiedAnswer], scope: VerifiedScope) -> list[VerifiedAnswer]:
    """Return the answers to questions of one scope; a conversation that is not known has none."""
    if scope.kind is not ScopeKind.COURSE and not scope.value:
        return []
    return [answer for answer in answers if answer.scope == scope]
