"""Whether the bot is meant, in a channel, a thread or a direct message, and what it does then."""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Protocol

from adapters.attention.chat_line import Before, ChatLine
from adapters.attention.deciding import ASKED, Decision
from adapters.attention.intents import Band, Intent
from adapters.attention.recent_lines import RecentLines
from adapters.intake.incoming_message import DIRECT_THREAD, IncomingMessage
from core.access.staff import Role
from core.errors import BotError, StoreError
from core.inbox.offers import LASTS
from core.inbox.store import Inbox
from core.models import ConversationTurn, now, session_id_for
from core.storage.channels.exchanges import Exchanges
from core.storage.channels.rules import FollowUps, Rules
from core.storage.channels.store import Conversations, Place
from core.storage.sessions.store import SessionStore
from core.text.links import without_layout

logger = logging.getLogger(__name__)

SILENT = Decision(Intent.PEOPLE, Band.SILENT, 0.0)
_PERHAPS = Decision(Intent.ASK, Band.OFFER, 0.0)

FindRole = Callable[[], Awaitable[Role | None]]


class Decides(Protocol):
    """Reads lines, as `Deciding` does."""

    async def decide(self, line: ChatLine) -> Decision:
        """Return what a line is, and what to do about it."""
        ...


class Attention:
    """Decides whom the bot listens to; methods raise StoreError when the database fails."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        conversations: Conversations,
        exchanges: Exchanges,
        sessions: SessionStore,
        deciding: Decides,
    ) -> None:
        self._inbox = inbox
        self._conversations = conversations
        self._exchanges = exchanges
        self._sessions = sessions
        self._deciding = deciding
        self._lines = RecentLines()

    async def pause(self, place: Place) -> None:
        """Answer nothing in a thread or a channel that does not address the bot."""
        await self._conversations.listen(place, False)

    async def resume(self, place: Place) -> None:
        """Answer in a thread or a channel again what is meant for the bot."""
        await self._conversations.listen(place, True)

    async def is_paused(self, incoming: IncomingMessage) -> bool:
        """Return whether staff paused the bot where something was said."""
        for place in incoming.places:
            at = Place(incoming.platform, incoming.workspace, place)
            conversation = await self._conversations.get(at)
            if conversation is not None and not conversation.listening:
                return True
        return False

    async def decide(
        self, incoming: IncomingMessage, rules: Rules, user_id: str, role: FindRole
    ) -> Decision:
        """Return what something heard is, and what the bot does about it.

        Args:
            incoming: What was said; its `others` are pseudonyms.
            user_id: Who said it, as a pseudonym.
            role: Finds out what they are; None: that is not known yet.
        """
        if incoming.command:
            return ASKED
        decision = await self._decided(incoming, rules, user_id, role)
        if decision.band.is_reaction and now() - (incoming.sent_at or now()) > LASTS:
            return SILENT
        return decision

    async def takes_part(self, incoming: IncomingMessage) -> bool:
        """Return whether the bot had answered, or was about to, when this was said in a thread."""
        assert incoming.thread is not None
        said = None if incoming.listening_since is None else incoming.sent_at
        before = None if said is None else incoming.position
        if await self._inbox.has_lane(incoming.lane, before=before):
            return True
        session_id = session_id_for(
            incoming.platform, incoming.workspace, incoming.channel, incoming.thread
        )
        session = await self._sessions.get(session_id)
        return session is not None and (said is None or session.created_at < said)

    async def read(self, incoming: IncomingMessage, user_id: str, role: FindRole) -> Decision:
        """Return what a line is taken for, whomever the bot listens to now."""
        if not incoming.text.strip():
            return _of_no_words(incoming)
        line = await self._line(incoming, user_id, role)
        try:
            return await self._deciding.decide(line)
        except StoreError:
            raise
        except BotError as error:
            logger.warning("it cannot be decided whether a message is a question: %s", error)
            return ASKED if line.addressed else SILENT

    async def _decided(
        self, incoming: IncomingMessage, rules: Rules, user_id: str, role: FindRole
    ) -> Decision:
        if rules.excluded:
            return SILENT
        place, said = incoming.place, _moment_of(incoming)
        is_to_bot = incoming.direct or incoming.addressed
        begins = bool(incoming.begins and rules.auto_answer)
        if not (is_to_bot or begins or (place is not None and await self.takes_part(incoming))):
            return SILENT
        if is_to_bot and place is not None:
            await self._exchanges.leave(place, user_id)
        if not is_to_bot and await self._is_to_others(incoming, user_id, said):
            return SILENT
        # Whoever writes while this is still being read comes after it.
        self._lines.note(incoming.lane, user_id, incoming.text, said)
        decision = SILENT
        if is_to_bot or await self._is_open(incoming, rules, begins=begins):
            decision = await self.read(incoming, user_id, role)
        return decision

    async def _is_to_others(self, incoming: IncomingMessage, user_id: str, said: datetime) -> bool:
        """Return whether something is said to another person.

        Who speaks to another one is left alone until they turn to the bot, or both are silent for a
        while; everybody else is heard meanwhile.
        """
        place = incoming.place
        if place is None:
            return incoming.to_others
        if incoming.to_others:
            await self._exchanges.go_on(place, {user_id, *incoming.others}, said)
            return True
        if await self._exchanges.holds(place, user_id, said):
            await self._exchanges.go_on(place, {user_id}, said)
            return True
        return False

    async def _is_open(self, incoming: IncomingMessage, rules: Rules, *, begins: bool) -> bool:
        """Return whether what is said to no one may be meant for the bot here."""
        if not begins and rules.follow_ups is not FollowUps.UNTIL_PEOPLE_TALK:
            return False
        return not await self.is_paused(incoming)

    async def _line(self, incoming: IncomingMessage, user_id: str, role: FindRole) -> ChatLine:
        turn, addressed = await self._last_turn(incoming), incoming.addressed or incoming.direct
        before = [
            one for one in self._lines.of(incoming.lane) if one.said_at < _moment_of(incoming)
        ]
        since = [one for one in before if turn is None or one.said_at > turn.timestamp]
        answer = "" if turn is None else without_layout(turn.agent_response.response_text)
        who, text = Before.NONE, ""
        if since:
            who = Before.SAME if since[-1].user_id == user_id else Before.OTHER
            text = since[-1].text
        elif turn is not None:
            who, text = Before.BOT, answer
        return ChatLine(
            text=incoming.text,
            staff=not addressed and await role() == "staff",
            addressed=addressed,
            begins=who is Before.NONE,
            before=who,
            before_text=text,
            answer=answer,
            is_asker=turn is not None and await self._is_asker(turn, user_id),
            since_answer=len(since),
        )

    async def _is_asker(self, turn: ConversationTurn, user_id: str) -> bool:
        """Return whether somebody asked what a turn answers, or began its conversation."""
        if turn.user_id == user_id:
            return True
        session_id = turn.agent_response.conversation_id
        session = await self._sessions.get(session_id)
        return session is not None and session.user_id == user_id

    async def _last_turn(self, incoming: IncomingMessage) -> ConversationTurn | None:
        """Return the bot's last answer where something was said."""
        thread = incoming.conversation
        if thread is None:
            return None
        part = 0
        if thread == DIRECT_THREAD:
            place = Place(incoming.platform, incoming.workspace, incoming.channel)
            conversation = await self._conversations.get(place)
            part = conversation.part if conversation is not None else 0
        at = (incoming.platform, incoming.workspace, incoming.channel, thread)
        return await self._sessions.latest(session_id_for(*at, part=part))


def _of_no_words(incoming: IncomingMessage) -> Decision:
    """Return what a message without words of its own is, such as a forwarded one or a poll.

    Below other messages people show such things to one another, too.
    """
    if incoming.addressed or incoming.direct:
        return ASKED
    if incoming.quote is None:
        return SILENT
    return ASKED if incoming.begins else _PERHAPS


def _moment_of(incoming: IncomingMessage) -> datetime:
    """Return when something was said; what the platform gives no time was said just now."""
    return incoming.sent_at or now()
