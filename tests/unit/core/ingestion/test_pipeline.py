"""A course is brought up to date: what changed is told, and nothing is embedded twice."""

import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.database import upgrade
from core.catalogue import Catalogue, Edition
from core.database import create_engine
from core.embeddings.base import Vectors
from core.errors import EmbeddingError, IngestionBusy, IngestionError
from core.index.edge import EdgeIndex
from core.index.sparse import Bm25Encoder
from core.ingestion.lock import ingest_lock
from core.ingestion.pipeline import Ingestion
from core.ingestion.report import IngestReport
from core.ingestion.sources import open_sources
from core.models import Chunk, Course
from tests.books import write_files
from tests.embedding import HashingEmbedder

COURSE = Course(course_id="tides", title="Tides")
BOOK = {
    "moon.md": "# The moon\n\nThe moon raises two tides a day in every sea of the world.\n\n"
    "## Spring tides\n\nAt new moon the sun pulls along with the moon, and tides are high.\n",
    "charts.md": "# Charts\n\nA tide table names the hour of high water for every harbour.\n",
    "gauges.md": "# Gauges\n\nA float inside a pipe follows the water and moves a pen on paper.\n",
}


class OtherEmbedder(HashingEmbedder):
    """A model whose vectors must never be mixed with those of the first."""

    name = "hashing-2"


class TiringEmbedder(HashingEmbedder):
    """A model that fails once it has embedded `strength` passages."""

    def __init__(self, strength: int) -> None:
        super().__init__()
        self._strength = strength

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.embedded + len(texts) > self._strength:
            raise EmbeddingError("tired")
        return await super().embed_passages(texts)


@dataclass
class Library:
    """A catalogue and an index on disk, and the model that fills them."""

    folder: Path
    catalogue: Catalogue
    index: EdgeIndex
    embedder: HashingEmbedder
    ingestion: Ingestion

    async def ingest(
        self, *names: str, course: Course = COURSE, only_these: bool = False
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
            return await self.ingestion.run(known, readable.sources, only_these=only_these)

    def use(self, embedder: HashingEmbedder) -> None:
        """Ingest with another model from now on."""
        self.embedder = embedder
        self.ingestion._embedder = embedder

    def write(self, files: Mapping[str, str | bytes], folder: str = "book") -> None:
        write_files(self.folder / folder, files)

    async def edition(self, course: Course = COURSE) -> Edition:
        edition = await self.catalogue.live(course.course_id)
        assert edition
        return edition

    async def chunks(self, course: Course = COURSE) -> list[Chunk]:
        collection = (await self.edition(course)).collection
        return [chunk async for chunk in self.index.scroll(collection)]

    async def files(self) -> list[str]:
        documents = await self.catalogue.documents((await self.edition()).generation)
        return [document.source_file for document in documents]

    async def links(self) -> dict[str, str | None]:
        """Return each chunk's link by the heading that it stands under."""
        return {chunk.section_heading or "": chunk.source_url for chunk in await self.chunks()}


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    engine = create_engine(f"sqlite:///{tmp_path / 'catalogue.db'}", synchronous="NORMAL")
    await upgrade(engine)
    catalogue, index, embedder = Catalogue(engine), EdgeIndex(tmp_path / "index"), HashingEmbedder()
    ingestion = Ingestion(
        catalogue=catalogue,
        index=index,
        embedder=embedder,
        encode_sparse=lambda language, texts: Bm25Encoder(language).passages(texts),
        lock=lambda course_id: ingest_lock(engine, tmp_path, course_id),
    )
    library = Library(tmp_path, catalogue, index, embedder, ingestion)
    library.write(BOOK)
    yield library
    await index.close()
    await engine.dispose()


def failures(report: IngestReport) -> dict[str, str]:
    return {failure.source: failure.reason for failure in report.failed}


# --- what is told -------------------------------------------------------------------------


async def test_the_first_run_adds_everything(library: Library) -> None:
    report = await library.ingest("book")
    assert sorted(report.added) == sorted(BOOK)
    assert (report.changed, report.removed, report.unchanged, report.failed) == ([], [], [], [])
    assert report.chunks == report.embedded == library.embedder.embedded == 4
    edition = await library.edition()
    assert report.generation == edition.generation
    assert (edition.documents, edition.chunks) == (3, 4)


async def test_an_unchanged_run_embeds_nothing_and_makes_no_edition(library: Library) -> None:
    first = await library.ingest("book")
    for path in (library.folder / "book").iterdir():
        path.touch()
    second = await library.ingest("book")
    assert sorted(second.unchanged) == sorted(BOOK)
    assert (second.added, second.changed, second.removed) == ([], [], [])
    assert (second.generation, second.chunks) == (first.generation, first.chunks)
    assert (second.embedded, library.embedder.embedded) == (0, 4)


async def test_added_changed_removed_and_unchanged_are_told_apart(library: Library) -> None:
    first = await library.ingest("book")
    library.write({"new.md": "# Bores\n\nA bore is a wave that runs up a river.\n"})
    library.write({"charts.md": BOOK["charts.md"] + "\nIt is printed every year.\n"})
    (library.folder / "book" / "gauges.md").unlink()
    report = await library.ingest("book")
    assert report.added == ["new.md"]
    assert report.changed == ["charts.md"]
    assert report.removed == ["gauges.md"]
    assert report.unchanged == ["moon.md"]
    assert report.generation != first.generation
    assert sorted(await library.files()) == ["charts.md", "moon.md", "new.md"]
    texts = [chunk.content_text for chunk in await library.chunks()]
    assert any("every year" in text for text in texts)
    assert not any("float" in text for text in texts)


async def test_every_chunk_belongs_to_the_live_edition(library: Library) -> None:
    await library.ingest("book")
    library.write({"new.md": "# Bores\n\nA bore is a wave that runs up a river.\n"})
    report = await library.ingest("book")
    assert {chunk.generation for chunk in await library.chunks()} == {report.generation}


# --- what is embedded ---------------------------------------------------------------------


async def test_changing_one_passage_embeds_only_that_one(library: Library) -> None:
    await library.ingest("book")
    library.write({"moon.md": BOOK["moon.md"].replace("At new moon", "At full moon")})
    report = await library.ingest("book")
    assert (report.changed, report.embedded) == (["moon.md"], 1)
    assert library.embedder.embedded == 5


async def test_text_that_moves_to_another_file_keeps_its_vectors(library: Library) -> None:
    await library.ingest("book")
    (library.folder / "book" / "gauges.md").rename(library.folder / "book" / "instruments.md")
    report = await library.ingest("book")
    assert (report.added, report.removed, report.embedded) == (["instruments.md"], ["gauges.md"], 0)


async def test_equal_passages_are_embedded_once(library: Library) -> None:
    library.write({"again.md": BOOK["charts.md"]})
    report = await library.ingest("book")
    assert (report.chunks, report.embedded) == (5, 4)


async def test_chunk_ids_stay_when_the_book_is_ingested_again(library: Library) -> None:
    await library.ingest("book")
    before = {chunk.content_text: chunk.chunk_id for chunk in await library.chunks()}
    library.write({"charts.md": "# Charts\n\nA new first passage.\n\n" + BOOK["charts.md"]})
    shutil.rmtree(library.folder / "index")
    await library.ingest("book")
    after = {chunk.content_text: chunk.chunk_id for chunk in await library.chunks()}
    kept = before.keys() & after.keys()
    assert len(kept) >= 3
    assert all(before[text] == after[text] for text in kept)


async def test_another_model_makes_another_edition_with_all_vectors_anew(
    library: Library,
) -> None:
    first = await library.ingest("book")
    library.use(OtherEmbedder())
    second = await library.ingest("book")
    assert second.generation != first.generation
    assert (second.embedded, sorted(second.unchanged)) == (4, sorted(BOOK))
    edition = await library.edition()
    assert edition.embedding_model == "hashing-2"
    third = await library.ingest("book")
    assert (third.generation, third.embedded) == (second.generation, 0)


async def test_what_a_failed_run_has_embedded_is_not_embedded_again(library: Library) -> None:
    await library.ingest("book/charts.md")
    pages = {f"p{n}.md": f"# Page {n}\n\nHarbour {n} lies {n} miles north.\n" for n in range(300)}
    library.write(pages)
    library.use(TiringEmbedder(260))
    with pytest.raises(EmbeddingError):
        await library.ingest("book")
    assert await library.files() == ["charts.md"]
    library.use(HashingEmbedder())
    report = await library.ingest("book")
    assert report.chunks == 304
    assert report.embedded == 304 - 1 - 256


# --- several sources ----------------------------------------------------------------------


async def test_a_document_of_another_source_stays(library: Library) -> None:
    library.write({"waves.md": "# Waves\n\nWind makes waves.\n"}, "second")
    await library.ingest("book")
    report = await library.ingest("second")
    assert (report.added, report.removed) == (["waves.md"], [])
    assert sorted(await library.files()) == ["charts.md", "gauges.md", "moon.md", "waves.md"]


async def test_only_these_drops_what_no_source_names(library: Library) -> None:
    library.write({"waves.md": "# Waves\n\nWind makes waves.\n"}, "second")
    await library.ingest("book")
    report = await library.ingest("second", only_these=True)
    assert (report.added, sorted(report.removed)) == (["waves.md"], sorted(BOOK))
    assert await library.files() == ["waves.md"]


async def test_folders_of_one_run_may_use_the_same_file_names(library: Library) -> None:
    library.write({"moon.md": "# Moons\n\nJupiter has many moons.\n"}, "second")
    report = await library.ingest("book", "second")
    assert {"book/moon.md", "second/moon.md"} <= set(report.added)
    assert report.failed == []


async def test_files_of_one_run_with_the_same_name_are_told(library: Library) -> None:
    library.write({"moon.md": "# Moons\n\nJupiter has many moons.\n"}, "second")
    report = await library.ingest("book/moon.md", "second/moon.md")
    assert report.added == ["moon.md"]
    assert "another source" in failures(report)["moon.md"]


async def test_a_later_source_does_not_replace_a_document_of_another(library: Library) -> None:
    library.write(
        {"moon.md": "# Moons\n\nJupiter has many moons.\n", "sun.md": "# Sun\n\nIt is hot.\n"},
        "second",
    )
    await library.ingest("book")
    report = await library.ingest("second")
    assert (report.added, report.changed) == (["sun.md"], [])
    assert str(library.folder / "book") in failures(report)["moon.md"]
    texts = " ".join(chunk.content_text for chunk in await library.chunks())
    assert "two tides a day" in texts
    assert "Jupiter" not in texts


async def test_a_folder_that_moved_takes_its_documents_along(library: Library) -> None:
    await library.ingest("book")
    (library.folder / "book").rename(library.folder / "moved")
    library.write({"charts.md": BOOK["charts.md"] + "\nIt is printed every year.\n"}, "moved")
    report = await library.ingest("moved")
    assert (report.changed, sorted(report.unchanged)) == (["charts.md"], ["gauges.md", "moon.md"])
    assert (report.added, report.failed) == ([], [])


async def test_sources_that_are_the_whole_course_replace_all_of_it(library: Library) -> None:
    library.write({"moon.md": "# Moons\n\nJupiter has many moons.\n"}, "second")
    await library.ingest("book")
    report = await library.ingest("second", only_these=True)
    assert (report.changed, sorted(report.removed)) == (["moon.md"], ["charts.md", "gauges.md"])


# --- documents that cannot be read --------------------------------------------------------


async def test_bad_documents_are_named_and_the_rest_goes_in(library: Library) -> None:
    bad = {"broken.pdf": b"%PDF-1.7 broken", "empty.md": b"", "noise.txt": bytes(range(256)) * 40}
    library.write(bad)
    report = await library.ingest("book")
    assert sorted(report.added) == sorted(BOOK)
    assert sorted(failures(report)) == sorted(bad)
    assert failures(report)["empty.md"] == "is empty"
    again = await library.ingest("book")
    assert (again.generation, sorted(failures(again))) == (report.generation, sorted(bad))


async def test_a_document_that_breaks_later_keeps_its_earlier_text(library: Library) -> None:
    first = await library.ingest("book")
    library.write({"gauges.md": ""})
    report = await library.ingest("book")
    assert failures(report) == {"gauges.md": "is empty; its earlier text stays"}
    assert report.generation == first.generation
    assert "gauges.md" in await library.files()


async def test_nothing_to_ingest_is_one_sentence(library: Library) -> None:
    library.write({"a.md": "", "b.md": " "}, "blank")
    (library.folder / "nothing").mkdir()
    for name, words in (("blank", "a.md: is empty; b.md: is empty."), ("nothing", "to ingest.")):
        with pytest.raises(IngestionError) as refused:
            await library.ingest(name)
        assert refused.value.user_message.startswith("There is nothing to ingest")
        assert refused.value.user_message.endswith(words)
    assert await library.catalogue.live(COURSE.course_id) is None
    assert await library.index.collections() == frozenset()


# --- the index ----------------------------------------------------------------------------


async def test_a_lost_index_is_built_again_without_embedding(library: Library) -> None:
    first = await library.ingest("book")
    shutil.rmtree(library.folder / "index")
    report = await library.ingest("book")
    assert report.generation != first.generation
    assert (report.chunks, report.embedded) == (4, 0)
    assert len(await library.chunks()) == 4


async def test_old_editions_and_leftovers_are_swept(library: Library) -> None:
    await library.ingest("book")
    other = Course(course_id="tides-2", title="More tides")
    await library.ingest("book", course=other)
    await library.index.create("tides-0123456789abcdef0123456789abcdef", 64)
    library.write({"new.md": "# Bores\n\nA bore is a wave that runs up a river.\n"})
    await library.ingest("book")
    named = {(await library.edition()).collection, (await library.edition(other)).collection}
    assert await library.index.collections() == named


async def test_a_course_that_is_being_ingested_is_left_alone(library: Library) -> None:
    async with library.ingestion._lock(COURSE.course_id):
        with pytest.raises(IngestionBusy):
            await library.ingest("book")
    assert (await library.ingest("book")).chunks == 4


# --- links --------------------------------------------------------------------------------


async def test_chunks_link_to_the_heading_on_the_published_page(library: Library) -> None:
    course = COURSE.model_copy(update={"base_url": "https://tides.example.org/book/"})
    await library.ingest("book", course=course)
    links = await library.links()
    assert links["Spring tides"] == "https://tides.example.org/book/moon#spring-tides"
    assert all(str(link).startswith("https://tides.example.org/book/") for link in links.values())


async def test_a_new_base_url_changes_every_link_and_embeds_nothing(library: Library) -> None:
    await library.ingest("book")
    assert set((await library.links()).values()) == {None}
    course = COURSE.model_copy(update={"base_url": "https://tides.example.org/"})
    report = await library.ingest("book", course=course)
    assert (sorted(report.changed), report.embedded) == (sorted(BOOK), 0)
    assert None not in (await library.links()).values()


PAGE = "# Waves\n\nWind makes waves.\n\n## Wave length\n\nIt is measured from crest to crest.\n"
SITES = {
    "an mdBook": (
        {
            "book.toml": '[output.html]\nsite-url = "https://sea.example.org/guide/"\n',
            "src/SUMMARY.md": "# Summary\n\n- [Waves](sea/waves.md)\n",
            "src/sea/waves.md": PAGE,
        },
        "https://sea.example.org/guide/sea/waves.html#wave-length",
    ),
    "a MkDocs site": (
        {
            "mkdocs.yml": "site_url: https://sea.example.org/guide/\n",
            "docs/sea/waves.md": PAGE,
        },
        "https://sea.example.org/guide/sea/waves/#wave-length",
    ),
    "a Docusaurus site": (
        {
            "docusaurus.config.js": "module.exports = {\n"
            "  url: 'https://sea.example.org',\n  baseUrl: '/guide/',\n};\n",
            "docs/sea/02-waves.md": PAGE,
        },
        "https://sea.example.org/guide/docs/sea/waves#wave-length",
    ),
}


@pytest.mark.parametrize("site", SITES)
async def test_a_site_says_itself_where_its_headings_are_published(
    library: Library, site: str
) -> None:
    files, link = SITES[site]
    library.write(files, "site")
    report = await library.ingest("site")
    assert (len(report.added), report.failed) == (1, [])
    assert (await library.links())["Wave length"] == link


# --- ordinary folders ---------------------------------------------------------------------


async def test_nothing_ordinary_stops_a_folder(library: Library) -> None:
    pages: dict[str, str | bytes] = {
        "pictures.md": "# Pictures\n\n![tide](../img/tide.png) See [that](gone.md#x) page.\n",
        "latin.md": "# Île\n\nLa marée monte très vite à côté de la jetée.\n".encode("latin-1"),
        "sixteen.md": "# Wide\n\nEvery letter of this text takes two bytes.\n".encode("utf-16"),
        "marked.md": b"\xef\xbb\xbf# Marked\n\nThis text begins with a mark.\n",
        "dos.md": b"# Dos\r\n\r\nLines end with two characters.\r\n",
        "page.html": "<h1>Page</h1><p>Text with a <img src='x.png'> picture.</p>",
        "notes.txt": "Plain notes about the tide of last May.\n",
        "odd name & #1?.md": "# Odd\n\nThis name has odd characters.\n",
    }
    library.write({**pages, "picture.png": b"\x89PNG", "script.py": "print()", ".hidden.md": "x"})
    (library.folder / "book" / "dangling.md").symlink_to("nowhere.md")
    report = await library.ingest("book")
    assert report.failed == []
    assert sorted(report.added) == sorted([*BOOK, *pages])
    texts = " ".join(chunk.content_text for chunk in await library.chunks())
    for words in ("marée monte très vite", "takes two bytes", "odd characters", "See that page"):
        assert words in texts
    assert "\r" not in texts
    assert "\ufeff" not in texts


def write_in_latin_1(folder: Path, name: str, text: str) -> None:
    """Write a file whose name on disk is no UTF-8."""
    path = Path((bytes(folder) + b"/" + name.encode("latin-1")).decode(errors="surrogateescape"))
    try:
        path.parent.mkdir()
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    path.write_text(text)


async def test_a_name_in_another_encoding_goes_in(library: Library) -> None:
    write_in_latin_1(library.folder / "book", "île/marée.md", "# Tide\n\nThe tide goes out.\n")
    course = COURSE.model_copy(update={"base_url": "https://tides.example.org/"})
    report = await library.ingest("book", course=course)
    assert report.failed == []
    assert "\N{REPLACEMENT CHARACTER}le/mar\N{REPLACEMENT CHARACTER}e.md" in report.added
    assert (await library.links())["Tide"] == "https://tides.example.org/%EEle/mar%E9e#tide"
    again = await library.ingest("book", course=course)
    assert again.generation == report.generation


async def test_missing_includes_and_broken_links_of_a_site_are_told(library: Library) -> None:
    library.write(
        {
            "book.toml": "[book]\n",
            "src/SUMMARY.md": "# Summary\n\n- [Waves](waves.md)\n- [Gone](gone.md)\n",
            "src/waves.md": "# Waves\n\nWind makes waves.\n\n{{#include missing.md}}\n",
        },
        "site",
    )
    (library.folder / "site" / "src" / "dangling.rs").symlink_to("nowhere.rs")
    report = await library.ingest("site")
    assert (report.added, report.failed) == (["src/waves.md"], [])
    told = " ".join(warning.reason for warning in report.warnings)
    assert "gone.md" in told
    assert "missing.md" in told
    assert (await library.ingest("site")).unchanged == ["src/waves.md"]


async def test_a_picture_that_changes_does_not_change_the_pages(library: Library) -> None:
    library.write({"tide.png": b"\x89PNG 1"})
    first = await library.ingest("book")
    library.write({"tide.png": b"\x89PNG 2, larger"})
    assert (await library.ingest("book")).generation == first.generation


async def test_a_document_that_is_too_large_is_named(library: Library) -> None:
    library.write({"large.md": "# Large\n\n" + "All the tides of a year. " * 50_000})
    report = await library.ingest("book")
    assert failures(report) == {"large.md": "is larger than 1 MB"}
