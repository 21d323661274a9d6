"""Asks an agent the questions of a file, each after those that came before it."""

from core.answering.agent import Agent
from core.evaluation.questions import GoldQuestion
from core.models import MAX_QUESTION, MIN_QUESTION, AgentRequest, AgentResponse, ConversationTurn
from core.retrieval.retrieval import Retrieval


async def rehearsed(
    agent: Agent, course_id: str, row: GoldQuestion, user_id: str
) -> tuple[Retrieval, AgentResponse]:
    """Return what is found and answered to a row's question as a student would ask it.

    The questions of its history are asked before, in their order; nothing is stored.

    Raises:
        BotError: whatever goes wrong.
    """
    turns: list[ConversationTurn] = []
    for question in row.earlier_questions:
        if len(question.strip()) >= MIN_QUESTION:  # no student is answered who asks less
            request = _request(course_id, question, user_id)
            _, response = await agent.rehearse(request, turns)
            turns.append(turn_of(len(turns) + 1, request, response))
    return await agent.rehearse(_request(course_id, row.question, user_id), turns)


def _request(course_id: str, question: str, user_id: str) -> AgentRequest:
    return AgentRequest(course_id=course_id, query_text=question[:MAX_QUESTION], user_id=user_id)


def turn_of(number: int, request: AgentRequest, response: AgentResponse) -> ConversationTurn:
    """Return the turn of an answer that nothing was stored of."""
    return ConversationTurn(
        turn_number=number,
        request_id=request.request_id,
        user_id=request.user_id,
        outcome=response.outcome,
        user_input=request.query_text,
        agent_response=response,
    )
