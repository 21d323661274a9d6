"""How rare each word of a course is, for judging how much of a question a text covers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """Document frequencies of the sparse terms of one edition."""

    chunks: int
    terms: npt.NDArray[np.uint32]
    """(n_terms,) ascending term ids."""
    frequencies: npt.NDArray[np.uint32]
    """(n_terms,) number of chunks that hold each term."""

    @classmethod
    def count(cls, chunks: Iterable[Sequence[int]]) -> Self:
        """Return the statistics of chunks given by their term ids, each distinct."""
        ids = [np.asarray(terms, np.uint32) for terms in chunks]
        if not ids:
            return cls(0, np.empty(0, np.uint32), np.empty(0, np.uint32))
        terms, frequencies = np.unique(np.concatenate(ids), return_counts=True)
        return cls(len(ids), terms, frequencies.astype(np.uint32))

    def changed(self, added: Self, removed: Self) -> Self:
        """Return the statistics after some chunks were added and others went."""
        terms = np.concatenate([self.terms, added.terms, removed.terms])
        counts = [self.frequencies, added.frequencies, removed.frequencies]
        signs = [np.full(len(part), sign) for part, sign in zip(counts, (1, 1, -1), strict=True)]
        known, places = np.unique(terms, return_inverse=True)
        weights = np.concatenate(counts) * np.concatenate(signs)
        totals = np.bincount(places, weights, len(known)).astype(np.int64)
        left = totals > 0
        chunks = self.chunks + added.chunks - removed.chunks
        return type(self)(chunks, known[left], totals[left].astype(np.uint32))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return what `to_bytes` wrote."""
        numbers = np.frombuffer(data, "<u4")
        half = (len(numbers) - 1) // 2
        return cls(int(numbers[0]), numbers[1 : 1 + half], numbers[1 + half :])

    def to_bytes(self) -> bytes:
        """Return the statistics as little-endian 32-bit numbers, 8 bytes a term."""
        head = np.array([self.chunks], np.uint32)
        return np.concatenate([head, self.terms, self.frequencies]).astype("<u4").tobytes()

    def rarity(self, terms: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return the IDF of each term, > 0; an unseen term is the rarest.

        Source: Robertson & Zaragoza, The Probabilistic Relevance Framework (2009), eq. 3.
        """
        seen = self._seen(terms)
        return np.log1p((self.chunks - seen + 0.5) / (seen + 0.5))

    def knows(self, terms: Sequence[int]) -> bool:
        """Return whether every one of the terms stands in some chunk."""
        return bool(self._seen(terms).all())

    def _seen(self, terms: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return in how many chunks each term stands."""
        wanted = np.asarray(terms, np.uint32)
        seen = np.zeros(len(wanted))
        if len(self.terms) and len(wanted):
            places = np.minimum(np.searchsorted(self.terms, wanted), len(self.terms) - 1)
            known = self.terms[places] == wanted
            seen[known] = self.frequencies[places[known]]
        return seen

    def coverage(self, question: Sequence[int], text: Iterable[int]) -> float:
        """Return the share, by rarity, of the question's terms that the text holds: 0 to 1."""
        weights = self.rarity(question)
        total = float(weights.sum())
        if not total:
            return 0.0
        held = set(text)
        return float(sum(w for t, w in zip(question, weights, strict=True) if t in held)) / total


def no_terms(text: str) -> Sequence[int]:
    """Return no terms: what is known of no book's words."""
    return ()
