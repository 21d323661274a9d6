"""What of a collection's chunks the ranking needs, in arrays, so that it reads no chunk."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from core.embeddings.base import Vectors
from core.index.base import IndexedPoint
from core.models import Chunk

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
