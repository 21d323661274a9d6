"""What students ask the staff, and what staff do about it, the same on every platform."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from adapters.access.course_directory import CourseDirectory
from adapters.access.standing import Presence, StaffStanding
from adapters.features.answer_actions import AnswerActions, Clicker, Declined
from adapters.features.staff.cards import (
    AnswerForm,
    HelpCard,
    QueuePage,
    form_of_turn,
)
from adapters.features.staff.replying import ReplyAddress, reply_to
from adapters.features.staff.review import Reviewer, StaffReview
from adapters.features.staff.verifying import AT_ONCE, VerifiedDesk, drafted
from adapters.intake.front_desk import FrontDesk, Received
from adapters.intake.incoming_message import IncomingMessage
from core.errors import VectorIndexError
from core.help_requests.base import HelpReason, HelpRequest, HelpState, help_id_for
from core.i18n import text
from core.inbox.base import Acceptance
from core.inbox.store import Inbox
from core.models import (
    ConversationTurn,
    Outcome,
    now,
)
from core.staff_answers import Sent, StaffAnswers
from core.storage.feedback import Feedback
from core.storage.sessions.rows import FORGOTTEN_USER
from core.storage.sessions.store import SessionStore
from core.verified_answers.base import (
    VerifiedScope,
    VerifiedState,
)
from core.verified_answers.folding import fold


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
