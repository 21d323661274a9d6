"""Reads a course as `glossator ingest` does: site, sandbox and chunks, without an index."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.domain import Chunk, Course
from core.domain.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, ParsedDocument
from core.ingestion.passages import CourseDocument, Placement, course_document
from core.ingestion.sandbox.messages import ParseJob
from core.ingestion.sandbox.sandbox import Sandbox
from core.ingestion.sources.sources import open_sources
from tests.books import write_files

BASE = "https://course.example/book/"
GOOD = ParseJob(b"Demand falls.", "good.txt")


@dataclass
class ReadCourse:
    """What became of each file of a folder; documents in reading order."""

    documents: dict[str, CourseDocument] = field(default_factory=dict)
    parsed: dict[str, ParsedDocument] = field(default_factory=dict)
    places: dict[str, Placement] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def blocks(self, name: str) -> list[tuple[str, str]]:
        """Return kind and text of each block of a document."""
        return [(block.kind.value, block.text) for block in self.parsed[name].blocks]

    def anchors(self, name: str) -> list[str | None]:
        """Return the anchors of the headings of a document."""
        headings = (b for b in self.parsed[name].blocks if b.kind is BlockKind.HEADING)
        return [block.anchor for block in headings]

    def chunks(self, name: str) -> tuple[Chunk, ...]:
        """Return the chunks of a document."""
        return self.documents[name].chunks


async def read_course(
    folder: Path, files: Mapping[str, str | bytes], *, base_url: str | None = BASE
) -> ReadCourse:
    """Write the files to a folder, and read it."""
    write_files(folder, files)
    course = Course(course_id="c", title="C", base_url=base_url)
    read = ReadCourse()
    async with open_sources(
        [str(folder)],
        base_url=base_url,
        allowed_hosts=frozenset(),
        max_bytes=20_000_000,
        user_agent="tests",
    ) as opened:
        [source] = opened.sources
        for document in await source.documents():
            name = document.place.source_file
            read.places[name] = document.place
            try:
                await document.read()
                read.parsed[name] = await document.parse()
                made = course_document(course, document.place, read.parsed[name], "")
                read.documents[name] = made
            except UnsupportedDocument as error:
                read.failed[name] = str(error)
        read.left_out = {left.path: left.reason for left in source.left_out}
        read.warnings = tuple(source.warnings)
    return read


async def said_of(job: ParseJob, *, seconds: float = 20.0) -> str:
    """Return the text of a hostile document or why it has none; the next one must be read."""
    async with Sandbox(seconds=seconds) as sandbox:
        try:
            blocks: tuple[Block, ...] = (await sandbox.parse(job)).blocks
            said = "\n".join(block.text for block in blocks)
        except UnsupportedDocument as error:
            said = f"refused: it {error}"
        assert (await sandbox.parse(GOOD)).blocks[0].text == "Demand falls."
    return said
