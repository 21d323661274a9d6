"""Writes claims about a book, true and false, whose verdict is known because of how."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from core.embeddings.base import Vectors
from core.models import Chunk
from core.text.sentences import sentences
from tests.bench.paraphrases import LIGHT, SHORTENED, Paraphrase
from tests.bench.replacements import OPPOSITES, SYNONYMS, UNITS

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NUMBER_WORD = re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten)\b")
FAITHFUL = frozenset({"light", "short"})
_TRIES = 10_000
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|will|would|should|may|must|could|has|have)\b(?! not)"
)
_DENIAL = re.compile(r"\b(?:not|never)\s|n’t\b|n't\b")
_NAME = re.compile(r"(?<=[a-z,] )([A-Z][a-z]{3,}(?: [A-Z][a-z]{2,})*)")
_OPPOSITE = OPPOSITES | {second: first for first, second in OPPOSITES.items()}
_DIRECTION = re.compile(rf"\b({'|'.join(_OPPOSITE)})\b")
_DROPPED = re.compile(
    r"\b(?:very|quite|rather|typically|usually|generally|simply|actually|basic|overall|entire"
    r"|particular|certain|various|significant|specific)\s(?=[a-z])"
)
_LEAD = re.compile(
    r"^(?:However|For example|Thus|Therefore|In addition|Moreover|Similarly|As a result|Of course"
    r"|In other words|In contrast|Again|Also|Finally), (\w)"
)
_REORDERED = re.compile(
    r"^(?P<front>(?:If|When|As|Because|Although) [^,]{8,90}), (?P<main>[^;:]+)\.$"
)
_BEHIND = re.compile(r"^(?P<main>[^,;:]{15,}?) (?P<back>(?:if|when|because) [^,;:]{10,})\.$")
_TAIL = re.compile(
    r",? (?:which|such as|for example|including|like|although|though|while) [^.]*\.$"
)
_ASIDE = re.compile(r" ?\([^()]*\)|, [^,]{3,40},(?= (?:is|are|was|were|can|will|has|have)\b)")
_OPENS_BADLY = re.compile(r"^(?:This|That|These|Those|It|They|He|She|But|And|Or|So)\b")
_FUNCTION = re.compile(
    r"^(?:The|A|An|In|On|At|If|When|As|For|To|Some|Many|Most|All|There|One|We|You)\b"
)


@dataclass(frozen=True, slots=True)
class ScriptedClaim:
    """A claim as a model would make it: a sentence, and what it says stands where."""

    kind: str
    text: str
    question: str
    quotes: tuple[tuple[Chunk, str], ...]
    way: str = ""
    """How it was made, within its kind."""


@dataclass
class Writer:
    """Draws sentences of a book and turns them into claims; equal seeds, equal claims."""

    chunks: Sequence[Chunk]
    chance: random.Random
    by_hand: bool = True
    _drawn: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._names = sorted({n for c in self.chunks for n in _NAME.findall(c.content_text)})
        self._sentences = [sentences(chunk.content_text) for chunk in self.chunks]

    def bad(self, number: int, vectors: Vectors) -> list[ScriptedClaim]:
        """Return false claims: a fifth each of numbers, negations, names, quotes, chunks."""
        makers: dict[str, Callable[[str], str | None]] = {
            "number or unit": self._other_number,
            "negation": self._negated,
            "name": self._renamed,
        }
        each = number // 5
        claims = [
            claim for kind, make in makers.items() for claim in self._changed(kind, make, each)
        ]
        claims += self._invented(each)
        return claims + self._misplaced(number - 4 * each, vectors)

    def swapped(self, number: int) -> list[ScriptedClaim]:
        """Return claims with a direction word, or two of them, turned round."""
        return self._changed("direction", self._turned, number)

    def light(self, number: int) -> list[ScriptedClaim]:
        """Return faithful rewordings; by hand where the book is known, by rule beyond."""
        claims = self._by_hand("light", LIGHT)[: number // 2] if self.by_hand else []
        return claims + self._changed("light", self._reworded, number - len(claims))

    def short(self, number: int) -> list[ScriptedClaim]:
        """Return faithful claims that leave something out, or put two sentences together."""
        claims = self._by_hand("short", SHORTENED)[: number // 3] if self.by_hand else []
        merged = [self._merged() for _ in range((number - len(claims)) // 2)]
        return (
            claims + merged + self._changed("short", _shortened, number - len(claims) - len(merged))
        )

    def _by_hand(self, kind: str, written: Sequence[Paraphrase]) -> list[ScriptedClaim]:
        found = []
        for opening, text in written:
            place = next(
                (chunk, sentence)
                for chunk, own in zip(self.chunks, self._sentences, strict=True)
                for sentence in own
                if opening in sentence
            )
            found.append(ScriptedClaim(kind, text, question_about(place[0]), (place,), "by hand"))
        return found

    def _draw(self) -> tuple[Chunk, str]:
        """Return a sentence of prose that was not drawn before, and its chunk."""
        for _ in range(_TRIES):
            index = self.chance.randrange(len(self.chunks))
            if not self._sentences[index]:
                continue
            sentence = self.chance.choice(self._sentences[index])
            if sentence not in self._drawn and is_statement(sentence):
                self._drawn.add(sentence)
                return self.chunks[index], sentence
        raise ValueError("the book has too few sentences for so many claims")

    def _changed(
        self, kind: str, change: Callable[[str], str | None], number: int
    ) -> list[ScriptedClaim]:
        claims: list[ScriptedClaim] = []
        while len(claims) < number:
            chunk, sentence = self._draw()
            changed = change(sentence)
            if changed is None or changed == sentence:
                continue
            text = changed
            if kind not in FAITHFUL and len(claims) % 2:
                text = self._reworded(text)
            claims.append(
                ScriptedClaim(kind, text, question_about(chunk), ((chunk, sentence),), "by rule")
            )
        return claims

    def _other_number(self, sentence: str) -> str | None:
        units = [(pattern, new) for pattern, new in UNITS if pattern.search(sentence)]
        if units and self.chance.random() < 0.5:
            pattern, new = self.chance.choice(units)
            return pattern.sub(new, sentence, count=1)
        if match := _one_of(self.chance, _NUMBER, sentence):
            return _replaced(sentence, match, _another(self.chance, match.group()))
        if match := _one_of(self.chance, _NUMBER_WORD, sentence):
            words = [w for w in ("two", "three", "four", "six", "nine") if w != match.group()]
            return _replaced(sentence, match, self.chance.choice(words))
        return None

    def _negated(self, sentence: str) -> str | None:
        if match := _DENIAL.search(sentence):
            return _replaced(sentence, match, "")
        if match := _AUXILIARY.search(sentence):
            return _replaced(sentence, match, f"{match.group()} not")
        return None

    def _renamed(self, sentence: str) -> str | None:
        match = _one_of(self.chance, _NAME, sentence)
        if match is None:
            return None
        other = self.chance.choice(self._names)
        parts = set(other.split())
        return None if parts & set(sentence.split()) else _replaced(sentence, match, other)

    def _turned(self, sentence: str) -> str | None:
        matches = list(_DIRECTION.finditer(sentence))
        if not matches:
            return None
        if len(matches) > 1 and self.chance.random() < 0.4:
            return _DIRECTION.sub(lambda match: _OPPOSITE[match.group()], sentence)
        match = self.chance.choice(matches)
        return _replaced(sentence, match, _OPPOSITE[match.group()])

    def _reworded(self, sentence: str) -> str:
        text = _reordered(sentence)
        for word, other in SYNONYMS.items():
            text = re.sub(rf"\b{word}\b", other, text)
            text = re.sub(rf"^{word.capitalize()}\b", other.capitalize(), text)
        text = _DROPPED.sub("", text)
        return _LEAD.sub(lambda match: match[1].upper(), text)

    def _merged(self) -> ScriptedClaim:
        while True:
            chunk, first = self._draw()
            own = sentences(chunk.content_text)
            place = own.index(first) + 1
            if place == len(own) or not is_statement(own[place]):
                continue
            second = own[place]
            tail = second[0].lower() + second[1:] if _lowers(second) else second
            text = f"{_ASIDE.sub('', first).rstrip('.')}, and {_ASIDE.sub('', tail)}"
            return ScriptedClaim(
                "short", text, question_about(chunk), ((chunk, first), (chunk, second)), "merged"
            )

    def _invented(self, number: int) -> list[ScriptedClaim]:
        """Return claims whose quote is no sentence of the chunk, one word of it changed."""
        claims = []
        for place in range(number):
            chunk, sentence = self._draw()
            words = sentence.split()
            other = self._draw()[1].split()
            spot = self.chance.randrange(1, len(words) - 1)
            if place % 2:
                words[spot] = next(w for w in other if w.lower() != words[spot].lower())
            else:
                words[spot:] = other[1:]
            quote = " ".join(words)
            claims.append(
                ScriptedClaim("invented quote", quote, question_about(chunk), ((chunk, quote),))
            )
        return claims

    def _misplaced(self, number: int, vectors: Vectors) -> list[ScriptedClaim]:
        """Return true sentences that cite another chunk, a third of them a similar one."""
        claims = []
        index = {chunk.chunk_id: place for place, chunk in enumerate(self.chunks)}
        for place in range(number):
            chunk, sentence = self._draw()
            if place % 3 == 0:
                claims.append(self._similar(chunk, sentence, vectors, index))
                continue
            other = self._draw()
            quote = sentence if place % 3 == 1 else other[1]
            way = "its own quote" if place % 3 == 1 else "quote of the other"
            claims.append(
                ScriptedClaim(
                    "wrong chunk", sentence, question_about(chunk), ((other[0], quote),), way
                )
            )
        return claims

    def _similar(
        self, chunk: Chunk, sentence: str, vectors: Vectors, index: dict[UUID, int]
    ) -> ScriptedClaim:
        likeness = vectors @ vectors[index[chunk.chunk_id]]
        likeness[index[chunk.chunk_id]] = -1
        for best in np.argsort(-likeness):
            near = self.chunks[int(best)]
            own = [s for s in self._sentences[int(best)] if is_statement(s)]
            if own and sentence not in near.content_text:
                words = set(sentence.lower().split())
                quote = max(own, key=lambda s: len(words & set(s.lower().split())) / len(s.split()))
                return ScriptedClaim(
                    "wrong chunk",
                    sentence,
                    question_about(chunk),
                    ((near, quote),),
                    "similar chunk",
                )
        raise ValueError("the book has one chunk")


def is_statement(sentence: str) -> bool:
    """Return whether it is a sentence of prose that stands by itself."""
    return (
        8 <= len(sentence.split()) <= 40
        and sentence.endswith(".")
        and sentence[0].isupper()
        and "`" not in sentence
        and "\n" not in sentence
        and not _OPENS_BADLY.match(sentence)
    )


def question_about(chunk: Chunk) -> str:
    """Return what somebody who reads about the chunk's section would ask."""
    return f"What does the book say about {(chunk.section_heading or chunk.page_title).lower()}?"


def _one_of(chance: random.Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    matches = list(pattern.finditer(text))
    return chance.choice(matches) if matches else None


def _replaced(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def _another(chance: random.Random, number: str) -> str:
    digits = list(number)
    places = [i for i, digit in enumerate(digits) if digit.isdigit()]
    place = chance.choice(places)
    digits[place] = chance.choice([d for d in "123456789" if d != digits[place]])
    return "".join(digits)


def _reordered(sentence: str) -> str:
    if match := _REORDERED.match(sentence):
        main, front = match["main"], match["front"]
        return f"{main[0].upper()}{main[1:]} {front[0].lower()}{front[1:]}."
    if match := _BEHIND.match(sentence):
        main, back = match["main"], match["back"]
        main = main[0].lower() + main[1:] if _lowers(main) else main
        return f"{back[0].upper()}{back[1:]}, {main}."
    return sentence


def _lowers(sentence: str) -> bool:
    return _FUNCTION.match(sentence) is not None


def _shortened(sentence: str) -> str | None:
    text = _TAIL.sub(".", _ASIDE.sub("", sentence))
    text = _LEAD.sub(lambda match: match[1].upper(), text)
    return text if text != sentence and len(text.split()) >= 6 else None


def books_claims(writer: Writer, vectors: Vectors) -> Iterator[ScriptedClaim]:
    """Yield 200 bad, 40 swapped and 100 true claims; `vectors` are the chunks' own."""
    yield from writer.bad(200, vectors)
    yield from writer.swapped(40)
    yield from writer.light(50)
    yield from writer.short(50)
