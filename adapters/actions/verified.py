"""Answers that staff have checked: kept, listed, edited and retired, the same on every platform."""

from collections.abc import Sequence
from uuid import UUID

from adapters.actions.answers import AnswerActions
from adapters.actions.queue import AnswerForm, VerifiedCard, form_of_answer, form_of_turn
from adapters.actions.use import Clicker, Declined, Reviewer
from adapters.chat.access import Location
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import FrontDesk
from adapters.chat.places import StaffStanding
from core.answering.verified import (
    LONGEST_ANSWER,
    Draft,
    ScopeKind,
    VerifiedAnswer,
    VerifiedScope,
    VerifiedState,
    answer_id_for,
    cited_in,
    fold,
    passages_of,
)
from core.domain import ConversationTurn
from core.domain.errors import RequestError, VectorIndexError
from core.domain.i18n import text
from core.storage.access import Reader, Tenant
from core.storage.inbox.store import Inbox
from core.storage.sessions import FORGOTTEN_USER, SessionStore
from core.teaching.staff_answers import StaffAnswers


class StaffReview:
    """Checks what staff may see; methods raise Declined with what the clicker reads."""

    def __init__(
        self,
        desk: FrontDesk,
        actions: AnswerActions,
        standing: StaffStanding,
        directory: CourseDirectory,
        sessions: SessionStore,
    ) -> None:
        self._desk = desk
        self._actions = actions
        self._standing = standing
        self._directory = directory
        self._sessions = sessions

    async def courses_of(self, reviewer: Reviewer) -> list[str]:
        """Return the courses of which a reviewer is staff where they are.

        Raises:
            RequestError: when they are staff of none.
        """
        here = await self._desk.here(reviewer.location)
        courses = [
            course_id
            for course_id in await self._directory.courses(here.reader)
            if await self._standing.is_staff_of(reviewer.who, course_id)
        ]
        if not courses:
            raise RequestError(user_message=text("queue-for-staff"))
        return courses

    async def admit(self, reviewer: Reviewer, course_id: str) -> None:
        """Raise Declined unless a reviewer is staff of a course that may be read there."""
        here = await self._desk.here(reviewer.location)
        is_readable = await self._directory.mark(here.reader, course_id) is not None
        if not is_readable or not await self._standing.is_staff_of(reviewer.who, course_id):
            raise Declined(text("queue-for-staff"))

    async def turn(self, request_id: UUID) -> ConversationTurn:
        """Return the turn of a request; that of a forgotten user is the same as none."""
        turn = await self._sessions.turn_of(request_id)
        if turn is None or turn.user_id == FORGOTTEN_USER:
            raise Declined(text("help-gone"))
        return turn

    async def turn_seen(self, request_id: UUID, reviewer: Reviewer) -> ConversationTurn:
        """Return the turn of an answer that staff see in their tenant."""
        clicker = Clicker(reviewer.location, reviewer.user_id)
        turn = await self._actions.turn(request_id, clicker)
        await self.admit(reviewer, turn.agent_response.course_id)
        return turn

    async def tenants(self, location: Location) -> Sequence[Tenant]:
        """Return the tenants of a place; at a personal one those that the person shares."""
        return [*(await self._desk.here(location)).reader.tenants]

    async def tenant(self, location: Location, course_id: str) -> Tenant | None:
        """Return whose staff are asked: the tenant of the place, or one that the asker is in."""
        if location.tenant is not None:
            return location.tenant
        here = await self._desk.here(location)
        readers = (
            Reader(location.platform, frozenset({one})) for one in sorted(here.reader.tenants)
        )
        for reader in readers:
            if await self._directory.mark(reader, course_id) is not None:
                return next(iter(reader.tenants))
        return None


AT_ONCE = 4
"""Cards that are shown at a time."""


class VerifiedDesk:
    """Keeps what staff have checked; checked again with each press.

    Methods raise Declined with what the clicker reads, and StoreError when the database
    fails.
    """

    def __init__(self, review: StaffReview, inbox: Inbox, staff: StaffAnswers) -> None:
        self._review = review
        self._inbox = inbox
        self._staff = staff

    async def shown_in(self, platform: str, message: str) -> UUID:
        """Return the request whose answer a message of the bot's shows."""
        answered = await self._inbox.by_message(platform, message)
        if answered is None:
            raise Declined(text("verify-no-answer"))
        return answered.request_id

    async def form_to_verify(self, request_id: UUID, reviewer: Reviewer) -> AnswerForm:
        """Return what an answer of the bot is corrected in."""
        turn = await self._review.turn_seen(request_id, reviewer)
        return form_of_turn(turn)

    async def verify(self, request_id: UUID, reviewer: Reviewer, question: str, said: str) -> str:
        """Keep an answer of the bot as staff have checked it, and return what they read.

        Where it is an answer of their own, this is its next revision. Where it is another
        tenant's, such as the owner's of a course that is granted here, theirs stands beside it.
        """
        turn = await self._review.turn_seen(request_id, reviewer)
        tenant = await self._review.tenant(reviewer.location, turn.agent_response.course_id)
        assert tenant is not None, "only staff of a tenant verify"
        draft = drafted(turn, reviewer, question, said, tenant=tenant)
        checked = turn.agent_response.checked
        shown = await self._staff.answers.get(checked.answer_id) if checked else None
        is_theirs = shown is not None and shown.tenant == tenant
        name = shown.answer_id if shown and is_theirs else answer_id_for(f"turn:{request_id}")
        return await self._keep(name, draft)

    async def answers(self, reviewer: Reviewer, offset: int = 0) -> Sequence[VerifiedCard]:
        """Return the answers of a tenant's staff, those first about which there is something to do.

        That is to look at one again, then to judge the wordings of others.
        """
        found: list[VerifiedAnswer] = []
        for course_id in await self._review.courses_of(reviewer):
            for tenant in reviewer.who.tenants:
                found += await self._staff.answers.all(course_id, tenant)
        found.sort(key=lambda one: (one.state is not VerifiedState.STALE, not one.proposed))
        return [VerifiedCard(one) for one in found[offset : offset + AT_ONCE]]

    async def number(self, reviewer: Reviewer) -> int:
        """Return how many `answers` has in all."""
        count = 0
        for course_id in await self._review.courses_of(reviewer):
            for tenant in reviewer.who.tenants:
                count += len(await self._staff.answers.all(course_id, tenant))
        return count

    async def form_to_edit(self, answer_id: UUID, reviewer: Reviewer) -> AnswerForm:
        """Return what a verified answer is edited in."""
        return form_of_answer(await self._current(answer_id, reviewer))

    async def edit(self, answer_id: UUID, reviewer: Reviewer, question: str, said: str) -> str:
        """Keep the next revision of an answer, and return what they read."""
        before = await self._current(answer_id, reviewer)
        words, answer_text = _checked_texts(question, said)
        answer_text, citations = cited_in(answer_text, before.citations)
        draft = Draft(
            course_id=before.course_id,
            question=words,
            answer_text=answer_text,
            citations=citations,
            scope=before.scope,
            verified_by=reviewer.user_id,
            tenant=before.tenant,
            generation=before.generation,
        )
        return await self._keep(answer_id, draft)

    async def retire(self, answer_id: UUID, reviewer: Reviewer) -> str:
        """Show an answer no more, and return what they read."""
        await self._current(answer_id, reviewer)
        await self._staff.answers.retire(answer_id, reviewer.who.tenants)
        return text("verified-retired")

    async def judge(self, phrasing_id: UUID, reviewer: Reviewer, *, is_same: bool) -> VerifiedCard:
        """Keep whether a wording asks what an answer answers, and return the answer's card."""
        found = await self._staff.answers.of_phrasing(phrasing_id)
        answer = await self._own(found, reviewer)
        await self._staff.answers.judge(phrasing_id, reviewer.who.tenants, is_same=is_same)
        return VerifiedCard(await self._current(answer.answer_id, reviewer))

    async def _current(self, answer_id: UUID, reviewer: Reviewer) -> VerifiedAnswer:
        return await self._own(await self._staff.answers.get(answer_id), reviewer)

    async def _own(self, answer: VerifiedAnswer | None, reviewer: Reviewer) -> VerifiedAnswer:
        if answer is None or answer.tenant not in reviewer.who.tenants:
            raise Declined(text("verified-gone"))
        await self._review.admit(reviewer, answer.course_id)
        if answer.state is VerifiedState.RETIRED:
            raise Declined(text("verified-gone"))
        return answer

    async def _keep(self, answer_id: UUID, draft: Draft) -> str:
        try:
            kept = await self._staff.verify(answer_id, draft)
        except VectorIndexError as error:
            raise Declined(error.user_message) from error
        if kept.changed:
            return text("verified-kept-stale")
        return text("verified-kept", revision=kept.revision)


def drafted(
    turn: ConversationTurn,
    reviewer: Reviewer,
    question: str,
    said: str,
    *,
    tenant: Tenant,
) -> Draft:
    """Return what staff typed about a turn as an answer to keep.

    Raises:
        Declined: when the question or the answer is empty.
    """
    words, answer_text = _checked_texts(question, said)
    answer_text, citations = cited_in(answer_text, passages_of(turn))
    scope, is_theirs = VerifiedScope.of_turn(turn), fold(words) == fold(turn.user_input)
    if scope.kind is ScopeKind.PLACE and not is_theirs:
        scope = VerifiedScope()  # reworded, it stands by itself
    return Draft(
        course_id=turn.agent_response.course_id,
        question=words,
        answer_text=answer_text,
        citations=citations,
        scope=scope,
        verified_by=reviewer.user_id,
        tenant=tenant,
        generation=turn.agent_response.generation,
        asked_by=turn.user_id if is_theirs else None,
    )


def _checked_texts(question: str, said: str) -> tuple[str, str]:
    """Return what was typed, stripped; raise Declined where one of it is empty."""
    words, answer_text = " ".join(question.split()), said.strip()[:LONGEST_ANSWER]
    if not fold(words) or not answer_text:
        raise Declined(text("verified-empty"))
    return words, answer_text
