"""`glossator sessions`: list, show, export and forget conversations."""

import json
from typing import Any
from uuid import UUID

from pydantic_core import to_jsonable_python

from adapters.actions.queue import HelpCard, VerifiedCard
from adapters.chat.markdown.footnotes import place_in_book
from adapters.chat.markdown.layout import shortened
from adapters.chat.markdown.printable import on_one_line, printable
from adapters.console import whole_text
from bot.cli.context import check_is_known, counted, services, terminal_user
from bot.cli.exits import Exit, UsageError
from bot.keys import PSEUDONYM
from bot.services import Services
from core.answering.verified import VerifiedAnswer
from core.domain import AgentSession
from core.domain.links import one_line
from core.storage.budgets import TokenBudgets, TokenLimits
from core.storage.inbox.queries import InboxHoldings
from core.storage.privacy import PersonalExport
from core.teaching.help_requests import HelpRequests
from core.teaching.verified_store import VerifiedAnswers

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
        places = InboxHoldings(opened.engine)
        export = PersonalExport(opened.engine, opened.holders, places)
        stored = await export.of([terminal_user(opened.keys)])
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


async def list_queue(course_id: str, *, as_json: bool) -> int:
    """Print the questions about a course that wait for its staff, oldest first."""
    async with services(needs_room=False) as opened:
        await check_is_known(opened, course_id)
        waiting = await HelpRequests(opened.engine).of_course(course_id)
        turns = [await opened.sessions.turn_of(one.request_id) for one in waiting]
    cards = [HelpCard.of(one, turn) for one, turn in zip(waiting, turns, strict=True)]
    if as_json:
        print(_json([_card_as_json(card) for card in cards]))
        return Exit.OK
    for card in cards:
        request = card.request
        print(on_one_line(f"{request.help_id}  {request.tenant}  {card.status}"))
        print(on_one_line(f"    {card.question}"))
    if not cards:
        print(f"No question about {course_id} waits for the staff.")
    return Exit.OK


async def list_verified(course_id: str, *, as_json: bool) -> int:
    """Print the answers of a course that are not retired, those to look at again first."""
    async with services(needs_room=False) as opened:
        await check_is_known(opened, course_id)
        answers = await VerifiedAnswers(opened.engine).all(course_id)
    if as_json:
        print(_json([_answer_as_json(one) for one in answers]))
        return Exit.OK
    for answer in answers:
        card = VerifiedCard(answer)
        print(on_one_line(f"{answer.answer_id}  {answer.tenant}  {card.status}"))
        print(on_one_line(f"    {card.question}"))
    if not answers:
        print(f"The staff of {course_id} have verified no answer yet.")
    return Exit.OK


async def show_verified(answer_id: UUID, *, as_json: bool) -> int:
    """Print an answer with all that is known of it."""
    async with services(needs_room=False) as opened:
        answer = await _known(opened, answer_id)
        revisions = await VerifiedAnswers(opened.engine).revisions(answer_id)
    if as_json:
        said = [{"revision": n, "answer": text, "at": at} for n, text, at in revisions]
        print(_json({**_answer_as_json(answer), "revisions": said}))
        return Exit.OK
    card = VerifiedCard(answer)
    print(printable(f"{card.question}\n{answer.state}. {card.status}\n\n{answer.answer_text}"))
    for one in answer.citations:
        print(printable(f"\n[{one.marker}] {place_in_book(one.chunk).title}\n    {one.quote}"))
    for phrasing in answer.confirmed:
        print(printable(f"\nAlso asked as: {phrasing.text}"))
    for phrasing in answer.proposed:
        print(printable(f"\nMay ask the same, {phrasing.phrasing_id}: {phrasing.text}"))
    if answer.proposed:
        print("\nSay so: glossator verified same ID, or glossator verified other ID.")
    for before, after in card.changes():
        print(printable(f"\nBefore: {before}\nNow: {after}"))
    return Exit.OK


async def retire_verified(answer_id: UUID) -> int:
    """Show an answer to no one any more."""
    async with services() as opened:
        answer = await _known(opened, answer_id)
        if not await VerifiedAnswers(opened.engine).retire(answer_id, [answer.tenant]):
            raise UsageError(f"{answer_id} is retired already.")
    print(f"Retired: {answer_id}.")
    return Exit.OK


async def judge_wording(phrasing_id: UUID, *, is_same: bool) -> int:
    """Keep whether a wording asks what an answer answers."""
    async with services() as opened:
        answers = VerifiedAnswers(opened.engine)
        answer = await answers.of_phrasing(phrasing_id)
        if answer is None:
            raise UsageError(
                f"There is no wording {phrasing_id}; glossator verified show ID lists an answer's."
            )
        await answers.judge(phrasing_id, [answer.tenant], is_same=is_same)
    said = "It asks the same as" if is_same else "It asks something else than"
    print(printable(f"{said}: {VerifiedCard(answer).question}"))
    return Exit.OK


async def _known(opened: Services, answer_id: UUID) -> VerifiedAnswer:
    answer = await VerifiedAnswers(opened.engine).get(answer_id)
    if answer is None:
        raise UsageError(f"There is no verified answer {answer_id}.")
    return answer


def _card_as_json(card: HelpCard) -> dict[str, Any]:
    request = card.request
    return {
        "id": request.help_id,
        "course_id": request.course_id,
        "tenant": str(request.tenant),
        "reason": request.reason,
        "state": card.state,
        "opened_at": request.opened_at,
        "question": card.question,
        "request_id": request.request_id,
    }


def _answer_as_json(answer: VerifiedAnswer) -> dict[str, Any]:
    return {
        "id": answer.answer_id,
        "course_id": answer.course_id,
        "tenant": str(answer.tenant),
        "state": answer.state,
        "because": answer.because,
        "scope": answer.scope.kind,
        "revision": answer.revision,
        "question": answer.question,
        "phrasings": [one.text for one in answer.confirmed],
        "proposed": [{"id": one.phrasing_id, "question": one.text} for one in answer.proposed],
        "answer": answer.answer_text,
        "citations": [
            {
                "marker": one.marker,
                "document": one.document,
                "headings": one.headings,
                "quote": one.quote,
            }
            for one in answer.citations
        ],
        "verified_at": answer.verified_at,
        "generation": answer.generation,
    }


def _json(content: object) -> str:
    return json.dumps(to_jsonable_python(content), ensure_ascii=False, indent=2)
