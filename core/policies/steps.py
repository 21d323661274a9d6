"""Counts how often a person has asked on about the same question."""

from collections.abc import Sequence
from uuid import UUID

from core.answering.context import AnswerContext
from core.embeddings.base import Embedder
from core.errors import EmbeddingError
from core.models import ConversationTurn
from core.policies.store import HintStep, HintSteps
from core.retrieval.retrieval import Retrieval
from core.storage.sessions.store import SessionStore

SAME = 0.7
"""Cosine from which two questions of a person are taken for the same."""


class Steps:
    """Says which hint a person gets next."""

    def __init__(self, store: HintSteps, sessions: SessionStore, embedder: Embedder) -> None:
        """Compare questions by `embedder`, the built-in model."""
        self._store = store
        self._sessions = sessions
        self._embedder = embedder

    async def next(self, context: AnswerContext, retrieval: Retrieval) -> int:
        """Return the number of the hint, from 1; the same request gets the same again.

        Raises:
            StoreError: when the database fails.
        """
        request = context.request
        known = await self._store.of_request(request.request_id)
        if known is not None:
            return known.step
        latest = await self._store.latest(request.user_id, request.course_id)
        before = _in_conversation(latest, context.turns) if retrieval.leans else None
        before = before or await self._same(request.query_text, latest, context.turns)
        taken = await self._store.take(
            request.request_id, request.user_id, request.course_id, before
        )
        return taken.step

    async def _same(
        self, question: str, latest: Sequence[HintStep], turns: Sequence[ConversationTurn]
    ) -> HintStep | None:
        """Return the latest hint to the same question in other words, wherever it was asked."""
        asked = {turn.request_id: turn.user_input for turn in turns}
        texts = [await self._question(one.request_id, asked) for one in latest]
        pairs = [(one, said) for one, said in zip(latest, texts, strict=True) if said]
        if not pairs:
            return None
        try:
            vectors = await self._embedder.embed_queries([question, *(said for _, said in pairs)])
        except EmbeddingError:
            return pairs[0][0]
        alike = vectors[1:] @ vectors[0]
        return next((pair[0] for pair, a in zip(pairs, alike, strict=True) if a >= SAME), None)

    async def _question(self, request_id: UUID, asked: dict[UUID, str]) -> str:
        if request_id in asked:
            return asked[request_id]
        turn = await self._sessions.turn_of(request_id)
        return "" if turn is None else turn.user_input


def _in_conversation(
    latest: Sequence[HintStep], turns: Sequence[ConversationTurn]
) -> HintStep | None:
    """Return the latest hint that was given in a conversation."""
    here = {turn.request_id for turn in turns}
    return next((one for one in latest if one.request_id in here), None)
