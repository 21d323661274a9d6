"""What staff answer: stored once, and on its way to the asker, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Connection, select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.answering.verified import ChangedPassage, Draft, VerifiedCitation, answer_id_for
from core.domain import Chunk, now
from core.domain.errors import StoreError
from core.index.base import VectorIndex
from core.storage.catalogue import Catalogue, CourseRow, EditionRow
from core.storage.database import write
from core.storage.inbox.base import Arrival
from core.storage.inbox.store import Inbox
from core.teaching.help_requests import HelpRequest, HelpRequests, HelpState, close
from core.teaching.verified_store import (
    VerifiedAnswers,
    compare,
    mark_stale,
    save,
    section_print,
    worst,
)


class CitedPassages:
    """Compares citations with the edition that is live now."""

    def __init__(self, catalogue: Catalogue, index: VectorIndex) -> None:
        self._catalogue = catalogue
        self._index = index

    async def checked(self, draft: Draft) -> tuple[Draft, list[ChangedPassage]]:
        """Return a draft as of the live edition, and which of its passages do not stand there.

        Raises:
            StoreError, VectorIndexError: when a service fails.
        """
        live = await self._catalogue.live(draft.course_id)
        if live is None:
            return replace(draft, generation=None), []
        documents = {one.document for one in draft.citations}
        texts = {name: await self._chunks(live.generation, name) for name in documents}
        changed = [compare(one, texts[one.document]) for one in draft.citations]
        printed = tuple(_printed(one, texts[one.document]) for one in draft.citations)
        fresh = replace(draft, citations=printed, generation=live.generation)
        return fresh, [one for one in changed if one is not None]

    async def _chunks(self, generation: UUID, source_file: str) -> Sequence[Chunk]:
        for place, record in await self._catalogue.placed(generation):
            if record.source_file == source_file:
                found = self._index.scroll(place.collection, document_id=record.document_id)
                return [chunk async for chunk in found]
        return ()


def _printed(citation: VerifiedCitation, chunks: Sequence[Chunk]) -> VerifiedCitation:
    own = [chunk for chunk in chunks if chunk.headings == citation.headings]
    return replace(citation, section_print=section_print(own) if own else None)


_TRIES = 5
"""How often an answer is checked again since the course got a new edition meanwhile."""


class Sent(StrEnum):
    """What became of an answer to a request."""

    ON_ITS_WAY = "on its way"
    KEPT = "kept"
    """The question was taken back: no one is to be answered, and the answer is kept."""
    CLOSED = "closed"
    """Another user answered or closed the request, or has it now: nothing was stored."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that was stored, and what of it does not stand in the book any more."""

    answer_id: UUID
    revision: int
    changed: Sequence[ChangedPassage] = ()


class StaffAnswers:
    """Stores what staff say; every method raises StoreError when the database fails.

    What they cite is compared with the edition that is live when it is stored: an answer that
    it does not carry waits for staff at once.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        inbox: Inbox,
        requests: HelpRequests,
        answers: VerifiedAnswers,
        passages: CitedPassages,
    ) -> None:
        self._engine = engine
        self._inbox = inbox
        self.requests = requests
        self.answers = answers
        self._passages = passages

    async def answer(self, request: HelpRequest, draft: Draft, reply: Arrival) -> Sent:
        """Answer a request, and have its asker shown what was said.

        Done again, or by two people at once, it is stored and sent once.

        Args:
            reply: The event that shows it, for the answer `answer_to(request)`.

        Raises:
            VectorIndexError: when the passages cannot be compared with the book.
        """
        answer_id = answer_to(request)
        for _ in range(_TRIES):
            checked, changed = await self._passages.checked(draft)
            try:
                sent = await self._inbox.accept_reply(
                    reply, request.key, _Settling(request, answer_id, checked, changed)
                )
            except _Replaced:
                continue
            if sent is None:
                return Sent.CLOSED
            return Sent.ON_ITS_WAY if sent else Sent.KEPT
        raise StoreError(f"course {draft.course_id} is replaced all the time")

    async def verify(self, answer_id: UUID, draft: Draft) -> Kept:
        """Store an answer that belongs to no request, or the next revision of one.

        Raises:
            RequestError: when the answer with this id is another tenant's.
            VectorIndexError: when the passages cannot be compared with the book.
        """
        for _ in range(_TRIES):
            checked, changed = await self._passages.checked(draft)

            def keep(
                db: Connection,
                checked: Draft = checked,
                changed: Sequence[ChangedPassage] = changed,
            ) -> int:
                return _keep(db, answer_id, checked, changed)

            try:
                return Kept(answer_id, await write(self._engine, keep, urgent=True), changed)
            except _Replaced:
                continue
        raise StoreError(f"course {draft.course_id} is replaced all the time")


class _Replaced(Exception):
    """The course got a new edition since an answer was compared with it."""


class _Settling:
    """Closes a request with its answer, inside of the transaction that sends it."""

    def __init__(
        self,
        request: HelpRequest,
        answer_id: UUID,
        draft: Draft,
        changed: Sequence[ChangedPassage],
    ) -> None:
        self._request = request
        self._answer_id = answer_id
        self._draft = draft
        self._changed = changed

    def __call__(self, db: Connection) -> bool:
        answered, by = HelpState.ANSWERED, self._draft.verified_by
        whose = [self._draft.tenant]
        if not close(db, self._request.help_id, whose, by, answered, self._answer_id, now()):
            return False
        _keep(db, self._answer_id, self._draft, self._changed)
        return True


def answer_to(request: HelpRequest) -> UUID:
    """Return the id of the answer to a request."""
    return answer_id_for(f"help:{request.help_id}")


def _keep(db: Connection, answer_id: UUID, draft: Draft, changed: Sequence[ChangedPassage]) -> int:
    """Store an answer as of the edition that is live now; raise _Replaced when it is another."""
    course = select(CourseRow.course_id).where(CourseRow.course_id == draft.course_id)
    if db.scalar(course.with_for_update()) is None:
        raise StoreError(f"course {draft.course_id} is not in the catalogue")
    live = select(EditionRow.generation).where(EditionRow.course_id == draft.course_id)
    if db.scalar(live) != draft.generation:
        raise _Replaced
    revision = save(db, answer_id, draft, now())
    if changed:
        mark_stale(db, answer_id, worst(changed), changed, now())
    return revision
