"""Finds the paragraphs that stand in many documents of a course: notices, calls, credits."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from core.ingestion.chunks.passages import CourseDocument
from core.ingestion.document import BlockRole
from core.models import Chunk, ChunkBlock

REPEATED_IN = 3
"""Documents that have the same paragraph, from which it belongs to none of them ..."""
REPEATED_SHARE = 0.1
"""... and the share of all documents that this is at least."""
_LONGEST = 400
_PARAGRAPH = re.compile(r"[^\n](?:[^\n]|\n(?!\n))*")


def with_boilerplate(documents: Mapping[str, CourseDocument]) -> dict[str, CourseDocument]:
    """Return the documents of one run with the paragraphs marked that many of them have."""
    counts: Counter[str] = Counter()
    for document in documents.values():
        counts.update({text for chunk in document.chunks for text, _ in _paragraphs(chunk)})
    least = max(REPEATED_IN, REPEATED_SHARE * len(documents))
    repeated = {text for text, number in counts.items() if number >= least}
    if not repeated:
        return dict(documents)
    return {
        name: replace(document, chunks=tuple(_marked(c, repeated) for c in document.chunks))
        for name, document in documents.items()
    }


def _marked(chunk: Chunk, repeated: Collection[str]) -> Chunk:
    found = [
        ChunkBlock(BlockRole.BOILERPLATE.value, start, start + len(text))
        for text, start in _paragraphs(chunk)
        if text in repeated
    ]
    if not found:
        return chunk
    return chunk.model_copy(update={"blocks": tuple(sorted((*chunk.blocks, *found), key=_start))})


def _paragraphs(chunk: Chunk) -> Iterator[tuple[str, int]]:
    """Yield the short paragraphs of a chunk, each with where it begins."""
    for match in _PARAGRAPH.finditer(chunk.content_text):
        if len(match[0]) <= _LONGEST:
            yield match[0], match.start()


def _start(block: ChunkBlock) -> int:
    return block.start
