"""Editions of several collections on a Qdrant server, read by two replicas."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from core.domain import QuoteStatus, RetrievalToolInput
from core.index.qdrant import QdrantIndex, connect
from core.ingestion.sources.sources import open_sources
from core.retrieval.retrieval import Retrieval
from core.retrieval.retriever import Retriever
from core.storage.catalogue import Catalogue
from core.storage.database import create_engine
from tests.library import BOOK, COURSE, Library, ingestion_of, open_library
from tests.wire.qdrant_server import QdrantServer

pytestmark = [
    pytest.mark.costly,
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
]
PAGES = {f"page-{n}.md": f"# Page {n}\n\nThe tide of day {n} is high.\n" for n in range(20)}
CHANGES = {
    "new.md": "# Bores\n\nA bore is a wave that runs up a river against its current.\n",
    "charts.md": "# Charts\n\nA chart shows how deep the water of a harbour is at low tide.\n",
}
QUESTIONS = (
    RetrievalToolInput(query_text="What is a bore on a river?", score_threshold=0.0),
    RetrievalToolInput(query_text="What moves a pen on paper?", score_threshold=0.0),
    RetrievalToolInput(
        query_text="What does it mean?",
        selected_text="a float inside a pipe follows the water and moves a pen",
        score_threshold=0.0,
    ),
)


class Replica:
    """A process that answers, with its own connections."""

    def __init__(self, library: Library, server: QdrantServer) -> None:
        self.engine = create_engine(f"sqlite:///{library.folder / 'catalogue.db'}")
        self.index = QdrantIndex(connect(server.url))
        self.catalogue = Catalogue(self.engine)
        self.retriever = Retriever(self.catalogue, self.index, lambda *_: library.embedder)

    async def close(self) -> None:
        await self.index.close()
        await self.engine.dispose()


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with open_library(tmp_path) as library:
        library.write(BOOK | PAGES)
        yield library


async def test_two_replicas_read_the_same_editions(library: Library) -> None:
    async with AsyncExitStack() as closing:
        server = await closing.enter_async_context(QdrantServer())
        first, second = Replica(library, server), Replica(library, server)
        closing.push_async_callback(first.close)
        closing.push_async_callback(second.close)
        await ingest(library, first)
        assert await asked(first) == await asked(second)
        library.write(CHANGES)
        await ingest(library, first)
        edition = await second.catalogue.live(COURSE.course_id)
        assert edition is not None
        assert len(edition.segments) == 2
        assert await first.index.collections() == edition.collections
        assert await asked(first) == await asked(second)
        [new, old, quoted] = [
            await second.retriever.retrieve(COURSE.course_id, question) for question in QUESTIONS
        ]
        assert new.generation == edition.generation
        assert (new.documents[0], old.documents[0]) == ("new.md", "gauges.md")
        assert quoted.quote_location
        assert quoted.quote_location.status is QuoteStatus.VERBATIM
        chunks = [
            chunk
            for segment in edition.segments
            async for chunk in first.index.scroll(segment.collection)
            if chunk.document_id not in segment.hidden
        ]
        assert len({chunk.chunk_id for chunk in chunks}) == len(chunks) == edition.chunks


async def ingest(library: Library, replica: Replica) -> None:
    ingestion = ingestion_of(
        replica.engine, library.folder, replica.catalogue, replica.index, library.embedder
    )
    async with open_sources(
        [str(library.folder / "book")],
        base_url=None,
        allowed_hosts=frozenset(),
        max_bytes=1_000_000,
        user_agent="tests",
    ) as readable:
        await ingestion.run(COURSE, readable.sources)


async def asked(replica: Replica) -> list[tuple[object, ...]]:
    """Return what a replica finds, read from the edition that is live now."""
    replica.catalogue._lately.clear()
    return [
        told(await replica.retriever.retrieve(COURSE.course_id, question)) for question in QUESTIONS
    ]


def told(found: Retrieval) -> tuple[object, ...]:
    chunks = found.output.retrieved_chunks
    scores = [(chunk.chunk_id, round(chunk.similarity_score, 6)) for chunk in chunks]
    return found.generation, found.documents, scores, found.quote_location
