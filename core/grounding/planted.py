"""Finds the sentences of a passage that command a machine, by a small learned head.

A logistic regression sees a sentence in two ways: by the n-grams of its letters and words, in any
language, and, where the index keeps its vector, by its meaning and by how far that is from the
rest of the passage. Nothing is embedded for it. Fitted by `python -m tests.bench.planted --train`.
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
from core.models import Chunk
from core.text.ngrams import hashed
from core.text.planted import NOTHING_PLANTED, Planted
from core.text.sentences import Span, sentence_spans

WEIGHTS = Path(__file__).with_name("planted.npz")
"""The head as the package ships it."""
BITS = 15
"""There are 2 ** BITS weights for n-grams."""
DIMENSIONS = 384
"""Of the built-in model's vectors, whose weights the head has."""
_FEWEST_LETTERS = 6
"""What is shorter says nothing by itself."""
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_LEADS_IN = (":", "：", ",", ";")
_BLOCK = ("```", "~~~", "|")
_CODE = re.compile(r"(?:`{3,}|~{3,})[^\S\n]*\S*[^\S\n]*\n")
"""A fence with one word at most; what goes on after it is prose in disguise."""
_STEPS = 127
_ARRAYS = ("letters", "words", "meaning")
_PLAIN = ("company", "alone", "known", "bias", "bar")
_KEPT = 512
"""Chunks whose findings are remembered."""


@dataclass(frozen=True, slots=True)
class Head:
    """The weights of what a sentence is seen by."""

    letters: npt.NDArray[np.float32]
    words: npt.NDArray[np.float32]
    """(2 ** BITS) of the n-grams of letters, and of words."""
    meaning: npt.NDArray[np.float32]
    """(DIMENSIONS) of the sentence's vector."""
    company: float
    """Of the cosine with the mean of the passage's other sentences, ..."""
    alone: float
    """... of there being none, ..."""
    known: float
    """... and of there being a vector at all."""
    bias: float
    bar: float
    """Log odds from which a sentence is taken for a command."""

    def log_odds(self, texts: Sequence[str], vectors: Vectors | None) -> npt.NDArray[np.float64]:
        """Return for each sentence of a passage the log odds that it commands a machine.

        Args:
            texts: The passage's sentences, in order.
            vectors: Theirs, of unit length; None: they are not known.
        """
        odds = np.full(len(texts), self.bias)
        views = zip((self.letters, self.words), hashed(texts, BITS), strict=True)
        for weights, (ids, owners) in views:
            counts = np.bincount(owners, minlength=len(texts))
            sums = np.bincount(owners, weights[ids], minlength=len(texts))
            odds += sums / np.sqrt(np.maximum(counts, 1))
        if vectors is not None:
            near = company_of(vectors)
            odds += vectors @ self.meaning + self.known
            odds += self.alone if near is None else self.company * near
        return odds

    def save(self, path: Path) -> None:
        """Write what the package ships: a byte a weight."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        scales = {name: np.abs(own).max(initial=1e-9) / _STEPS for name, own in arrays.items()}
        np.savez_compressed(
            path,
            scales=np.array(list(scales.values()), np.float32),
            plain=np.array([getattr(self, name) for name in _PLAIN], np.float32),
            **{name: np.round(arrays[name] / scales[name]).astype(np.int8) for name in _ARRAYS},
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the head that `save` wrote."""
        with np.load(path) as stored:
            scales = zip(_ARRAYS, stored["scales"], strict=True)
            arrays = {name: stored[name].astype(np.float32) * scale for name, scale in scales}
            plain = map(float, stored["plain"])
            return cls(**arrays, **dict(zip(_PLAIN, plain, strict=True)))


@cache
def shipped() -> Head:
    """Return the head that the package ships; read at its first use."""
    return Head.read(WEIGHTS)


def planted_in(chunk: Chunk) -> Planted:
    """Return what of a chunk may not be read to a model or shown; nothing of a trusted one.

    It costs no run of a model. Without the vectors of its sentences, as in a course of an older
    format, the words alone decide.
    """
    if chunk.is_trusted:
        return NOTHING_PLANTED
    return _found(chunk.content_text, chunk.sentences, chunk.sentence_vectors)


def commands(text: str) -> bool:
    """Return whether a text that is no part of the book holds a command to a machine."""
    return bool(_found(text, (), b"").spans)


@lru_cache(_KEPT)
def _found(content: str, sentences: tuple[tuple[int, int], ...], data: bytes) -> Planted:
    """Return the paragraphs that hold a command, and what stands between two of these."""
    are_known = bool(sentences) and len(data) == len(sentences) * DIMENSIONS
    vectors = from_bytes(data, len(sentences)) if are_known else None
    spans = [Span(*span) for span in sentences] if are_known else sentence_spans(content)
    head = shipped()
    odds = head.log_odds([content[start:end] for start, end in spans], vectors)
    paragraphs = _paragraphs_of(content, spans)
    hit = {
        number
        for number, span, doubt in zip(paragraphs, spans, odds, strict=True)
        if doubt > head.bar and is_telling(content[span.start : span.end])
    }
    hit |= {number for number in paragraphs if {number - 1, number + 1} <= hit}
    return Planted(tuple(s for s, n in zip(spans, paragraphs, strict=True) if n in hit))


def company_of(vectors: Vectors) -> npt.NDArray[np.float64] | None:
    """Return the cosine of each vector with the mean of the others; None: there are none."""
    if len(vectors) < 2:
        return None
    others = vectors.sum(axis=0) - vectors
    lengths = np.maximum(np.linalg.norm(others, axis=1), 1e-9)
    return np.asarray((vectors * others).sum(axis=1) / lengths, np.float64)


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
    return sum(map(str.isalnum, text)) >= _FEWEST_LETTERS and _CODE.match(text) is None
