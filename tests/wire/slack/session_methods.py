"""agents.sessions.*: what an agent does in a thread, and what the thread is called.

Facts of docs.slack.dev/ai/agent-sessions, read 2026-11-25: only apps declared as agents may call
(`not_authorized` else), the status is one of four words, the title counts when the session begins.
Workspaces that do not have them yet answer `unknown_method`: `State.agent_sessions`.
"""

from tests.wire.slack.entities import AgentSession, Channel
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.requests import Method, Request, Table

STATES = frozenset({"active", "processing", "suspended", "closed"})
NO_STOP = "missing_agent_session_stopped_event_subscription"
"""The warning while an app hears nothing of the stop button: then Slack shows none."""


def set_status(request: Request) -> Json:
    """agents.sessions.setStatus."""
    channel, thread_ts = _place(request)
    status = request.required("status")
    if status not in STATES:
        raise SlackError("invalid_arguments", "must be a valid enum value [json-pointer:/status]")
    title = _title(request) if request.text("title") else None
    session = request.world.sessions.get((channel.id, thread_ts))
    if session is None:
        session = AgentSession(request.installation, channel, thread_ts, title=title)
        request.world.sessions[channel.id, thread_ts] = session
    change_status(request, session, status)
    answer: Json = {"ok": True, "status": status, "title": session.title}
    if "agent_session_stopped" not in request.installation.app.events:
        answer |= {"warning": NO_STOP, "response_metadata": {"warnings": [NO_STOP]}}
    return answer


def rename(request: Request) -> Json:
    """agents.sessions.rename."""
    channel, thread_ts = _place(request)
    title = _title(request)
    session = request.world.sessions.get((channel.id, thread_ts))
    if session is None:
        raise SlackError("session_not_found")
    session.title = title
    request.world.changed("session", session, title)
    return {"ok": True, "title": title}


def change_status(request: Request, session: AgentSession, status: str) -> None:
    """Set what a session's agent does."""
    session.statuses.append(status)
    request.world.changed("session", session, status)


def _title(request: Request) -> str:
    title = request.required("title")
    if len(title) > 200:
        raise SlackError("invalid_arguments", "must be less than 201 characters [json-pointer:]")
    return title


def _place(request: Request) -> tuple[Channel, str]:
    """Return the thread of a call, or refuse it."""
    if not request.installation.app.is_agent:
        raise SlackError("not_authorized")
    channel = request.joined_channel("channel_id")
    thread_ts = request.required("thread_ts")
    root = channel.messages.get(thread_ts)
    if root is None or root.is_reply:
        raise SlackError("thread_not_found")
    return channel, thread_ts


METHODS: Table = {
    "agents.sessions.rename": Method(rename, "chat:write"),
    "agents.sessions.setStatus": Method(set_status, "chat:write"),
}
