"""Completes a question with what it points at: files, the message before it, the last answer."""

import logging
import mimetypes
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import aiohttp
import numpy as np
import numpy.typing as npt

from core.domain import (
    EXPLAIN_QUOTE,
    MAX_QUESTION,
    MAX_THREAD_MESSAGE,
    MOST_CHOICES,
    AgentRequest,
    ContextMode,
    ConversationTurn,
    ThreadMessage,
    UnreadPart,
    cut_selected_text,
    now,
)
from core.domain.errors import EmbeddingError, QuestionTooLong, RequestError, StoreError
from core.domain.i18n import Message
from core.domain.links import unread_instead
from core.domain.sentences import sentences
from core.ingestion.formats.decoding import decode_text, looks_like_text
from core.providers.embeddings.base import Embedder
from core.retrieval.questions import is_courtesy_alone
from core.retrieval.resolving import PLACES, has_own_subject
from core.storage.inbox.base import Answered, Job
from core.storage.inbox.store import Inbox
from core.storage.sessions import SessionStore

logger = logging.getLogger(__name__)


LONGEST_QUESTION = 4_000
"""Characters that a person may ask with at once; Discord's own limit is lower."""
_MOST_PIECES = 14


def gist(text: str, most: int = MAX_QUESTION) -> str:
    """Return what a long text asks, in at most `most` characters; a shorter text as it is.

    These are the sentences that end with a question mark, each of few words with the sentence
    in front of it, which says what it is about. A text that asks nothing gives its beginning.
    """
    if len(text) <= most:
        return text
    parts = sentences(text) or [text]
    chosen, room = set[int](), most
    for number in _that_ask(parts) or range(len(parts)):
        if len(parts[number]) >= room:
            break
        chosen.add(number)
        room -= len(parts[number]) + 1
    if not chosen:
        return text[:most].rsplit(None, 1)[0]
    return " ".join(parts[number] for number in sorted(chosen))


def asks(text: str) -> bool:
    """Return whether a sentence of a text ends with a question mark."""
    return any(sentence.rstrip(_CLOSING).endswith(_MARKS) for sentence in sentences(text))


def as_material(text: str, *, by_asker: bool) -> tuple[ThreadMessage, ...]:
    """Return a text in pieces that a request takes along, each of at most 2,000 characters."""
    pieces = _pieces(text)
    return tuple(ThreadMessage(text=piece, by_asker=by_asker) for piece in pieces if piece.strip())


def shortened_question(text: str) -> tuple[str, tuple[ThreadMessage, ...]]:
    """Return what is searched for, and the whole question where that is longer.

    Raises:
        QuestionTooLong: for more than 4,000 characters.
    """
    if len(text) > LONGEST_QUESTION:
        raise QuestionTooLong(len(text), LONGEST_QUESTION)
    if len(text) <= MAX_QUESTION:
        return text, ()
    return gist(text), as_material(text, by_asker=True)


_FEWEST_WORDS = 4
"""Words of a question that is understood by itself."""
_MARKS = ("?", "？", "؟")
_CLOSING = "\"'”’»)]* \n"


def _that_ask(parts: Sequence[str]) -> list[int]:
    """Return the numbers of the sentences that ask, and of those that these lean on."""
    found = list[int]()
    for number, part in enumerate(parts):
        if part.rstrip(_CLOSING).endswith(_MARKS):
            leans = number > 0 and len(part.split()) < _FEWEST_WORDS
            found += [number - 1, number] if leans else [number]
    return list(dict.fromkeys(found))


def _pieces(text: str) -> Iterator[str]:
    for _ in range(_MOST_PIECES):
        if len(text) <= MAX_THREAD_MESSAGE:
            yield text
            return
        cut = text.rfind("\n", 0, MAX_THREAD_MESSAGE)
        cut = cut if cut > MAX_THREAD_MESSAGE // 2 else MAX_THREAD_MESSAGE
        yield text[:cut]
        text = text[cut:]


MOST_BYTES = 100_000
"""Size of the largest file that is read as text."""
MOST_OF_A_CANVAS = 1_000_000
"""Size of the largest canvas: most of it is markup."""
CANVASES = frozenset({"application/vnd.slack-docs"})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_MOST_FILES = 5
"""Files of one message that are read."""
_FILES = "files"
"""In an arrival's address: the files that the question comes with."""
_BY_TYPE = {
    "image": UnreadPart.IMAGE,
    "audio": UnreadPart.VOICE,
    "video": UnreadPart.VIDEO,
}


class Whose(StrEnum):
    """Which message a file belongs to."""

    QUESTION = "question"
    TARGET = "target"
    """The message that the question replies to, forwards or is about."""


class FileKind(StrEnum):
    """What a file is declared as, where that matters to who fetches it."""

    TEXT = "text"
    HTML = "html"
    CANVAS = "canvas"
    """A document of Slack's, which is fetched as HTML."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that may be text, as the platform describes it; not read yet."""

    url: str
    whose: Whose = Whose.QUESTION
    kind: FileKind = FileKind.TEXT


@dataclass(frozen=True, slots=True)
class MessageParts:
    """The files of a message, or of a question and the message that it is about."""

    files: tuple[TextFile, ...] = ()
    """At most five, each of at most 100,000 bytes."""
    unread: tuple[UnreadPart, ...] = ()
    """Kinds of parts that cannot be read, each once."""

    def __add__(self, other: "MessageParts") -> "MessageParts":
        kinds = tuple(dict.fromkeys((*self.unread, *other.unread)))
        return MessageParts((*self.files, *other.files)[:_MOST_FILES], kinds)

    @property
    def in_address(self) -> dict[str, Any]:
        """What an arrival's address keeps of the files: where they are, and no name."""
        files = [[one.url, one.whose.value, one.kind.value] for one in self.files]
        return {_FILES: files} if files else {}


NO_PARTS = MessageParts()


def parts_of(
    files: Iterable[tuple[str, str, str, int | None]], whose: Whose, *, voice: bool = False
) -> MessageParts:
    """Return the parts that attachments are.

    A file of an unknown type counts as text: whether it is one shows when it is read.

    Args:
        files: For each its URL, name, declared media type ("" if none) and size in bytes.
        voice: Whether the message is a recording of speech.
    """
    readable, unread = list[TextFile](), list[UnreadPart]()
    for url, name, declared, size in files:
        kind = UnreadPart.VOICE if voice else _unread_kind(name, declared, size)
        if kind is not None or not url:
            unread.append(kind or UnreadPart.FILE)
        else:
            readable.append(TextFile(url, whose, _kind(name, declared)))
    return MessageParts(tuple(readable)) + MessageParts((), tuple(unread))


def files_in(address: Mapping[str, Any]) -> tuple[TextFile, ...]:
    """Return the files that an arrival's address keeps."""
    kept = (one for one in address.get(_FILES, ()))
    return tuple(
        TextFile(str(url), Whose(whose), *map(FileKind, kind)) for url, whose, *kind in kept
    )


def _kind(name: str, declared: str) -> FileKind:
    media_type = _media_type(name, declared)
    if media_type in CANVASES:
        return FileKind.CANVAS
    return FileKind.HTML if media_type in _PAGES else FileKind.TEXT


def _media_type(name: str, declared: str) -> str:
    """Return a file's media type, by its name where none is declared."""
    media_type = declared.partition(";")[0].strip().lower()
    if media_type in ("", "application/octet-stream"):
        return mimetypes.guess_type(name)[0] or ""
    return media_type


def _unread_kind(name: str, declared: str, size: int | None) -> UnreadPart | None:
    """Return why a file cannot be read, judged by its type and size; None: it may be text."""
    media_type = _media_type(name, declared)
    if media_type == "application/pdf":
        return UnreadPart.PDF
    general = _BY_TYPE.get(media_type.partition("/")[0])
    # A TypeScript file is declared as an MPEG stream, which is the older use of its ending.
    if general is UnreadPart.VIDEO and name.lower().endswith(".ts"):
        general = None
    if general is not None:
        return general
    most = MOST_OF_A_CANVAS if media_type in CANVASES else MOST_BYTES
    return UnreadPart.FILE if size is not None and size > most else None


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
_POINTING_FEWEST_WORDS = 5
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
    return len(one.text.split()) >= _POINTING_FEWEST_WORDS or bool(one.parts.unread)


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


MOST_MESSAGES = 30
"""Messages before a question that are looked at."""
MOST_TAKEN = 15
"""Of those, the ones that the first question of a thread takes along."""
MENTIONED = "mentioned"
"""In an arrival's address: the people whom a question to the bot mentions, by their ids."""
_LATEST = 3
"""Questions of a person among which the one before is looked for."""


class CannotRead(RequestError):
    """All that a question is about is content that cannot be read."""

    def __init__(self, kinds: Sequence[UnreadPart]) -> None:
        """Name the kinds that the asker has to put into words."""
        self.kinds = tuple(kinds)
        super().__init__(user_message=unread_instead(kinds))


class MayNotRead(RequestError):
    """The platform gives the bot no files; whom that concerns, the sentence says."""


class CannotFind(RequestError):
    """No message is there that a question which only points can mean."""

    def __init__(self) -> None:
        super().__init__(user_message=Message("asking-which-message"))


@dataclass(frozen=True, slots=True)
class MessageWindow:
    """What stands right before a question, oldest first."""

    messages: tuple[Earlier, ...] = ()
    begins_with: Earlier | None = None
    """What the thread began with, where it is not among the messages: its title, or its root."""
    is_partial: bool = False
    """Whether more was said in the thread than could be read."""


class Surroundings(Protocol):
    """What a platform can read around a question; everything at once or not at all."""

    @property
    def in_thread(self) -> bool:
        """Whether it was asked in a thread."""
        ...

    async def read(self, file: TextFile) -> str | None:
        """Return the text of a file; None when it is none, or cannot be had.

        Raises:
            MayNotRead: when the platform gives the bot no files.
        """
        ...

    async def window(self) -> MessageWindow | None:
        """Return what stands before the question; None when it cannot be read."""
        ...

    async def names(self, authors: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return what people are called, by their ids; no one of whom it cannot be found out."""
        ...


class QuestionContext:
    """Finds what "this" and "that" mean, before the book is searched."""

    def __init__(
        self, pointing: Pointing, inbox: Inbox, sessions: SessionStore, *, goes_on_for: timedelta
    ) -> None:
        """Put the parts together.

        Args:
            goes_on_for: How long a command goes on with the last one of the same person in the
                same channel; zero: never.
        """
        self._pointing = pointing
        self._inbox = inbox
        self._sessions = sessions
        self._goes_on_for = goes_on_for

    async def complete(self, job: Job, request: AgentRequest, around: Surroundings) -> AgentRequest:
        """Return the request with its files, its thread and what it points at.

        Raises:
            CannotRead: when all that it is about is something that cannot be read.
            CannotFind: when it points at a message that is not there.
            MayNotRead: when all that it is about is a file that the platform does not give.
        """
        request = await self._with_files(request, files_in(job.arrival.address), around)
        if request.stands_alone or request.verified_answer is not None:
            return request
        pointer = await self._pointer(request)
        if request.selected_text is not None:
            return _answering_quote(request) if pointer and pointer.is_question else request
        is_new = around.in_thread and not await self._is_known(request)
        if pointer or is_new:
            window = await around.window()
            request = _with_thread(request, window) if is_new else request
            if pointer and window is not None:
                return await self._adopted(job, request, pointer, window, around)
        if not request.thread_messages and not around.in_thread:
            request = await self._after_the_last(job, request)
        return request

    async def _with_files(
        self, request: AgentRequest, files: Sequence[TextFile], around: Surroundings
    ) -> AgentRequest:
        """Return the request with the text of its files as its quote, or as its question."""
        texts, unread = list[tuple[TextFile, str]](), list(request.unread)
        refusal: MayNotRead | None = None
        for file in files:
            try:
                found = await around.read(file)
            except MayNotRead as error:
                refusal, found = error, None
            if found is not None and found.strip():
                texts.append((file, found.strip()))
            elif UnreadPart.FILE not in unread:
                unread.append(UnreadPart.FILE)
        request = request.model_copy(update={"unread": tuple(unread)})
        is_bare = request.query_text == EXPLAIN_QUOTE and request.selected_text is None
        if not texts:
            if is_bare and files:
                raise refusal or CannotRead(request.unread)
            return request
        whole = "\n\n".join(text for _, text in texts)
        is_own = all(file.whose is Whose.QUESTION for file, _ in texts)
        if is_bare and is_own and asks(whole):
            material = as_material(whole, by_asker=True)
            return request.model_copy(
                update={"query_text": gist(whole), "thread_messages": material}
            )
        return _quoting(request, whole) if request.selected_text is None else request

    async def _pointer(self, request: AgentRequest) -> Pointer | None:
        try:
            return await self._pointing.read(request.query_text)
        except EmbeddingError as error:
            logger.warning("what a question points at is not looked for: %s", error)
            return None

    async def _adopted(
        self,
        job: Job,
        request: AgentRequest,
        pointer: Pointer,
        window: MessageWindow,
        around: Surroundings,
    ) -> AgentRequest:
        """Return a question that only points, as one about the message that it points at.

        A message that asks is asked in its place; any other is its quote. What the bot itself said
        last needs nothing: the question follows up on it. Of several messages that it may mean,
        the question takes along what they ask.

        Raises:
            CannotRead: when the message holds only what cannot be read.
            CannotFind: when there is no such message.
        """
        begins = [window.begins_with] if window.begins_with is not None else []
        said = [*begins, *window.messages][-MOST_MESSAGES:]
        mentioned = frozenset(map(str, job.arrival.address.get(MENTIONED, ())))
        names: Mapping[str, Sequence[str]] = {}
        if pointer.who is Who.NAMED:
            authors = dict.fromkeys(one.author for one in said if one.author and not one.ours)
            names = await around.names([*authors])

        def is_named(one: Earlier) -> bool:
            if pointer.who is Who.MENTIONED:
                return one.author in mentioned
            return is_called(pointer.name, names.get(one.author, ()))

        asked_at = job.arrival.sent_at or job.accepted_at
        try:
            meant = await self._pointing.among(pointer, said, is_named, asked_at)
        except EmbeddingError as error:
            logger.warning("what a question points at is not found: %s", error)
            return request
        if meant.stands:
            return request
        if not meant.messages:
            if pointer.is_bare:
                return request
            raise CannotFind
        if len(meant.messages) == 1:
            return _about(request, meant.messages[0])
        texts = [gist(one.text.strip()) for one in meant.messages[-MOST_CHOICES:]]
        return request.model_copy(update={"may_mean": tuple(texts), "thread_messages": ()})

    async def _is_known(self, request: AgentRequest) -> bool:
        """Return whether the session of a thread has turns already."""
        if request.session_id is None:
            return True
        try:
            return await self._sessions.get(request.session_id) is not None
        except StoreError as error:
            logger.warning("whether a thread is new cannot be looked up: %s", error)
            return True

    async def _after_the_last(self, job: Job, request: AgentRequest) -> AgentRequest:
        """Return a command's question with the one that its asker asked here right before."""
        if not self._goes_on_for or job.arrival.token is None:
            return request
        try:
            before = await self._last_turn(job)
        except StoreError as error:
            logger.warning("the question before cannot be looked up: %s", error)
            return request
        if before is None or before.agent_response.course_id != request.course_id:
            return request
        asked = before.selected_text if before.user_input == EXPLAIN_QUOTE else before.user_input
        if not asked:
            return request
        said = ThreadMessage(text=asked[:MAX_THREAD_MESSAGE], by_asker=True)
        return request.model_copy(update={"thread_messages": (said,)})

    async def _last_turn(self, job: Job) -> ConversationTurn | None:
        arrival = job.arrival
        for asked in await self._inbox.latest_of([arrival.user_id], _LATEST):
            if asked.key == arrival.key or not _is_in_sight(asked, job):
                continue
            turn = await self._sessions.turn_of(asked.request_id)
            if turn is not None and now() - turn.timestamp <= self._goes_on_for:
                return turn
        return None


def _is_in_sight(asked: Answered, job: Job) -> bool:
    """Return whether a question stood in the same channel, and was no more private."""
    arrival = job.arrival
    here = (arrival.platform, arrival.workspace, arrival.address.get("channel"))
    if (asked.platform, asked.workspace, asked.address.get("channel")) != here:
        return False
    return bool(arrival.address.get("ephemeral")) or not asked.address.get("ephemeral")


def _with_thread(request: AgentRequest, window: MessageWindow | None) -> AgentRequest:
    """Return the first question of a thread with what people said in it before."""
    if window is None:
        return request.model_copy(update={"thread_partly_seen": True})
    begins = [window.begins_with] if window.begins_with is not None else []
    latest = [one for one in window.messages if not one.ours and one.text.strip()]
    said = [*begins, *latest[len(begins) - MOST_TAKEN :]]
    messages = tuple(
        ThreadMessage(text=one.text.strip()[:MAX_THREAD_MESSAGE], by_asker=one.by_asker)
        for one in said
        if one.text.strip()
    )
    kept = (*messages, *request.thread_messages)[:MOST_TAKEN]
    is_partial = window.is_partial or len(begins) + len(latest) > MOST_TAKEN
    return request.model_copy(update={"thread_messages": kept, "thread_partly_seen": is_partial})


def _about(request: AgentRequest, target: Earlier) -> AgentRequest:
    """Return a question that only points, as one about a message; raises CannotRead."""
    text = target.text.strip()
    if not text:
        if target.parts.unread:
            raise CannotRead(target.parts.unread)
        return request
    if not asks(text):
        return _quoting(request, text)
    long = as_material(text, by_asker=target.by_asker) if gist(text) != text else ()
    kept = (*request.thread_messages, *long)[-MOST_TAKEN:]
    return request.model_copy(update={"query_text": gist(text), "thread_messages": kept})


def _answering_quote(request: AgentRequest) -> AgentRequest:
    """Return a question that wants a quoted question answered as that one."""
    quoted = request.selected_text or ""
    if not asks(quoted):
        return request
    alone = {"selected_text": None, "context_mode": ContextMode.FULL_BOOK}
    return _about(request.model_copy(update=alone), Earlier(quoted))


def _quoting(request: AgentRequest, text: str) -> AgentRequest:
    quote, cut = cut_selected_text(text)
    return request.model_copy(
        update={
            "context_mode": ContextMode.SELECTED_TEXT,
            "selected_text": quote,
            "selected_text_cut": cut,
        }
    )


_TIMEOUT = aiohttp.ClientTimeout(total=5)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file as the platform's server gave it."""

    data: bytes
    is_page: bool
    """Whether the server says that it is HTML."""
    is_elsewhere: bool = False
    """Whether the server sends us to another address in its place."""

    @property
    def text(self) -> str | None:
        """What it says; None: it is no text."""
        data = self.data
        if not looks_like_text(data):
            return None
        if b"\0" in data and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            return None
        return decode_text(data).text


async def fetched(
    session: aiohttp.ClientSession,
    url: str,
    headers: Mapping[str, str] | None = None,
    *,
    most: int = MOST_BYTES,
) -> FetchedFile | None:
    """Return a file; None when it is too large, or cannot be had now.

    Redirects are not followed: a file that lies elsewhere is not the platform's.

    Args:
        most: The bytes that it may have.
    """
    try:
        async with session.get(
            url, headers=headers, timeout=_TIMEOUT, allow_redirects=False
        ) as answer:
            is_page = answer.content_type in ("text/html", "application/xhtml+xml")
            if answer.status // 100 == 3:
                return FetchedFile(b"", is_page, is_elsewhere=True)
            if answer.status != 200:
                logger.info("a file cannot be had: status %d", answer.status)
                return None
            data = await _bounded(answer.content, most)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        logger.info("a file cannot be had: %s", type(error).__name__)
        return None
    return FetchedFile(data, is_page) if data is not None else None


async def fetched_text(session: aiohttp.ClientSession, url: str) -> str | None:
    """Return the text of a file that anybody may fetch; None as of `fetched`, or it is no text."""
    file = await fetched(session, url)
    return file.text if file is not None and not file.is_elsewhere else None


async def _bounded(content: aiohttp.StreamReader, most: int) -> bytes | None:
    """Return all of a body of at most so many bytes; None of a longer one."""
    data = bytearray()
    async for piece in content.iter_chunked(16_384):
        data += piece
        if len(data) > most:
            return None
    return bytes(data)
