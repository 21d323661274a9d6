"""Makes a parsed document a part of a course: ids, titles, links, chunks and sections."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, urldefrag
from uuid import NAMESPACE_URL, UUID, uuid5

from core.domain import Chunk, ChunkBlock, Course, is_on_site
from core.domain.errors import UnsupportedDocument
from core.ingestion.chunking import ChunkedDocument, DocumentPassage, Section, chunk_document
from core.ingestion.document import BlockKind, BlockRole, ParsedDocument
from core.ingestion.refusal import counts_kept
from core.storage.catalogue import DocumentRecord, SectionRecord

_NAMESPACE = uuid5(NAMESPACE_URL, "urn:glossator:course")
_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class Placement:
    """What a source knows about a document besides its text."""

    source_file: str
    origin: str
    title: str | None = None
    """From the site's navigation; wins over the document's own."""
    module: str | None = None
    url: str | None = None
    is_trusted: bool = True
    """Whether it is the course's own, and not what others can write."""


@dataclass(frozen=True, slots=True)
class CourseDocument:
    """A document with everything that an edition stores of it."""

    record: DocumentRecord
    chunks: tuple[Chunk, ...]
    """Of the nil generation until an edition takes them in."""
    chunk_sections: tuple[tuple[str, ...], ...]
    """For each chunk the ids of the sections it lies in, from its module down."""
    sections: tuple[SectionRecord, ...]
    warnings: tuple[str, ...]


def course_document(
    course: Course,
    place: Placement,
    parsed: ParsedDocument,
    fingerprint: str,
) -> CourseDocument:
    """Return the document as a part of the course.

    Raises:
        UnsupportedDocument: when it has no text, or lies outside the course's site.
    """
    if place.url and course.base_url and not is_on_site(place.url, course.base_url):
        raise UnsupportedDocument(f"lies outside of the course's site {course.base_url}")
    chunked = chunk_document(parsed)
    if not chunked.passages:
        raise UnsupportedDocument("has no text")
    title = _title(place, parsed, chunked)
    document_id = uuid5(_NAMESPACE, _SEPARATOR.join((course.course_id, place.source_file)))
    chunks = tuple(_chunks(course, place, document_id, title, chunked))
    sections = tuple(_sections(course, place, title, chunked))
    record = DocumentRecord(
        document_id=document_id,
        source_file=place.source_file,
        origin=place.origin,
        content_hash=hashlib.sha256(chunked.text.encode()).hexdigest(),
        fingerprint=fingerprint,
        title=title,
        url=place.url,
        module=place.module,
        chunk_count=len(chunks),
        left_out=counts_kept(parsed.left_out),
    )
    paths = [passage.section.path for passage in chunked.passages]
    return CourseDocument(
        record,
        chunks,
        tuple(tuple(_section_ids(course, place, path)) for path in paths),
        sections,
        parsed.warnings,
    )


def _title(place: Placement, parsed: ParsedDocument, chunked: ChunkedDocument) -> str:
    first = next((block for block in parsed.blocks if block.kind is BlockKind.HEADING), None)
    is_of_slide = first is not None and "slide" in first.locator and first.level > 1
    paths = () if is_of_slide else (section.path for section in chunked.sections)
    headings = (path[0] for path in paths if path)
    stem = place.source_file.rstrip("/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
    for title in (place.title, parsed.title, next(headings, None), stem):
        if title and title.strip():
            return " ".join(title.split())
    return place.source_file


def _chunks(
    course: Course, place: Placement, document_id: UUID, title: str, chunked: ChunkedDocument
) -> Iterator[Chunk]:
    repeats: dict[str, int] = {}
    for index, passage in enumerate(chunked.passages):
        path = passage.section.path
        text_hash = hashlib.sha256(passage.text.encode()).hexdigest()
        name = _SEPARATOR.join((course.course_id, place.source_file, *path, text_hash))
        repeats[name] = repeats.get(name, -1) + 1
        yield Chunk(
            chunk_id=uuid5(_NAMESPACE, f"{name}{_SEPARATOR}{repeats[name]}"),
            course_id=course.course_id,
            document_id=document_id,
            generation=UUID(int=0),
            content_text=passage.text,
            source_file=place.source_file,
            source_url=_link(place, passage.section, passage.locator),
            page_title=title,
            module_name=place.module,
            section_heading=path[-1] if path else None,
            headings=path,
            chunk_index=index,
            total_chunks=len(chunked.passages),
            token_count=passage.token_count,
            char_start=passage.char_start,
            char_end=passage.char_end,
            metadata=passage.locator | _marks(place, passage),
            blocks=passage.blocks,
        )


def _marks(place: Placement, passage: DocumentPassage) -> dict[str, int]:
    marks = {"untrusted": not place.is_trusted, "recognised": passage.recognised}
    return {name: 1 for name, holds in marks.items() if holds}


def _link(place: Placement, section: Section, locator: dict[str, int]) -> str | None:
    """Return the page's URL with the heading's anchor, a PDF's page or a recording's second."""
    if place.url is None:
        return None
    page = urldefrag(place.url).url
    if section.anchor:
        return f"{page}#{quote(section.anchor, safe='-._~!$&()*+,;=:@/?')}"
    if "second" in locator:
        return f"{page}{'&' if '?' in page else '?'}t={locator['second']}"
    return f"{page}#page={locator['page']}" if "page" in locator else page


def _sections(
    course: Course, place: Placement, title: str, chunked: ChunkedDocument
) -> Iterator[SectionRecord]:
    """Yield the module, the page and every heading once; the edition numbers them."""
    if place.module:
        module_id = next(_section_ids(course, place, ()))
        yield _record(module_id, place.module, (), place, None)
    *_, page_id = _section_ids(course, place, ())
    yield _record(page_id, title, (), place, place.url)
    seen: set[tuple[str, ...]] = set()
    for section in chunked.sections:
        if section.path and section.path not in seen:
            seen.add(section.path)
            *_, section_id = _section_ids(course, place, section.path)
            link = _link(place, section, {})
            yield _record(section_id, section.path[-1], section.path, place, link)


def _record(
    section_id: str, title: str, path: tuple[str, ...], place: Placement, url: str | None
) -> SectionRecord:
    return SectionRecord(section_id, title, path, place.module, url, place.source_file, 0)


def _section_ids(course: Course, place: Placement, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the ids of the module, the page, and each heading down the path."""
    if place.module:
        yield _section_id(course.course_id, "module", place.module)
    yield _section_id(course.course_id, "page", place.source_file)
    for depth in range(1, len(path) + 1):
        yield _section_id(course.course_id, "page", place.source_file, *path[:depth])


def _section_id(*parts: str) -> str:
    return uuid5(_NAMESPACE, _SEPARATOR.join(parts)).hex


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
