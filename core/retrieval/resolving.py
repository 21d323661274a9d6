"""Words a follow-up as questions that stand alone, by what the last answer showed."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.domain import EvidenceSignals
from core.domain.errors import EmbeddingError
from core.domain.text_features import probability, shipped
from core.providers.embeddings.base import Embedder, Vectors
from core.retrieval.ranking import BUILT_IN

IsContent = Callable[[str], bool]
"""Returns whether a word carries meaning: it is none that the search leaves out."""

_WORD = re.compile(r"[^\W_]+(?:[-'’.+#][^\W_]+)*[+#]*")
_PRONOUN = re.compile(
    r"\b(?P<own>its|their|theirs|his)\b|\b(?:it|itself|they|them|he|him|she)\b", re.IGNORECASE
)
"""English words that stand for something said before, wherever they stand."""
_POINTER = re.compile(r"\b(?:this|that|these|those)\b", re.IGNORECASE)
"""Words that do so at the end of a question, and after an auxiliary verb."""
_MANY = re.compile(r"they|them|theirs?|these|those", re.IGNORECASE)
_PLURAL = re.compile(r"[^su'’]s$|\b(?:people|men|women|children)$", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)"
    r"(?:\s+(?:the|an?))?\s+$",
    re.IGNORECASE,
)
"""What stands before the subject of an English question."""
_ASKED_FOR = re.compile(
    r"\W*(?:which|what|whose|how (?:many|much))\s+(?P<what>\S.*?)\s+"
    r"(?:is|are|was|were|has|have|had|can|could|will|would|should|may|might|must)\b",
    re.IGNORECASE,
)
"""A question whose subject is what it asks for: "Which gases are heavier than air?"."""
_ONE_OF = re.compile(r"\b(?:which|one|each|all|both|none|some)\s+of\s+$", re.IGNORECASE)
"""Before a pronoun for several things, of which one is asked for."""
_ARTICLE = re.compile(r"\b(?:the|an?)\s+$", re.IGNORECASE)
_ARTICLES = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_ASKS = re.compile(r"\b(?:does|do|did)\s+$", re.IGNORECASE)
"""Before a subject: what follows it is a verb."""
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ITEM = re.compile(
    rf"\bthe\s+(?:(?P<word>{'|'.join(PLACES)}|last)|(?P<digit>[1-8])(?:st|nd|rd|th))"
    r"(?:\s+(?:one|point|item|step|kind|type|reason|part|option)\b|(?=\W*$|\s+(?:do|does|is)\b))"
    r"|\b(?:point|item|step|number|option)\s+(?P<number>[1-8])\b",
    re.IGNORECASE,
)
"""An item of a list, by its place in it."""
_OWN_SUBJECT = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|hey|then|well)\b[\s,]*)*"
    r"(?:(?:what|who)(?:['’]?s|\s+(?:is|are|was|were))|was\s+(?:ist|sind))\s+"
    r"(?:(?:an?|eine?)\s+)?(?P<subject>\S+(?:\s+\S+){0,7}?)[\s?.!]*",
    re.IGNORECASE,
)
"""A question of the form "What is X?"."""
_NO_SUBJECT = re.compile(
    r"\b(?:it|its|this|that|these|those|they|their|he|she|him|his|her|my|mine|your|yours|you|i|me|we|us|our"
    r"|ones?(?=\W*$)|here|there|above|below|so|up|going|es|das|dies\w*|der|die|er|sie|damit|hier|mit|los)\b",
    re.IGNORECASE,
)
"""English and German words of which a subject that is nowhere else has none."""
_LEAST_AFTER_THE = 3
"""Words of "the answer to", which is one to something: a longer subject says it."""
_LIST_LINE = re.compile(r"^\s{0,3}(?:[-*•+]|\d{1,2}[.)])\s+(?P<item>\S.*)$", re.MULTILINE)
_ITEM_NAME = re.compile(
    r"^`(?P<code>[^`\n]{2,60})`|\*\*(?P<strong>[^*\n]{2,60}?)[.:]?\*\*|(?P<name>[^\n:–—.;(]{2,60})"
)
_LONGEST_PHRASE = 6
"""Words."""
_MARKER = re.compile(r"\s*\[\d+\]")


class ReadingKind(StrEnum):
    """How a follow-up was worded to stand alone."""

    ITEM = "item"
    """An item of the last answer's list stands for its place in it."""
    NAMED = "named"
    """What the last question was about stands for the pronoun."""
    ABOUT = "about"
    """A term is added."""
    WHOLE = "whole"
    """The last question is added."""


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """What a follow-up may lean on."""

    question: str
    """The last question that stood alone."""
    shown: str
    """What the answer quoted, line by line."""
    headings: tuple[str, ...] = ()
    """Of the sections that it cited, the nearest one first."""
    files: frozenset[str] = frozenset()
    """That it cited."""

    @property
    def items(self) -> list[str]:
        """The names of the items of the list that it showed, in order."""
        return [name for one in _LIST_LINE.finditer(self.shown) if (name := _name(one["item"]))]


@dataclass(frozen=True, slots=True)
class Reading:
    """A follow-up, worded to stand alone."""

    question: str
    kind: ReadingKind
    referent: str
    """What it takes the question to lean on."""


def readings(question: str, last: LastAnswer, is_content: IsContent) -> list[Reading]:
    """Return how a question that leans may be meant, each once; the likelier ones come first."""
    found = {one.question.casefold(): one for one in reversed([*_read(question, last, is_content)])}
    return [*found.values()][::-1]


def _read(question: str, last: LastAnswer, is_content: IsContent) -> Iterator[Reading]:
    asked = question.strip()
    if (place := _ITEM.search(asked)) and (item := _item(place, last.items)):
        named = f"{asked[: place.start()]}{item}{asked[place.end() :]}"
        yield Reading(_as_sentence(named), ReadingKind.ITEM, item)
    if _reference(asked) is not None:
        terms = head_terms(last, is_content)
        for phrase in sorted(terms, key=lambda term: not _agrees(asked, term)):
            yield about(asked, phrase)
    yield Reading(f"{asked} ({last.question})", ReadingKind.WHOLE, last.question)


def about(question: str, term: str) -> Reading:
    """Return a question with a term in place of its pronoun, or behind it where it has none."""
    spot = _reference(question)
    if spot is None:
        return Reading(f"{question} ({term})", ReadingKind.ABOUT, term)
    start, end, is_own = spot
    named = f"{question[:start]}{term}{'’s' if is_own else ''}{question[end:]}"
    return Reading(_as_sentence(named), ReadingKind.NAMED, term)


def refers(question: str) -> bool:
    """Return whether a question has a word such as "it", or the place of an item in a list."""
    return names_place(question) or _reference(question) is not None


def has_own_subject(question: str, longest: int = 2) -> bool:
    """Return whether a question asks "What is X?", so that nothing said before it is meant.

    What is quoted, or written in capitals, is a name: "What is `this`?", "What is IT?".

    Args:
        longest: Words of X at most, apart from an article.
    """
    found = _OWN_SUBJECT.fullmatch(question.strip())
    if found is None or len(found["subject"].split()) > longest:
        return False
    subject = found["subject"].strip("?!. ")
    is_name = subject[:1] in "`\"'“„«" or (len(subject) > 1 and subject.isupper())
    is_shouted = question.upper() == question
    is_told = not subject.lower().startswith("the ") or len(subject.split()) > _LEAST_AFTER_THE
    return (is_name and not is_shouted) or (is_told and _NO_SUBJECT.search(subject) is None)


def names_place(question: str) -> bool:
    """Return whether a question speaks of an item by its place in a list."""
    return _ITEM.search(question) is not None


def head_terms(last: LastAnswer, is_content: IsContent) -> list[str]:
    """Return what the last question was about: its subject, then what has an article or a name.

    Those are phrases that its answer has; where it has none, runs of words that carry meaning.
    """
    words = [*_WORD.finditer(last.question)]
    told = _folded(" ".join([*last.headings, last.shown]))
    spans = [*_phrases(last.question, words, is_content)]
    shared = [one for one in spans if _folded(_ARTICLES.sub("", one)) in told]
    found = _longest(shared or [*_runs(last.question, words, is_content)])
    asked_for = _ASKED_FOR.match(last.question)
    if asked_for and any(is_content(word[0]) for word in _WORD.finditer(asked_for["what"])):
        subjects = [one for one in found if one in asked_for["what"]]
    else:
        subjects = [one for one in found if _SUBJECT.search(_before(last.question, one))]
    named = [one for one in found if _ARTICLES.match(one) or one[1:] != one[1:].lower()]
    return [*dict.fromkeys([*subjects, *named])]


def _before(question: str, phrase: str) -> str:
    return question[: question.index(phrase)]


def _phrases(text: str, words: Sequence[re.Match[str]], is_content: IsContent) -> Iterator[str]:
    """Yield the stretches of a text that begin and end with a word that carries meaning."""
    meant = [is_content(word[0]) for word in words]
    for first in range(len(words)):
        for last in range(first, min(first + _LONGEST_PHRASE, len(words))):
            if meant[first] and meant[last]:
                yield text[_begin(text, words[first].start()) : words[last].end()]


def _runs(text: str, words: Sequence[re.Match[str]], is_content: IsContent) -> Iterator[str]:
    """Yield the stretches in which every word carries meaning."""
    first: int | None = None
    for word in [*words, None]:
        if word is not None and is_content(word[0]):
            first = _begin(text, word.start()) if first is None else first
            end = word.end()
        elif first is not None:
            yield text[first:end]
            first = None


def _begin(text: str, start: int) -> int:
    """Return where a phrase begins with its article."""
    article = _ARTICLE.search(text, 0, start)
    return article.start() if article is not None else start


def _longest(phrases: Sequence[str]) -> list[str]:
    """Return the phrases that are no part of a longer one, those of more words first."""
    ordered = sorted(dict.fromkeys(phrases), key=lambda one: -len(one.split()))
    kept = list[str]()
    for one in ordered:
        if not any(_folded(one) in _folded(other) for other in kept):
            kept.append(one)
    return kept


def _reference(question: str) -> tuple[int, int, bool] | None:
    """Return where a question says "it" or the like, and whether as an owner; None: nowhere."""
    found = _PRONOUN.search(question)
    if found and not _ONE_OF.search(question[: found.start()]):
        return *found.span(), found["own"] is not None
    for found in _POINTER.finditer(question):
        is_last = _WORD.search(question, found.end()) is None
        if is_last or _ASKS.search(question[: found.start()]):
            return *found.span(), False
    return None


def chosen(reply: str, choices: Sequence[str], is_content: IsContent) -> str | None:
    """Return the one of some choices that a reply names, by its words or its place; None: none."""
    if (place := _ITEM.search(reply)) and (found := _item(place, choices)):
        return found
    meant = {word[0].casefold() for word in _WORD.finditer(reply) if is_content(word[0])}
    named = [one for one in choices if meant and meant <= {*_folded(one).split()}]
    return named[0] if len(named) == 1 else None


def _agrees(question: str, term: str) -> bool:
    """Return whether a pronoun and an English term are both plural, or both singular."""
    spot = _reference(question)
    is_many = spot is not None and _MANY.fullmatch(question[spot[0] : spot[1]]) is not None
    return is_many == (_PLURAL.search(term) is not None)


def _item(place: re.Match[str], items: Sequence[str]) -> str | None:
    if not items:
        return None
    word = (place["word"] or "").lower()
    if word == "last":
        return items[-1]
    number = int(place["digit"] or place["number"] or PLACES.index(word) + 1)
    return items[number - 1] if number <= len(items) else None


def _name(item: str) -> str:
    """Return what an item of a list is called: its strong words, or what it begins with."""
    found = _ITEM_NAME.search(_MARKER.sub("", item))
    if found is None:
        return ""
    name: str = found["code"] or found["strong"] or found["name"]
    return " ".join(name.split()[:_LONGEST_PHRASE])


def _folded(text: str) -> str:
    return f" {' '.join(word[0] for word in _WORD.finditer(text.casefold()))} "


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def root_of(asked: str, understood: str) -> str:
    """Return the question that a follow-up went on from, if all of it was added; else itself."""
    start = f"{asked.strip()} ("
    is_joined = understood.startswith(start) and understood.endswith(")")
    return understood[len(start) : -1] if is_joined else understood


HEADS = Path(__file__).with_name("standing.npy")
"""(2, dimensions + 1) float16: of each head a weight for each dimension, then the bias."""
WEIGHTS = Path(__file__).with_name("following.json")
"""What of a follow-up's words and of what it finds says that it leans."""
_SURE = 0.4


class Standing(NamedTuple):
    """How a question stands, by its words alone."""

    leans: float
    """Log odds that it goes on from something said before."""
    is_missing: float
    """Probability that it says "it" or the like of what nothing in it names."""
    likeness: float = 0.0
    """Cosine with the question before it."""


async def standing_of(question: str, embedder: Embedder, before: str = "") -> Standing | None:
    """Return how a question stands; None: the heads' own model is not at hand.

    Args:
        before: The question before it; empty: there is none.
    """
    if embedder.name != BUILT_IN:
        return None
    try:
        vectors = await embedder.embed_queries([question, before] if before else [question])
    except EmbeddingError:
        return None
    leans, missing = log_odds(vectors[0], heads())
    likeness = float(vectors[0] @ vectors[1]) if before else 0.0
    return Standing(leans, probability(missing), likeness)


def log_odds(vector: Vectors, weights: Vectors) -> tuple[float, float]:
    """Return the log odds that a question leans, and that what it speaks of is missing.

    Args:
        vector: (dimensions,) by the built-in model.
        weights: (2, dimensions + 1), the bias last.
    """
    leans, missing = weights[:, :-1] @ vector + weights[:, -1]
    return float(leans), float(missing)


def figures_of(
    standing: Standing,
    alone: EvidenceSignals,
    together: EvidenceSignals,
    *,
    refers: bool,
    is_cited: bool,
) -> dict[str, float]:
    """Return what tells a question that leans on the one before it.

    Args:
        alone: What it finds by itself.
        together: What it finds with the question before it.
        refers: Whether it has a word such as "it", or the place of an item in a list.
        is_cited: Whether the answer before cited the file that leads what it finds by itself.
    """
    return {
        "head": standing.leans,
        "refers": float(refers),
        "score": alone.best_score,
        "coverage": alone.coverage,
        "words": math.log1p(alone.question_words),
        "gain": together.best_score - alone.best_score,
        "likeness": standing.likeness,
        "cited": float(is_cited),
    }


def leans(figures: dict[str, float]) -> bool:
    """Return whether a question is to be understood by what was said before it."""
    return probability(shipped(WEIGHTS).log_odds(figures)) >= _SURE


@cache
def heads() -> Vectors:
    """Return the weights that the package ships; read at their first use."""
    stored: Vectors = np.load(HEADS).astype(np.float32)
    return stored
