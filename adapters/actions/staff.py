"""What students ask the staff, and what staff do about it, the same on every platform."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from adapters.actions.answers import AnswerActions
from adapters.actions.queue import AnswerForm, HelpCard, QueuePage, form_of_turn
from adapters.actions.use import Clicker, Declined, Reviewer
from adapters.actions.verified import AT_ONCE, StaffReview, VerifiedDesk, drafted
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.places import Presence, StaffStanding
from core.answering.verified import VerifiedScope, VerifiedState, fold
from core.domain import AgentRequest, ConversationTurn, Outcome, UserContext, now, session_id_for
from core.domain.errors import BotError, VectorIndexError
from core.domain.i18n import text, use_locale
from core.storage.channels import Place
from core.storage.inbox.base import Acceptance, Answered, Arrival, Kind, lane_for, request_id_for
from core.storage.inbox.store import Inbox
from core.storage.sessions import FORGOTTEN_USER, Feedback, SessionStore
from core.teaching.help_requests import (
    CardDue,
    HelpReason,
    HelpRequest,
    HelpState,
    QueueCard,
    QueueChannel,
    help_id_for,
)
from core.teaching.queue_cards import QueueCards
from core.teaching.staff_answers import Sent, StaffAnswers, answer_to

logger = logging.getLogger(__name__)


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


class StaffDesk:
    """Passes questions on to staff, and what staff say back; checked again with each press.

    Methods raise Declined with what the clicker reads, and StoreError when the database
    fails.
    """

    def __init__(
        self,
        *,
        desk: FrontDesk,
        actions: AnswerActions,
        standing: StaffStanding,
        directory: CourseDirectory,
        inbox: Inbox,
        sessions: SessionStore,
        feedback: Feedback,
        staff: StaffAnswers,
        wake: Callable[[], None],
    ) -> None:
        self.review = StaffReview(desk, actions, standing, directory, sessions)
        self.checked = VerifiedDesk(self.review, inbox, staff)
        """Where staff keep answers that they have checked."""
        self._desk = desk
        self._actions = actions
        self._standing = standing
        self._directory = directory
        self._inbox = inbox
        self._sessions = sessions
        self._feedback = feedback
        self._staff = staff
        self._wake = wake

    # --- students -----------------------------------------------------------------------

    async def ask(
        self, request_id: UUID, clicker: Clicker, presence: Presence, locale: str | None
    ) -> str:
        """Pass a question on to the staff of its course, and return the reply to the clicker.

        Only its asker and staff may. Pressed again, it says how far it has come.
        """
        turn = await self._actions.turn(request_id, clicker)
        course_id = turn.agent_response.course_id
        events = await self._inbox.all_of_request(request_id)
        own = next((one for one in events if one.user_id == clicker.user_id), None)
        if own is None and not await self._standing.is_staff_of(presence, course_id):
            raise Declined(text("help-not-yours"))
        event = own or events[0]
        arrival = await self._inbox.of_key(event.key)
        tenant = await self.review.tenant(clicker.location, course_id)
        if arrival is None or tenant is None or event.user_id == FORGOTTEN_USER:
            raise Declined(text("help-nobody-there"))
        asked = HelpRequest(
            help_id=help_id_for(request_id),
            course_id=course_id,
            tenant=tenant,
            key=event.key,
            channel=arrival.channel,
            thread=event.thread,
            asked_by=event.user_id,
            request_id=request_id,
            reason=await self._reason(turn, clicker),
            opened_at=now(),
            locale=locale if own is not None else None,
        )
        opened = await self._staff.requests.open(asked, _compared(turn))
        return _told(opened)

    async def read_offered(
        self, request_id: UUID, clicker: Clicker, incoming: Callable[[str], IncomingMessage]
    ) -> Received | str:
        """Show the answer that was offered below another one.

        Its staff are asked whether the question is one more wording of theirs, provided that its
        asker has pressed, among their own people. Where that was pressed before, return the reply
        to the clicker.

        Args:
            incoming: Returns what the click says, given the question.

        Raises:
            RateLimited: when the clicker has asked too much; it may be pressed again later.
        """
        turn = await self._actions.turn(request_id, clicker)
        response = turn.agent_response
        offered = response.offered[0] if response.offered else None
        answer = await self._staff.answers.get(offered.answer_id) if offered else None
        if answer is None or answer.state is not VerifiedState.CURRENT:
            raise Declined(text("verified-gone"))
        if turn.user_id == clicker.user_id and answer.scope == VerifiedScope.of_turn(turn):
            tenants = await self.review.tenants(clicker.location)
            await self._staff.answers.propose(
                answer.answer_id, tenants, turn.user_input, clicker.user_id
            )
        again = replace(
            incoming(turn.user_input),
            key=f"{clicker.location.platform}:offered:{request_id}:{clicker.user_id}",
            course=response.course_id,
            quote=None,
            section=None,
            verified_answer=answer.answer_id,
            pressed=True,
        )
        received = await self._desk.receive(again)
        if received is None:
            raise Declined(text("asking-not-for-guests"))
        self._wake()
        if received.accepted.acceptance is Acceptance.KNOWN:
            return text("verified-shown-already")
        return received

    async def voted_down(self, request_id: UUID, clicker: Clicker) -> None:
        """Take a wording back that led to an answer of the staff which did not help."""
        turn = await self._actions.turn(request_id, clicker)
        checked = turn.agent_response.checked
        if checked is not None:
            tenants = await self.review.tenants(clicker.location)
            await self._staff.answers.withdraw(
                checked.answer_id, tenants, turn.user_input, clicker.user_id
            )

    # --- the queue ----------------------------------------------------------------------

    async def queue(self, reviewer: Reviewer, offset: int = 0) -> QueuePage:
        """Return what waits for the staff of a tenant: only of the courses that they are staff of.

        Raises:
            RequestError: when they are staff of none.
        """
        courses = await self.review.courses_of(reviewer)
        tenants = reviewer.who.tenants
        requests = self._staff.requests
        total = await requests.number_waiting(tenants, courses)
        offset = offset if offset < total else 0
        found = await requests.waiting(tenants, courses, AT_ONCE, offset)
        cards = [await self._card(one, reviewer.user_id) for one in found]
        elsewhere = 0
        for course_id in courses:
            if await self._directory.is_owned_by(course_id, tenants):
                elsewhere += (await requests.counts(course_id, tenants)).waiting
        shown = offset + len(cards)
        return QueuePage(tuple(cards), total, offset, shown if shown < total else None, elsewhere)

    async def page_with(self, card: HelpCard, reviewer: Reviewer) -> QueuePage:
        """Return the page of the queue on which a request stands, or stood until it was closed."""
        courses, tenants = await self.review.courses_of(reviewer), reviewer.who.tenants
        requests = self._staff.requests
        before = await requests.number_waiting(tenants, courses, card.request)
        page = await self.queue(reviewer, before // AT_ONCE * AT_ONCE)
        if any(one.request.help_id == card.request.help_id for one in page.cards):
            return page
        at = before - page.offset
        return replace(page, cards=(*page.cards[:at], card, *page.cards[at:]))

    async def card_for_all(self, help_id: UUID, taker: str) -> HelpCard | None:
        """Return the card of a request as a channel of the staff shows it; None: it is no more."""
        request = await self._staff.requests.get(help_id)
        if request is None:
            return None
        turn = await self._sessions.turn_of(request.request_id)
        return HelpCard.of(request, turn, taker=taker)

    async def check(self, help_id: UUID, reviewer: Reviewer) -> None:
        """Raise Declined unless a reviewer may see and change a request."""
        await self._request(help_id, reviewer)

    async def take(self, help_id: UUID, reviewer: Reviewer) -> HelpCard:
        """Hold a request for half an hour, and return its card."""
        request = await self._request(help_id, reviewer)
        if not await self._staff.requests.take(help_id, reviewer.who.tenants, reviewer.user_id):
            raise Declined(_not_free(await self._staff.requests.get(help_id) or request))
        return await self._card(await self._request(help_id, reviewer), reviewer.user_id)

    async def dismiss(self, help_id: UUID, reviewer: Reviewer) -> HelpCard:
        """Close a request without an answer, and return its card."""
        request = await self._request(help_id, reviewer)
        if not await self._staff.requests.dismiss(help_id, reviewer.who.tenants, reviewer.user_id):
            raise Declined(_not_free(await self._staff.requests.get(help_id) or request))
        return await self._card(await self._request(help_id, reviewer), reviewer.user_id)

    async def form(self, help_id: UUID, reviewer: Reviewer) -> AnswerForm:
        """Hold a request, and return what its answer is written into."""
        request = await self._request(help_id, reviewer)
        turn = await self.review.turn(request.request_id)
        if not await self._staff.requests.take(help_id, reviewer.who.tenants, reviewer.user_id):
            raise Declined(_not_free(await self._staff.requests.get(help_id) or request))
        return form_of_turn(turn)

    async def answer(
        self,
        help_id: UUID,
        reviewer: Reviewer,
        question: str,
        said: str,
        position: int,
        address: ReplyAddress,
    ) -> str:
        """Answer a request: it is kept, and shown to its asker; return the reply to staff.

        Args:
            position: As `Arrival.position`.
            address: Where the reply goes.
        """
        request = await self._request(help_id, reviewer, closed=True)
        turn = await self.review.turn(request.request_id)
        original = await self._inbox.of_key(request.key)
        if original is None or not original.address:
            raise Declined(text("help-asker-gone"))
        draft = drafted(turn, reviewer, question, said, tenant=request.tenant)
        events = await self._inbox.all_of_request(request.request_id)
        event = next((one for one in events if one.key == request.key), None)
        reply = reply_to(request, original, event, turn, position, address)
        try:
            sent = await self._staff.answer(request, draft, reply)
        except VectorIndexError as error:
            raise Declined(error.user_message) from error
        if sent is Sent.CLOSED:
            raise Declined(_not_free(await self._staff.requests.get(help_id) or request))
        if sent is Sent.KEPT:
            return text("help-asker-gone-kept")
        self._wake()
        return text("help-answered")

    # --- checks -------------------------------------------------------------------------

    async def _request(
        self, help_id: UUID, reviewer: Reviewer, *, closed: bool = False
    ) -> HelpRequest:
        """Return a request of the tenant; that of another one is the same as none."""
        request = await self._staff.requests.get(help_id)
        if request is None or request.tenant not in reviewer.who.tenants:
            raise Declined(text("help-gone"))
        await self.review.admit(reviewer, request.course_id)
        return request

    async def _reason(self, turn: ConversationTurn, clicker: Clicker) -> HelpReason:
        vote = await self._feedback.of(turn.request_id, clicker.user_id)
        if vote is not None and not vote.helpful:
            return HelpReason.VOTED_DOWN
        reasons = {Outcome.ABSTAINED: HelpReason.NOT_COVERED, Outcome.PARTIAL: HelpReason.NOT_SURE}
        return reasons.get(turn.outcome, HelpReason.ASKED)

    async def _card(self, request: HelpRequest, user_id: str) -> HelpCard:
        return HelpCard.of(request, await self._sessions.turn_of(request.request_id), user_id)


def _compared(turn: ConversationTurn) -> str:
    parts = (turn.user_input, turn.selected_text or "", turn.section_filter or "")
    return "\n".join(map(fold, parts))


def _told(request: HelpRequest) -> str:
    match request.at(now()):
        case HelpState.TAKEN:
            return text("help-taken")
        case HelpState.ANSWERED:
            return text("help-answered-already")
        case HelpState.DISMISSED:
            return text("help-dismissed")
        case _:
            return text("help-passed-on")


def _not_free(request: HelpRequest) -> str:
    match request.at(now()):
        case HelpState.ANSWERED:
            return text("queue-answered-already")
        case HelpState.DISMISSED:
            return text("queue-dismissed-already")
        case _:
            return text("queue-taken-by-another")


ShowCard = Callable[[CardDue, QueueCard], Awaitable[str]]
"""Shows a card as `ChatPlatform.show_card` does, and returns the message's id."""


@dataclass(slots=True)
class StandingCard:
    """The card of a request in a channel of the staff."""

    message: str | None = None
    """The platform's id of the message that shows how far the request has come; None: none does."""


class QueueBoard:
    """Chooses such channels; methods raise RequestError for who is not staff, and StoreError."""

    def __init__(self, staff: StaffDesk, cards: QueueCards) -> None:
        self._staff = staff
        self._review = staff.review
        self._cards = cards

    async def post_here(
        self, reviewer: Reviewer, place: Place, *, enterprise: str | None, locale: str | None
    ) -> str:
        """Have the questions about all courses of a reviewer posted into a channel.

        What waits already is posted as well. Return the reply to the reviewer.
        """
        courses = await self._review.courses_of(reviewer)
        await self._cards.choose(
            [
                QueueChannel(
                    course_id, place.platform, place.workspace, place.place, enterprise, locale
                )
                for course_id in courses
            ]
        )
        return text("queue-posting")

    async def stop(self, reviewer: Reviewer, place: Place) -> str:
        """Have them posted no more, and return the reply to the reviewer."""
        courses = await self._review.courses_of(reviewer)
        stopped = await self._cards.stop(courses, place.platform, place.workspace)
        return text("queue-posting-stopped") if stopped else text("queue-posting-none")

    @asynccontextmanager
    async def changing(
        self, help_id: UUID, reviewer: Reviewer, name: str, show: ShowCard
    ) -> AsyncIterator[StandingCard]:
        """Have the card of a request, if it has one, show what the block makes of the request.

        Where that cannot be shown at once, it is shown soon, without the name. Whoever may not
        change the request is refused before its card is claimed.

        Args:
            name: Of the reviewer who changes it; it is shown where they have taken it.
        """
        await self._staff.check(help_id, reviewer)
        due, standing = await self._cards.claim_of(help_id, reviewer.who.tenants), StandingCard()
        try:
            yield standing
        except BaseException:
            if due is not None:
                await self._cards.release(due, as_shown=True)
            raise
        if due is not None:
            standing.message = await self._show(due, name, show)

    async def _show(self, due: CardDue, name: str, show: ShowCard) -> str | None:
        try:
            with use_locale(due.channel.locale):
                card = await self._staff.card_for_all(due.help_id, name)
                if card is not None:
                    message = await show(due, card.shown)
                    await self._cards.shown(due, message, card.state)
                    return message
        except BotError as error:
            logger.info("the card of a question to the staff is changed later: %s", error)
        await self._cards.release(due, as_shown=False)
        return None
