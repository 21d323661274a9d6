"""The front desk every platform shares: what is a question, whose, to which course."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from adapters.chat.access import Location, address_with
from adapters.chat.arrivals import (
    BY_ITSELF,
    Arrivals,
    Pseudonymous,
    by_our_clock,
    is_answered,
    replying_as_before,
)
from adapters.chat.attention import ASKED, Attention, Decision
from adapters.chat.incoming_message import TITLED, IncomingMessage, PlatformClock, stored_request
from adapters.chat.places import PlaceContext, PlaceResolver, Presence, StaffStanding
from adapters.chat.speaking import Band
from core.domain import ConversationTurn, now
from core.domain.i18n import use_locale
from core.storage.channels import ChannelRules, Conversations, Place, Rules
from core.storage.inbox.base import Acceptance, Accepted, Arrival, DeletedEvent, Kind, Settlement
from core.storage.inbox.queries import InboxPlaces
from core.storage.inbox.store import Inbox
from core.storage.sessions import SessionStore

_MAY_STILL_COME = timedelta(hours=1)
"""How old a message is whose event no platform delivers any more."""


@dataclass(frozen=True, slots=True)
class Received:
    """A question that is in the inbox."""

    arrival: Arrival
    accepted: Accepted


class FrontDesk:
    """Decides about what was heard, and puts questions into the inbox.

    Methods raise StoreError when the database fails, and RateLimited for what was pressed beyond
    its user's limit: then nothing was accepted.
    """

    def __init__(
        self,
        *,
        inbox: Inbox,
        rules: ChannelRules,
        conversations: Conversations,
        sessions: SessionStore,
        pseudonyms: Pseudonymous,
        place_resolver: PlaceResolver,
        standing: StaffStanding,
        attention: Attention,
        handbook: str,
        clocks: Mapping[str, PlatformClock] | None = None,
    ) -> None:
        """Put the stores together.

        Args:
            clocks: The platforms' clocks; a platform without one has this machine's.
            handbook: The id of the course about the bot itself, answered from when there is
                no other.
        """
        self._inbox = inbox
        self._rules = rules
        self._conversations = conversations
        self._pseudonyms = pseudonyms
        self._arrivals = Arrivals(
            inbox=inbox,
            conversations=conversations,
            sessions=sessions,
            user_id=self.user_id,
            place_resolver=place_resolver,
            standing=standing,
            handbook=handbook,
        )
        self._place_resolver = place_resolver
        self._standing = standing
        self._attention = attention
        self._clocks = clocks or {}

    async def receive(
        self, incoming: IncomingMessage, rules: Rules | None = None
    ) -> Received | None:
        """Put a question into the inbox, and return its receipt; None: it is not for us.

        What cannot be answered, as in a channel without a course, is accepted with its
        `refusal`, provided that the bot was addressed. `rules` come from who knows them already.
        """
        incoming = self._by_our_clock(incoming)
        if await self._was_passed_over(incoming):
            return None
        rules = rules or await self.rules(incoming)
        if incoming.outsider and not rules.outsiders:
            return None
        incoming = await self._in_its_conversation(incoming)
        decision = await self._decide(incoming, rules)
        if decision.band is Band.SILENT:
            return None
        incoming = await incoming.localised()
        with use_locale(incoming.locale):
            arrival = await self._arrivals.arrival(incoming, rules, decision)
        if arrival.refusal is not None and not incoming.addressed and not incoming.direct:
            return None
        return Received(arrival, await self._inbox.accept(arrival))

    async def take_up(self, key: str, user: str, who: Presence) -> Received | None:
        """Have a question answered that the bot offered to answer, as its author or staff wish.

        None when it is no such question, the offer has vanished, it is not theirs to take up, or
        its author asks too much, and was notified in this minute: then the offer stands.

        Args:
            key: The key of the question's message.
            user: Who wishes it, by the platform's id.
            who: The same where the message is.
        """
        offered = await self._inbox.of_key(key)
        if offered is None or offered.kind is not Kind.OFFER:
            return None
        is_author = self.pseudonym(offered.platform, offered.workspace, user) == offered.user_id
        if not is_author and not await self._standing.is_staff(who):
            return None
        taken = await self._inbox.take_up(key)
        if taken is None or taken is Acceptance.PASSED_OVER:
            return None
        return Received(replace(offered, kind=Kind.ASK), Accepted(taken))

    async def redo(self, incoming: IncomingMessage, original: str) -> Received | None:
        """Have an edited question answered again; None when it never was one.

        An edit by which the message asks the bot nothing any more takes the question back: its
        turn and its answer are removed, as those of a deleted one. No edit changes what a message
        replies to, though a platform tells nothing of a message that is deleted.
        """
        known = await self._inbox.of_key(original)
        if known is not None and known.kind is Kind.OFFER:
            return await self._redo_offer(incoming, known)
        if not is_answered(known):
            return None
        incoming = replying_as_before(self._by_our_clock(incoming), known)
        incoming = await self._in_its_conversation(incoming)
        rules = await self.rules(incoming)
        if await self._is_taken_back(incoming, rules, known):
            return await self.forget(original, incoming.key, incoming.position)
        incoming = await incoming.localised()
        with use_locale(incoming.locale):
            arrival = await self._arrivals.arrival(incoming, rules, ASKED)
        # It is as old as its acceptance, whenever the message was sent.
        arrival = replace(arrival, sent_at=None)
        of_edit: dict[str, Any] = {"choices": arrival.address.get("choices", ())}
        if TITLED in arrival.address:
            of_edit[TITLED] = arrival.address[TITLED]
        arrival = replace(
            arrival,
            kind=Kind.REDO,
            about=original,
            lane=known.lane,
            address={**known.address, **of_edit},
        )
        return Received(arrival, await self._inbox.accept(arrival))

    async def deleted(self, unheard: DeletedEvent, position: int) -> Received | None:
        """Have a deleted message forgotten, also when its event is yet to come.

        None when it is no question that was answered, or is being answered.
        """
        key = unheard.key
        clock = self._clocks.get(unheard.platform)
        sent_at = clock.ours(unheard.sent_at) if clock is not None else unheard.sent_at
        if now() - sent_at > _MAY_STILL_COME or not await self._inbox.tombstone(unheard):
            return await self.forget(key, f"{key}:delete", position)
        return None

    async def forget(self, original: str, key: str, position: int) -> Received | None:
        """Have a question's turn and answer removed; None when it never was one."""
        known = await self._inbox.of_key(original)
        if known is not None and known.kind is Kind.OFFER:
            await self._inbox.withdraw(original)
        if not is_answered(known):
            return None
        arrival = replace(
            known,
            key=key,
            kind=Kind.FORGET,
            about=original,
            position=position,
            request=None,
            refusal=None,
            pending=None,
            settles=Settlement.REMOVED,
            token=None,
        )
        return Received(arrival, await self._inbox.accept(arrival))

    async def share(
        self,
        private: Arrival,
        turn: ConversationTurn,
        position: int,
        address: Mapping[str, Any],
        location: Location,
    ) -> Received:
        """Have a private answer shown in its channel as well; a second time does nothing.

        Args:
            private: The event that was answered privately.
            turn: Its stored answer, which is shown as it is.
            position: As `Arrival.position`.
            address: Where it is to be shown.
            location: The same as a location, with its sharer.
        """
        shared = replace(
            private,
            key=f"{private.platform}:share:{turn.request_id}",
            lane=f"{private.lane}:shared",
            position=position,
            address=address_with(address, location),
            request=stored_request(private, turn),
            refusal=None,
            pending=None,
            sent_at=None,
            pressed=True,
        )
        return Received(shared, await self._inbox.accept(shared))

    async def rules(self, incoming: IncomingMessage) -> Rules:
        """Return what holds where something was said."""
        return await self.rules_at(incoming.location)

    async def rules_at(self, location: Location) -> Rules:
        """Return what holds in a place."""
        return await self._place_resolver.rules_at(location)

    def keeps_private(self, location: Location) -> bool:
        """Return whether no command is answered to all in a place, whatever its asker wishes."""
        return self._place_resolver.keeps_private(location)

    async def answers_privately(
        self, location: Location, wished: bool | None, *, direct: bool
    ) -> bool:
        """Return whether the asker alone sees the answer to a command.

        Args:
            wished: What its asker says; None: nothing, so that the place's rules do.
            direct: Whether no one else is there.
        """
        if not direct and self.keeps_private(location):
            return True
        return bool((await self.rules_at(location)).private) if wished is None else wished

    async def here(self, location: Location) -> PlaceContext:
        """Return what holds in a place, and who reads there, as `PlaceResolver.here` does."""
        return await self._place_resolver.here(location)

    async def course_of(self, here: PlaceContext) -> str | None:
        """Return the course that is asked in a place; None: none is set that may be read."""
        return await self._place_resolver.course_of(here)

    async def pause(self, place: Place) -> None:
        """Answer nothing in a thread or a channel that does not address the bot, until `resume`."""
        await self._attention.pause(place)

    async def resume(self, place: Place) -> None:
        """Answer in a thread or a channel again what is meant for the bot."""
        await self._attention.resume(place)

    async def is_staff(self, who: Presence) -> bool:
        """Return whether a user is staff at a place, as `Standing.is_staff` does."""
        return await self._standing.is_staff(who)

    def user_id(self, incoming: IncomingMessage) -> str:
        """Return the asker's pseudonym."""
        return self.pseudonym(incoming.platform, incoming.workspace, incoming.user)

    def pseudonym(self, platform: str, workspace: str, user: str) -> str:
        """Return the keyed hash that stands for a user."""
        return self._pseudonyms.of(platform, workspace, user)

    def _by_our_clock(self, incoming: IncomingMessage) -> IncomingMessage:
        return by_our_clock(incoming, self._clocks.get(incoming.platform))

    async def _in_its_conversation(self, incoming: IncomingMessage) -> IncomingMessage:
        """Return what was heard, in the conversation that it goes on with by replying."""
        if incoming.thread is not None or incoming.answers is None or incoming.direct:
            return incoming
        answered = await self._inbox.by_message(incoming.platform, incoming.answers)
        if answered is None or answered.thread is None or answered.workspace != incoming.workspace:
            return incoming
        return replace(incoming, thread=answered.thread)

    async def _was_passed_over(self, incoming: IncomingMessage) -> bool:
        """Return whether a message from the history was heard when it was said.

        Rules and conversations change by what is heard. When one has changed after the message,
        and before the bot began to listen again, then it was decided by the older ones.
        """
        if incoming.listening_since is None or incoming.sent_at is None:
            return False
        here = (incoming.platform, incoming.workspace, incoming.places)
        changes = [await self._rules.changed_at(*here)]
        place = incoming.place
        if place is not None and not incoming.addressed:
            changes.append(await self._conversations.changed_at(place))
        return any(
            c is not None and incoming.sent_at < c < incoming.listening_since for c in changes
        )

    async def _decide(self, incoming: IncomingMessage, rules: Rules) -> Decision:
        """Return what something heard is, and what is done about it."""
        others = (
            self.pseudonym(incoming.platform, incoming.workspace, one) for one in incoming.others
        )
        return await self._attention.decide(
            replace(incoming, others=frozenset(others)),
            rules,
            self.user_id(incoming),
            partial(self._arrivals.role_now, incoming, rules),
        )

    async def _redo_offer(self, incoming: IncomingMessage, offered: Arrival) -> Received | None:
        """Have an edited message's offer vanish; answer it when it addresses the bot now."""
        incoming = self._by_our_clock(incoming)
        if not incoming.addressed:
            await self._inbox.withdraw(offered.key)
            return None
        rules, incoming = await self.rules(incoming), await incoming.localised()
        with use_locale(incoming.locale):
            arrival = await self._arrivals.arrival(incoming, rules, ASKED)
        asked = arrival.request
        taken = await self._inbox.take_up(offered.key, asked) if asked is not None else None
        if taken is None:
            return Received(arrival, await self._inbox.accept(arrival))
        return Received(replace(offered, kind=Kind.ASK), Accepted(taken))

    async def _is_taken_back(self, incoming: IncomingMessage, rules: Rules, known: Arrival) -> bool:
        """Return whether a message that was a question is none for the bot, as it stands now.

        Whether the bot is paused in its thread by now, or answers by itself, is another matter: it
        did when it was asked.
        """
        if incoming.direct or incoming.command or incoming.addressed:
            return False
        if incoming.begins and (rules.auto_answer or known.address.get(BY_ITSELF)):
            return incoming.to_others
        if incoming.place is None or incoming.to_others:
            return True
        role = partial(self._arrivals.role_now, incoming, rules)
        decision = await self._attention.read(incoming, self.user_id(incoming), role)
        return not decision.band.is_answer


class DeletedChannels:
    """Has all questions of a place forgotten, as if each had been deleted."""

    def __init__(self, desk: FrontDesk, places: InboxPlaces, conversations: Conversations) -> None:
        self._desk = desk
        self._places = places
        self._conversations = conversations

    async def forget(self, platform: str, place: str, position: int) -> Received | None:
        """Forget what was asked in a channel or thread; return the last receipt, if any.

        A question whose answer stands in the channel outlives the thread below it.

        Args:
            place: Its id, which the platform gives to one place only.
            position: As `Arrival.position`.

        Raises:
            StoreError: when the database fails; what was accepted by then stays accepted, and
                doing it again does the rest.
        """
        received: Received | None = None
        for asked in await self._places.asked_in(platform, place):
            if asked.is_gone:
                key = asked.key
                again = await self._desk.forget(key, key=f"{key}:delete", position=position)
                received = again or received
            await self._conversations.forget(Place(platform, asked.workspace, place))
        return received
