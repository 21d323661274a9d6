"""Whether the bot is meant, in a channel, a thread or a direct message, and what it does then."""

import hashlib
import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

import numpy as np

from adapters.chat.incoming_message import DIRECT_THREAD, IncomingMessage
from adapters.chat.question_context import NO_PARTS
from adapters.chat.speaking import (
    DIMENSIONS,
    INTENTS,
    Band,
    Before,
    ChatLine,
    Floats,
    Intent,
    SpeakingHead,
    features_of,
    shipped_head,
)
from core.domain import ConversationTurn, now, session_id_for
from core.domain.errors import BotError, StoreError
from core.domain.i18n import language_of
from core.domain.links import without_layout
from core.providers.embeddings.base import Embedder
from core.retrieval.resolving import has_own_subject
from core.storage.access import Role
from core.storage.channels import Conversations, Exchanges, FollowUps, Place, Rules
from core.storage.inbox.base import Arrival, Kind
from core.storage.inbox.rows import LASTS
from core.storage.inbox.store import Inbox
from core.storage.sessions import SessionStore

logger = logging.getLogger(__name__)


_MOST_CHARACTERS = 1_000
"""Of a line, and of what went before it, that is embedded."""
_NOTHING = np.zeros(DIMENSIONS, np.float32)
_META_AT = 0.3
"""Probability below which an addressed line is never taken for one about the last answer."""
_THANKS_AT = 0.3
"""The same of thanks, after which nothing but a reaction follows."""


@dataclass(frozen=True, slots=True)
class _Marks:
    """Probabilities of being for the bot from which on it speaks, or offers to."""

    question: float
    """Of a line in the form of a question, from which on it answers."""
    other: float
    """Of any other line, from which on it answers."""
    offer: float
    """Of a question, from which on it offers to."""


_NEVER = 2.0
_BELOW = _Marks(question=0.15, other=0.4, offer=_NEVER)
"""Who asked goes on right below the answer, or below a line of their own."""
_RETURNING = _Marks(question=0.1, other=_NEVER, offer=_NEVER)
"""Who asked writes after somebody else did."""
OTHERS = _Marks(question=0.6, other=_NEVER, offer=0.3)
_OPENING = _Marks(question=0.6, other=0.75, offer=0.1)
"""The first message of a thread that the bot answers by itself."""
_FORM = re.compile(
    r"(?:(?:ok|okay|and|but|so|oh|hm+|wait|hey|hi|then|also|well|und|aber|ach|dann)\b[\s,!.…-]*)*"
    r"(?:what|whats|who|whose|whom|where|when|why|how|which|is|are|am|was|were|do|does|did|can"
    r"|could|would|will|should|may|might|must|has|have|isn['’]t|aren['’]t|doesn['’]t|didn['’]t"
    r"|wer|wen|wem|wo|wann|warum|wieso|weshalb|wie|welche\w*|ist|sind|kann|können|darf|muss"
    r"|gibt|hat|haben|sollte)\b",
    re.IGNORECASE,
)
"""How a question begins in English and German: by a question word, or by its verb."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a line is taken for, and what the bot does about it."""

    intent: Intent
    band: Band
    for_bot: float = 1.0
    """Probability that it is for the bot."""


ASKED = Decision(Intent.ASK, Band.SPEAK)
"""Of what can be nothing else than a question, such as a command."""


class Deciding:
    """Reads lines with the built-in embedding model, whatever model a course uses."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def decide(self, line: ChatLine) -> Decision:
        """Return what a line is, and what to do about it.

        An addressed line always gets something, be it a reaction to thanks.

        Raises:
            EmbeddingError: when the model cannot be run.
        """
        return decision(shipped_head(), line, await embedded_features(self._embedder, line))


async def embedded_features(embedder: Embedder, line: ChatLine) -> Floats:
    """Return the features of a line, (n_features,), the same in whatever company it is read.

    Each text is embedded by itself: the int8 model scales by all that it is given at once.

    Raises:
        EmbeddingError: when the model cannot be run.
    """
    texts = (line.text, line.before_text, line.answer)
    return features_of(line, *[await _embedded(embedder, text) for text in texts])


async def _embedded(embedder: Embedder, text: str) -> Floats:
    """Return a text's vector; zeros for no text, and for a model that stands in."""
    if not text:
        return _NOTHING
    (row,) = await embedder.embed_queries([text[:_MOST_CHARACTERS]])
    return row if row.shape == _NOTHING.shape else _NOTHING


def decision(head: SpeakingHead, line: ChatLine, features: Floats) -> Decision:
    """Return what a head decides about a line with these features."""
    probabilities = dict(zip(INTENTS, head.probabilities(features).tolist(), strict=True))
    for_bot = sum(p for intent, p in probabilities.items() if intent.is_for_the_bot)
    if line.addressed:
        return Decision(_of_addressed(probabilities), Band.SPEAK, for_bot)
    band = _band_of(line, for_bot)
    if band is not Band.SILENT:
        return Decision(_of_bot(probabilities), band, for_bot)
    others = [one for one in INTENTS if not one.is_for_the_bot]
    intent = max(others, key=probabilities.__getitem__)
    if intent is Intent.THANKS and _goes_on(line):
        band = Band.REACT
    return Decision(intent, band, for_bot)


def has_form_of_question(text: str) -> bool:
    """Return whether a line has a question mark, or begins as questions do."""
    return "?" in text or _FORM.match(text.strip()) is not None


def _goes_on(line: ChatLine) -> bool:
    """Return whether who asked writes right below the answer, or below a line of their own."""
    return line.is_asker and line.before in (Before.BOT, Before.SAME)


def _band_of(line: ChatLine, for_bot: float) -> Band:
    """Return what is done about a line that does not mention the bot.

    Who asked is answered where they ask; other people's lines only where it is plain that they are
    for the bot, and nothing but a question is offered an answer.
    """
    if line.is_asker and has_own_subject(line.text):
        return Band.SPEAK
    marks = _OPENING if line.begins else OTHERS
    if line.is_asker:
        marks = _BELOW if _goes_on(line) else _RETURNING
    asks = has_form_of_question(line.text)
    if for_bot >= (marks.question if asks else marks.other):
        return Band.SPEAK
    return Band.OFFER if for_bot >= marks.offer and (asks or line.begins) else Band.SILENT


def _of_addressed(probabilities: dict[Intent, float]) -> Intent:
    """Return what a line to the bot is: a question unless it is clearly something else."""
    thanks = probabilities[Intent.THANKS]
    for_bot = sum(p for intent, p in probabilities.items() if intent.is_for_the_bot)
    if thanks > for_bot and thanks >= _THANKS_AT:
        return Intent.THANKS
    return _of_bot(probabilities, at_least=_META_AT)


def _of_bot(probabilities: dict[Intent, float], *, at_least: float = 0.0) -> Intent:
    """Return whether a line to the bot asks about the last answer, or about the book."""
    asked = (Intent.ASK, Intent.FOLLOW_UP)
    about = [one for one in INTENTS if one.is_meta]
    meta = sum(probabilities[one] for one in about)
    is_meta = meta > sum(probabilities[one] for one in asked) and meta >= at_least
    return max(about if is_meta else asked, key=probabilities.__getitem__)


_MOST_THREADS = 2_000
_MOST_LINES = 5
"""More before a line tell nothing of it."""


@dataclass(frozen=True, slots=True)
class RecentLine:
    """A line that a person wrote."""

    user_id: str
    """A pseudonym."""
    text: str
    said_at: datetime


class RecentLines:
    """Remembers lines by thread; what another process heard, or a former one, is not known."""

    def __init__(self) -> None:
        self._threads = OrderedDict[str, list[RecentLine]]()

    def of(self, lane: str) -> list[RecentLine]:
        """Return the last lines of a thread that are known, oldest first."""
        return list(self._threads.get(lane, ()))

    def note(self, lane: str, user_id: str, text: str, said_at: datetime) -> None:
        """Remember a line."""
        lines = self._threads.setdefault(lane, [])
        lines.append(RecentLine(user_id, text[:_MOST_CHARACTERS], said_at))
        del lines[:-_MOST_LINES]
        self._threads.move_to_end(lane)
        if len(self._threads) > _MOST_THREADS:
            self._threads.popitem(last=False)


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


META = "meta"
"""In an arrival's address: what is asked about the last answer, as an `Intent`."""
LANGUAGE = "language"
"""In the address of a question that others may ask at once: the language of its answer."""
OFFERED = "offered"
"""In an arrival's address: that a reaction offers, or offered, to answer it."""
_WORDS = re.compile(r"\w+")


def decided_on(arrival: Arrival, incoming: IncomingMessage, decision: Decision) -> Arrival:
    """Return an arrival as what it was decided to be: a question, a request about one, an offer."""
    if decision.band is Band.REACT:
        return replace(arrival, kind=Kind.THANK, request=None, refusal=None)
    if arrival.request is None:
        return arrival
    if decision.intent.is_meta and not _brings_its_own(incoming):
        arrival = replace(arrival, address={**arrival.address, META: decision.intent.value})
    elif decision.intent is Intent.ASK and decision.band is Band.SPEAK:
        arrival = _as_one_of_many(arrival, incoming)
    if decision.band is Band.OFFER:
        arrival = replace(arrival, kind=Kind.OFFER, address={**arrival.address, OFFERED: True})
    return arrival


def meta_of(arrival: Arrival) -> Intent | None:
    """Return what an arrival asks about the last answer; None: it asks about the book."""
    found = arrival.address.get(META)
    return Intent(found) if found in set(Intent) else None


def _as_one_of_many(arrival: Arrival, incoming: IncomingMessage) -> Arrival:
    """Return a question with what it has in common with those of a crowd, if it may be of one."""
    gist = gist_of(incoming, arrival)
    if gist is None:
        return arrival
    address = {**arrival.address, LANGUAGE: language_of(incoming.locale)}
    return replace(arrival, gist=gist, address=address)


def _brings_its_own(incoming: IncomingMessage) -> bool:
    """Return whether "this" is what a message comes with, and not the last answer."""
    return incoming.quote is not None or incoming.parts != NO_PARTS


def gist_of(incoming: IncomingMessage, arrival: Arrival) -> str | None:
    """Return what identical questions have in common; None for one of a conversation.

    Those that are to be answered in different languages are not identical, and one that brings
    something with it is about that, whatever others say in the same words.
    """
    request = arrival.request
    alone = (
        incoming.thread is not None
        or incoming.private
        or incoming.direct
        or _brings_its_own(incoming)
    )
    if alone or request is None:
        return None
    words = " ".join(_WORDS.findall(incoming.text.casefold()))
    said = "\0".join(
        (request.course_id, incoming.section or "", language_of(incoming.locale), words)
    )
    return hashlib.sha256(said.encode()).hexdigest() if words else None
