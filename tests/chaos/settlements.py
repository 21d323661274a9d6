"""The ledger of a run: every question, and how it was settled."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.storage.inbox.base import Audience
from core.storage.inbox.base import Settlement as Kept
from tests.chaos.history import Asked, History, Post, Sent
from tests.chaos.sentences import Said, is_meanwhile, said


class Settlement(StrEnum):
    """What became of a question; each has one."""

    ANSWERED = "answered"
    REFUSED = "refused"
    NOTICED = "noticed"
    APOLOGISED = "apologised"
    POINTED = "pointed elsewhere"
    BACK = "pointed to another answer"
    ONCE = "sent at most once, and not seen"
    FAILED = "failed at once, as the platform said"


_SENT_WITHIN = 1.0
"""Seconds after the end of a question in which what settles it is on its way."""

_BY_SENTENCE = {
    Said.REFUSAL: Settlement.REFUSED,
    Said.POINTER: Settlement.POINTED,
    Said.BACK: Settlement.BACK,
    Said.NOTICE: Settlement.NOTICED,
    Said.APOLOGY: Settlement.APOLOGISED,
}

_IN_THE_INBOX = {
    Kept.ANSWERED: Settlement.ANSWERED,
    Kept.REFUSED: Settlement.REFUSED,
    Kept.NOTICED: Settlement.NOTICED,
    Kept.PASSED_OVER: Settlement.NOTICED,
    Kept.APOLOGISED: Settlement.APOLOGISED,
    Kept.POINTED: Settlement.POINTED,
    Kept.POINTED_BACK: Settlement.BACK,
}


_AUDIENCES = {settlement: kept.audience for kept, settlement in _IN_THE_INBOX.items()}


class Seen(StrEnum):
    """Who sees a message that settles a question."""

    ALL = "all who read the place"
    ASKER = "its asker alone"
    REPLY = "all, as a reply where nothing can be shown to one alone"
    OTHER = "somebody else alone"


_FITTING = {
    Audience.PLACE: frozenset({Seen.ALL}),
    Audience.ASKER: frozenset({Seen.ASKER, Seen.REPLY}),
}
"""A place that its asker alone reads is seen by its audience in any case."""


@dataclass(frozen=True)
class Entry:
    """A question, and all that settles it."""

    asked: Asked
    settlement: Settlement | None
    """None: it is lost."""
    times: int = 1
    """How many messages settle it; more than one is too many."""
    unknown: str = ""
    """What its asker was shown instead of a settlement."""
    seen_by: tuple[Seen, ...] = ()
    """Who sees each message that settles it."""
    is_promised: bool = False
    """Whether its asker was told that an answer follows."""

    @property
    def audience(self) -> Audience | None:
        """Who is to read what settles it; None: nobody, since nothing is to be seen."""
        if self.asked.is_private:
            return Audience.ASKER
        return _AUDIENCES.get(self.settlement) if self.settlement else None

    @property
    def strays_to(self) -> tuple[Seen, ...]:
        """Who sees a message that settles it, and is not its audience."""
        wanted = self.audience
        fitting = _FITTING.get(wanted, frozenset()) if wanted else frozenset(Seen)
        return tuple(seen for seen in self.seen_by if seen not in fitting)

    @property
    def is_stopped_by_limit(self) -> bool:
        """Whether a limit kept it from being answered."""
        if self.settlement is Settlement.ONCE:
            return self.asked.inbox_says == Kept.NOTICED.value
        return self.settlement is Settlement.NOTICED

    @property
    def inbox_differs(self) -> bool:
        """Whether the inbox has it that the question was settled in another way."""
        known = {kept.value: settlement for kept, settlement in _IN_THE_INBOX.items()}
        in_inbox = self.asked.inbox_says
        if self.settlement in (None, Settlement.ONCE, Settlement.FAILED) or in_inbox is None:
            return False
        return known.get(in_inbox) is not self.settlement


def ledger(history: History) -> list[Entry]:
    """Return an entry for each question that was asked, in their order."""
    return _Ledger(history).entries()


def limiter_calls(history: History, entries: Sequence[Entry]) -> Counter[str]:
    """Return, by platform, how many messages and deletions were about what a limit stopped."""
    return Counter(platform for platform, _ in _about_stopped(history, entries))


def limiter_excess(history: History, entries: Sequence[Entry]) -> Mapping[str, tuple[int, str]]:
    """Return, by platform, how many of these there were beyond the questions it stopped.

    With it come all of them, for who reads what went wrong.
    """
    stopped = Counter(entry.asked.platform for entry in entries if entry.is_stopped_by_limit)
    calls = defaultdict[str, list[str]](list)
    for platform, call in _about_stopped(history, entries):
        calls[platform].append(f"{'|'.join(sorted(call.keys))} {call.name} at {call.begun:.2f}")
    return {
        platform: (excess, "; ".join(sent))
        for platform, sent in calls.items()
        if (excess := len(sent) - stopped[platform]) > 0
    }


def _about_stopped(history: History, entries: Sequence[Entry]) -> Iterator[tuple[str, Sent]]:
    stopped = {entry.asked.key for entry in entries if entry.is_stopped_by_limit}
    for call in history.calls:
        if call.is_message and call.keys & stopped:
            yield next(iter(call.keys)).partition(":")[0], call


def notices(history: History) -> list[list[str]]:
    """Return, for each minute of a person, what they asked that was settled by a notice."""
    minutes = {one.key: _minute(one) for one in history.asked if one.accepted_in is not None}
    found = defaultdict[tuple[str, str, datetime | None], list[str]](list)
    for post in history.posts:
        if post.key in minutes and not post.unfinished and said(post.text) is Said.NOTICE:
            found[minutes[post.key]].append(post.key)
    return [*found.values()]


def was_accepted(one: Asked, answered: bool) -> bool:
    """Return whether a question was accepted: it has to be settled by the bot then."""
    return one.acknowledged or one.seen_at is not None or answered


class _Ledger:
    def __init__(self, history: History) -> None:
        self._history = history
        self._turns = {turn.key: turn for turn in history.turns}
        self._shown = defaultdict[str, list[Post]](list)
        self._told_meanwhile = defaultdict[str, list[Said | None]](list)
        for post in history.posts:
            if post.key is None or post.unfinished:
                continue
            if is_meanwhile(post.text):
                self._told_meanwhile[post.key].append(said(post.text))
            else:
                self._shown[post.key].append(post)
        self._in_doubt = defaultdict[str, list[Sent]](list)
        for call in history.calls:
            for key in call.keys if call.in_doubt else ():
                self._in_doubt[key].append(call)
        self._asked_in = Counter[tuple[str, str, datetime | None]](
            _minute(one) for one in history.asked
        )
        self._noticed = {
            _minute(one)
            for one in history.asked
            if one.inbox_says == Kept.NOTICED.value
            or any(said(post.text) is Said.NOTICE for post in self._shown[one.key])
        }

    def entries(self) -> list[Entry]:
        return [self._entry(one) for one in self._history.asked]

    def _entry(self, one: Asked) -> Entry:
        shown = self._shown[one.key]
        is_promised = Said.FOLLOWS in self._told_meanwhile[one.key]
        if not shown:
            return Entry(one, self._unseen(one), is_promised=is_promised)
        settlement = self._of(one, shown[0])
        unknown = "" if settlement else shown[0].text
        seen_by = tuple(_seen_by(one, post, settlement) for post in shown if not post.is_direct)
        return Entry(one, settlement, len(shown), unknown, seen_by, is_promised)

    def _of(self, one: Asked, post: Post) -> Settlement | None:
        turn = self._turns.get(one.key)
        if turn is not None:
            return Settlement.APOLOGISED if turn.failed else Settlement.ANSWERED
        known = said(post.text)
        if known is None or (known is Said.BACK and not self._is_answered_elsewhere(one)):
            return None
        return _BY_SENTENCE[known]

    def _is_answered_elsewhere(self, one: Asked) -> bool:
        """Return whether the same was asked another time, and answered."""
        others = (other for other in self._history.asked if one.name and other is not one)
        found = [self._turns.get(other.key) for other in others if other.name == one.name]
        return any(turn is not None and not turn.failed for turn in found)

    def _unseen(self, one: Asked) -> Settlement | None:
        """Return how a question was settled for which no message stands."""
        if one.key in self._history.waiting:
            return None
        if not was_accepted(one, one.key in self._turns):
            if Said.SLOW in self._told_meanwhile[one.key]:
                return Settlement.APOLOGISED
            return Settlement.FAILED if one.failed else None
        if one.inbox_says == Kept.PASSED_OVER.value:
            return Settlement.NOTICED if self._is_covered(one) else None
        is_excused = _is_sent_once(one) and self._was_struck(one)
        return Settlement.ONCE if is_excused else None

    def _was_struck(self, one: Asked) -> bool:
        """Return whether a fault overlaps its settling, so that nobody can know what was sent.

        Its settling begins when it was last seen to wait. What is sent after it was seen to be
        done with is sent at once, or as soon as its calls are through.
        """
        if one.done_at is None:
            return False
        history, begun, ended = self._history, one.waited_at, one.done_at + _SENT_WITHIN
        spans = [*history.halts, *history.spoiled.get(one.platform, ())]
        spans += [(call.begun, call.ended) for call in self._in_doubt[one.key]]
        return any(first <= ended and begun <= last for first, last in spans)

    def _is_covered(self, one: Asked) -> bool:
        """Return whether its asker was told of the limit, once, for all of the same minute."""
        most = self._history.user_per_minute
        minute = _minute(one)
        is_beyond = bool(most) and self._asked_in[minute] > most
        return is_beyond and one.key not in self._turns and minute in self._noticed


def _seen_by(one: Asked, post: Post, settlement: Settlement | None) -> Seen:
    if post.reader:
        return Seen.ASKER if post.reader == one.spot.user else Seen.OTHER
    is_message_there = one.platform == "discord" and one.deed is None
    is_sentence = settlement is not Settlement.ANSWERED
    places = {one.spot.channel}
    if settlement is Settlement.APOLOGISED:
        places.add(one.spot.message)  # the thread that was opened for the answer before it failed
    if is_message_there and is_sentence and post.place in places:
        return Seen.REPLY
    return Seen.ALL


def _is_sent_once(one: Asked) -> bool:
    """Return whether what was sent was for its asker alone, and could not be found again.

    It is sent at most once: a process that was killed in between may not have sent it. On
    Discord an answer can be found again, be it private.
    """
    told = {
        kept.value for kept in Kept if kept.audience is Audience.ASKER and kept in _IN_THE_INBOX
    }
    if one.inbox_says == Kept.ANSWERED.value:
        return one.is_private and one.platform == "slack"
    is_whispered = one.deed is not None or one.platform == "slack"
    return is_whispered and one.inbox_says in told


def _minute(one: Asked) -> tuple[str, str, datetime | None]:
    """Return a person's minute, in which their questions are counted."""
    return one.platform, one.spot.user, one.accepted_in
