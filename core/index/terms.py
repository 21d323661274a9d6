"""What of a collection's chunks the ranking needs, in arrays, so that it reads no chunk."""

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
from qdrant_edge import Bm25, Bm25Config, DisabledStemmer, StopwordsSet, TokenizerType

from core.domain import Chunk
from core.index.base import IndexedPoint, SparseVector
from core.providers.embeddings.base import Vectors

CHUNKS_OF_A_PAGE = 60
"""A file with more chunks is no single page."""
_LEVEL = 1

Numbers = npt.NDArray[np.uint32]
Unit = tuple[str, ...]


def unit_of(chunk: Chunk) -> Unit:
    """Return what counts as one document: a page, or one part of a file that holds a book.

    A long file is taken apart by its two topmost headings, else by its pages or slides.
    """
    if chunk.total_chunks <= CHUNKS_OF_A_PAGE:
        return (str(chunk.document_id),)
    parts = chunk.headings[:2] or tuple(str(place) for place in chunk.metadata.values())
    return (str(chunk.document_id), *parts)


def chapter_of(chunk: Chunk) -> str:
    """Return what groups documents: their module, else their topmost heading."""
    return chunk.module_name or (chunk.headings[0] if chunk.headings else chunk.page_title)


@dataclass(frozen=True)
class Outline:
    """Of each chunk, by its number: the unit it is of, its chapter and its place in its file."""

    files: tuple[str, ...]
    """The source file of each unit."""
    chapters: tuple[str, ...]
    units: Numbers
    """(n_chunks,) places in `files`."""
    chapter: Numbers
    """(n_chunks,) places in `chapters`."""
    position: Numbers
    """(n_chunks,) the chunk's `chunk_index`."""
    means: npt.NDArray[np.float16]
    """(n_units, dimensions) the mean of each unit's vectors, of unit length."""

    @classmethod
    def joined(cls, outlines: Sequence[Self]) -> tuple[Self, list[int]]:
        """Return the outline of several collections as of one, and where each begins in it."""
        if len(outlines) == 1:
            return outlines[0], [0]
        files: list[str] = []
        chapters: dict[str, int] = {}
        units, chapter, starts, total = [], [], [], 0
        for one in outlines:
            starts.append(total)
            total += len(one.units)
            units.append(one.units + np.uint32(len(files)))
            files += one.files
            known = [chapters.setdefault(name, len(chapters)) for name in one.chapters]
            chapter.append(np.array(known, np.uint32)[one.chapter])
        joined = cls(
            files=tuple(files),
            chapters=tuple(chapters),
            units=np.concatenate(units),
            chapter=np.concatenate(chapter),
            position=np.concatenate([one.position for one in outlines]),
            means=np.concatenate([one.means for one in outlines]),
        )
        return joined, starts

    def nearness(self, question: Vectors, units: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Return the cosine of a question and the mean of each of these units.

        NaN for a unit of one chunk, whose mean tells nothing more.
        """
        cosines = (self._wide_means[units] @ question).astype(np.float64)
        cosines[self._is_single[units]] = np.nan
        return np.asarray(cosines, np.float64)

    @cached_property
    def _wide_means(self) -> Vectors:
        """The means as floats that are reckoned with; to widen them costs more than the product."""
        return self.means.astype(np.float32)

    @cached_property
    def _is_single(self) -> npt.NDArray[np.bool_]:
        """Of each unit, whether it is one chunk."""
        return np.asarray(np.bincount(self.units, minlength=len(self.files)) < 2)

    def to_bytes(self) -> bytes:
        """Return the outline in the form that `from_bytes` reads."""
        head = json.dumps({"files": self.files, "chapters": self.chapters}).encode()
        sizes = np.array([len(head), len(self.units), *self.means.shape], "<u4").tobytes()
        arrays = (array.astype("<u4") for array in (self.units, self.chapter, self.position))
        parts = (sizes, head, *(array.tobytes() for array in arrays))
        return zlib.compress(b"".join((*parts, self.means.astype("<f2").tobytes())), _LEVEL)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return what `to_bytes` wrote."""
        raw = zlib.decompress(data)
        length, chunks, units, dimensions = np.frombuffer(raw, "<u4", 4).tolist()
        head = json.loads(raw[16 : 16 + length])
        at = 16 + length
        numbers = np.frombuffer(raw[at : at + 12 * chunks], "<u4")
        unit, chapter, position = numbers.reshape(3, chunks)
        means = np.frombuffer(raw[at + 12 * chunks :], "<f2").reshape(units, dimensions)
        return cls(tuple(head["files"]), tuple(head["chapters"]), unit, chapter, position, means)


class OutlineWriter:
    """Collects an outline while chunks go by, in the order of their numbers."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._units: dict[Unit, int] = {}
        self._files: list[str] = []
        self._chapters: dict[str, int] = {}
        self._places: list[tuple[int, int, int]] = []
        self._sums: list[Vectors] = []

    def add(self, points: Sequence[IndexedPoint]) -> None:
        """Note further points."""
        for point in points:
            self._note(point.chunk, point.dense)

    def _note(self, chunk: Chunk, vector: Vectors) -> None:
        unit = self._units.setdefault(unit_of(chunk), len(self._units))
        if unit == len(self._files):
            self._files.append(chunk.source_file)
            self._sums.append(np.zeros(self._dimensions, np.float32))
        self._sums[unit] += vector
        chapter = self._chapters.setdefault(chapter_of(chunk), len(self._chapters))
        self._places.append((unit, chapter, chunk.chunk_index))

    def finish(self) -> Outline:
        """Return the outline of all that was added."""
        units, chapter, position = np.array(self._places, np.uint32).reshape(-1, 3).T
        sums = np.stack(self._sums) if self._sums else np.zeros((0, self._dimensions), np.float32)
        lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
        return Outline(
            files=tuple(self._files),
            chapters=tuple(self._chapters),
            units=units,
            chapter=chapter,
            position=position,
            means=(sums / lengths).astype(np.float16),
        )


AVERAGE_LENGTH = 100.0
"""Words of a chunk that count: about 200 tokens less stop words and punctuation."""
_ENGINE_NAMES = {"ja": "japanese", "nb": "norwegian", "nn": "norwegian"}
_WITHOUT_SPACES = frozenset({"ja", "th", "zh"})


class Bm25Encoder:
    """Turns texts of one language into sparse vectors of BM25 term weights.

    Stop words are left out and words are stemmed where the engine knows the language; in
    any other language every word counts as it is written. The inverse document frequency
    is no part of the vectors: the index applies it, from the collection's own counts.

    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with the
    usual k1 = 1.2 and b = 0.75.
    """

    def __init__(self, language: str = "en") -> None:
        """Prepare for `language`, a BCP 47 tag; its region and script make no difference."""
        self._model = _model(language.replace("_", "-").split("-")[0].lower())

    def passages(self, texts: Sequence[str]) -> list[SparseVector]:
        """Return the term weights of each passage, in order; a wordless one has none."""
        vectors = [self._model.embed_document(text) for text in texts]
        return [ascending(vector.indices, vector.values) for vector in vectors]

    def query(self, text: str) -> SparseVector:
        """Return the question's terms, each with weight 1."""
        vector = self._model.embed_query(text)
        return ascending(vector.indices, vector.values)

    def terms(self, text: str) -> tuple[int, ...]:
        """Return the distinct term ids of a text, in no set order; faster than `query`."""
        return tuple(self._model.embed_query(text).indices)


def ascending(indices: Iterable[int], values: Iterable[float]) -> SparseVector:
    """Return the sparse vector with its term ids in ascending order."""
    terms = sorted(zip(indices, values, strict=True))
    return SparseVector(
        indices=tuple(index for index, _ in terms), values=tuple(value for _, value in terms)
    )


def _model(language: str) -> Bm25:
    tokens = TokenizerType.Multilingual if language in _WITHOUT_SPACES else TokenizerType.Word
    name = _ENGINE_NAMES.get(language, language)
    try:
        return Bm25(Bm25Config(avg_len=AVERAGE_LENGTH, tokenizer=tokens, language=name))
    except ValueError:  # the engine has neither stop words nor a stemmer for it
        stopwords, stemmer = StopwordsSet(), DisabledStemmer()
        return Bm25(
            Bm25Config(
                avg_len=AVERAGE_LENGTH, tokenizer=tokens, stopwords=stopwords, stemmer=stemmer
            )
        )


FEWEST_CHUNKS = 500
"""Of a course, as far as the rarity of its words goes."""


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

        A course of a few pages counts as a part of a larger one: what stands on each of its pages
        is no common word for that, and one that they do not have is not all that was asked.
        Source: Robertson & Zaragoza, The Probabilistic Relevance Framework (2009), eq. 3.
        """
        seen = self._seen(terms)
        return np.log1p((max(self.chunks, FEWEST_CHUNKS) - seen + 0.5) / (seen + 0.5))

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


_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Return how often each word stands in the texts, in lower case."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(_WORD.findall(text.casefold()))
    return counts


def changed(
    words: Mapping[str, int], added: Mapping[str, int], removed: Mapping[str, int]
) -> Counter[str]:
    """Return the words of a course to which texts were added, and from which others went."""
    counts = Counter(words)
    counts.update(added)
    counts.subtract(removed)
    return +counts


def words_to_bytes(words: Mapping[str, int]) -> bytes:
    """Return the words in the form that `words_from_bytes` reads."""
    lines = (f"{word} {number}" for word, number in sorted(words.items()))
    return zlib.compress("\n".join(lines).encode(), _LEVEL)


def words_from_bytes(data: bytes) -> Counter[str]:
    """Return what `words_to_bytes` wrote; of no data no words."""
    if not data:
        return Counter()
    parts = zlib.decompress(data).decode().split()
    return Counter(dict(zip(parts[::2], map(int, parts[1::2]), strict=True)))
