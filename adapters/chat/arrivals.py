"""Makes of what was heard an event of the inbox: a question to a course, or a refusal."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeGuard, TypeVar
from uuid import UUID

from adapters.chat.access import MembershipUnknown, address_with
from adapters.chat.attention import Decision, decided_on
from adapters.chat.incoming_message import DIRECT_THREAD, IncomingMessage, PlatformClock
from adapters.chat.places import PlaceResolver, StaffStanding
from adapters.chat.question_context import MENTIONED, as_words, shortened_question
from core.domain import (
    EXPLAIN_QUOTE,
    AgentRequest,
    ContextMode,
    QueryType,
    ThreadMessage,
    UserContext,
    session_id_for,
)
from core.domain.errors import RequestError
from core.domain.i18n import text
from core.domain.links import unread_instead, without_layout, without_markers
from core.storage.access import Role, role_of
from core.storage.channels import Askers, Conversations, Place, Rules
from core.storage.inbox.base import Arrival, Kind, Settlement, request_id_for
from core.storage.inbox.store import Inbox
from core.storage.sessions import SessionStore

_ANSWERS = "answers"
"""In an arrival's address: the bot's message that the question replies to."""
BY_ITSELF = "by_itself"
"""In an arrival's address: that the bot answers though it was not addressed."""


class Pseudonymous(Protocol):
    """Turns a platform's user into a pseudonym."""

    def of(self, platform: str, workspace: str, user: str) -> str:
        """Return the keyed hash that stands for a user."""
        ...


class Arrivals:
    """Finds the course and the conversation of a question; raises StoreError."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        conversations: Conversations,
        sessions: SessionStore,
        user_id: Callable[[IncomingMessage], str],
        place_resolver: PlaceResolver,
        standing: StaffStanding,
        handbook: str,
    ) -> None:
        """Put the stores together.

        Args:
            user_id: Returns the asker's pseudonym.
            handbook: As of `FrontDesk`.
        """
        self._inbox = inbox
        self._conversations = conversations
        self._sessions = sessions
        self._user_id = user_id
        self._place_resolver = place_resolver
        self._standing = standing
        self._handbook = handbook

    async def arrival(self, incoming: IncomingMessage, rules: Rules, decision: Decision) -> Arrival:
        """Return the event of something heard, as what it was decided to be."""
        arrival = Arrival(
            key=incoming.key,
            platform=incoming.platform,
            workspace=incoming.workspace,
            channel=incoming.channel,
            lane=incoming.lane,
            position=incoming.position,
            user_id=self._user_id(incoming),
            address=address_with(
                {**incoming.address, **_how_asked(incoming), **incoming.parts.in_address},
                incoming.location,
            ),
            token=incoming.token,
            token_expires_at=incoming.token_expires_at,
            sent_at=incoming.sent_at,
            pressed=incoming.pressed,
        )
        about_me = incoming.course == self._handbook
        if not self._place_resolver.admits(incoming.location):
            return replace(arrival, refusal=text("asking-not-admitted"))
        if rules.excluded and not about_me:
            return replace(arrival, refusal=text("asking-not-here"))
        role = await self._role(incoming, rules)
        if rules.askers is Askers.STAFF and role != "staff" and not about_me:
            return replace(arrival, refusal=text("asking-staff-only"))
        if not incoming.text.strip() and incoming.quote is None and not incoming.parts.files:
            if incoming.parts.unread:
                return replace(arrival, refusal=unread_instead(incoming.parts.unread))
            return replace(arrival, refusal=text("asking-how"), settles=Settlement.POINTED)
        try:
            asked = await self._addressed_to_a_course(arrival, incoming, rules, role)
            return decided_on(asked, incoming, decision)
        except RequestError as error:
            return replace(arrival, refusal=error.user_message)
        except MembershipUnknown as error:
            apology = Settlement.APOLOGISED
            return replace(arrival, refusal=error.user_message, settles=apology)

    async def role_now(self, incoming: IncomingMessage, rules: Rules) -> Role | None:
        """Return what a user is who may have said something to the bot."""
        return role_of(await self._standing.is_staff(incoming.presence, rules))

    async def _role(self, incoming: IncomingMessage, rules: Rules) -> Role | None:
        """Return what the asker is; None: it does not matter yet, and takes long."""
        if incoming.role_later and rules.askers is not Askers.STAFF:
            return None
        return role_of(await self._standing.is_staff(incoming.presence, rules))

    async def _addressed_to_a_course(
        self, arrival: Arrival, incoming: IncomingMessage, rules: Rules, role: Role | None
    ) -> Arrival:
        """Return an arrival with the request to its course, or with why there is none.

        Raises:
            RequestError: when the question cannot be asked.
            MembershipUnknown: as `Readers.of` does.
        """
        here = await self._place_resolver.here(incoming.location, rules)
        bound, direct = incoming.course != self._handbook, incoming.direct or incoming.personal

        async def is_staff() -> bool:
            known = await self.role_now(incoming, rules) if incoming.role_later else role
            return known == "staff"

        meant = await self._place_resolver.meant(
            here, incoming.course, direct=direct, bound=bound, is_staff=is_staff
        )
        if meant.course_id is not None:
            tenants = tuple(sorted(map(str, here.reader.tenants)))
            request = await self._request(incoming, meant.course_id, rules, role, tenants)
            return replace(arrival, request=request)
        arrival = replace(arrival, refusal=meant.refusal)
        if not meant.choices:
            return arrival
        pending = await self._request(incoming, meant.choices[0][0], rules, role)
        address = {**arrival.address, "choices": [[*choice] for choice in meant.choices]}
        pointed = Settlement.POINTED
        return replace(arrival, pending=pending, address=address, settles=pointed)

    async def _request(
        self,
        incoming: IncomingMessage,
        course_id: str,
        rules: Rules,
        role: Role | None,
        tenants: tuple[str, ...] = (),
    ) -> AgentRequest:
        incoming = await self._without_own_marks(incoming, course_id)
        question, material = EXPLAIN_QUOTE, tuple[ThreadMessage, ...]()
        if incoming.text.strip():
            question, material = shortened_question(as_words(incoming.text.strip()))
        quoted = ContextMode.SELECTED_TEXT if incoming.quote else ContextMode.FULL_BOOK
        about_section = QueryType.SECTION_SPECIFIC if incoming.section else QueryType.GLOBAL
        return AgentRequest(
            request_id=request_id_for(incoming.key),
            course_id=course_id,
            query_text=question,
            thread_messages=material,
            unread=incoming.parts.unread,
            verified_answer=incoming.verified_answer,
            query_type=about_section,
            section_filter=incoming.section,
            stands_alone=incoming.stands_alone,
            context_mode=quoted,
            selected_text=incoming.quote,
            session_id=await self._session(incoming, course_id),
            user_id=self._user_id(incoming),
            answer_length=rules.answer_length,
            user_context=UserContext(
                platform=incoming.platform,
                workspace=incoming.workspace,
                channel=incoming.channel,
                thread=incoming.conversation,
                places=incoming.places,
                personal=incoming.personal,
                message_ids=(incoming.message,) if incoming.message else (),
                locale=incoming.locale,
                role=role,
                tenants=tenants,
                sent_at=incoming.sent_at,
            ),
        )

    async def _without_own_marks(
        self, incoming: IncomingMessage, course_id: str
    ) -> IncomingMessage:
        """Return what was heard with an answer of the bot's as it was written, without markers.

        An answer from another course than the one that is asked stays as the message shows it.
        """
        if incoming.explains is None:
            return incoming
        answered = await self._inbox.by_message(incoming.platform, incoming.explains)
        if answered is None or answered.workspace != incoming.workspace:
            return incoming
        turn = await self._sessions.turn_of(answered.request_id)
        if turn is None or turn.agent_response.course_id != course_id:
            return incoming
        said = without_layout(without_markers(turn.agent_response.response_text))
        return replace(incoming, quote=said or None)

    async def _session(self, incoming: IncomingMessage, course_id: str) -> UUID | None:
        """Return the conversation's session; None while its thread is not known yet.

        In a direct message another course is another conversation.
        """
        thread = incoming.conversation
        if thread is None:
            return None
        at = (incoming.platform, incoming.workspace, incoming.channel, thread)
        if thread != DIRECT_THREAD:
            return session_id_for(*at)
        place, part = Place(incoming.platform, incoming.workspace, incoming.channel), 0
        if incoming.sent_at is not None:
            part = await self._conversations.direct_message(place, incoming.sent_at)
        session = await self._sessions.get(session_id_for(*at, part=part))
        if session is not None and session.course_id != course_id:
            part = await self._conversations.begin_again(place)
        return session_id_for(*at, part=part)


def _how_asked(incoming: IncomingMessage) -> dict[str, Any]:
    """Return what an arrival's address holds of why it is the bot's, and of whom it names."""
    mentioned = sorted(incoming.others) if incoming.addressed else []
    told = {MENTIONED: mentioned} if mentioned else {}
    if incoming.answers is not None:
        return {**told, _ANSWERS: incoming.answers}
    return told if incoming.addressed or not incoming.begins else {**told, BY_ITSELF: True}


def replying_as_before(incoming: IncomingMessage, known: Arrival) -> IncomingMessage:
    """Return an edited message that replies to the bot's message that its question did."""
    answers = known.address.get(_ANSWERS)
    if incoming.answers is not None or answers is None:
        return incoming
    return replace(incoming, answers=answers, addressed=True)


def by_our_clock(incoming: IncomingMessage, clock: PlatformClock | None) -> IncomingMessage:
    """Return what was heard, its times as this machine's clock showed them.

    A token's life is counted from the moment that the platform tells, where it tells one.
    """
    if clock is None or incoming.sent_at is None:
        return incoming
    ends = incoming.token_expires_at
    ends = clock.ours(ends) if ends is not None else None
    return replace(incoming, sent_at=clock.ours(incoming.sent_at), token_expires_at=ends)


def is_answered(known: Arrival | None) -> TypeGuard[Arrival]:
    """Return whether an event asked a question, by a user who is not forgotten since."""
    return known is not None and known.kind is Kind.ASK and bool(known.address)


Id = TypeVar("Id")

LOOKED_BACK = timedelta(hours=1)
"""How long before the pause a question may have been asked whose change in it is noticed."""
MOST_QUESTIONS = 200
"""Whose edits and deletions are looked for after a pause."""


def changed_in(
    asked: Iterable[Id],
    there: Mapping[Id, datetime | None],
    is_covered: Callable[[Id], bool],
    since: datetime,
) -> Iterator[Id]:
    """Yield the questions that were edited after a moment, or are not there any more.

    Args:
        asked: The ids of their messages.
        there: When each message that was read was edited; None: never.
        is_covered: Returns whether a message would have been read if it were there; one that
            may have been passed over is not taken for deleted.
        since: The moment; an edit that was heard already may come after it.
    """
    for message in asked:
        if message not in there:
            if is_covered(message):
                yield message
        elif (edited_at := there[message]) is not None and edited_at > since:
            yield message
