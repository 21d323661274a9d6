"""Finds the sentences of a passage that command a machine, by a small learned head.

It sees a sentence by the n-grams of its letters and words, in any language, and, where the index
keeps its vector, by its meaning, and it compares both with the rest of the passage. Code and the
targets of links do not hide the words around them. Nothing is embedded for it. The last of its
fits is made by `python -m tests.bench.planted --train`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from core.embeddings.base import Vectors
from core.embeddings.sentences import from_bytes
from core.grounding.languages import ENGLISH, language_of
from core.models import Chunk
from core.text.links import without_targets
from core.text.ngrams import hashed
from core.text.planted import NOTHING_PLANTED, Planted
from core.text.sentences import MARKS, Span, sentence_spans

WEIGHTS = Path(__file__).with_name("planted.npz")
"""The head as the package ships it."""
BITS = 15
"""There are 2 ** BITS weights for n-grams."""
DIMENSIONS = 384
"""Of the built-in model's vectors, whose weights the head has."""
_FEWEST_BYTES = 16
"""What is shorter says nothing by itself."""
_SURE_BY_WORDS = 3.3
"""Log odds beyond the bar from which the words decide, whatever the vectors say: no sentence of
4,982 of an economics book is, and none of 5,773 of a programming book."""
_TYPICAL, _TOPIC_SHARE = -3.0, 0.5
"""A passage of English whose middle sentence has more than these log odds by its meaning is about
something near to commands, as a chapter on immune responses is: this share of what is beyond is
taken off each sentence. Sentences of other languages have such odds whatever they are about."""
_FEWEST_OF_A_TOPIC = 3
"""Sentences of a passage."""
_FOREIGN = 2.5
"""Log odds by the words from which a sentence counts that is not English, in a book that is not.
The vectors are of an English model, which makes much harmless text of it look like commands."""
_LESS_NEAR_BY = 2.0
"""Log odds below the bar, for any topic, from which a paragraph in English goes with a command next
to it."""
_LABEL_WORDS, _LABEL_ODDS = 6, 1.0
"""A line of so few words with a number, as "Essay: 25 per cent", has these log odds less."""
_ENDED = re.compile(rf"[.!?…:{MARKS}]\W*$")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_LEADS_IN = (":", "：", ",", ";")
_LEAD = re.compile(r"[^:：]+[:：](?=[\s\S]*\w)")
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
"""Code in a sentence, between runs of as many backticks."""
_BLOCK = ("```", "~~~", "|")
_CODE = re.compile(r"(?:`{3,}|~{3,})[^\S\n]*\S*[^\S\n]*\n")
"""A fence with one word at most; what goes on after it is prose in disguise."""
ROUNDED = ("letters", "words", "hidden", "output")
_KEPT = 512

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Fit:
    """The weights of what a sentence is seen by, and of what stands around it."""

    letters: Floats
    words: Floats
    """(2 ** BITS) of the n-grams of letters, and of words."""
    hidden: Floats
    output: Floats
    """(DIMENSIONS + 1, n) and (n) of a network with one layer over a sentence's vector."""
    context: Floats
    """(7) of the odds by words and by meaning, of the passage's medians of both, of the cosine with
    the others and of what that lacks of its median, and an offset."""
    plain: Floats
    """(3) of the odds by words, of their median, and an offset, where no vectors are known."""

    def by_words(self, texts: Sequence[str]) -> Floats:
        """Return the log odds of each text by its n-grams alone: those of its worst view."""
        return np.asarray(_by_words([self], texts)[0], np.float32)

    def by_meaning(self, vectors: Vectors) -> Floats:
        """Return the log odds of each sentence by its vector alone."""
        layer = vectors @ self.hidden[:-1] + self.hidden[-1]
        return np.asarray(np.maximum(layer, 0) @ self.output, np.float32)

    def log_odds(self, texts: Sequence[str], words: Floats, vectors: Vectors | None) -> Floats:
        """Return the log odds of each sentence of a passage, given those by words."""
        odds = np.asarray(in_context(words) @ self.plain, np.float32)
        if vectors is None:
            return odds
        meaning = self.by_meaning(vectors)
        seen = in_context(words, meaning, vectors) @ self.context
        by_meaning = seen - of_topic(texts, meaning)
        return np.asarray(np.maximum(by_meaning, odds - _SURE_BY_WORDS), np.float32)


@dataclass(frozen=True, slots=True)
class Head:
    """Fits on different samples, of which the mean counts. Source: bagging, Breiman 1996."""

    fits: tuple[Fit, ...]
    bar: float
    """Log odds from which a sentence is taken for a command."""

    def log_odds(self, texts: Sequence[str], vectors: Vectors | None) -> Floats:
        """Return for each sentence of a passage the log odds that it commands a machine.

        Args:
            texts: The passage's sentences, in order.
            vectors: Theirs, of unit length; None: they are not known.
        """
        words = _by_words(self.fits, texts)
        fits = zip(self.fits, words, strict=True)
        odds = [one.log_odds(texts, own, vectors) for one, own in fits]
        return np.asarray(np.mean(odds, axis=0), np.float32)

    def by_words(self, texts: Sequence[str]) -> Floats:
        """Return the log odds of each text by its n-grams alone."""
        return np.asarray(_by_words(self.fits, texts).mean(axis=0), np.float32)

    def by_meaning(self, vectors: Vectors) -> Floats:
        """Return the log odds of each sentence by its vector alone."""
        return np.asarray(
            np.mean([one.by_meaning(vectors) for one in self.fits], axis=0), np.float32
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the head of a file: a byte for most weights, and the scale of each array."""
        with np.load(path) as stored:
            arrays = {name: stored[name] for name in (*ROUNDED, "context", "plain")}
            scales, bar = stored["scales"], float(stored["bar"])
        fits = []
        for number, own in enumerate(scales):
            rounded = zip(ROUNDED, own, strict=True)
            weights = {name: arrays[name][number].astype(np.float32) * by for name, by in rounded}
            context, plain = arrays["context"][number], arrays["plain"][number]
            fits.append(Fit(**weights, context=context, plain=plain))
        return cls(tuple(fits), bar)


def _by_words(fits: Sequence[Fit], texts: Sequence[str]) -> Floats:
    """Return (n_fits, n_texts) log odds of each text by its n-grams: those of its worst view."""
    views = [views_of(text) for text in texts]
    if not views:
        return np.zeros((len(fits), 0), np.float32)
    every = [view for own in views for view in own]
    odds = np.zeros((len(fits), len(every)), np.float32)
    for kind, (ids, owners) in zip(("letters", "words"), hashed(every, BITS), strict=True):
        root = np.sqrt(np.maximum(np.bincount(owners, minlength=len(every)), 1))
        for row, one in zip(odds, fits, strict=True):
            sums = np.bincount(owners, getattr(one, kind)[ids], minlength=len(every))
            row += (sums / root).astype(np.float32)
    starts = np.cumsum([0, *(len(own) for own in views[:-1])])
    return np.asarray(np.maximum.reduceat(odds, starts, axis=1), np.float32)


def views_of(text: str) -> tuple[str, ...]:
    """Return a sentence, its prose without code and targets of links, and what leads in to these.

    The last is judged by itself, as in "Put this into your answer: " with a page of code after it.
    """
    prose = without_targets(_INLINE_CODE.sub(" ", text))
    lead = _LEAD.match(prose)
    views = (text, prose, lead.group() if lead else "")
    return (text, *dict.fromkeys(v for v in views if v != text and _says_something(v)))


def _median(values: Floats) -> float:
    """Return the middle value, as `np.median` does, which imports masked arrays for it."""
    ordered, middle = np.sort(values), len(values) // 2
    return float((ordered[middle - 1 + len(values) % 2] + ordered[middle]) / 2)


def of_topic(texts: Sequence[str], meaning: Floats) -> float:
    """Return the log odds that sentences of a passage have from what all of it is about."""
    if len(texts) < _FEWEST_OF_A_TOPIC or language_of(" ".join(texts)) != ENGLISH:
        return 0.0
    return _TOPIC_SHARE * max(0.0, _median(meaning) - _TYPICAL)


def in_context(
    words: Floats, meaning: Floats | None = None, vectors: Vectors | None = None
) -> Floats:
    """Return what the last step sees of each sentence of a passage: (n, 7), or (n, 3) by words.

    A sentence that stands alone has no medians and no cosine: all of these are 0 then.
    """
    count = len(words)
    ones, nothing = np.ones(count, np.float32), np.zeros(count, np.float32)
    around = [np.full(count, _median(words), np.float32) if count > 1 else nothing]
    if meaning is None or vectors is None:
        return np.column_stack([words, *around, ones])
    if count < 2:
        return np.column_stack([words, meaning, *[nothing] * 4, ones])
    others = vectors.sum(axis=0) - vectors
    lengths = np.maximum(np.linalg.norm(others, axis=1), 1e-9)
    near = (vectors * others).sum(axis=1) / lengths
    around += [np.full(count, _median(meaning), np.float32), near, near - _median(near)]
    return np.column_stack([words, meaning, *around, ones])


@cache
def shipped() -> Head:
    """Return the head that the package ships; read at its first use."""
    return Head.read(WEIGHTS)


def planted_in(chunk: Chunk, language: str = ENGLISH) -> Planted:
    """Return what of a chunk may not be read to a model or shown; nothing of a trusted one.

    It costs no run of a model. Without the vectors of its sentences, as in a course of an older
    format, the words alone decide, and so they do in a book that is not in English.

    Args:
        language: The book's, as a tag such as "en" or "pt-BR".
    """
    if chunk.is_trusted:
        return NOTHING_PLANTED
    is_english = language.casefold().partition("-")[0] == ENGLISH
    return _found(chunk.content_text, chunk.sentences, chunk.sentence_vectors, is_english)


def commands(text: str) -> bool:
    """Return whether a text that is no part of the book holds a command to a machine."""
    return bool(_found(text, (), b"", is_english=True).spans)


@lru_cache(_KEPT)
def _found(
    content: str, sentences: tuple[tuple[int, int], ...], data: bytes, is_english: bool
) -> Planted:
    """Return the paragraphs that hold a command, what goes on from one, and what is between two."""
    are_known = bool(sentences) and len(data) == len(sentences) * DIMENSIONS
    vectors = from_bytes(data, len(sentences)) if are_known else None
    spans = [Span(*span) for span in sentences] if are_known else sentence_spans(content)
    head, texts = shipped(), [content[start:end] for start, end in spans]
    labels = np.array([_is_label(text) for text in texts], bool)
    odds, less_near_by = head.log_odds(texts, vectors) - _LABEL_ODDS * labels, _LESS_NEAR_BY
    if vectors is not None:
        less_near_by += of_topic(texts, head.by_meaning(vectors))
    if not is_english and language_of(" ".join(texts)) != ENGLISH:
        own = np.array([language_of(text) == ENGLISH for text in texts], bool)
        odds = np.where(own, odds, head.by_words(texts) - _FOREIGN + head.bar)
        less_near_by = 0.0
    paragraphs = _paragraphs_of(content, spans)
    worst: dict[int, float] = {}
    for number, span, doubt in zip(paragraphs, spans, odds, strict=True):
        if is_telling(content[span.start : span.end]):
            worst[number] = max(float(doubt), worst.get(number, float(doubt)))
    hit = {number for number, doubt in worst.items() if doubt > head.bar}
    near = [number for number, doubt in worst.items() if doubt > head.bar - less_near_by]
    for number in (*near, *reversed(near)):
        if {number - 1, number + 1} & hit:
            hit.add(number)
    hit |= {number for number in paragraphs if {number - 1, number + 1} <= hit}
    return Planted(tuple(s for s, n in zip(spans, paragraphs, strict=True) if n in hit))


def _is_label(text: str) -> bool:
    """Return whether a text is a short line with a number and without a final mark."""
    has_number = any(map(str.isdigit, text))
    return has_number and len(text.split()) <= _LABEL_WORDS and _ENDED.search(text) is None


def _paragraphs_of(content: str, spans: Sequence[Span]) -> list[int]:
    """Return for each sentence the number of its paragraph, from 0.

    What a line such as "Say this:" leads in to belongs to the paragraph of that line, and so
    does a block of code to what announces it.
    """
    numbers = [0] * bool(spans)
    for before, span in pairwise(spans):
        leads_in = content[before.start : before.end].rstrip().endswith(_LEADS_IN)
        is_joined = leads_in or content.startswith(_BLOCK, span.start)
        is_new = not is_joined and _BLANK_LINE.search(content, before.end, span.start)
        numbers.append(numbers[-1] + bool(is_new))
    return numbers


def is_telling(text: str) -> bool:
    """Return whether a sentence is judged by itself: not code, and not next to nothing."""
    return _says_something(text) and _CODE.match(text) is None


def _says_something(text: str) -> bool:
    return len(text.strip().encode(errors="replace")) >= _FEWEST_BYTES
