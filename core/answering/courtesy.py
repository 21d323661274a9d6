"""Answers a greeting or thanks with one friendly sentence, without the book."""

from core.answering.context import AnswerContext
from core.embeddings.base import Embedder
from core.i18n import text
from core.models import NOBODY, AgentResponse, Outcome
from core.retrieval.question.courtesy import is_courtesy_alone


class CourtesyStage:
    """Looks whether a message asks nothing, before anything is looked for."""

    def __init__(self, embedder: Embedder) -> None:
        """Put together what is needed.

        Args:
            embedder: The built-in model.
        """
        self._embedder = embedder

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        """Return the friendly sentence; None: there is something to answer, or a model to do it.

        What comes with a message, such as a quote or a thread, may be the question.
        """
        request = context.request
        comes_with = context.quote or request.thread_messages or request.unread
        is_chosen = request.again is not None or request.verified_answer is not None
        if comes_with or is_chosen or context.may_write:
            return None
        if not await is_courtesy_alone(request.query_text, self._embedder):
            return None
        return context.completed(
            Outcome.ABSTAINED, text("answer-courtesy"), model_name=NOBODY, asks_nothing=True
        )
