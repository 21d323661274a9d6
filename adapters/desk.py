"""The front desk every platform shares: what is a question, whose, to which course."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol, TypeGuard
from uuid import UUID

from adapters.guide import Guide
from adapters.heard import DIRECT_THREAD, Heard
from adapters.stored import stored_request
from core.channels.rules import Askers, FollowUps, Rules, in_force
from core.channels.store import ChannelRules, Conversation, Conversations, Place
from core.errors import RequestError
from core.inbox.base import Accepted, Arrival, Kind, Unheard, request_id_for
from core.inbox.store import Inbox
from core.models import (
    EXPLAIN_QUOTE,
    AgentRequest,
    ContextMode,
    ConversationTurn,
    QueryType,
    UserContext,
    now,
    session_id_for,
)
from core.sessions.store import SessionStore

NOT_HERE = "I am switched off in this channel. Please ask where your course's questions belong."
STAFF_ONLY = "In this channel I answer the course's staff only."
HOW_TO_ASK = (
    "Here I am. Put your question into the same message, or reply to a passage and mention me to "
    "have it explained."
)
WHICH_COURSE = (
    "I know several courses and cannot tell here which of them you mean. Please ask in a channel "
    "of your course; an answer that is private is shown to you alone."
)
_MAY_STILL_COME = timedelta(hours=1)
"""How old a message is whose event no platform delivers any more."""


class Pseudonymous(Protocol):
    """Turns a platform's user into a pseudonym."""

    def of(self, platform: str, workspace: str, user: str) -> str:
        """Return the keyed hash that stands for a user."""
        ...


@dataclass(frozen=True, slots=True)
class Received:
    """A question that is in the inbox."""

    arrival: Arrival
    accepted: Accepted


class FrontDesk:
    """Decides about what was heard, and puts questions into the inbox.

    Methods raise StoreError when the database fails: then nothing was accepted.
    """

    def __init__(
        self,
        *,
        inbox: Inbox,
        rules: ChannelRules,
        conversations: Conversations,
        sessions: SessionStore,
        pseudonyms: Pseudonymous,
        guide: Guide,
        handbook: str,
        described: Callable[[str], Mapping[str, Rules]],
    ) -> None:
        """Put the stores together.

        Args:
            handbook: The id of the course about the bot itself, answered from when there is
                no other.
            described: Returns what the course file sets for a platform's places.
        """
        self._inbox = inbox
        self._rules = rules
        self._conversations = conversations
        self._sessions = sessions
        self._pseudonyms = pseudonyms
        self._guide = guide
        self._handbook = handbook
        self._described = described

    async def receive(self, heard: Heard, rules: Rules | None = None) -> Received | None:
        """Put a question into the inbox, and return its receipt; None: it is not for us.

        What cannot be answered, as in a channel without a course, is accepted with its
        `refusal`, provided that the bot was addressed. `rules` come from who knows them already.
        """
        if await self._was_passed_over(heard):
            return None
        rules = rules or await self.rules(heard)
        if heard.outsider and not rules.outsiders:
            return None
        heard = await self._in_its_conversation(heard)
        if not await self._is_for_us(heard, rules):
            return None
        arrival = await self._arrival(heard, rules)
        if arrival.refusal is not None and not heard.addressed and not heard.direct:
            return None
        return Received(arrival, await self._inbox.accept(arrival))

    async def redo(self, heard: Heard, original: str) -> Received | None:
        """Have an edited question answered anew; None when it never was one."""
        known = await self._inbox.of_key(original)
        if not _is_answered(known):
            return None
        heard = await self._in_its_conversation(heard)
        # It is as old as its acceptance, whenever the message was sent.
        arrival = replace(await self._arrival(heard, await self.rules(heard)), sent_at=None)
        arrival = replace(
            arrival, kind=Kind.REDO, about=original, lane=known.lane, address=known.address
        )
        return Received(arrival, await self._inbox.accept(arrival))

    async def deleted(self, unheard: Unheard, position: int) -> Received | None:
        """Have a deleted message forgotten, also when its event is yet to come.

        None when it is no question that was answered, or is being answered.
        """
        key = unheard.key
        is_old = now() - unheard.sent_at > _MAY_STILL_COME
        if is_old or not await self._inbox.bury(unheard):
            return await self.forget(key, f"{key}:delete", position)
        return None

    async def forget(self, original: str, key: str, position: int) -> Received | None:
        """Have a question's turn and answer removed; None when it never was one."""
        known = await self._inbox.of_key(original)
        if not _is_answered(known):
            return None
        arrival = replace(
            known,
            key=key,
            kind=Kind.FORGET,
            about=original,
            position=position,
            request=None,
            refusal=None,
            token=None,
        )
        return Received(arrival, await self._inbox.accept(arrival))

    async def share(
        self, private: Arrival, turn: ConversationTurn, position: int, address: Mapping[str, Any]
    ) -> Received:
        """Have a private answer shown in its channel as well; a second time does nothing.

        Args:
            private: The event that was answered privately.
            turn: Its stored answer, which is shown as it is.
            position: As `Arrival.position`.
            address: Where it is to be shown.
        """
        shared = replace(
            private,
            key=f"{private.platform}:share:{turn.request_id}",
            lane=f"{private.lane}:shared",
            position=position,
            address=address,
            request=stored_request(private, turn),
            refusal=None,
            sent_at=None,
        )
        return Received(shared, await self._inbox.accept(shared))

    async def rules(self, heard: Heard) -> Rules:
        """Return what holds where something was said."""
        return await self.rules_at(heard.platform, heard.workspace, heard.places)

    async def rules_at(self, platform: str, workspace: str, places: Sequence[str]) -> Rules:
        """Return what holds in a place, given by ids from the narrowest to the widest."""
        stored = await self._rules.get(platform, workspace, places)
        return in_force(places, stored, self._described(platform))

    async def knows_section(self, heard: Heard) -> bool:
        """Return whether the course that is asked has the section that is asked for, if any."""
        course_id = await self.course_of(await self.rules(heard)) or heard.course
        if heard.section is None or course_id is None:
            return True
        return await self._guide.has_section(course_id, heard.section)

    async def course_of(self, rules: Rules) -> str | None:
        """Return the course that is asked where these rules hold; None: no course is set."""
        known = await self._guide.courses()
        if rules.course_id is not None:
            return rules.course_id if rules.course_id in known else None
        courses = [course_id for course_id in known if course_id != self._handbook]
        if not courses:
            return self._handbook if self._handbook in known else None
        return courses[0] if len(courses) == 1 else None

    def user_id(self, heard: Heard) -> str:
        """Return the asker's pseudonym."""
        return self.pseudonym(heard.platform, heard.workspace, heard.user)

    def pseudonym(self, platform: str, workspace: str, user: str) -> str:
        """Return the keyed hash that stands for a user."""
        return self._pseudonyms.of(platform, workspace, user)

    async def _in_its_conversation(self, heard: Heard) -> Heard:
        """Return what was heard, in the conversation that it goes on with by replying."""
        if heard.thread is not None or heard.answers is None or heard.direct:
            return heard
        answered = await self._inbox.by_message(heard.platform, heard.answers)
        if answered is None or answered.thread is None:
            return heard
        return replace(heard, thread=answered.thread)

    async def _is_for_us(self, heard: Heard, rules: Rules) -> bool:
        if rules.excluded and not heard.command:
            return False
        if heard.direct or heard.command:
            return True
        place = heard.place
        if heard.addressed:
            if place is not None:
                await self._wake(place)
            return True
        if heard.begins and rules.auto_answer and not heard.to_others:
            return True
        if place is None or not await self._takes_part(heard):
            return False
        conversation = await self._conversations.get(place)
        if heard.to_others:
            await self._conversations.listen(place, False)
            return False
        listening = conversation is None or conversation.listening
        wanted = rules.follow_ups is FollowUps.UNTIL_PEOPLE_TALK
        return listening and wanted and not heard.may_be_small_talk

    async def _was_passed_over(self, heard: Heard) -> bool:
        """Return whether a message from the history was heard when it was said.

        Rules and conversations change by what is heard. When one has changed behind the message,
        and before the bot began to listen again, then it was decided by the older ones.
        """
        if heard.listening_since is None or heard.sent_at is None:
            return False
        here = (heard.platform, heard.workspace, heard.places)
        changes = [await self._rules.changed_at(*here)]
        place = heard.place
        if place is not None and not heard.addressed:
            changes.append(await self._conversations.changed_at(place))
        return any(c is not None and heard.sent_at < c < heard.listening_since for c in changes)

    async def _wake(self, place: Place) -> None:
        conversation: Conversation | None = await self._conversations.get(place)
        if conversation is not None and not conversation.listening:
            await self._conversations.listen(place)

    async def _takes_part(self, heard: Heard) -> bool:
        """Return whether the bot had answered, or was about to, when this was said in a thread."""
        assert heard.thread is not None
        said = None if heard.listening_since is None else heard.sent_at
        before = None if said is None else heard.position
        if await self._inbox.has_lane(heard.lane, before=before):
            return True
        session_id = session_id_for(heard.platform, heard.workspace, heard.channel, heard.thread)
        session = await self._sessions.get(session_id)
        return session is not None and (said is None or session.created_at < said)

    async def _arrival(self, heard: Heard, rules: Rules) -> Arrival:
        arrival = Arrival(
            key=heard.key,
            platform=heard.platform,
            workspace=heard.workspace,
            channel=heard.channel,
            lane=heard.lane,
            position=heard.position,
            user_id=self.user_id(heard),
            address=heard.address,
            token=heard.token,
            token_expires_at=heard.token_expires_at,
            sent_at=heard.sent_at,
        )
        about_me = heard.course == self._handbook
        if rules.excluded and not about_me:
            return replace(arrival, refusal=NOT_HERE)
        if rules.askers is Askers.STAFF and not heard.staff and not about_me:
            return replace(arrival, refusal=STAFF_ONLY)
        if not heard.text.strip() and heard.quote is None:
            return replace(arrival, refusal=HOW_TO_ASK)
        bound = None if about_me else await self.course_of(rules)
        course_id = bound or heard.course
        if course_id is None:
            return replace(arrival, refusal=await self._unbound(heard))
        try:
            return replace(arrival, request=await self._request(heard, course_id, rules))
        except RequestError as error:
            return replace(arrival, refusal=error.user_message)

    async def _unbound(self, heard: Heard) -> str:
        courses = sorted(await self._guide.courses())
        if not courses:
            return "There is no course to answer from yet. Please tell the people who run me."
        if heard.direct:
            return WHICH_COURSE
        how = f"Staff choose one with the command /course: {', '.join(courses[:20])}."
        return f"No course is set in this channel. {how}"

    async def _request(self, heard: Heard, course_id: str, rules: Rules) -> AgentRequest:
        bare_quote = heard.quote is not None and not heard.text.strip()
        quoted = ContextMode.SELECTED_TEXT if heard.quote else ContextMode.FULL_BOOK
        about_section = QueryType.SECTION_SPECIFIC if heard.section else QueryType.GLOBAL
        return AgentRequest(
            request_id=request_id_for(heard.key),
            course_id=course_id,
            query_text=EXPLAIN_QUOTE if bare_quote else heard.text,
            query_type=about_section,
            section_filter=heard.section,
            context_mode=quoted,
            selected_text=heard.quote,
            session_id=await self._session(heard),
            user_id=self.user_id(heard),
            answer_length=rules.answer_length,
            user_context=UserContext(
                platform=heard.platform,
                workspace=heard.workspace,
                channel=heard.channel,
                thread=heard.conversation,
                message_ids=(heard.message,) if heard.message else (),
                locale=heard.locale,
                role="staff" if heard.staff else "student",
                sent_at=heard.sent_at,
            ),
        )

    async def _session(self, heard: Heard) -> UUID | None:
        """Return the conversation's session; None while its thread is not known yet."""
        thread = heard.conversation
        if thread is None:
            return None
        part = 0
        if thread == DIRECT_THREAD and heard.sent_at is not None:
            place = Place(heard.platform, heard.workspace, heard.channel)
            part = await self._conversations.direct_message(place, heard.sent_at)
        return session_id_for(heard.platform, heard.workspace, heard.channel, thread, part=part)


def _is_answered(known: Arrival | None) -> TypeGuard[Arrival]:
    """Return whether an event asked a question, by somebody who is not forgotten since."""
    return known is not None and known.kind is Kind.ASK and bool(known.address)
