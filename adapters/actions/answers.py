"""What the buttons under an answer do, whatever the platform."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from adapters.actions.use import Clicker, Declined
from adapters.chat.access import Location
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.incoming_message import IncomingMessage
from core.domain import EXPLAIN_QUOTE, AgentRequest, ConversationTurn
from core.domain.i18n import Message, text
from core.retrieval.sections import read_references
from core.storage.access import Tenant
from core.storage.channels import ChannelRules, Place, Rules
from core.storage.inbox.base import Acceptance, Answered
from core.storage.inbox.store import Inbox
from core.storage.sessions import FORGOTTEN_USER, Feedback, SessionStore, Vote

REASONS = {
    "wrong": Message("vote-because-wrong"),
    "aside": Message("vote-because-aside"),
    "missing": Message("vote-because-missing"),
    "unclear": Message("vote-because-unclear"),
}
"""Why an answer was not helpful, to be chosen from."""


def reason_of(chosen: str, words: str) -> str | None:
    """Return what is kept of the form of a vote; None: it says nothing."""
    because = str(REASONS[chosen]) if chosen in REASONS else ""
    return " ".join(filter(None, [because and f"{because}.", words.strip()])) or None


class AnswerActions:
    """Does what a button says.

    Methods raise Declined with what the clicker reads, RateLimited where a click asks something
    beyond their limit, which may be pressed again later, and StoreError when the database fails.
    """

    def __init__(
        self,
        *,
        desk: FrontDesk,
        inbox: Inbox,
        sessions: SessionStore,
        feedback: Feedback,
        directory: CourseDirectory,
        rules: ChannelRules,
        wake: Callable[[], None],
        stop: Callable[[str, Sequence[Tenant]], Awaitable[bool]],
    ) -> None:
        """Put together what is needed.

        Args:
            wake: Tells the worker that there is something to do.
            stop: Ends the answer to an event of some tenants, by its key; returns whether it was
                on its way.
        """
        self._desk = desk
        self._inbox = inbox
        self._sessions = sessions
        self._feedback = feedback
        self._directory = directory
        self._rules = rules
        self._wake = wake
        self._stop = stop

    async def turn(self, request_id: UUID, clicker: Clicker) -> ConversationTurn:
        """Return the turn of an answer that the clicker may see.

        That is an answer of their own tenant, from a course that may be read there; a private
        one is its asker's. Any other is the same as one that is not stored.
        """
        await self._check_theirs(await self._inbox.all_of_request(request_id), clicker)
        turn = await self._sessions.turn_of(request_id)
        if turn is None or turn.user_id == FORGOTTEN_USER:
            raise Declined(text("answer-gone"))
        here = await self._desk.here(clicker.location)
        if await self._directory.mark(here.reader, turn.agent_response.course_id) is None:
            raise Declined(text("answer-gone"))
        return turn

    async def vote(
        self,
        request_id: UUID,
        clicker: Clicker,
        *,
        helpful: bool,
        reason: str | None = None,
        cast_at: datetime | None = None,
    ) -> None:
        """Keep a vote, in place of an earlier one of the same voter.

        Args:
            cast_at: When it was cast; a later one is not replaced. None: now.
        """
        turn = await self.turn(request_id, clicker)
        course_id = turn.agent_response.course_id
        vote = Vote(request_id, clicker.user_id, course_id, helpful, reason)
        await self._feedback.vote(vote, await self._tenants(clicker.location), cast_at)

    async def ask_without_quote(
        self, request_id: UUID, clicker: Clicker, incoming: Callable[[str], IncomingMessage]
    ) -> Received:
        """Ask the question of an answer again, of the whole book.

        Args:
            incoming: Returns what the click says, given the question.
        """
        turn = await self.turn(request_id, clicker)
        if turn.user_input == EXPLAIN_QUOTE:
            raise Declined(text("asking-no-question"))
        course_id = turn.agent_response.course_id
        again = replace(incoming(turn.user_input), course=course_id, quote=None)
        return await self._received(again)

    async def ask_within(
        self,
        request_id: UUID,
        number: int,
        clicker: Clicker,
        incoming: Callable[[str, bool], IncomingMessage],
    ) -> Received | str:
        """Ask a question that was refused again, within one of the nearest sections.

        Where that was pressed before, return what the clicker reads. A refusal is its asker's,
        so no one else may press it. A question for a section that is missing asks for the text of
        the chosen one.

        Args:
            number: Of the section, in the order in which the refusal named them.
            incoming: Returns what the click says, given the question, and whether it was asked
                privately.
        """
        turn, private = await self._own(request_id, clicker)
        refused = turn.agent_response
        if number >= len(refused.nearest_sections):
            raise Declined(text("answer-gone"))
        again = replace(
            incoming(_asked_within(turn), private),
            key=f"{clicker.location.platform}:within:{request_id}:{number}",
            course=refused.course_id,
            section=refused.nearest_sections[number],
            quote=turn.selected_text,
        )
        return await self._asked_once(again)

    async def ask_choice(
        self,
        request_id: UUID,
        number: int,
        clicker: Clicker,
        incoming: Callable[[str, bool], IncomingMessage],
    ) -> Received | str:
        """Ask one of the questions that the bot has asked back with; its asker alone may.

        Where one was chosen before, return what the clicker reads.

        Args:
            number: Of the question, in the order in which they were shown.
            incoming: As for `ask_within`.
        """
        turn, private = await self._own(request_id, clicker)
        asked_back = turn.agent_response
        if number >= len(asked_back.choices):
            raise Declined(text("answer-gone"))
        chosen = replace(
            incoming(asked_back.choices[number], private),
            key=f"{clicker.location.platform}:choice:{request_id}:{number}",
            course=asked_back.course_id,
            section=turn.section_filter,
            stands_alone=True,
        )
        return await self._asked_once(chosen)

    async def understood(self, request_id: UUID, clicker: Clicker) -> str:
        """Return the question that a follow-up was taken for, for its asker to correct."""
        turn, _ = await self._own(request_id, clicker)
        return turn.question

    async def ask_meant(
        self,
        request_id: UUID,
        clicker: Clicker,
        incoming: Callable[[bool], IncomingMessage],
    ) -> Received | str:
        """Ask what a follow-up was to mean, in its asker's words.

        Args:
            incoming: Returns what was typed, given whether the follow-up was asked privately.
        """
        turn, private = await self._own(request_id, clicker)
        meant = replace(
            incoming(private),
            course=turn.agent_response.course_id,
            section=turn.section_filter,
            stands_alone=True,
        )
        return await self._asked_once(meant)

    async def _own(self, request_id: UUID, clicker: Clicker) -> tuple[ConversationTurn, bool]:
        """Return a turn that the clicker asked, and whether they alone see its answer."""
        events = await self._inbox.all_of_request(request_id)
        turn = await self.turn(request_id, clicker)
        own = [event for event in events if event.user_id == clicker.user_id]
        if not own:
            raise Declined(text("card-section-not-yours"))
        return turn, any(event.address.get("ephemeral") for event in own)

    async def _asked_once(self, incoming: IncomingMessage) -> Received | str:
        """Have something asked, or return that it was asked already."""
        received = await self._received(incoming)
        if received.accepted.acceptance is Acceptance.KNOWN:
            return text("card-section-asked")
        return received

    async def find_courses(
        self, request_id: UUID, clicker: Clicker, typed: str, *, limit: int
    ) -> Sequence[tuple[str, str]]:
        """Return id and title of the courses that an asker may mean, by what they typed."""
        await self._check_asker(request_id, clicker)
        here = await self._desk.here(clicker.location)
        return await self._directory.courses_like(here.reader, typed, limit=limit)

    async def _check_asker(self, request_id: UUID, clicker: Clicker) -> Sequence[Answered]:
        """Return the events of a question; raise Declined where it is not the clicker's own."""
        events = await self._inbox.all_of_request(request_id)
        await self._check_theirs(events, clicker)
        if all(event.user_id != clicker.user_id for event in events):
            raise Declined(text("answer-not-yours"))
        return events

    async def choose(
        self,
        request_id: UUID,
        course_id: str,
        clicker: Clicker,
        incoming: Callable[[AgentRequest], IncomingMessage],
    ) -> Received | str:
        """Have a question answered from the course that its asker has chosen.

        In direct messages the choice is kept for the next questions. Where the question waits
        no more, return what the clicker reads.

        Args:
            incoming: Returns what the click says, given the question that has waited.
        """
        events = await self._check_asker(request_id, clicker)
        here = await self._desk.here(clicker.location)
        mark = await self._directory.mark(here.reader, course_id)
        if mark is None:
            raise Declined(text("course-none-such-any-more"))
        direct = next((event for event in events if event.address.get("dm")), None)
        if direct is not None:
            await self._keep_choice(direct, course_id)
        request = await self._inbox.pending_request(request_id)
        if request is None:
            return text("course-chosen", title=mark.course.title)
        # One key for all clicks: of two at once, or after a failure, one is answered.
        key = f"{clicker.location.platform}:choose:{request_id}"
        received = await self._received(replace(incoming(request), key=key, course=course_id))
        tenants = await self._tenants(clicker.location)
        # Last: until now the click may be repeated.
        await self._inbox.drop_pending(request_id, tenants)
        if received.accepted.acceptance is Acceptance.KNOWN:
            return text("course-chosen", title=mark.course.title)
        return received

    async def share(
        self, request_id: UUID, clicker: Clicker, position: int, address: Mapping[str, Any]
    ) -> str:
        """Have a private answer shown to its channel, and return what the clicker reads.

        Args:
            position: As `Arrival.position`.
            address: Where it is to be shown.
        """
        turn = await self.turn(request_id, clicker)
        if self._desk.keeps_private(clicker.location):
            raise Declined(text("answer-kept-private"))
        events = await self._inbox.all_of_request(request_id)
        asked = next((one for one in events if one.user_id == clicker.user_id), None)
        private = await self._inbox.of_key(asked.key) if asked is not None else None
        if private is None:
            raise Declined(text("answer-not-yours"))
        shared = await self._desk.share(private, turn, position, address, clicker.location)
        self._wake()
        return (
            text("answer-shared-already")
            if shared.accepted.acceptance is Acceptance.KNOWN
            else text("answer-shared")
        )

    async def stop(
        self, request_id: UUID, clicker: Clicker, is_staff: Callable[[], Awaitable[bool]]
    ) -> str:
        """End an answer that is being written, and return what the clicker reads."""
        events = await self._inbox.all_of_request(request_id)
        await self._check_theirs(events, clicker)
        event = events[0]
        if event.user_id != clicker.user_id and not await is_staff():
            raise Declined(text("answer-not-yours"))
        if await self._sessions.turn_of(request_id) is not None:
            return text(
                "answer-finished-already"
            )  # its event may not have ended yet, but nothing stops it any more
        return (
            text("answer-stopping")
            if await self._stop(event.key, await self._tenants(clicker.location))
            else text("answer-finished-already")
        )

    async def delete(
        self,
        message: tuple[str, str],
        clicker: Clicker,
        position: int,
        is_staff: Callable[[], Awaitable[bool]],
    ) -> str:
        """Have an answer removed with its turn, and return what the clicker reads.

        A second time does nothing more.

        Args:
            message: The platform, and the id of a message of the answer.
            position: As `Arrival.position`.
        """
        answered = await self._inbox.by_message(*message)
        await self._check_theirs([answered] if answered is not None else [], clicker)
        event = await self._inbox.of_key(answered.key) if answered is not None else None
        if event is None:
            raise Declined(text("answer-gone"))
        if event.user_id != clicker.user_id and not await is_staff():
            raise Declined(text("answer-not-yours"))
        original = event.about or event.key
        await self._desk.forget(original, f"{original}:delete", position)
        self._wake()
        return text("answer-deleting")

    async def _check_theirs(self, events: Sequence[Answered], clicker: Clicker) -> None:
        """Raise Declined unless the clicker may know that there are these events.

        They are of the clicker's tenant, or of its organisation; those that their asker alone
        has seen are the asker's.
        """
        tenants = await self._tenants(clicker.location)
        here = [one for one in events if Tenant(one.platform, one.workspace) in tenants]
        if not any(one.user_id == clicker.user_id or not _is_private(one) for one in here):
            raise Declined(text("answer-gone"))

    async def _tenants(self, location: Location) -> Sequence[Tenant]:
        """Return whose answers people of a place press buttons of: their own organisation's."""
        own = Tenant(location.platform, location.workspace)
        others = () if location.personal else await self._directory.organised_with(own)
        return (own, *others)

    async def _keep_choice(self, event: Answered, course_id: str) -> None:
        """Answer from this course in a user's direct messages, until they choose another."""
        place = Place(event.platform, event.workspace, str(event.address["channel"]))
        before = await self._rules.get(place.platform, place.workspace, [place.place])
        rules = before.get(place.place, Rules()).model_copy(update={"course_id": course_id})
        await self._rules.set(place, rules)

    async def _received(self, incoming: IncomingMessage) -> Received:
        received = await self._desk.receive(replace(incoming, pressed=True))
        if received is None:  # people of the place may click always
            raise Declined(text("asking-not-for-guests"))
        self._wake()
        return received


def _asked_within(turn: ConversationTurn) -> str:
    """Return what is asked within a section: the question, unless it names another section."""
    if turn.user_input == EXPLAIN_QUOTE:
        return ""
    names_another = any(one.number for one in read_references(turn.user_input))
    return text("asking-this-section") if names_another else turn.user_input


def _is_private(event: Answered) -> bool:
    """Return whether its asker alone has seen an answer."""
    return bool(event.address.get("ephemeral") or event.address.get("dm"))
