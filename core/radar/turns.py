"""Reads what was asked in a week from the conversations."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.help_requests.store import HelpRequestRow
from core.models import EXPLAIN_QUOTE
from core.radar.activity import OTHER, Ending, Event
from core.radar.wordings import AskedWording
from core.storage.database import reading
from core.storage.feedback import VoteRow
from core.storage.sessions.rows import SessionRow, TurnRow

_PAGE = 100
"""Turns that are read at once: each holds its whole answer."""
_AT_ONCE = 500
_NOT_OF_BOOK = frozenset({"verified", "asker"})
"""Marks of what is cited and no passage of the book."""
_DEEPEST = 2
"""Headings that a section is named by."""
CONSOLE = "console"
"""The platform of the operator's own questions, which are not counted."""


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """A question of a week."""

    event: Event
    wording: AskedWording


@dataclass(frozen=True, slots=True)
class VoteReason:
    """Why a user found an answer not helpful."""

    voter: str
    text: str
    section: tuple[str, ...]


class WeekReader:
    """Reads turns and votes; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def tenants(self, course_id: str, since: datetime, until: datetime) -> list[str]:
        """Return the tenants in which a course was asked, such as `discord:42`."""
        row, details = SessionRow, SessionRow.details
        platform, workspace = (details[name].as_string() for name in ("platform", "workspace"))
        query = select(platform, workspace).where(row.course_id == course_id)
        query = query.where(row.last_activity >= since, row.created_at < until).distinct()
        async with reading(self._engine) as db:
            found = (await db.execute(query)).all()
        return sorted(f"{p}:{w}" for p, w in found if p and w and p != CONSOLE)

    async def turns(
        self, course_id: str, tenant: str, since: datetime, until: datetime
    ) -> list[AskedTurn]:
        """Return what was asked in a tenant; what is forgotten is not there."""
        found = [
            turn
            async for row in self._rows(course_id, tenant, since, until)
            if (turn := _asked(row)) is not None
        ]
        votes = await self._down_votes([one.wording.request_id for one in found])
        return [
            AskedTurn(
                Event(
                    one.event.section,
                    one.event.ending,
                    one.event.asker,
                    frozenset(votes.get(one.wording.request_id, {})),
                ),
                one.wording,
            )
            for one in found
        ]

    async def help_requests(
        self, course_id: str, tenant: str, since: datetime, until: datetime
    ) -> list[tuple[str, str]]:
        """Return state and asker of what was passed on to a tenant's staff."""
        platform, _, workspace = tenant.partition(":")
        row = HelpRequestRow
        here = (row.course_id == course_id, row.platform == platform, row.workspace == workspace)
        query = select(row.state, row.asked_by).where(*here)
        query = query.where(row.opened_at >= since, row.opened_at < until)
        async with reading(self._engine) as db:
            found = await db.execute(query.order_by(row.opened_at, row.help_id))
            return [(state, asker) for state, asker in found]

    async def wordings(self, request_ids: Iterable[UUID]) -> dict[UUID, AskedWording]:
        """Return what is left of some questions."""
        found, ids = dict[UUID, AskedWording](), [*request_ids]
        for start in range(0, len(ids), _AT_ONCE):
            query = select(TurnRow.request_id, TurnRow.user_id, TurnRow.content).where(
                TurnRow.request_id.in_(ids[start : start + _AT_ONCE]), TurnRow.content.is_not(None)
            )
            async with reading(self._engine) as db:
                rows = (await db.execute(query)).all()
            found |= {row.request_id: _wording(row) for row in rows}
        return found

    async def reasons(self, turns: Sequence[AskedTurn]) -> list[VoteReason]:
        """Return why answers to some questions were found not helpful."""
        by_request = {one.wording.request_id: one.event.section for one in turns}
        votes = await self._down_votes([*by_request])
        return [
            VoteReason(voter, reason, by_request[request_id])
            for request_id, cast in votes.items()
            for voter, reason in cast.items()
            if reason
        ]

    async def _down_votes(self, request_ids: Sequence[UUID]) -> dict[UUID, dict[str, str | None]]:
        """Return who found which answer not helpful, with the reason if there is one."""
        found = dict[UUID, dict[str, str | None]]()
        row = VoteRow
        for start in range(0, len(request_ids), _AT_ONCE):
            part = request_ids[start : start + _AT_ONCE]
            query = select(row.request_id, row.user_id, row.reason)
            query = query.where(row.request_id.in_(part), ~row.helpful)
            async with reading(self._engine) as db:
                for vote in await db.execute(query):
                    found.setdefault(vote.request_id, {})[vote.user_id] = vote.reason
        return found

    async def _rows(
        self, course_id: str, tenant: str, since: datetime, until: datetime
    ) -> AsyncIterator[Any]:
        platform, _, workspace = tenant.partition(":")
        row, details = TurnRow, SessionRow.details
        there = and_(
            details["platform"].as_string() == platform,
            details["workspace"].as_string() == workspace,
        )
        query = select(row.request_id, row.user_id, row.timestamp, row.content)
        query = query.join(SessionRow, SessionRow.session_id == row.session_id)
        query = query.where(SessionRow.course_id == course_id, there, row.content.is_not(None))
        query = query.where(row.timestamp >= since, row.timestamp < until)
        query = query.order_by(row.timestamp, row.request_id).limit(_PAGE)
        after: tuple[datetime, UUID] | None = None
        while True:
            page = query
            if after is not None:
                later = and_(row.timestamp == after[0], row.request_id > after[1])
                page = query.where(or_(row.timestamp > after[0], later))
            async with reading(self._engine) as db:
                rows = (await db.execute(page)).all()
            for one in rows:
                yield one
            if len(rows) < _PAGE:
                return
            after = rows[-1].timestamp, rows[-1].request_id


def _asked(row: Any) -> AskedTurn | None:
    """Return a question; None: nothing was asked, it was refused, or its answer failed."""
    answer = row.content["agent_response"]
    ending = _ending(answer)
    if ending is None:
        return None
    return AskedTurn(Event(_section(answer), ending, row.user_id), _wording(row))


def _wording(row: Any) -> AskedWording:
    content = row.content
    text = content["user_input"]
    if text == EXPLAIN_QUOTE and content.get("selected_text"):
        text = content["selected_text"]
    return AskedWording(row.request_id, row.user_id, text)


def _ending(answer: Mapping[str, Any]) -> Ending | None:
    if answer.get("unknown_section") is not None or answer.get("asks_nothing"):
        return None
    if answer.get("held_to") is not None:
        return Ending.HELD
    if answer.get("checked") is not None:
        return Ending.VERIFIED
    endings = {
        "answered": Ending.ANSWERED,
        "partial": Ending.NOT_SURE,
        "abstained": Ending.NOT_COVERED,
    }
    return endings.get(str(answer.get("outcome")))


def _section(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headings of what was cited first; of an abstention, the nearest section's.

    What staff said lies in no section, and neither does what the asker wrote.
    """
    cited = answer.get("grounding_chunks") or ()
    of_book = (one for one in cited if _NOT_OF_BOOK.isdisjoint(one.get("metadata") or {}))
    if (first := next(of_book, None)) is not None:
        titles = dict.fromkeys((first["page_title"], *first.get("headings", ())))
        return tuple(titles)[:_DEEPEST]
    nearest = answer.get("nearest_sections") or ()
    return (nearest[0],) if nearest else OTHER
