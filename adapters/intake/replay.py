"""The request that a stored answer is shown for, once more and elsewhere."""

from core.inbox.base import Arrival
from core.models import AgentRequest, ContextMode, ConversationTurn, UserContext


def stored_request(private: Arrival, turn: ConversationTurn) -> AgentRequest:
    """Return a request that is answered by the stored answer of the turn."""
    quoted = ContextMode.SELECTED_TEXT if turn.selected_text else ContextMode.FULL_BOOK
    return AgentRequest(
        request_id=turn.request_id,
        course_id=turn.agent_response.course_id,
        query_text=turn.user_input,
        context_mode=quoted,
        selected_text=turn.selected_text,
        user_id=private.user_id,
        user_context=UserContext(
            platform=private.platform, workspace=private.workspace, channel=private.channel
        ),
    )
