"""Answers what no book answers, such as a greeting or a wish, with one sentence of its own."""

from core.answering.context import AnswerContext
from core.embeddings.base import Embedder
from core.i18n import Message
from core.models import NOBODY, AgentResponse, Outcome
from core.retrieval.question.again import wanted_again
from core.retrieval.question.courtesy import Act, act_of, is_courtesy_alone

_COURTESY = Message("answer-courtesy")
_SAID = {
    Act.WISH: Message("answer-act-wish"),
    Act.OBJECTION: Message("answer-act-objection"),
    Act.IDENTITY: Message("answer-act-identity"),
    Act.LOST: Message("answer-act-lost"),
}


class CourtesyStage:
    """Looks whether a message asks nothing of the book, before anything is looked for."""

    def __init__(self, embedder: Embedder) -> None:
        """Put together what is needed.

        Args:
            embedder: The built-in model.
        """
        self._embedder = embedder

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        """Return the sentence; None: there is something to answer, or a model to do it.

        What comes with a message, such as a quote or a thread, may be the question.
        """
        request = context.request
        comes_with = context.quote or request.thread_messages or request.unread
        is_chosen = request.again is not None or request.verified_answer is not None
        if comes_with or is_chosen or request.stands_alone or context.may_write:
            return None
        said = await self._said(context)
        if said is None:
            return None
        return context.completed(Outcome.ABSTAINED, str(said), model_name=NOBODY, asks_nothing=True)

    async def _said(self, context: AnswerContext) -> Message | None:
        """Return what is said to a message; None: it asks something.

        After an answer, "simpler" wants that one again, and "why tho" goes on from it.
        """
        question = context.request.query_text
        if await is_courtesy_alone(question, self._embedder):
            return _COURTESY
        act = await act_of(question, self._embedder)
        if act is None:
            return None
        if context.turns:
            is_again = await wanted_again(question, self._embedder) is not None
            return None if act is Act.LOST or is_again else _SAID[act]
        return _SAID[act]
