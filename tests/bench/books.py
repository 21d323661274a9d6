"""The books that are measured: read, cut, brought into a course, and asked about."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from bot.services import Services
from bot.settings import Settings
from bot.wiring import open_services
from core.domain import MAX_QUESTION, AgentRequest, Chunk, Course
from core.domain.errors import IngestionError
from core.index.edge import EdgeIndex
from core.ingestion.coverage import IngestReport
from core.ingestion.embedding import embedding_text
from core.ingestion.passages import course_document
from core.ingestion.sources.sources import Readable, Source, open_sources
from core.teaching.evaluation.report import read_questions

_MEGABYTE = 1_000_000
_JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Book:
    """A folder to ingest, and a file of questions if there is one."""

    name: str
    folder: Path
    questions: Path | None = None

    @property
    def course(self) -> Course:
        """The course that it becomes."""
        return Course(course_id=self.name, title=self.name)


def offline(data_dir: Path) -> Settings:
    """Return the default settings with everything in one folder, whatever the environment."""
    return Settings.model_construct(data_dir=data_dir)


def judging(data_dir: Path, base_url: str, model: str) -> Settings:
    """Return the same with a judge that has all the time it wants.

    Args:
        base_url: Of its server, up to `/v1`.
        model: Its name there.
    """
    table = {"kind": "openai", "model": model, "base_url": base_url, "judge_wait": "600"}
    table |= {"first_token_timeout": "600", "silence_timeout": "600"}
    models = {_JUDGE: {name: SecretStr(value) for name, value in table.items()}}
    return Settings.model_construct(data_dir=data_dir, models=models, judge=_JUDGE)


@asynccontextmanager
async def opened(data_dir: Path, settings: Settings | None = None) -> AsyncIterator[Services]:
    """Open the product's services on a data folder, with the default settings or others."""
    async with open_services(settings or offline(data_dir), announce=print) as services:
        yield services


def sources_of(book: Book) -> AbstractAsyncContextManager[Readable]:
    """Open the book as the product's command would."""
    return open_sources(
        [str(book.folder)],
        base_url=None,
        allowed_hosts=frozenset(),
        max_bytes=50 * _MEGABYTE,
        user_agent="Glossator",
    )


async def ingest(services: Services, book: Book) -> IngestReport:
    """Bring the book into its course, parsing and publishing included."""
    async with sources_of(book) as readable:
        return await services.ingestion(book.name).run(book.course, readable.sources)


async def parsed_chunks(book: Book) -> list[Chunk]:
    """Return the chunks that the book is cut into, without storing or embedding anything."""
    chunks: list[Chunk] = []
    async with sources_of(book) as readable:
        for source in readable.sources:
            chunks += [chunk async for chunk in _chunks_of_source(book, source)]
    return chunks


async def _chunks_of_source(book: Book, source: Source) -> AsyncIterator[Chunk]:
    for document in await source.documents():
        try:
            await document.read()
            parsed = course_document(book.course, document.place, await document.parse(), "")
        except IngestionError:  # the product leaves it out, too
            continue
        for chunk in parsed.chunks:
            yield chunk


def embedded_texts(chunks: Sequence[Chunk]) -> list[str]:
    """Return what ingesting the chunks has to embed, each text once."""
    texts = (embedding_text(c.page_title, c.headings, c.content_text) for c in chunks)
    return list(dict.fromkeys(texts))


async def chunks_of(services: Services, book: Book) -> list[Chunk]:
    """Return the chunks of the ingested book, each document's in order."""
    collection = await collection_of(services, book)
    return [chunk async for chunk in services.index.scroll(collection)]


async def collection_of(services: Services, book: Book) -> str:
    """Return the name of the book's live collection."""
    edition = await services.catalogue.live(book.name)
    assert edition is not None, f"{book.name} has not been ingested"
    return edition.segments[0].collection


def collection_folder(services: Services, collection: str) -> Path:
    """Return where the embedded engine keeps a collection."""
    assert isinstance(services.index, EdgeIndex)
    return services.settings.data_dir / "index" / collection


def questions_about(book: Book, chunks: Sequence[Chunk], number: int) -> list[str]:
    """Return questions from the book's file or made of its headings, evenly chosen."""
    known = list(dict.fromkeys(_questions(book, chunks)))
    step = max(1, len(known) // number)
    chosen = known[::step][:number]
    return [chosen[i % len(chosen)] for i in range(number)]


def _questions(book: Book, chunks: Sequence[Chunk]) -> Iterator[str]:
    if book.questions is not None:
        yield from (row.question[:MAX_QUESTION] for row in read_questions(book.questions))
        return
    for chunk in chunks:
        for heading in chunk.headings:
            yield f"What does the book say about {heading}?"[:MAX_QUESTION]


def request(book: Book, question: str) -> AgentRequest:
    """Return the question as somebody would ask it."""
    return AgentRequest(course_id=book.name, query_text=question, user_id="bench")


def book_documents(chunks: Sequence[Chunk]) -> list[tuple[str, str]]:
    """Return the text of each document at its characters' own places, by document id."""
    texts: dict[str, str] = {}
    for chunk in chunks:
        before = texts.get(str(chunk.document_id), "")
        texts[str(chunk.document_id)] = before.ljust(chunk.char_start) + chunk.content_text
    return list(texts.items())
