"""Fits the head: n-grams, a small network over vectors, then what stands around a sentence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.embeddings.base import Vectors
from core.embeddings.sentences import from_bytes
from core.grounding.planted import (
    BITS,
    DIMENSIONS,
    ROUNDED,
    Fit,
    Floats,
    Head,
    in_context,
    is_telling,
    views_of,
)
from core.models import Chunk
from core.text.ngrams import hashed

Doubles = npt.NDArray[np.float64]
Numbers = Floats | Doubles

STEPS = 200
HIDDEN = 32
_RATES = (0.05, 0.02)
_RIDGES = (3e-6, 3e-5)
_CONTEXT_RIDGE = 0.02
_NEWTON_STEPS = 30
_MOST = 127
"""Of what a byte holds."""
_DECAYS = (0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentences of a passage, and which of them command a machine."""

    texts: tuple[str, ...]
    vectors: Vectors
    commands: npt.NDArray[np.bool_]
    judged: npt.NDArray[np.bool_]
    """Which sentences count: of a passage with a command, that alone."""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence that is known by its words alone."""

    text: str
    commands: bool
    weight: float = 1.0


def passage_of(chunk: Chunk, commanding: str | None, weight: float = 1.0) -> Passage:
    """Return a chunk with vectors; its sentences inside of `commanding` command."""
    vectors = from_bytes(chunk.sentence_vectors, len(chunk.sentences))
    texts = tuple(chunk.content_text[start:end] for start, end in chunk.sentences)
    begin = chunk.content_text.index(commanding) if commanding else -1
    end = begin + len(commanding or "")
    inside = [commanding is not None and s < end and begin < e for s, e in chunk.sentences]
    telling = np.array([is_telling(text) for text in texts])
    commands = np.array(inside)
    judged = telling & commands if commanding else telling
    return Passage(texts, vectors, commands, judged, weight)


def fit_sentences(
    passages: Sequence[Passage], more: Sequence[Labelled] = (), steps: int = STEPS
) -> Fit:
    """Return a fit that judges sentences by themselves; the same on every run.

    Commands and other sentences weigh as much. Source: Adam, Kingma and Ba 2015, on all at once.

    Args:
        passages: Their sentences are learned by words and by meaning.
        more: Sentences that are learned by words alone.
        steps: Of each of the two fits.
    """
    own = [
        Labelled(text, bool(is_command), one.weight)
        for one in passages
        for text, is_command, is_in in zip(one.texts, one.commands, one.judged, strict=True)
        if is_in
    ]
    letters, words = np.split(_fit_words([*own, *more], steps), 2)
    vectors = np.concatenate([p.vectors[p.judged] for p in passages])
    hidden, output = _fit_meaning(vectors, *_masses(own), steps)
    nothing = np.zeros(7, np.float32)
    return Fit(letters, words, hidden, output, nothing, nothing[:3])


def _masses(given: Sequence[Labelled]) -> tuple[Floats, Floats]:
    """Return what is right, and weights of which the commands hold one half."""
    right = np.array([one.commands for one in given], np.float32)
    mass = np.array([one.weight for one in given], np.float32)
    mass = np.where(right == 1, mass / mass[right == 1].sum(), mass / mass[right == 0].sum()) / 2
    return right, mass.astype(np.float32)


def fit_context(own: Fit, passages: Sequence[Passage]) -> Fit:
    """Return the fit with its last step fitted, on passages that it was not fitted on."""
    seen, plain, right = [], [], []
    for one in passages:
        words, meaning = own.by_words(one.texts), own.by_meaning(one.vectors)
        seen.append(in_context(words, meaning, one.vectors)[one.judged])
        plain.append(in_context(words)[one.judged])
        right.append(one.commands[one.judged])
    labels = np.concatenate(right).astype(np.float64)
    context, alone = (_logistic(np.concatenate(rows), labels) for rows in (seen, plain))
    return replace(own, context=context, plain=alone)


def _fit_words(given: Sequence[Labelled], steps: int) -> Floats:
    """Return the weights of the n-grams of letters, then of words."""
    seen = [Labelled(view, o.commands, o.weight) for o in given for view in views_of(o.text)]
    texts, (right, mass) = [one.text for one in seen], _masses(seen)
    every = list(dict.fromkeys(texts))
    places = {text: place for place, text in enumerate(every)}
    own = np.array([places[text] for text in texts])
    parts = list(hashed(every, BITS))
    shares = [1 / np.sqrt(np.maximum(np.bincount(o, minlength=len(every)), 1)) for _, o in parts]
    ids = np.concatenate([found + n * (1 << BITS) for n, (found, _) in enumerate(parts)])
    owners = np.concatenate([found for _, found in parts])
    values = np.concatenate([share[o] for share, (_, o) in zip(shares, parts, strict=True)])

    def slopes(weights: Sequence[Floats]) -> list[Numbers]:
        sums = np.bincount(owners, weights[0][ids] * values, len(every))
        errors = np.bincount(own, mass * (_probability(sums[own]) - right), len(every))
        return [np.asarray(np.bincount(ids, errors[owners] * values, 2 << BITS), np.float64)]

    return _adam([np.zeros(2 << BITS, np.float32)], slopes, _RATES[0], _RIDGES[0], steps)[0]


def _fit_meaning(
    vectors: Vectors, right: Floats, mass: Floats, steps: int
) -> tuple[Floats, Floats]:
    """Return the weights of the two layers."""
    chance = np.random.default_rng(0)
    rows = np.column_stack([vectors, np.ones(len(vectors), np.float32)]).astype(np.float32)
    first = chance.standard_normal((DIMENSIONS + 1, HIDDEN)).astype(np.float32) * np.float32(0.3)
    second = chance.standard_normal(HIDDEN).astype(np.float32) * np.float32(0.3)

    def slopes(weights: Sequence[Floats]) -> list[Numbers]:
        layer = np.maximum(rows @ weights[0], 0)
        errors = (mass * (_probability(layer @ weights[1]) - right)).astype(np.float32)
        back = (errors[:, None] * weights[1]) * (layer > 0)
        return [rows.T @ back, layer.T @ errors]

    hidden, output = _adam([first, second], slopes, _RATES[1], _RIDGES[1], steps)
    return hidden, output


def _adam(
    weights: Sequence[Floats],
    slopes: Callable[[Sequence[Floats]], Sequence[Numbers]],
    rate: float,
    ridge: float,
    steps: int,
) -> Sequence[Floats]:
    """Return the weights, moved in place, after so many steps down the slopes."""
    moments = [(np.zeros_like(one), np.zeros_like(one)) for one in weights]
    for step in range(1, steps + 1):
        pace = rate * min(1.0, 2 * (1 - step / (steps + 1)))
        for own, slope, (first, second) in zip(weights, slopes(weights), moments, strict=True):
            slope = (slope + ridge * own).astype(np.float32)
            first += (1 - _DECAYS[0]) * (slope - first)
            second += (1 - _DECAYS[1]) * (slope**2 - second)
            spread = np.sqrt(second / (1 - _DECAYS[1] ** step)) + 1e-9
            own -= pace * first / (1 - _DECAYS[0] ** step) / spread
    return weights


def _logistic(rows: Floats, right: Doubles) -> Floats:
    """Return the weights of a small regression. Source: Newton's method."""
    given = rows.astype(np.float64)
    mass = np.where(right == 1, 0.5 / right.sum(), 0.5 / (1 - right).sum()) * 1_000
    weights, ridge = np.zeros(given.shape[1]), _CONTEXT_RIDGE * np.eye(given.shape[1])
    for _ in range(_NEWTON_STEPS):
        sure = _probability(given @ weights)
        bend = (given * (mass * sure * (1 - sure))[:, None]).T @ given + ridge
        weights -= np.linalg.solve(bend, given.T @ (mass * (sure - right)) + ridge @ weights)
    return weights.astype(np.float32)


def _probability(odds: Numbers) -> Doubles:
    return np.asarray(1 / (1 + np.exp(np.clip(np.negative(odds), -40, 40))), np.float64)


def save(head: Head, path: Path) -> None:
    """Write what the package ships: a byte for most weights."""
    scales: dict[str, Floats] = {}
    stored: dict[str, npt.NDArray[np.generic]] = {}
    for name in ROUNDED:
        own: list[Floats] = [getattr(one, name) for one in head.fits]
        scales[name] = np.array([np.abs(one).max(initial=1e-9) / _MOST for one in own], np.float32)
        rounded = zip(own, scales[name], strict=True)
        stored[name] = np.stack([np.round(one / scale).astype(np.int8) for one, scale in rounded])
    stored["scales"] = np.column_stack(list(scales.values()))
    stored["context"] = np.stack([one.context for one in head.fits])
    stored["plain"] = np.stack([one.plain for one in head.fits])
    np.savez_compressed(path, allow_pickle=False, bar=np.float32(head.bar), **stored)
