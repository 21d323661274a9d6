"""What the buttons under an answer do, whatever the platform."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from adapters.desk import FrontDesk, Received
from adapters.heard import Heard
from core.errors import RequestError
from core.feedback.store import Feedback, Vote
from core.inbox.base import Acceptance
from core.inbox.store import Inbox
from core.models import EXPLAIN_QUOTE, ConversationTurn
from core.sessions.rows import FORGOTTEN_USER
from core.sessions.store import SessionStore

GONE = "This answer is not stored any more."
NOT_YOURS = "Only who asked, or staff, can do that."
NOTED = "Thank you, noted as helpful."
NOTED_TOO = "Noted as not helpful."
REASON_KEPT = "Thank you, this helps the people who run the course."
NO_QUESTION = "There was no question beside the quote. Please ask one."
SHARED = "Shared in this channel."
SHARED_ALREADY = "It is shared already."
STOPPING = "Stopping."
DELETING = "It will be gone in a moment, and so is what I stored of it."
NOT_FOR_GUESTS = "In this channel I answer people of this workspace only."
FINISHED = "The answer is finished already."


class Declined(RequestError):
    """A click that cannot be followed; the clicker is told why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(user_message=sentence)


class AnswerActions:
    """Does what a button says.

    Methods raise Declined with what the clicker is to be told, and StoreError when the
    database fails.
    """

    def __init__(
        self,
        *,
        desk: FrontDesk,
        inbox: Inbox,
        sessions: SessionStore,
        feedback: Feedback,
        wake: Callable[[], None],
        stop: Callable[[str], Awaitable[bool]],
    ) -> None:
        """Put together what is needed.

        Args:
            wake: Tells the worker that there is something to do.
            stop: Ends the answer to an event, by its key; returns whether it was on its way.
        """
        self._desk = desk
        self._inbox = inbox
        self._sessions = sessions
        self._feedback = feedback
        self._wake = wake
        self._stop = stop

    async def turn(self, request_id: UUID) -> ConversationTurn:
        """Return the turn of an answer."""
        turn = await self._sessions.turn_of(request_id)
        if turn is None or turn.user_id == FORGOTTEN_USER:
            raise Declined(GONE)
        return turn

    async def vote(
        self,
        request_id: UUID,
        voter: str,
        *,
        helpful: bool,
        reason: str | None = None,
        cast_at: datetime | None = None,
    ) -> None:
        """Keep a vote, in place of an earlier one of the same voter.

        Args:
            cast_at: When it was cast; a later one is not replaced. None: now.
        """
        turn = await self.turn(request_id)
        course_id = turn.agent_response.course_id
        vote = Vote(request_id, voter, course_id, helpful, reason)
        await self._feedback.vote(vote, cast_at)

    async def ask_without_quote(self, request_id: UUID, heard: Callable[[str], Heard]) -> Received:
        """Ask the question of an answer again, of the whole book.

        Args:
            heard: Returns what the click says, given the question.
        """
        turn = await self.turn(request_id)
        if turn.user_input == EXPLAIN_QUOTE:
            raise Declined(NO_QUESTION)
        course_id = turn.agent_response.course_id
        again = replace(heard(turn.user_input), course=course_id, quote=None)
        received = await self._desk.receive(again)
        if received is None:  # people of the place may click always
            raise Declined(NOT_FOR_GUESTS)
        self._wake()
        return received

    async def share(
        self, request_id: UUID, clicker: str, position: int, address: Mapping[str, Any]
    ) -> str:
        """Have a private answer shown to its channel, and return what the clicker is told.

        Args:
            position: As `Arrival.position`.
            address: Where it is to be shown.
        """
        turn = await self.turn(request_id)
        event = await self._inbox.of_request(request_id)
        private = await self._inbox.of_key(event.key) if event is not None else None
        if private is None or private.user_id != clicker:
            raise Declined(NOT_YOURS)
        shared = await self._desk.share(private, turn, position, address)
        self._wake()
        return SHARED_ALREADY if shared.accepted.acceptance is Acceptance.KNOWN else SHARED

    async def stop(
        self, request_id: UUID, clicker: str, is_staff: Callable[[], Awaitable[bool]]
    ) -> str:
        """End an answer that is being written, and return what the clicker is told."""
        event = await self._inbox.of_request(request_id)
        if event is None:
            raise Declined(GONE)
        if event.user_id != clicker and not await is_staff():
            raise Declined(NOT_YOURS)
        if await self._sessions.turn_of(request_id) is not None:
            return FINISHED  # its event may not have ended yet, but nothing stops it any more
        return STOPPING if await self._stop(event.key) else FINISHED

    async def delete(
        self,
        message: tuple[str, str],
        clicker: str,
        position: int,
        is_staff: Callable[[], Awaitable[bool]],
    ) -> str:
        """Have an answer removed with its turn, and return what the clicker is told.

        A second time does nothing more.

        Args:
            message: The platform, and the id of a message of the answer.
            position: As `Arrival.position`.
        """
        answered = await self._inbox.by_message(*message)
        event = await self._inbox.of_key(answered.key) if answered is not None else None
        if event is None:
            raise Declined(GONE)
        if event.user_id != clicker and not await is_staff():
            raise Declined(NOT_YOURS)
        original = event.about or event.key
        await self._desk.forget(original, f"{original}:delete", position)
        self._wake()
        return DELETING
