"""The SQL side of verified answers: revisions, phrasings, and which of them hold."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    JSON,
    Connection,
    ForeignKey,
    Index,
    Row,
    Text,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from core.answering.verified import (
    MOST_PHRASINGS,
    ChangedPassage,
    Draft,
    Phrasing,
    PhrasingState,
    ScopeKind,
    StaleBecause,
    VerifiedAnswer,
    VerifiedCitation,
    VerifiedScope,
    VerifiedState,
    fold,
    phrasing_id_for,
)
from core.domain import STORED, Chunk, RetrievedChunk, now
from core.domain.errors import RequestError
from core.domain.i18n import Message
from core.storage.access import Tenant
from core.storage.database import Base, UtcDateTime, insert_into, of_tenants, reading, write
from core.storage.privacy import Channel, Holder, PersonRows, Work, batch_of, deleting, executing

FORGOTTEN_USER = "forgotten"
"""Stands in for a user whose data was deleted."""


class VerifiedAnswerRow(Base):
    """An answer of a course's staff, and how it stands."""

    __tablename__ = "verified_answers"
    __table_args__ = (Index(None, "course_id", "state"),)

    answer_id: Mapped[UUID] = mapped_column(primary_key=True)
    course_id: Mapped[str] = mapped_column(ForeignKey("courses.course_id", ondelete="CASCADE"))
    platform: Mapped[str] = mapped_column(Text)
    workspace: Mapped[str] = mapped_column(Text)
    scope: Mapped[str] = mapped_column(Text)
    scope_value: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    because: Mapped[str | None] = mapped_column(Text)
    """Why it is STALE."""
    changed: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """The passages that are no longer what they were."""
    revision: Mapped[int]
    """The latest."""
    changed_at: Mapped[datetime] = mapped_column(UtcDateTime)


class VerifiedRevisionRow(Base):
    """What staff said at one time; it is never changed, but for whose words it is."""

    __tablename__ = "verified_revisions"

    answer_id: Mapped[UUID] = mapped_column(
        ForeignKey("verified_answers.answer_id", ondelete="CASCADE"), primary_key=True
    )
    revision: Mapped[int] = mapped_column(primary_key=True)
    question: Mapped[str] = mapped_column(Text)
    """Empty once the person whose words they were had them removed."""
    asked_by: Mapped[str | None] = mapped_column(Text, index=True)
    answer_text: Mapped[str] = mapped_column(Text)
    citations: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    verified_by: Mapped[str] = mapped_column(Text, index=True)
    verified_at: Mapped[datetime] = mapped_column(UtcDateTime)
    generation: Mapped[UUID | None]


class VerifiedPhrasingRow(Base):
    """How a user asked what was answered, in their words."""

    __tablename__ = "verified_phrasings"
    __table_args__ = (Index(None, "answer_id"),)

    phrasing_id: Mapped[UUID] = mapped_column(primary_key=True)
    answer_id: Mapped[UUID] = mapped_column(
        ForeignKey("verified_answers.answer_id", ondelete="CASCADE")
    )
    text: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text, server_default=PhrasingState.PROPOSED.value)
    user_id: Mapped[str] = mapped_column(Text, index=True)
    """Whose words they are, so that they go with the person's data."""
    added_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


def revision_values(answer_id: UUID, revision: int, draft: Draft, moment: datetime) -> Any:
    """Return the columns of a revision."""
    return {
        "answer_id": answer_id,
        "revision": revision,
        "question": draft.question,
        "asked_by": draft.asked_by,
        "answer_text": draft.answer_text,
        "citations": [_stored(citation) for citation in draft.citations],
        "verified_by": draft.verified_by,
        "verified_at": moment,
        "generation": draft.generation,
    }


def answer_from(
    row: VerifiedAnswerRow | Row[Any],
    revision: VerifiedRevisionRow | Row[Any],
    phrasings: Sequence[VerifiedPhrasingRow],
) -> VerifiedAnswer:
    """Return the answer that rows tell."""
    return VerifiedAnswer(
        answer_id=row.answer_id,
        course_id=row.course_id,
        tenant=Tenant(row.platform, row.workspace),
        scope=VerifiedScope(ScopeKind(row.scope), row.scope_value),
        state=VerifiedState(row.state),
        revision=row.revision,
        question=revision.question,
        answer_text=revision.answer_text,
        citations=tuple(citation_from(one) for one in revision.citations),
        verified_by=revision.verified_by,
        verified_at=revision.verified_at,
        generation=revision.generation,
        phrasings=tuple(map(_phrasing_from, phrasings)),
        changed=tuple(_changed_from(one) for one in row.changed),
        because=StaleBecause(row.because) if row.because else None,
    )


def citation_from(stored: Mapping[str, Any]) -> VerifiedCitation:
    """Return the citation that a revision stores."""
    chunk = RetrievedChunk.model_validate(stored["chunk"], context=STORED)
    return VerifiedCitation(stored["marker"], stored["quote"], chunk, stored.get("section_print"))


def stored_changes(changed: Sequence[ChangedPassage]) -> list[dict[str, Any]]:
    """Return changed passages as a row stores them."""
    return [{**asdict(one), "because": one.because.value} for one in changed]


def _stored(citation: VerifiedCitation) -> dict[str, Any]:
    return {
        "marker": citation.marker,
        "quote": citation.quote,
        "chunk": citation.chunk.told().model_dump(mode="json"),
        "section_print": citation.section_print,
    }


def _phrasing_from(row: VerifiedPhrasingRow) -> Phrasing:
    return Phrasing(row.phrasing_id, row.text, PhrasingState(row.state))


def _changed_from(stored: Mapping[str, Any]) -> ChangedPassage:
    because = StaleBecause(stored["because"])
    return ChangedPassage(stored["marker"], because, stored["before"], stored["after"])


class VerifiedAnswers(Holder):
    """Answers by course; every method raises StoreError when the database fails."""

    TABLES = (VerifiedAnswerRow, VerifiedRevisionRow, VerifiedPhrasingRow)
    COUNTED_AS = "passed_on"

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

    def rows_of(self, user_ids: Sequence[str], direct: Iterable[Channel]) -> Iterable[PersonRows]:
        """Return a person's wordings, and what they asked first or, being staff, answered."""
        said, phrased = VerifiedRevisionRow, VerifiedPhrasingRow
        theirs = or_(said.asked_by.in_(user_ids), said.verified_by.in_(user_ids))
        yield PersonRows(said, theirs, of_others={"asked_by": ("question",), "verified_by": ()})
        yield PersonRows(phrased, phrased.user_id.in_(user_ids))

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete how people asked what staff answered, and blank who asked it first.

        The question that staff keep stays: it has long been theirs.
        """
        if kept_for is None:
            return
        said, before = VerifiedRevisionRow, moment - kept_for
        yield deleting(VerifiedPhrasingRow, VerifiedPhrasingRow.added_at < before)
        old = batch_of(said, said.verified_at < before, said.asked_by.is_not(None))
        yield executing(update(said).where(old).values(asked_by=None))

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


_LIKE = 0.2
"""Share of words that two passages have in common, from which one may have become the other."""
_LONGEST = 1_200
"""Characters of a passage that are shown to staff."""
_WORDS = re.compile(r"\w+")


def settle(
    course_id: str,
    unchanged: Collection[str],
    changed: Mapping[str, Sequence[Chunk]],
    db: Connection,
) -> int:
    """Have each answer wait for staff that a new edition no longer carries; return how many.

    It belongs into the transaction that makes the edition readable: none of its questions is
    answered by what was not looked at.

    Args:
        unchanged: The source files that the new edition takes over as they are.
        changed: The chunks of those that were read.
    """
    count = 0
    for answer in current_in(db, course_id):
        cited = (one for one in answer.citations if one.document not in unchanged)
        found = [compare(one, changed.get(one.document, ())) for one in cited]
        passages = [one for one in found if one is not None]
        if passages:
            mark_stale(db, answer.answer_id, worst(passages), passages, now())
            count += 1
    return count


def compare(citation: VerifiedCitation, chunks: Sequence[Chunk]) -> ChangedPassage | None:
    """Return what became of a cited passage in its document; None: it stands, all around it too.

    Args:
        chunks: Those of the document as it is now; none: it is gone.
    """
    own = [chunk for chunk in chunks if chunk.headings == citation.headings]
    text = section_text(own)
    if plain(citation.quote) not in text:
        is_elsewhere = plain(citation.quote) in section_text(chunks)
        because = StaleBecause.SECTION_CHANGED if is_elsewhere else StaleBecause.QUOTE_GONE
    elif citation.section_print in (None, section_print(own)):
        return None
    else:
        because = StaleBecause.SECTION_CHANGED
    before = citation.chunk.content_text
    after = _nearest(before, own) or _nearest(before, chunks)
    return ChangedPassage(citation.marker, because, before[:_LONGEST], after[:_LONGEST])


def worst(changed: Sequence[ChangedPassage]) -> StaleBecause:
    """Return the reason that weighs most among those of changed passages."""
    reasons = {one.because for one in changed}
    is_gone = StaleBecause.QUOTE_GONE in reasons
    return StaleBecause.QUOTE_GONE if is_gone else StaleBecause.SECTION_CHANGED


def section_print(chunks: Sequence[Chunk]) -> str:
    """Return a fingerprint of the text of a section, however it is laid out."""
    return hashlib.sha256(section_text(chunks).encode()).hexdigest()[:32]


def section_text(chunks: Sequence[Chunk]) -> str:
    """Return the text of chunks of one document in order, each part once, blanks made one."""
    return plain("".join(_parts(chunks)))


def plain(text: str) -> str:
    """Return a text with each run of blanks made one."""
    return " ".join(text.split())


def _parts(chunks: Sequence[Chunk]) -> Iterator[str]:
    end = 0
    for chunk in sorted(chunks, key=lambda one: one.chunk_index):
        if chunk.char_start > end:
            yield "\n"
        yield chunk.content_text[max(0, end - chunk.char_start) :]
        end = max(end, chunk.char_end)


def _nearest(before: str, chunks: Sequence[Chunk]) -> str:
    """Return the passage that has most words in common with one; empty: none has enough."""
    words = _words(before)
    best, text = _LIKE, ""
    for chunk in chunks:
        own = _words(chunk.content_text)
        likeness = len(words & own) / (len(words | own) or 1)
        if likeness > best:
            best, text = likeness, chunk.content_text
    return text


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.casefold()))
