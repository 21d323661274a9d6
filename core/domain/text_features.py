"""Hashed n-grams of letters and of words: features of a text in any language or script."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

LETTERS = range(2, 6)
"""Lengths of the n-grams of letters, blanks and signs."""
MOST_WORDS = 3
_BASE = 0x9E3779B97F4A7C15
_MIX = np.uint64(0xD6E8FEB86659FD93)
_INVERSE = pow(_BASE, -1, 1 << 64)
_BEGIN, _END = "\x02", "\x03"
_ZERO, _NINE = ord("0"), ord("9")
_WORD = re.compile(r"[^\W_]+")

Numbers = npt.NDArray[np.uint64]
Places = npt.NDArray[np.intp]


def hashed(texts: Sequence[str], bits: int) -> Iterator[tuple[Places, Places]]:
    """Yield the n-grams of all texts, those of letters first, then those of words.

    Case, the kind of blanks and the digits do not count; the two ends of a text do.

    Args:
        texts: Any number of texts.
        bits: Ids are below 2 ** bits.

    Yields:
        The ids of n-grams, and for each the position of its text.
    """
    joined = "".join(f"{_BEGIN}{' '.join(text.lower().split())}{_END}" for text in texts)
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    codes[(codes >= _ZERO) & (codes <= _NINE)] = _ZERO
    owners = np.cumsum(codes == ord(_BEGIN)) - 1
    yield _runs(codes, owners, LETTERS, bits)
    words = np.array([word.span() for word in _WORD.finditer(joined)], np.intp).reshape(-1, 2)
    starts, ends = words[:, 0], words[:, 1]
    yield _runs(_spans(codes, starts, ends), owners[starts], range(1, MOST_WORDS + 1), bits, 1)


def _runs(
    units: Numbers, owners: Places, lengths: range, bits: int, seed: int = 0
) -> tuple[Places, Places]:
    """Return the ids of the runs of units of some lengths inside each text, and their texts."""
    run = np.full(len(units), seed, np.uint64)
    ids, found = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for length in range(1, min(lengths.stop - 1, len(units)) + 1):
        run = run[: len(units) - length + 1] * np.uint64(_BASE) + units[length - 1 :]
        if length in lengths:
            own = owners[: len(run)]
            inside = own == owners[length - 1 :]
            mixed = (run[inside] ^ (run[inside] >> np.uint64(32))) * _MIX
            ids.append((mixed >> np.uint64(64 - bits)).astype(np.intp))
            found.append(own[inside])
    return np.concatenate(ids), np.concatenate(found)


def _spans(codes: Numbers, starts: Places, ends: Places) -> Numbers:
    """Return a number for each span of the codes, the same wherever equal spans stand.

    Source: a polynomial hash by prefix sums, modulo 2 ** 64.
    """
    sums = np.concatenate([[np.uint64(0)], np.cumsum(codes * _powers(_BASE, len(codes)))])
    return np.asarray((sums[ends] - sums[starts]) * _powers(_INVERSE, len(codes))[starts])


def _powers(base: int, count: int) -> Numbers:
    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    return np.cumprod(powers)


@dataclass(frozen=True, slots=True)
class Logistic:
    """Gives the probability of what it was fitted on, by the figures of one question."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    """One for each figure, which is shifted by its mean and divided by its scale before."""
    bias: float

    def log_odds(self, figures: Mapping[str, float]) -> float:
        """Return the log odds; every name that was fitted must be in `figures`."""
        rows = zip(self.names, self.means, self.scales, self.weights, strict=True)
        return self.bias + sum(w * (figures[name] - m) / s for name, m, s, w in rows)

    def save(self, path: Path) -> None:
        """Write the weights that the package ships, rounded to four digits."""
        table = {
            figure: [round(value, 4) for value in row]
            for figure, *row in zip(self.names, self.means, self.scales, self.weights, strict=True)
        }
        stored = {"figures": table, "bias": round(self.bias, 4)}
        path.write_text(json.dumps(stored, indent=1) + "\n")

    @classmethod
    def of(cls, rows: Mapping[str, Sequence[float]], bias: float) -> Self:
        """Return the regression with (mean, scale, weight) for each figure."""
        means, scales, weights = (tuple(column) for column in zip(*rows.values(), strict=True))
        return cls(tuple(rows), means, scales, weights, bias)


def probability(log_odds: float) -> float:
    """Return the probability, 0 to 1."""
    return 1 / (1 + math.exp(-max(-40.0, min(40.0, log_odds))))


@cache
def shipped(path: Path) -> Logistic:
    """Return the regression that the package ships in this file; read at its first use."""
    stored = json.loads(path.read_text("utf-8"))
    return Logistic.of(stored["figures"], stored["bias"])
