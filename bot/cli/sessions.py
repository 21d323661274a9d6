"""`glossator sessions`: list, show, export and forget conversations."""

import json
from uuid import UUID

from adapters.console import whole_text
from adapters.markdown.printable import on_one_line, printable
from adapters.markdown.splitting import shortened
from bot.cli.context import check_is_known, services, terminal_user
from bot.cli.counted import counted
from bot.cli.exits import Exit, UsageError
from bot.keyring.keys import PSEUDONYM
from core.markdown.writing import one_line
from core.models import AgentSession
from core.privacy.personal_export import PersonalExport
from core.storage.budgets.store import TokenBudgets, TokenLimits

_TITLE = 60


async def list_sessions(course_id: str | None, limit: int, *, as_json: bool) -> int:
    """Print conversations, the latest first."""
    async with services(needs_room=False) as opened:
        sessions = await opened.sessions.list_sessions(course_id=course_id, limit=limit)
        if course_id is not None and not sessions:  # those of a deleted course stay
            await check_is_known(opened, course_id)
        first = [await opened.sessions.first_question(s.session_id) for s in sessions]
    if as_json:
        print(json.dumps([session.model_dump(mode="json") for session in sessions], indent=2))
        return Exit.OK
    for session, question in zip(sessions, first, strict=True):
        print(on_one_line(f"{_line(session)}  {_shortened(question)}"))
    if not sessions:
        print("There is no conversation yet.")
    return Exit.OK


async def show_session(session_id: UUID, *, as_json: bool) -> int:
    """Print the turns of a conversation."""
    async with services(needs_room=False) as opened:
        session = await opened.sessions.get(session_id, history=True)
    if session is None:
        raise UsageError(f"There is no conversation {session_id}.")
    if as_json:
        print(session.model_dump_json(indent=2))
        return Exit.OK
    print(_line(session))
    for turn in session.conversation_history:
        print(printable(f"\n{turn.turn_number}. {turn.user_input}"))
        if turn.selected_text:
            print(printable("\n".join(f"   > {line}" for line in turn.selected_text.splitlines())))
        print(printable(f"\n{whole_text(turn.agent_response)}"))
    return Exit.OK


async def export_sessions() -> int:
    """Print all that is stored about this terminal's user, as JSON."""
    async with services(keys=[PSEUDONYM], needs_room=False) as opened:
        stored = await PersonalExport(opened.engine).of([terminal_user(opened.keys)])
    print(json.dumps(stored, ensure_ascii=False, indent=2))
    return Exit.OK


async def forget_session(session_id: UUID | None) -> int:
    """Delete one conversation, or all that were opened by this terminal's user."""
    async with services(keys=[PSEUDONYM]) as opened:
        if session_id is None:
            user = terminal_user(opened.keys)
            # First, so that a second try after a failure still counts all turns.
            await TokenBudgets(opened.engine, limits=TokenLimits()).forget_user(user)
            turns = await opened.sessions.forget_user(user)
            print(f"Forgotten: {counted(turns, 'question')}, and what was answered.")
            return Exit.OK
        if not await opened.sessions.forget(session_id):
            raise UsageError(f"There is no conversation {session_id}.")
    print(f"Forgotten: {session_id}.")
    return Exit.OK


def _shortened(question: str) -> str:
    return shortened(one_line(question), _TITLE)


def _line(session: AgentSession) -> str:
    when = session.last_activity.astimezone().strftime("%Y-%m-%d %H:%M")
    turns = "1 turn" if session.current_turn == 1 else f"{session.current_turn} turns"
    return f"{session.session_id}  {when}  {session.course_id}  {turns}"
