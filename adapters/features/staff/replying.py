"""The event that shows an answer of the staff where its question was asked."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from core.help_requests.base import HelpRequest
from core.inbox.base import Answered, Arrival, Kind, lane_for, request_id_for
from core.models import AgentRequest, ConversationTurn, UserContext, session_id_for
from core.staff_answers import answer_to

PINGS = "pings"
"""In an arrival's address: that its reply notifies the asker."""

ReplyAddress = Callable[[Arrival, str | None], Mapping[str, Any]]
"""Returns where a reply to a question goes, from its event and the thread that it is in by now."""


def reply_to(
    request: HelpRequest,
    original: Arrival,
    event: Answered | None,
    turn: ConversationTurn,
    position: int,
    address: ReplyAddress,
) -> Arrival:
    """Return the event that shows a staff's answer where the question was asked."""
    thread = event.thread if event is not None else request.thread
    key = f"{original.platform}:staff:{request.help_id}"
    session = turn.agent_response.conversation_id
    if thread is not None and not original.address.get("dm"):
        session = session_id_for(original.platform, original.workspace, original.channel, thread)
    asked = AgentRequest(
        request_id=request_id_for(key),
        course_id=request.course_id,
        query_text=turn.user_input,
        session_id=session,
        user_id=request.asked_by,
        verified_answer=answer_to(request),
        sent_by_staff=True,
        user_context=UserContext(
            platform=original.platform,
            workspace=original.workspace,
            channel=original.channel,
            thread=thread,
            locale=request.locale,
        ),
    )
    lane = original.lane
    if thread is not None:
        lane = lane_for(original.platform, original.workspace, original.channel, thread)
    return replace(
        original,
        key=key,
        kind=Kind.REPLY,
        about=None,
        lane=lane,
        position=position,
        address={**address(original, thread), PINGS: True},
        request=asked,
        refusal=None,
        pending=None,
        token=None,
        token_expires_at=None,
        sent_at=None,
        told_to_wait=False,
        gist=None,
    )
