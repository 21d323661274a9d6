"""Names to the operator the sources whose text is not in the language of their course."""

from collections.abc import Callable, Sequence

from core.ingestion.report import Failure
from core.models import Chunk

ForeignLanguage = Callable[[Sequence[str], str], str | None]
"""Returns what most of some texts are in, if not a language: a code, or a script in capitals."""
_SAMPLE = 200
"""Chunks that are looked at, spread over the whole source."""


def all_in_their_language(texts: Sequence[str], language: str) -> None:
    """Take all texts to be in a language."""
    return


def warn_of_foreign_text(
    source: str, chunks: Sequence[Chunk], language: str, foreign_language: ForeignLanguage
) -> list[Failure]:
    """Return a warning where most of a source is in another language than its course."""
    if not chunks:
        return []
    sample = chunks[:: -(-len(chunks) // _SAMPLE)]
    found = foreign_language([chunk.content_text for chunk in sample], language)
    if found is None:
        return []
    seen = f"{found.capitalize()} script" if found.isupper() else f'"{found}"'
    return [
        Failure(
            source,
            f'most of its text seems to be in {seen}, and its course says "{language}": '
            "set the course's `language` in the course file, and ingest it again",
        )
    ]
