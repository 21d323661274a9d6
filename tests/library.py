"""A course library on disk: a real catalogue, a real index, and a model without weights."""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database import upgrade
from core.domain import Chunk, Course
from core.index.base import VectorIndex
from core.index.edge import EdgeIndex
from core.index.terms import Bm25Encoder
from core.ingestion.changes import CourseChanges
from core.ingestion.coverage import IngestReport
from core.ingestion.pipeline import Ingestion
from core.ingestion.plan import ingest_lock
from core.ingestion.sources.sources import open_sources
from core.retrieval.editions import EditionReader
from core.storage.catalogue import Catalogue, Edition
from core.storage.database import create_engine
from core.storage.ingest_accounts import IngestAccounts
from core.teaching.verified_store import settle
from tests.books import write_files
from tests.embedding import HashingEmbedder

COURSE = Course(course_id="tides", title="Tides")
BOOK = {
    "moon.md": "# The moon\n\nThe moon raises two tides a day in every sea of the world.\n\n"
    "## Spring tides\n\nAt new moon the sun pulls along with the moon, and tides are high.\n",
    "charts.md": "# Charts\n\nA tide table names the hour of high water for every harbour.\n",
    "gauges.md": "# Gauges\n\nA float inside a pipe follows the water and moves a pen on paper.\n",
}


@dataclass
class Library:
    """A catalogue and an index on disk, and the model that fills them."""

    folder: Path
    engine: AsyncEngine
    catalogue: Catalogue
    index: EdgeIndex
    embedder: HashingEmbedder
    ingestion: Ingestion

    async def ingest(
        self,
        *names: str,
        course: Course = COURSE,
        listed: Collection[str] | None = None,
        least_share: float = 0.0,
    ) -> IngestReport:
        """Ingest folders or files, named relative to this library's folder."""
        paths = [str(self.folder / name) for name in names]
        async with open_sources(
            paths,
            base_url=course.base_url,
            allowed_hosts=frozenset(),
            max_bytes=1_000_000,
            user_agent="tests",
        ) as readable:
            site = course.base_url or readable.base_url
            known = course.model_copy(update={"base_url": site})
            return await self.ingestion.run(
                known, readable.sources, listed=listed, least_share=least_share
            )

    def use(self, embedder: HashingEmbedder) -> None:
        """Ingest with another model from now on."""
        self.embedder = embedder
        self.ingestion = ingestion_of(
            self.engine, self.folder, self.catalogue, self.index, embedder
        )

    def write(self, files: Mapping[str, str | bytes], folder: str = "book") -> None:
        write_files(self.folder / folder, files)

    async def edition(self, course: Course = COURSE) -> Edition:
        edition = await self.catalogue.live(course.course_id)
        assert edition
        return edition

    async def chunks(self, course: Course = COURSE) -> list[Chunk]:
        reader = EditionReader(self.index)
        return [chunk async for chunk in reader.scroll(await self.edition(course))]

    async def files(self) -> list[str]:
        documents = await self.catalogue.documents((await self.edition()).generation)
        return [document.source_file for document in documents]

    async def links(self) -> dict[str, str | None]:
        """Return each chunk's link by the heading that it stands under."""
        return {chunk.section_heading or "": chunk.source_url for chunk in await self.chunks()}


def ingestion_of(
    engine: AsyncEngine,
    folder: Path,
    catalogue: Catalogue,
    index: VectorIndex,
    embedder: HashingEmbedder,
) -> Ingestion:
    """Return an ingestion by one model."""
    return Ingestion(
        catalogue=catalogue,
        accounts=IngestAccounts(engine),
        changes=CourseChanges(engine),
        index=index,
        embedder=embedder,
        sentence_embedder=embedder,
        encode_sparse=lambda language, texts: Bm25Encoder(language).passages(texts),
        lock=lambda course_id: ingest_lock(engine, folder, course_id),
        settle=settle,
    )


@asynccontextmanager
async def open_library(folder: Path) -> AsyncIterator[Library]:
    """Open `catalogue.db` and `index` in a folder, made when they are missing."""
    engine = create_engine(f"sqlite:///{folder / 'catalogue.db'}", synchronous="NORMAL")
    await upgrade(engine)
    catalogue, index, embedder = Catalogue(engine), EdgeIndex(folder / "index"), HashingEmbedder()
    ingestion = ingestion_of(engine, folder, catalogue, index, embedder)
    yield Library(folder, engine, catalogue, index, embedder, ingestion)
    await index.close()
    await engine.dispose()


def failures(report: IngestReport) -> dict[str, str]:
    """Return why each document that was left out was left out."""
    return {failure.source: failure.reason for failure in report.failed}
