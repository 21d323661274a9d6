"""Reads a question that only points ("can you answer that?"), and finds the message it points at.

Whether one only points is told by a linear head over the built-in embedding model, which
`python -m tests.bench.pointing` fits; what it points at, by the words for people, places and times.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adapters.context.long_question import asks
from adapters.context.message_parts import NO_PARTS, MessageParts
from core.embeddings.base import Embedder
from core.retrieval.question.courtesy import is_courtesy_alone
from core.retrieval.question.resolving import PLACES, has_own_subject

WEIGHTS = Path(__file__).with_name("pointing.npy")
"""(dimensions + 1,) float16: a weight for each dimension of the embedding, then the bias."""
_MARK = 0.5
_SURE = 0.9
"""Probability from which a message that stands above is itself taken to only point."""
_MOST_CHARACTERS = 160
"""A longer question names something, whatever it points at."""
ABOVE = "answer the message above"
_LONGEST_SUBJECT = 8
"""Words of what is asked for in "What is ...?"; more are none to be sure of."""
_NEAR = 5
"""Messages among which a mere "that" is looked for at first."""
_FEWEST_WORDS = 5
"""Words of a message that says something to be explained."""
_PASSAGE = 15
"""Words of a message that may be what is to be explained, though a question stands near it."""

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Earlier:
    """A message that stands before the question."""

    text: str
    by_asker: bool = False
    ours: bool = False
    """Whether the bot wrote it."""
    to_bot: bool = False
    """Whether it mentions the bot, and so was a question of its own."""
    parts: MessageParts = NO_PARTS
    author: str = ""
    """The platform's id of who wrote it."""
    said_at: datetime | None = None


class Who(Enum):
    """Whose message a question points at."""

    ASKER = "asker"
    ANOTHER = "another"
    MENTIONED = "mentioned"
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class Pointer:
    """Which message a question points at, as far as its words say; without any: the last one."""

    who: Who | None = None
    name: str = ""
    place: int | None = None
    """In the order that they were asked in, from 0; -1: the last one."""
    ago: timedelta | None = None
    minute: int | None = None
    """Of the hour that it was written in: where the asker's clock stands is not known."""
    is_question: bool = False
    """Whether it speaks of a question, or wants an answer."""

    @property
    def is_bare(self) -> bool:
        """Whether nothing is said of whose message it is, of its place or its time."""
        return (self.who, self.place, self.ago, self.minute) == (None,) * 4


@dataclass(frozen=True, slots=True)
class PointedAt:
    """What a question that only points may mean."""

    messages: tuple[Earlier, ...] = ()
    """Oldest first; two or more: it is not to be decided which; none: none is there."""
    stands: bool = False
    """Whether it is none of them: the question goes on with the bot's answer, or names another."""


STANDS = PointedAt(stands=True)


class PointingHead:
    """A logistic regression over the vector of a question."""

    def __init__(self, weights: Vector) -> None:
        """Take the weights: (dimensions + 1,), the bias last."""
        self._weights, self._bias = weights[:-1], float(weights[-1])

    def fits(self, embedder: Embedder) -> bool:
        """Return whether the head can read the vectors of a model."""
        return embedder.dimensions == len(self._weights)

    def probability(self, vector: Vector) -> float:
        """Return the probability that a question only points.

        Args:
            vector: (dimensions,) float32 of unit length, by the built-in model.
        """
        return float(1 / (1 + np.exp(-(float(vector @ self._weights) + self._bias))))


class Pointing:
    """Reads questions with the built-in embedding model, whatever model a course uses."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def read(self, question: str) -> Pointer | None:
        """Return what a question points at; None: it can be searched for as it stands.

        A question with a link points at what the link leads to, and thanks point at nothing.
        Without the model that the head was fitted on, as with the stand-ins of tests, only a
        question of nothing but such words points ("the second one").

        Raises:
            EmbeddingError: when the model cannot be run.
        """
        return await self._read(question, _MARK)

    async def _read(self, question: str, mark: float) -> Pointer | None:
        if len(question) > _MOST_CHARACTERS or "://" in question or _QUOTED.search(question):
            return None
        if has_own_subject(question, _LONGEST_SUBJECT):
            return None
        pointer, rest = _read(question)
        if not pointer.is_bare and _ONLY_THAT.fullmatch(rest):
            return pointer
        head = shipped_head()
        if not head.fits(self._embedder) or has_own_subject(rest, _LONGEST_SUBJECT):
            return None
        if await is_courtesy_alone(question, self._embedder):
            return None
        [vector] = await self._embedder.embed_queries([rest])
        return pointer if head.probability(vector) >= mark else None

    async def among(
        self,
        pointer: Pointer,
        said: Sequence[Earlier],
        is_named: Callable[[Earlier], bool],
        asked_at: datetime | None,
    ) -> PointedAt:
        """Return what a pointer means among messages; one that only points itself is not meant.

        Args:
            said: The messages before the question, oldest first.
            is_named: Returns whether a message is by who the pointer names, or mentions.
            asked_at: When the question was asked.

        Raises:
            EmbeddingError: when the model cannot be run.
        """
        kept = [
            one
            for one in said
            if one.ours or not (_asks(one) and await self._read(one.text, _SURE))
        ]
        return _pointed_at(pointer, kept, is_named, asked_at)


_THING = r"(?:questions?|message|post|comment|problem|query|one)"
_SAYS = (
    r"(?:asked|asks|is asking|was asking|wanted to know|wants to know|said|says|wrote|meant|posted)"
)
_PERSON = r"(?P<who>@?(?:(?-i:[A-ZÀ-Þ][\w.-]*\s[A-ZÀ-Þ][\w.-]*)|[^\W\d_][\w.-]*))"
_ORDINAL = (
    rf"(?:(?P<word>{'|'.join(PLACES)}|last|latest|newest|oldest|previous)"
    r"|(?P<digit>\d)(?:st|nd|rd|th))"
)
_REFERENCES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bwhat\s+{_PERSON}\s+(?:(?:just|also|has|had|have)\s+)*{_SAYS}\b",
        rf"\bwhat\s+(?:did|does)\s+{_PERSON}\s+(?:just\s+)?(?:ask|say|write|post|want to know)\b",
        rf"\b(?:the\s+)?{_THING}\s+(?:(?:that|which)\s+)?{_PERSON}"
        rf"\s+(?:(?:just|also|has|had|have)\s+)*{_SAYS}\b",
        rf"\b(?:the\s+)?{_THING}\s+(?:of|from|by)\s+{_PERSON}(?=\W*$|\s+please\b)",
        rf"\b(?:{_PERSON}['’]s?|(?P<own>my|his|her|their))\s+"
        rf"(?:own\s+)?(?:{_ORDINAL}\s+)?{_THING}\b",
        r"\b(?P<own>mine|hers|theirs)\b",
        r"\b(?P<verb>answer|help|(?:reply|respond) to)\s+"
        rf"(?!(?:that|this|it|the|me|us|with)\b){_PERSON}(?=\W*$|\s+please\b)",
    )
)
"""A message by who wrote it."""
_PLACE = re.compile(
    rf"\b(?P<the>the\s+)?{_ORDINAL}(?:\s+{_THING}\b|(?(the)(?=\W*$)|(?!)))"
    rf"|\b(?:question|message|number|no\.?|nr\.?)\s*#?(?P<number>[1-9])\b",
    re.IGNORECASE,
)
"""A message by its place."""
_NUMBERS = ("a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_AGO = re.compile(
    rf"\b(?:(?:from|asked|posted|written)\s+)?(?:about\s+)?(?P<count>an|one|{'|'.join(_NUMBERS)}|\d+)"
    r"\s+(?P<unit>min(?:ute)?|h(?:ou)?r|day)s?\s+ago\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\b(?:at|from)\s+\d{1,2}[:.](?P<minute>[0-5]\d)\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“„«`]\s*\w[^\"”“»`]+[\"”“»`]")
"""What a question brings with it."""
_CARETS = re.compile(r"\^+")
_ASKED = re.compile(r"\b(?:answer\w*|ask\w*|questions?|wants? to know)\b", re.IGNORECASE)
_ONLY_THAT = re.compile(r"(?:\W*\b(?:that|the|please|pls|ones?|questions?|and|what about)\b)*\W*")
_WORDS = re.compile(r"[^\W\d_]{2}")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_LEAST_SPAN = timedelta(minutes=2)
_ASKER, _ANOTHER = {"i", "my", "mine", "me"}, {"he", "she", "they", "him", "her", "them", "his"}
_ANOTHER |= {"hers", "their", "theirs", "someone", "somebody"}
_MENTION = "@someone"
"""What stands for a mention in the text of a question."""


def _read(question: str) -> tuple[Pointer, str]:
    """Return what a question says of a message, and the question with "that" in its place."""
    rest, who, name, place = question, None, "", None
    for pattern in _REFERENCES:
        if (found := pattern.search(rest)) is None:
            continue
        groups = found.groupdict()
        said = (groups.get("who") or groups.get("own") or "").casefold()
        if said.split(" ")[0] in ("the", "a", "an", "this", "that", "these", "you", "it", "we"):
            continue
        who, name = _whose(said), (groups.get("who") or "").lstrip("@")
        place = _place_of(groups)
        verb = f"{groups['verb']} " if groups.get("verb") else ""
        rest = f"{rest[: found.start()]}{verb}that{rest[found.end() :]}"
        break
    if who is None and _MENTION in rest:
        who, rest = Who.MENTIONED, rest.replace(_MENTION, "that")
    if place is None and (found := _PLACE.search(rest)):
        place = _place_of(found.groupdict())
        rest = f"{rest[: found.start()]}that{rest[found.end() :]}"
    ago, minute = None, None
    if found := _AGO.search(rest):
        ago = _count(found["count"]) * _UNITS[found["unit"][0].lower()]
        rest = f"{rest[: found.start()]}{rest[found.end() :]}"
    elif found := _CLOCK.search(rest):
        minute = int(found["minute"])
        rest = f"{rest[: found.start()]}{rest[found.end() :]}"
    rest = _CARETS.sub(" that ", rest).strip()
    is_question = _ASKED.search(question) is not None or place is not None
    return Pointer(who, name, place, ago, minute, is_question), rest


def _whose(said: str) -> Who:
    if said == _MENTION:
        return Who.MENTIONED
    return Who.ASKER if said in _ASKER else Who.ANOTHER if said in _ANOTHER else Who.NAMED


def _place_of(groups: dict[str, str | None]) -> int | None:
    word = (groups.get("word") or "").casefold()
    if word in PLACES:
        return PLACES.index(word)
    if word:
        return 0 if word == "oldest" else -1
    digit = groups.get("digit") or groups.get("number")
    return int(digit) - 1 if digit and digit != "0" else None


def _count(said: str) -> int:
    said = said.casefold()
    if said.isdecimal():
        return int(said)
    return 1 if said in ("an", "one") else _NUMBERS.index(said) + 1


def _pointed_at(
    pointer: Pointer,
    said: Sequence[Earlier],
    is_named: Callable[[Earlier], bool],
    asked_at: datetime | None,
) -> PointedAt:
    """Return what a pointer means, as `Pointing.among`."""
    last_ours = max((n for n, one in enumerate(said) if one.ours), default=-1)
    people = [one for one in said if not one.ours and (one.text.strip() or one.parts.unread)]
    if pointer.is_bare:
        return _nearest(pointer, said[last_ours + 1 :], is_after_ours=last_ours >= 0)
    is_of_answer = pointer.who is Who.ANOTHER or (not pointer.who and pointer.place is not None)
    if is_of_answer and last_ours >= 0:
        people = [one for one in said[last_ours + 1 :] if not one.to_bot]
        if not any(_asks(one) and _is_by(pointer, one, is_named) for one in people):
            return STANDS  # an item, or a person, of what the bot has shown
    if pointer.who is Who.NAMED and not any(map(is_named, people)):
        return STANDS
    people = [one for one in people if _is_by(pointer, one, is_named)]
    people = _at_its_time(pointer, people, asked_at)
    return _of_those(pointer, people)


def _of_those(pointer: Pointer, people: Sequence[Earlier]) -> PointedAt:
    """Return which of some messages are meant: those that ask, where there are any."""
    open_ones = [one for one in people if not one.to_bot] or [*people]
    asking = [one for one in open_ones if _asks(one)]
    if not asking and any(_asks(one) for one in people) and pointer.is_question:
        asking = [one for one in people if _asks(one)]
    telling = [one for one in open_ones if _tells(one)]
    meant = asking if pointer.is_question and asking else (telling or open_ones)
    if pointer.place is None:
        return PointedAt(_distinct(meant))
    if len(meant) == 1 and pointer.place >= 0 and (parts := _questions_in(meant[0].text)):
        meant = [Earlier(one, meant[0].by_asker, author=meant[0].author) for one in parts]
    if pointer.place >= len(meant) or not meant:
        return PointedAt()
    return PointedAt((meant[pointer.place],))


def _nearest(pointer: Pointer, said: Sequence[Earlier], *, is_after_ours: bool) -> PointedAt:
    """Return what a mere "that" means: what stands right above it, or the one question near it."""
    people = [one for one in said if not one.to_bot and (one.text.strip() or one.parts.unread)]
    if not people:
        return STANDS if is_after_ours else PointedAt()
    near = people[-_NEAR:]
    asking = [one for one in near if _asks(one)]
    if not asking:
        telling = [one for one in near if _tells(one)]
        earlier = [one for one in people if _asks(one)]
        if pointer.is_question and earlier:
            return PointedAt(_distinct(earlier))
        return PointedAt((telling[-1] if telling else near[-1],))
    last = near[-1]
    if _asks(last) and (last.by_asker or not any(one.by_asker for one in asking)):
        is_alone = len(near) < 2 or not _asks(near[-2])
        return PointedAt((last,)) if is_alone else PointedAt(_distinct(asking))
    if not pointer.is_question and len(last.text.split()) >= _PASSAGE:
        return PointedAt(_distinct([*asking, last]))
    return PointedAt(_distinct(asking))


def _is_by(pointer: Pointer, one: Earlier, is_named: Callable[[Earlier], bool]) -> bool:
    if pointer.who is Who.ASKER:
        return one.by_asker
    if pointer.who is Who.ANOTHER:
        return not one.by_asker
    return pointer.who is None or is_named(one)


def _at_its_time(
    pointer: Pointer, people: Sequence[Earlier], asked_at: datetime | None
) -> list[Earlier]:
    """Return the messages of the time that a pointer names: all of them where it names none."""
    if pointer.minute is not None:
        return [one for one in people if one.said_at and one.said_at.minute == pointer.minute]
    if pointer.ago is None or asked_at is None:
        return [*people]
    moment, span = asked_at - pointer.ago, max(pointer.ago / 4, _LEAST_SPAN)
    return [one for one in people if one.said_at and abs(one.said_at - moment) <= span]


def _asks(one: Earlier) -> bool:
    return asks(one.text) and _WORDS.search(one.text) is not None


def _tells(one: Earlier) -> bool:
    return len(one.text.split()) >= _FEWEST_WORDS or bool(one.parts.unread)


def _distinct(messages: Iterable[Earlier]) -> tuple[Earlier, ...]:
    """Return messages without those that say the same as a later one."""
    known = {" ".join(one.text.casefold().split()): one for one in messages}
    return tuple(known.values())


_LISTED = re.compile(r"\s*(?:\d{1,2}[.)]|[-*•])\s+")


def _questions_in(text: str) -> list[str]:
    """Return the questions of one message that asks several, in order; none where it does not."""
    lines = [_LISTED.sub("", line, count=1) for line in text.splitlines() if line.strip()]
    parts = lines if len(lines) > 1 else re.split(r"(?<=\?)\s+", text.strip())
    found = [one.strip() for one in parts if asks(one)]
    return found if len(found) > 1 else []


def is_called(name: str, names: Iterable[str]) -> bool:
    """Return whether a name that somebody writes is one of a person's, or a part of it."""
    words = [_words_of(name), _words_of(name.split(" ")[-1])]
    theirs = [_words_of(one) for one in names]
    known = [one | {word.rstrip("0123456789") for word in one} for one in theirs]
    return any(one and one <= other for one in words for other in known)


def _words_of(name: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", name.casefold())
    bare = "".join(one for one in plain if not unicodedata.combining(one))
    return {*re.findall(r"[^\W_]+", bare)}


def as_words(text: str) -> str:
    """Return a message as a question: one of carets alone ("^") wants what stands above it."""
    return ABOVE if _CARETS.fullmatch(text) else text


def save_weights(weights: Vector) -> None:
    """Write the weights that the package ships."""
    np.save(WEIGHTS, weights.astype(np.float16))


@cache
def shipped_head() -> PointingHead:
    """Return the head that the package ships; read at its first use."""
    return PointingHead(np.load(WEIGHTS).astype(np.float32))
