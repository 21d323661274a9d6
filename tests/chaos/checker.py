"""Reads the history of a run and says what should not be in it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, pairwise

from tests.chaos.book import names_in
from tests.chaos.history import Asked, History, Post, Turn
from tests.chaos.sentences import is_meanwhile
from tests.chaos.settlements import Entry, ledger, limiter_excess, notices, was_accepted
from tests.chaos.stays import GONE_WITHIN, orphans, second_answers


class Kind(StrEnum):
    """What can be wrong."""

    LOST = "accepted and lost"
    UNHEARD = "never accepted"
    DOUBLE = "visible duplicates"
    ORPHAN = "orphan placeholders"
    STRAY = "messages that answer nothing"
    ALTERED = "shown text differs from the stored turn"
    TORN = "order torn within a thread"
    FOREIGN = "text of another session"
    FORGETFUL = "turns that did not know the one before"
    WENT_BACK = "final answers that went back"
    LATE = "not all done in the time for it"
    CONTRADICTED = "settled otherwise than the inbox says"
    ASTRAY = "seen by others than it is for"
    MISPLACED = "replies of the staff in another place"
    CALLED = "calls of a limiter beyond what it stopped"
    PROMISED = "answers promised to what a limit stopped"
    NAGGED = "more than one notice to a person in a minute"


@dataclass(frozen=True)
class Anomaly:
    """Something wrong, and where."""

    kind: Kind
    key: str
    detail: str


def check(history: History) -> list[Anomaly]:
    """Return everything that is wrong with a history."""
    turns = {turn.key: turn for turn in history.turns if turn.key is not None}
    posts = defaultdict[str | None, list[Post]](list)
    for post in history.posts:
        if post.key is None or not is_meanwhile(post.text):
            posts[post.key].append(post)
    entries = ledger(history)
    return [
        *_unsettled(history, turns, entries),
        *_doubled(entries),
        *_beyond(history, entries),
        *_promised(entries),
        *_nagged(history),
        *_contradicted(entries),
        *_astray(entries),
        *_misplaced(history, posts),
        *_too_much(posts),
        *_too_long(history),
        *_altered(turns, posts),
        *_torn(history, turns, posts),
        *_foreign(history, turns, posts),
        *(_forgetful(history) if history.tells_all else ()),
        *(Anomaly(Kind.LATE, "the part", what) for what in history.late),
    ]


def words(text: str) -> str:
    """Return a text's letters and digits alone: every platform sets its own marks."""
    return "".join(character for character in text.casefold() if character.isalnum())


def _unsettled(
    history: History, turns: Mapping[str, Turn], entries: Sequence[Entry]
) -> Iterator[Anomaly]:
    """Yield what has no settlement, and why."""
    for entry in entries:
        one, is_stored = entry.asked, entry.asked.key in turns
        if entry.settlement is not None and one.key not in history.waiting:
            continue
        if entry.unknown:
            yield Anomaly(Kind.LOST, one.key, f"settled in no known way: {entry.unknown[:80]!r}")
        elif not was_accepted(one, is_stored):
            yield Anomaly(Kind.UNHEARD, one.key, f"{one.name}, asked {one.way}")
        elif one.key in history.waiting:
            yield Anomaly(Kind.LOST, one.key, "still waits")
        else:
            yield Anomaly(Kind.LOST, one.key, f"not shown, {'' if is_stored else 'not '}stored")


def _doubled(entries: Sequence[Entry]) -> Iterator[Anomaly]:
    for entry in entries:
        if entry.times > 1:
            yield Anomaly(Kind.DOUBLE, entry.asked.key, f"{entry.times} messages")


def _beyond(history: History, entries: Sequence[Entry]) -> Iterator[Anomaly]:
    for platform, (excess, calls) in limiter_excess(history, entries).items():
        yield Anomaly(Kind.CALLED, platform, f"{excess} calls, of {calls}")


def _promised(entries: Sequence[Entry]) -> Iterator[Anomaly]:
    for entry in entries:
        if entry.is_stopped_by_limit and entry.is_promised:
            yield Anomaly(Kind.PROMISED, entry.asked.key, "its asker waits for an answer")


def _nagged(history: History) -> Iterator[Anomaly]:
    for keys in notices(history):
        if len(keys) > 1:
            yield Anomaly(Kind.NAGGED, keys[-1], f"{len(keys)} notices")


def _contradicted(entries: Sequence[Entry]) -> Iterator[Anomaly]:
    for entry in entries:
        if entry.inbox_differs:
            detail = f"{entry.settlement}, in the inbox {entry.asked.inbox_says}"
            yield Anomaly(Kind.CONTRADICTED, entry.asked.key, detail)


def _astray(entries: Sequence[Entry]) -> Iterator[Anomaly]:
    for entry in entries:
        for seen in entry.strays_to:
            detail = f"{entry.settlement}, for the {entry.audience}, is seen by {seen}"
            yield Anomaly(Kind.ASTRAY, entry.asked.key, detail)


def _misplaced(history: History, posts: Mapping[str | None, list[Post]]) -> Iterator[Anomaly]:
    """Yield what staff said that stands where its question was not answered."""
    for one in history.asked:
        asked = {post.place for post in posts.get(one.replies_to, ())} if one.is_reply else set()
        for post in posts.get(one.key, ()) if asked else ():
            if post.place not in asked:
                detail = f"in {post.place}, asked in {', '.join(sorted(asked))}"
                yield Anomaly(Kind.MISPLACED, one.key, detail)


def _too_much(posts: Mapping[str | None, list[Post]]) -> Iterator[Anomaly]:
    for key, shown in posts.items():
        for post in shown:
            if post.unfinished:
                yield Anomaly(Kind.ORPHAN, str(key), f"{post.place}: {post.text[:60]!r}")
            elif key is None:
                yield Anomaly(Kind.STRAY, post.place, post.text[:60])
            yield from _went_back(post)


def _too_long(history: History) -> Iterator[Anomaly]:
    """Yield what stood for too long and is gone at last; what still stands is found without."""
    for kind, stays in ((Kind.DOUBLE, second_answers(history)), (Kind.ORPHAN, orphans(history))):
        for stay in stays:
            if stay.is_over and stay.seconds > GONE_WITHIN:
                detail = f"{stay.place}: for {stay.seconds:.0f} s, then gone"
                yield Anomaly(kind, str(stay.key), detail)


def _went_back(post: Post) -> Iterator[Anomaly]:
    """Yield what showed its last text before, and something else in between.

    An answer that still grows says so behind its text.
    """
    shown = post.revisions
    if not post.unfinished and shown and shown[-1] in shown[:-1]:
        first = shown.index(shown[-1])
        if any(text != shown[-1] for text in shown[first:]):
            yield Anomaly(Kind.WENT_BACK, str(post.key), _in_short(post.revisions))


def _in_short(revisions: Sequence[str]) -> str:
    return " | ".join(f"{text[:30]!r}...{text[-20:]!r}" for text in revisions)


def _altered(
    turns: Mapping[str, Turn], posts: Mapping[str | None, list[Post]]
) -> Iterator[Anomaly]:
    for key, turn in turns.items():
        for post in posts.get(key, ()):
            if not post.unfinished and words(turn.text) not in words(post.text):
                yield Anomaly(Kind.ALTERED, key, f"{turn.text!r} is shown as {post.text!r}")


def _torn(
    history: History, turns: Mapping[str, Turn], posts: Mapping[str | None, list[Post]]
) -> Iterator[Anomaly]:
    """Yield pairs of which the later was answered first, though the earlier was there for sure."""
    for together in _by_conversation(history).values():
        for first, second in combinations(together, 2):
            if first.seen_at is None or first.seen_at >= second.said_at:
                continue
            if _stored_before(turns.get(second.key), turns.get(first.key)):
                yield Anomaly(Kind.TORN, second.key, "its turn is stored before")
            one, other = posts.get(first.key), posts.get(second.key)
            if one and other and _stands_before(other[0], one[0]):
                yield Anomaly(Kind.TORN, second.key, "its answer stands before")


def _stored_before(one: Turn | None, other: Turn | None) -> bool:
    if one is None or other is None or one.session != other.session:
        return False
    return one.number < other.number


def _stands_before(one: Post, other: Post) -> bool:
    return one.place == other.place and one.position < other.position


def _foreign(
    history: History, turns: Mapping[str, Turn], posts: Mapping[str | None, list[Post]]
) -> Iterator[Anomaly]:
    """Yield what tells of a name that was not asked about in the same conversation."""
    if not history.tells_all:
        return
    for together in _by_conversation(history).values():
        for number, one in enumerate(together):
            own = {other.name for other in together}
            texts = [post.text for post in posts.get(one.key, ())]
            texts += [turns[one.key].text] if one.key in turns else []
            foreign = {name for text in texts for name in names_in(text)} - own
            if foreign:
                detail = f"question {number} of its thread tells of {sorted(foreign)}"
                yield Anomaly(Kind.FOREIGN, one.key, detail)


def _forgetful(history: History) -> Iterator[Anomaly]:
    """Yield turns that do not tell of what the turn before them was asked."""
    names = {one.key: one.name for one in history.asked}
    sessions = defaultdict[object, list[Turn]](list)
    for turn in history.turns:
        sessions[turn.session].append(turn)
    for turns in sessions.values():
        ordered = sorted(turns, key=lambda turn: turn.number)
        for before, after in pairwise(ordered):
            known = names_in(before.text)
            asked = names.get(before.key or "")
            if after.whole and asked in known and asked not in names_in(after.text):
                yield Anomaly(Kind.FORGETFUL, str(after.key), f"does not know of {asked}")


def _by_conversation(history: History) -> Mapping[int, list[Asked]]:
    found = defaultdict[int, list[Asked]](list)
    for one in sorted(history.asked, key=lambda one: one.said_at):
        found[one.conversation].append(one)
    return found
