"""Names to the operator what answers will leave out of newly read text."""

from collections.abc import Callable, Sequence

from core.ingestion.report import Failure
from core.models import Chunk
from core.text.planted import NOTHING_PLANTED, Planted

PlantedIn = Callable[[Chunk], Planted]
"""Returns what of a chunk, with the vectors of its sentences, commands a machine."""


def nothing_planted(chunk: Chunk) -> Planted:
    """Take all of a chunk for the book's."""
    return NOTHING_PLANTED


def withheld_sections(chunks: Sequence[Chunk], planted_in: PlantedIn) -> list[Failure]:
    """Return a warning for each section that answers leave text of out, in reading order."""
    named = [
        (chunk.source_file, " › ".join(chunk.headings) or chunk.page_title)
        for chunk in chunks
        if planted_in(chunk).spans
    ]
    return [
        Failure(
            source,
            f"text in “{section}” reads like an instruction to a machine: answers leave it out "
            "unless its source is marked as trusted",
        )
        for source, section in dict.fromkeys(named)
    ]
