"""The retriever: each course is searched with the model that it was ingested with."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

import core.storage.catalogue
from core.domain import Chunk, Course, QuoteStatus, RetrievalToolInput
from core.domain.errors import ConfigurationError, UnknownSection
from core.index.base import PointId
from core.providers.embeddings.base import Embedder, Vectors
from core.retrieval.retriever import Retriever
from core.storage.catalogue import Catalogue
from tests.embedding import HashingEmbedder
from tests.library import BOOK, COURSE, Library, open_library

pytestmark = pytest.mark.costly

QUESTION = RetrievalToolInput(query_text="How many tides does the moon raise?", score_threshold=0.0)
OTHER = Course(course_id="currents", title="Currents")


class NamedEmbedder(HashingEmbedder):
    """A model of its own name and size, which counts the questions it was asked."""

    def __init__(self, name: str, dimensions: int) -> None:
        super().__init__(dimensions)
        self.name = name
        self.questions = 0
        self.asked: list[str] = []

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.questions += len(texts)
        self.asked += texts
        return await super().embed_queries(texts)


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with open_library(tmp_path) as library:
        library.write(BOOK)
        yield library


def retriever_of(library: Library, *models: Embedder) -> Retriever:
    by_name = {model.name: model for model in models}

    def named(name: str, course_id: str) -> Embedder:
        if name not in by_name:
            raise ConfigurationError(f"there is no {name}")
        return by_name[name]

    return Retriever(library.catalogue, library.index, named)


async def test_each_course_is_searched_with_the_model_it_was_ingested_with(
    library: Library,
) -> None:
    small, large = NamedEmbedder("small", 32), NamedEmbedder("large", 96)
    library.use(small)
    await library.ingest("book")
    library.use(large)
    await library.ingest("book", course=OTHER)
    retriever = retriever_of(library, small, large)
    for course, model, other in ((COURSE, small, large), (OTHER, large, small)):
        asked, spared = model.questions, other.questions
        found = await retriever.retrieve(course.course_id, QUESTION)
        assert found.documents[0] == "moon.md"
        assert len(found.output.query_embedding) == model.dimensions
        assert (model.questions, other.questions) == (asked + 1, spared)


async def test_a_course_that_was_ingested_with_another_model_meanwhile_is_searched_with_that(
    library: Library,
) -> None:
    small, large = NamedEmbedder("small", 32), NamedEmbedder("large", 96)
    retriever = retriever_of(library, small, large)
    for model in (small, large):
        library.use(model)
        await library.ingest("book")
        found = await retriever.retrieve(COURSE.course_id, QUESTION)
        assert len(found.output.query_embedding) == model.dimensions


async def test_a_model_that_there_is_not_is_told_by_whoever_knows_the_models(
    library: Library,
) -> None:
    library.use(NamedEmbedder("gone", 32))
    await library.ingest("book")
    with pytest.raises(ConfigurationError, match="there is no gone"):
        await retriever_of(library).retrieve(COURSE.course_id, QUESTION)


@pytest.mark.parametrize(
    ("earlier", "texts"),
    [
        ((), ["When is it high?", "Spring tides\nWhen is it high?", "Spring tides"]),
        (("The sun?",), ["When is it high?", "The sun?\nWhen is it high?", "The sun?"]),
    ],
)
async def test_a_pronoun_without_history_is_the_section_that_was_asked_for(
    library: Library, earlier: tuple[str, ...], texts: list[str]
) -> None:
    model = NamedEmbedder("small", 32)
    library.use(model)
    await library.ingest("book")
    asked = RetrievalToolInput(
        query_text="When is it high?", section_filter="spring tides", score_threshold=0.0
    )
    found = await retriever_of(library, model).retrieve(COURSE.course_id, asked, earlier)
    assert found.section == "Spring tides"
    assert model.asked == texts


async def test_a_section_that_there_is_not_costs_no_embedding(library: Library) -> None:
    model = NamedEmbedder("small", 32)
    library.use(model)
    await library.ingest("book")
    asked = QUESTION.model_copy(update={"section_filter": "Volcanoes"})
    with pytest.raises(UnknownSection):
        await retriever_of(library, model).retrieve(COURSE.course_id, asked)
    assert model.questions == 0


# --- editions of several collections -------------------------------------------------------


async def grown(library: Library) -> Retriever:
    """Ingest a book, then a change of it, and return what searches it."""
    pages = {f"page-{n}.md": f"# Page {n}\n\nThe tide of day {n} is high.\n" for n in range(20)}
    library.write(pages)
    await library.ingest("book")
    bore = "# Bores\n\nA bore is a wave that runs up a river against its current.\n"
    chart = "# Charts\n\nA chart shows how deep the water of a harbour is at low tide.\n"
    library.write({"new.md": bore, "charts.md": chart})
    await library.ingest("book")
    assert len((await library.edition()).segments) == 2
    return retriever_of(library, library.embedder)


def about(question: str, quote: str | None = None) -> RetrievalToolInput:
    return RetrievalToolInput(query_text=question, selected_text=quote, score_threshold=0.0)


async def test_old_and_new_documents_are_searched_together(library: Library) -> None:
    retriever = await grown(library)
    new = await retriever.retrieve(COURSE.course_id, about("What is a bore on a river?"))
    assert new.documents[0] == "new.md"
    old = await retriever.retrieve(COURSE.course_id, about("What moves a pen on paper?"))
    assert old.documents[0] == "gauges.md"
    generation = (await library.edition()).generation
    assert {c.generation for c in (*new.output.retrieved_chunks, *old.output.retrieved_chunks)} == {
        generation
    }


async def test_what_was_replaced_is_not_found(library: Library) -> None:
    retriever = await grown(library)
    found = await retriever.retrieve(COURSE.course_id, about("What does a tide table name?"))
    texts = [chunk.content_text for chunk in found.output.retrieved_chunks]
    assert not any("tide table" in text for text in texts)
    gone = await retriever.retrieve(
        COURSE.course_id,
        about("What is this?", "A tide table names the hour of high water for every harbour."),
    )
    assert gone.quote_location
    assert gone.quote_location.status is QuoteStatus.NOT_FOUND


@pytest.mark.parametrize(
    ("quote", "file"),
    [
        ("A bore is a wave that runs up a river against its current.", "new.md"),
        ("a float inside a pipe\nfol-\nlows the water and moves a pen", "gauges.md"),
        ("Afloatinsideapipefollowsthewaterandmovesapenonpaper", "gauges.md"),
    ],
)
async def test_a_quote_is_located_in_any_collection(
    library: Library, quote: str, file: str
) -> None:
    retriever = await grown(library)
    found = await retriever.retrieve(COURSE.course_id, about("What does it mean?", quote))
    assert found.quote_location
    assert found.quote_location.status is not QuoteStatus.NOT_FOUND
    assert found.quoted_chunks[0].source_file == file


async def test_a_change_by_another_process_is_seen_within_a_second(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    await library.ingest("book")
    elsewhere = Catalogue(library.engine)
    retriever = Retriever(elsewhere, library.index, lambda *_: library.embedder)
    asked = about("What is a bore on a river?")
    assert (await retriever.retrieve(COURSE.course_id, asked)).documents[0] != "new.md"
    library.write({"new.md": "# Bores\n\nA bore is a wave that runs up a river.\n"})
    await library.ingest("book")
    monkeypatch.setattr(core.storage.catalogue, "_CHECKED_EVERY", 0.0)
    assert (await retriever.retrieve(COURSE.course_id, asked)).documents[0] == "new.md"


async def test_only_what_is_used_or_named_is_read(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        name = chr(ord("a") + number % 26) * (2 + number // 26)
        library.write({f"{name}.md": f"# Tides of {name}\n\nThe moon raises tides in {name}."})
    await library.ingest("book")
    asked = QUESTION.model_copy(update={"top_k": 3})
    read, fetch = list[PointId](), library.index.fetch

    async def noted(collection: str, ids: Sequence[PointId]) -> list[Chunk]:
        read.extend(ids)
        return await fetch(collection, ids)

    monkeypatch.setattr(library.index, "fetch", noted)
    found = await retriever_of(library, library.embedder).retrieve(COURSE.course_id, asked)

    assert found.output.total_candidates > 40
    assert len(found.output.retrieved_chunks) == 3
    assert len(read) == len({*read}) <= 15


async def test_where_nothing_reaches_the_mark_no_chunk_is_read_and_no_section_named(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.write({"tides.md": "# Tides\n\nThe moon raises tides.\n"})
    await library.ingest("book")
    retriever = retriever_of(library, library.embedder)
    asked = RetrievalToolInput(query_text="Who bakes sourdough bread?")
    answered = RetrievalToolInput(query_text="The moon raises tides.")

    assert (await retriever.retrieve(COURSE.course_id, answered)).read_sections

    async def failing(collection: str, ids: Sequence[PointId]) -> list[Chunk]:
        raise AssertionError(ids)

    monkeypatch.setattr(library.index, "fetch", failing)
    found = await retriever.retrieve(COURSE.course_id, asked)
    assert (found.evidence, found.read_sections, found.near_sections) == ((), (), ())
