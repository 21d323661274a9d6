"""Names to the operator what answers will leave out of newly read text."""

from collections.abc import Callable, Sequence

from core.ingestion.report import Failure
from core.models import Chunk
from core.text.planted import NOTHING_PLANTED, Planted

_LONGEST = 80
"""Characters of withheld text that are shown."""
PlantedIn = Callable[[Chunk], Planted]
"""Returns what of a chunk, with the vectors of its sentences, commands a machine."""


def nothing_planted(chunk: Chunk) -> Planted:
    """Take all of a chunk for the book's."""
    return NOTHING_PLANTED


def withheld_sections(chunks: Sequence[Chunk], planted_in: PlantedIn) -> list[Failure]:
    """Return a warning for each section that answers leave text of out, in reading order."""
    named = dict[tuple[str, str], str]()
    for chunk in chunks:
        for span in planted_in(chunk).spans[:1]:
            section = " › ".join(chunk.headings) or chunk.page_title
            withheld = _beginning(chunk.content_text[span.start : span.end])
            named.setdefault((chunk.source_file, section), withheld)
    return [
        Failure(
            source,
            f"text in “{section}” reads like an instruction to a machine, and answers leave out "
            f"what begins with “{withheld}”. If the source is your own, mark it as trusted: ingest "
            "it with --trusted, or set trusted = true in glossator.toml",
        )
        for (source, section), withheld in named.items()
    ]


def _beginning(text: str) -> str:
    """Return the beginning of a text on one line, without what a terminal would obey."""
    line = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
