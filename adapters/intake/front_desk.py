"""The front desk every platform shares: what is a question, whose, to which course."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from adapters.access.location import Location, address_with
from adapters.access.standing import Presence, Standing
from adapters.access.whereabouts import Here, Whereabouts
from adapters.attention.attention import Attention
from adapters.attention.deciding import ASKED, Decision
from adapters.attention.intents import Band
from adapters.intake.arrivals import (
    BY_ITSELF,
    Arrivals,
    Pseudonymous,
    by_our_clock,
    is_answered,
    replying_as_before,
)
from adapters.intake.incoming_message import Heard
from adapters.intake.platform_clock import PlatformClock
from adapters.intake.replay import stored_request
from core.i18n import use_locale
from core.inbox.audience import Settlement
from core.inbox.base import Acceptance, Accepted, Arrival, Kind, Unheard
from core.inbox.store import Inbox
from core.models import (
    ConversationTurn,
    now,
)
from core.storage.channels.rules import Rules
from core.storage.channels.store import ChannelRules, Conversations, Place
from core.storage.sessions.store import SessionStore

_MAY_STILL_COME = timedelta(hours=1)
"""How old a message is whose event no platform delivers any more."""


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
        whereabouts: Whereabouts,
        standing: Standing,
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
            whereabouts=whereabouts,
            standing=standing,
            handbook=handbook,
        )
        self._whereabouts = whereabouts
        self._standing = standing
        self._attention = attention
        self._clocks = clocks or {}

    async def receive(self, heard: Heard, rules: Rules | None = None) -> Received | None:
        """Put a question into the inbox, and return its receipt; None: it is not for us.

        What cannot be answered, as in a channel without a course, is accepted with its
        `refusal`, provided that the bot was addressed. `rules` come from who knows them already.
        """
        heard = self._by_our_clock(heard)
        if await self._was_passed_over(heard):
            return None
        rules = rules or await self.rules(heard)
        if heard.outsider and not rules.outsiders:
            return None
        heard = await self._in_its_conversation(heard)
        decision = await self._decide(heard, rules)
        if decision.band is Band.SILENT:
            return None
        heard = await heard.localised()
        with use_locale(heard.locale):
            arrival = await self._arrivals.arrival(heard, rules, decision)
        if arrival.refusal is not None and not heard.addressed and not heard.direct:
            return None
        return Received(arrival, await self._inbox.accept(arrival))

    async def take_up(self, key: str, user: str, who: Presence) -> Received | None:
        """Have a question answered that the bot offered to answer, as its author or staff wish.

        None when it is no such question, the offer has vanished, it is not theirs to take up, or
        its author asks too much, and was told so in this minute: then the offer stands.

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

    async def redo(self, heard: Heard, original: str) -> Received | None:
        """Have an edited question answered anew; None when it never was one.

        An edit by which the message asks the bot nothing any more takes the question back: its
        turn and its answer are removed, as those of a deleted one. No edit changes what a message
        replies to, though a platform tells nothing of a message that is deleted.
        """
        known = await self._inbox.of_key(original)
        if known is not None and known.kind is Kind.OFFER:
            return await self._redo_offer(heard, known)
        if not is_answered(known):
            return None
        heard = replying_as_before(self._by_our_clock(heard), known)
        heard = await self._in_its_conversation(heard)
        rules = await self.rules(heard)
        if await self._is_taken_back(heard, rules, known):
            return await self.forget(original, heard.key, heard.position)
        heard = await heard.localised()
        with use_locale(heard.locale):
            arrival = await self._arrivals.arrival(heard, rules, ASKED)
        # It is as old as its acceptance, whenever the message was sent.
        arrival = replace(arrival, sent_at=None)
        choices = arrival.address.get("choices", ())
        arrival = replace(
            arrival,
            kind=Kind.REDO,
            about=original,
            lane=known.lane,
            address={**known.address, "choices": choices},
        )
        return Received(arrival, await self._inbox.accept(arrival))

    async def deleted(self, unheard: Unheard, position: int) -> Received | None:
        """Have a deleted message forgotten, also when its event is yet to come.

        None when it is no question that was answered, or is being answered.
        """
        key = unheard.key
        clock = self._clocks.get(unheard.platform)
        sent_at = clock.ours(unheard.sent_at) if clock is not None else unheard.sent_at
        if now() - sent_at > _MAY_STILL_COME or not await self._inbox.bury(unheard):
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
        )
        return Received(shared, await self._inbox.accept(shared))

    async def rules(self, heard: Heard) -> Rules:
        """Return what holds where something was said."""
        return await self.rules_at(heard.location)

    async def rules_at(self, location: Location) -> Rules:
        """Return what holds in a place."""
        return await self._whereabouts.rules_at(location)

    def keeps_private(self, location: Location) -> bool:
        """Return whether no command is answered to all in a place, whatever its asker wishes."""
        return self._whereabouts.keeps_private(location)

    async def here(self, location: Location) -> Here:
        """Return what holds in a place, and who reads there, as `Whereabouts.here` does."""
        return await self._whereabouts.here(location)

    async def course_of(self, here: Here) -> str | None:
        """Return the course that is asked in a place; None: none is set that may be read."""
        return await self._whereabouts.course_of(here)

    async def pause(self, place: Place) -> None:
        """Answer nothing in a thread or a channel that does not address the bot, until `resume`."""
        await self._attention.pause(place)

    async def resume(self, place: Place) -> None:
        """Answer in a thread or a channel again what is meant for the bot."""
        await self._attention.resume(place)

    async def is_staff(self, who: Presence) -> bool:
        """Return whether somebody is staff at a place, as `Standing.is_staff` does."""
        return await self._standing.is_staff(who)

    def user_id(self, heard: Heard) -> str:
        """Return the asker's pseudonym."""
        return self.pseudonym(heard.platform, heard.workspace, heard.user)

    def pseudonym(self, platform: str, workspace: str, user: str) -> str:
        """Return the keyed hash that stands for a user."""
        return self._pseudonyms.of(platform, workspace, user)

    def _by_our_clock(self, heard: Heard) -> Heard:
        return by_our_clock(heard, self._clocks.get(heard.platform))

    async def _in_its_conversation(self, heard: Heard) -> Heard:
        """Return what was heard, in the conversation that it goes on with by replying."""
        if heard.thread is not None or heard.answers is None or heard.direct:
            return heard
        answered = await self._inbox.by_message(heard.platform, heard.answers)
        if answered is None or answered.thread is None or answered.workspace != heard.workspace:
            return heard
        return replace(heard, thread=answered.thread)

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

    async def _decide(self, heard: Heard, rules: Rules) -> Decision:
        """Return what something heard is, and what is done about it."""
        others = (self.pseudonym(heard.platform, heard.workspace, one) for one in heard.others)
        return await self._attention.decide(
            replace(heard, others=frozenset(others)),
            rules,
            self.user_id(heard),
            partial(self._arrivals.role_now, heard, rules),
        )

    async def _redo_offer(self, heard: Heard, offered: Arrival) -> Received | None:
        """Have an edited message's offer vanish; answer it when it addresses the bot now."""
        heard = self._by_our_clock(heard)
        if not heard.addressed:
            await self._inbox.withdraw(offered.key)
            return None
        rules, heard = await self.rules(heard), await heard.localised()
        with use_locale(heard.locale):
            arrival = await self._arrivals.arrival(heard, rules, ASKED)
        asked = arrival.request
        taken = await self._inbox.take_up(offered.key, asked) if asked is not None else None
        if taken is None:
            return Received(arrival, await self._inbox.accept(arrival))
        return Received(replace(offered, kind=Kind.ASK), Accepted(taken))

    async def _is_taken_back(self, heard: Heard, rules: Rules, known: Arrival) -> bool:
        """Return whether a message that was a question is none for the bot, as it stands now.

        Whether the bot is paused in its thread by now, or answers by itself, is another matter: it
        did when it was asked.
        """
        if heard.direct or heard.command or heard.addressed:
            return False
        if heard.begins and (rules.auto_answer or known.address.get(BY_ITSELF)):
            return heard.to_others
        if heard.place is None or heard.to_others:
            return True
        role = partial(self._arrivals.role_now, heard, rules)
        return (await self._attention.read(heard, self.user_id(heard), role)).band is Band.SILENT
