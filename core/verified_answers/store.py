"""The SQL side of verified answers: revisions, phrasings, and which of them hold."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, and_, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from core.access.tenants import Tenant
from core.errors import RequestError
from core.i18n import Message
from core.models import now
from core.storage.database import insert_into, of_tenants, reading, write
from core.verified_answers.base import (
    MOST_PHRASINGS,
    ChangedPassage,
    Draft,
    PhrasingState,
    StaleBecause,
    VerifiedAnswer,
    VerifiedState,
    phrasing_id_for,
)
from core.verified_answers.folding import fold
from core.verified_answers.rows import (
    FORGOTTEN_USER,
    VerifiedAnswerRow,
    VerifiedPhrasingRow,
    VerifiedRevisionRow,
    answer_from,
    revision_values,
    stored_changes,
)


class VerifiedAnswers:
    """Answers by course; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def current(self, course_id: str) -> list[VerifiedAnswer]:
        """Return the answers of a course that may be shown, oldest first."""
        return await self._of(course_id, [VerifiedState.CURRENT])

    async def all(self, course_id: str, tenant: Tenant | None = None) -> list[VerifiedAnswer]:
        """Return the answers of a course that are not retired, latest first.

        Those to look at again come before the others.

        Args:
            tenant: Only those of its staff; None: of all tenants'.
        """
        found = await self._of(course_id, [VerifiedState.STALE, VerifiedState.CURRENT])
        own = [one for one in reversed(found) if tenant is None or one.tenant == tenant]
        return sorted(own, key=lambda one: one.state is not VerifiedState.STALE)

    async def get(self, answer_id: UUID) -> VerifiedAnswer | None:
        """Return an answer in whichever state, or None."""
        async with reading(self._engine) as db:
            found = await _read(db, VerifiedAnswerRow.answer_id == answer_id)
        return found[0] if found else None

    async def revisions(self, answer_id: UUID) -> list[tuple[int, str, datetime]]:
        """Return number, text and time of each revision of an answer, oldest first."""
        row = VerifiedRevisionRow
        query = select(row.revision, row.answer_text, row.verified_at)
        own = query.where(row.answer_id == answer_id).order_by(row.revision)
        async with reading(self._engine) as db:
            return [(number, said, at) for number, said, at in await db.execute(own)]

    async def save(self, answer_id: UUID, draft: Draft, moment: datetime | None = None) -> int:
        """Store an answer, or its next revision, as CURRENT; return the revision's number.

        What was said last, said again by the same person, stores nothing.
        """
        at = moment or now()
        return await write(self._engine, lambda db: save(db, answer_id, draft, at), urgent=True)

    async def of_phrasing(self, phrasing_id: UUID) -> VerifiedAnswer | None:
        """Return the answer, in whichever state, that a wording is kept with; None: no such."""
        row = VerifiedPhrasingRow
        its = select(row.answer_id).where(row.phrasing_id == phrasing_id)
        async with reading(self._engine) as db:
            found = await _read(db, VerifiedAnswerRow.answer_id.in_(its))
        return found[0] if found else None

    async def retire(
        self, answer_id: UUID, tenants: Sequence[Tenant], moment: datetime | None = None
    ) -> bool:
        """Show an answer no more, and return whether it was not retired before.

        Args:
            tenants: Those whose answers may be changed; that of another is left as it is.
        """
        row = VerifiedAnswerRow
        this = (row.answer_id == answer_id, row.state != VerifiedState.RETIRED.value,
                of_tenants(row, tenants))  # fmt: skip
        values = {"state": VerifiedState.RETIRED.value, "changed_at": moment or now()}
        retired = update(row).where(*this).values(**values).returning(row.answer_id)
        return await write(self._engine, lambda db: db.scalar(retired), urgent=True) is not None

    async def propose(
        self,
        answer_id: UUID,
        tenants: Sequence[Tenant],
        text: str,
        user_id: str,
        moment: datetime | None = None,
    ) -> bool:
        """Have staff asked whether a wording asks what an answer answers; return whether it is new.

        Args:
            tenants: Those of the person; an answer of another tenant's staff gets no wordings.
            user_id: The person's pseudonym.
        """
        at = moment or now()
        adding = write(
            self._engine,
            lambda db: _propose(db, self._engine, answer_id, tenants, text, user_id, at),
        )
        return await adding

    async def withdraw(
        self, answer_id: UUID, tenants: Sequence[Tenant], text: str, user_id: str
    ) -> bool:
        """Remove a user's wording that staff have not judged, and return whether it was there."""
        row = VerifiedPhrasingRow
        own = (
            row.phrasing_id == phrasing_id_for(answer_id, text),
            row.user_id == user_id,
            row.state == PhrasingState.PROPOSED.value,
            row.answer_id.in_(_answers_of(tenants)),
        )
        gone = delete(row).where(*own).returning(row.phrasing_id)
        return await write(self._engine, lambda db: db.scalar(gone)) is not None

    async def judge(self, phrasing_id: UUID, tenants: Sequence[Tenant], *, is_same: bool) -> bool:
        """Keep what staff said of a wording; return whether it was there, and not judged so before.

        Args:
            tenants: Those whose answers may be changed.
            is_same: Whether it is answered as the staff's own question is.
        """
        row = VerifiedPhrasingRow
        state = (PhrasingState.CONFIRMED if is_same else PhrasingState.REFUSED).value
        this = (
            row.phrasing_id == phrasing_id,
            row.state != state,
            row.answer_id.in_(_answers_of(tenants)),
        )
        judged = update(row).where(*this).values(state=state).returning(row.phrasing_id)
        return await write(self._engine, lambda db: db.scalar(judged), urgent=True) is not None

    async def counts(self, course_id: str) -> Mapping[VerifiedState, int]:
        """Return how many answers of a course are in each state."""
        row = VerifiedAnswerRow
        query = select(row.state, func.count()).where(row.course_id == course_id)
        async with reading(self._engine) as db:
            found = await db.execute(query.group_by(row.state))
            return {VerifiedState(state): count for state, count in found}

    async def of_user(self, user_id: str) -> int:
        """Return how many wordings of a person are kept."""
        row, revision = VerifiedPhrasingRow, VerifiedRevisionRow
        phrased = select(func.count()).select_from(row).where(row.user_id == user_id)
        asked = select(func.count()).select_from(revision).where(revision.asked_by == user_id)
        async with reading(self._engine) as db:
            return (await db.scalar(phrased) or 0) + (await db.scalar(asked) or 0)

    async def forget_user(self, user_id: str) -> int:
        """Remove a person's wordings, and that they checked anything; the answers stay.

        Return how many wordings there were.
        """
        return await write(self._engine, lambda db: _forget_user(db, user_id))

    async def _of(self, course_id: str, states: Iterable[VerifiedState]) -> list[VerifiedAnswer]:
        row = VerifiedAnswerRow
        wanted = and_(row.course_id == course_id, row.state.in_([one.value for one in states]))
        async with reading(self._engine) as db:
            return await _read(db, wanted)


def save(db: Connection, answer_id: UUID, draft: Draft, moment: datetime) -> int:
    """Store an answer, or its next revision, as `VerifiedAnswers.save` does.

    Raises:
        RequestError: when the answer is of another course, or another tenant's: then nothing is
            written.
    """
    row = VerifiedAnswerRow
    standing: dict[str, Any] = {
        "state": VerifiedState.CURRENT.value,
        "because": None,
        "changed": [],
        "changed_at": moment,
    }
    own = and_(
        row.answer_id == answer_id,
        row.course_id == draft.course_id,
        of_tenants(row, [draft.tenant]),
    )
    known = select(row.revision, row.state).where(own).with_for_update()
    before = db.execute(known).one_or_none()
    if before is None:
        new = {
            "answer_id": answer_id,
            "course_id": draft.course_id,
            "platform": draft.tenant.platform,
            "workspace": draft.tenant.workspace,
            "scope": draft.scope.kind.value,
            "scope_value": draft.scope.value,
            "revision": 1,
            **standing,
        }
        once = insert_into(db.engine, row).values(**new).on_conflict_do_nothing()
        if db.scalar(once.returning(row.answer_id)) is None:
            raise RequestError(
                f"the verified answer {answer_id} is not {draft.tenant}'s",
                user_message=Message("verified-gone"),
            )
        number = 1
    else:
        number = before.revision + 1
        same = select(VerifiedRevisionRow.question, VerifiedRevisionRow.answer_text,
                      VerifiedRevisionRow.verified_by)  # fmt: skip
        latest = (
            VerifiedRevisionRow.answer_id == answer_id,
            VerifiedRevisionRow.revision == before.revision,
        )
        said = tuple(db.execute(same.where(*latest)).one())
        is_again = said == (draft.question, draft.answer_text, draft.verified_by)
        if is_again and before.state == VerifiedState.CURRENT.value:
            return int(before.revision)
        db.execute(update(row).where(own).values(**standing, revision=number))
        if fold(said[0]) != fold(draft.question):
            _ask_again_about_phrasings(db, answer_id)
    db.execute(
        insert(VerifiedRevisionRow).values(**revision_values(answer_id, number, draft, moment))
    )
    return number


def mark_stale(
    db: Connection,
    answer_id: UUID,
    because: StaleBecause,
    changed: Sequence[ChangedPassage],
    moment: datetime,
) -> None:
    """Have an answer wait for staff."""
    row = VerifiedAnswerRow
    current = (row.answer_id == answer_id, row.state != VerifiedState.RETIRED.value)
    values = {
        "state": VerifiedState.STALE.value,
        "because": because.value,
        "changed": stored_changes(changed),
        "changed_at": moment,
    }
    db.execute(update(row).where(*current).values(**values))


def current_in(db: Connection, course_id: str) -> list[VerifiedAnswer]:
    """Return the CURRENT answers of a course, held until the transaction's end."""
    row, revision = VerifiedAnswerRow.__table__, VerifiedRevisionRow.__table__
    current = (row.c.course_id == course_id, row.c.state == VerifiedState.CURRENT.value)
    held = db.execute(select(row).where(*current).with_for_update()).all()
    found = list[VerifiedAnswer]()
    for one in held:
        this = (revision.c.answer_id == one.answer_id, revision.c.revision == one.revision)
        said = db.execute(select(revision).where(*this)).one()
        found.append(answer_from(one, said, ()))
    return found


async def _read(db: AsyncSession, wanted: Any) -> list[VerifiedAnswer]:
    row, revision = VerifiedAnswerRow, VerifiedRevisionRow
    latest = and_(revision.answer_id == row.answer_id, revision.revision == row.revision)
    query = select(row, revision).join(revision, latest).where(wanted)
    rows = (await db.execute(query.order_by(revision.verified_at, row.answer_id))).all()
    phrasings = defaultdict[UUID, list[VerifiedPhrasingRow]](list)
    phrased = VerifiedPhrasingRow
    ids = select(row.answer_id).where(wanted)
    order = select(phrased).where(phrased.answer_id.in_(ids)).order_by(phrased.added_at)
    for one in await db.scalars(order):
        phrasings[one.answer_id].append(one)
    return [answer_from(one, said, phrasings[one.answer_id]) for one, said in rows]


def _answers_of(tenants: Sequence[Tenant]) -> Any:
    return select(VerifiedAnswerRow.answer_id).where(of_tenants(VerifiedAnswerRow, tenants))


def _ask_again_about_phrasings(db: Connection, answer_id: UUID) -> None:
    """Have staff judge again which wordings ask the same: their own question is another one now."""
    row = VerifiedPhrasingRow
    judged = (row.answer_id == answer_id, row.state != PhrasingState.PROPOSED.value)
    db.execute(update(row).where(*judged).values(state=PhrasingState.PROPOSED.value))


def _propose(
    db: Connection,
    engine: AsyncEngine,
    answer_id: UUID,
    tenants: Sequence[Tenant],
    text: str,
    user_id: str,
    moment: datetime,
) -> bool:
    row, answer = VerifiedPhrasingRow, VerifiedAnswerRow
    current = (
        answer.answer_id == answer_id,
        answer.state == VerifiedState.CURRENT.value,
        of_tenants(answer, tenants),
    )
    if db.scalar(select(answer.answer_id).where(*current).with_for_update()) is None:
        return False
    counted = (row.answer_id == answer_id, row.state != PhrasingState.REFUSED.value)
    kept = select(func.count()).select_from(row).where(*counted)
    if (db.scalar(kept) or 0) >= MOST_PHRASINGS or not fold(text):
        return False
    values = {
        "phrasing_id": phrasing_id_for(answer_id, text),
        "answer_id": answer_id,
        "text": text,
        "state": PhrasingState.PROPOSED.value,
        "user_id": user_id,
        "added_at": moment,
    }
    once = insert_into(engine, row).values(**values).on_conflict_do_nothing()
    return db.scalar(once.returning(row.phrasing_id)) is not None


def _forget_user(db: Connection, user_id: str) -> int:
    phrased, revision = VerifiedPhrasingRow, VerifiedRevisionRow
    gone = delete(phrased).where(phrased.user_id == user_id).returning(phrased.phrasing_id)
    count = len(db.scalars(gone).all())
    own = revision.asked_by == user_id
    asked = db.execute(select(revision.answer_id, revision.revision).where(own)).all()
    blank = {"question": "", "asked_by": None}
    db.execute(update(revision).where(own).values(**blank))
    for answer_id, number in asked:
        latest = select(VerifiedAnswerRow.revision, VerifiedAnswerRow.state)
        this = VerifiedAnswerRow.answer_id == answer_id
        found = db.execute(latest.where(this)).one()
        if found.revision == number:
            mark_stale(db, answer_id, StaleBecause.QUESTION_REMOVED, (), now())
    checked = revision.verified_by == user_id
    db.execute(update(revision).where(checked).values(verified_by=FORGOTTEN_USER))
    return count + len(asked)
