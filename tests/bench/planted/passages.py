"""Makes passages of files and texts as ingestion does, with the vectors of their sentences."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.embeddings.base import SentenceEmbedder
from core.embeddings.sentences import to_bytes
from core.errors import UnsupportedDocument
from core.ingestion.chunks.passages import Placement, course_document
from core.ingestion.edition.embedding import embedding_text
from core.ingestion.formats.markdown.reader import parse_markdown
from core.models import Chunk, Course
from core.text.sentences import Span, sentence_spans

_COURSE = Course(course_id="bench", title="bench")
_AT_ONCE = 256


def chunks_of(text: str, name: str) -> tuple[Chunk, ...]:
    """Return the chunks of a page in Markdown; none where it has no text."""
    parsed = parse_markdown(text, dialect="markdown", read_include=lambda _: None)
    try:
        return course_document(_COURSE, Placement(name, name), parsed, "").chunks
    except UnsupportedDocument:
        return ()


def chunks_in(folder: Path, every: int = 1) -> Iterator[Chunk]:
    """Yield the chunks of every so-manieth Markdown file of a folder, in order of their names."""
    for path in sorted(folder.rglob("*.md"))[::every]:
        yield from chunks_of(path.read_text(encoding="utf-8"), path.name)


def planted(chunk: Chunk, text: str, place: int) -> Chunk:
    """Return the chunk with a text before its sentence number `place`; beyond the last, at its end.

    It has no vectors yet.
    """
    content = chunk.content_text
    starts = [span.start for span in sentence_spans(content)]
    at = starts[place] if place < len(starts) else len(content)
    glue = "\n\n" if "\n" in text else " "
    before, behind = content[:at].rstrip(), content[at:].lstrip()
    return changed(chunk, glue.join(part for part in (before, text, behind) if part))


def changed(chunk: Chunk, content: str) -> Chunk:
    """Return the chunk with another text."""
    return chunk.model_copy(
        update={"content_text": content, "sentences": (), "sentence_vectors": b"", "blocks": ()}
    )


async def with_vectors(embedder: SentenceEmbedder, chunks: Iterable[Chunk]) -> list[Chunk]:
    """Return the chunks as the index has them."""
    every = list(chunks)
    done: list[Chunk] = []
    for start in range(0, len(every), _AT_ONCE):
        done += await _with_vectors(embedder, every[start : start + _AT_ONCE])
    return done


async def _with_vectors(embedder: SentenceEmbedder, chunks: Sequence[Chunk]) -> list[Chunk]:
    texts = [embedding_text(c.page_title, c.headings, c.content_text) for c in chunks]
    spans = [sentence_spans(chunk.content_text) for chunk in chunks]
    moved = [
        [Span(s.start + by, s.end + by) for s in own]
        for own, text, chunk in zip(spans, texts, chunks, strict=True)
        for by in [len(text) - len(chunk.content_text)]
    ]
    _, vectors = await embedder.embed_with_sentences(texts, moved)
    return [
        chunk.model_copy(update={"sentences": tuple(own), "sentence_vectors": to_bytes(found)})
        for chunk, own, found in zip(chunks, spans, vectors, strict=True)
    ]
