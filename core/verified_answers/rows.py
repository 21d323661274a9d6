"""The tables of verified answers, and what their rows say."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, ForeignKey, Index, Row, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.access.tenants import Tenant
from core.models import STORED, RetrievedChunk
from core.storage.database import Base, UtcDateTime
from core.verified_answers.base import (
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
)

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
