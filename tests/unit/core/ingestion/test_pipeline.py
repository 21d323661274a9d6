"""A course is brought up to date: what changed is told, and nothing is embedded twice."""

import shutil
from collections.abc import Sequence
from datetime import timedelta

import pytest

from core.domain import Course, now
from core.domain.errors import EmbeddingError, IngestionBusy, IngestionError
from core.domain.sentences import Span
from core.index.terms import Bm25Encoder, TermStatistics, count_words, words_from_bytes
from core.ingestion import pipeline
from core.ingestion.changes import CourseChanges
from core.ingestion.embedding import embedding_text
from core.providers.embeddings.base import Vectors
from tests.embedding import HashingEmbedder
from tests.library import BOOK, COURSE, Library, failures

pytestmark = pytest.mark.costly


class OtherEmbedder(HashingEmbedder):
    """A model whose vectors must never be mixed with those of the first."""

    name = "hashing-2"


class TiringEmbedder(HashingEmbedder):
    """A model that fails once it has embedded `strength` passages."""

    def __init__(self, strength: int) -> None:
        super().__init__()
        self._strength = strength

    async def embed_with_sentences(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> tuple[Vectors, list[Vectors]]:
        if self.embedded + len(texts) > self._strength:
            raise EmbeddingError("tired")
        return await super().embed_with_sentences(texts, spans)


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


async def test_a_change_is_stored_next_to_what_stays(library: Library) -> None:
    files = {f"page-{n}.md": f"# Page {n}\n\nThe tide of day {n} is high.\n" for n in range(20)}
    library.write(files)
    first = await library.ingest("book")
    base = await library.edition()
    library.write({"new.md": "# Bores\n\nA bore is a wave that runs up a river.\n"})
    library.write({"charts.md": "# Charts\n\nA chart shows depths.\n"})
    second = await library.ingest("book")
    edition = await library.edition()
    assert edition.segments[0].collection == base.segments[0].collection
    assert len(edition.segments) == 2
    assert edition.segments[1].chunks == 2
    assert len(edition.segments[0].hidden) == 1
    assert edition.chunks == second.chunks == first.chunks + 1
    chunks = await library.chunks()
    assert len(chunks) == len({chunk.chunk_id for chunk in chunks}) == second.chunks
    assert first.generation != second.generation
    assert {chunk.generation for chunk in chunks} == {second.generation}
    assert not any("tide table" in chunk.content_text for chunk in chunks)


async def test_small_collections_are_brought_together(library: Library) -> None:
    files = {f"page-{n}.md": f"# Page {n}\n\nThe tide of day {n} is high.\n" for n in range(40)}
    library.write(files)
    await library.ingest("book")
    for n in range(8):
        library.write({f"new-{n}.md": f"# Bore {n}\n\nBore {n} is a wave of a river.\n"})
        await library.ingest("book")
    edition = await library.edition()
    assert len(edition.segments) == 2
    assert await library.index.collections() == edition.collections
    assert (edition.chunks, edition.documents) == (44 + 8, 43 + 8)
    names = await library.files()
    assert len(names) == len(set(names)) == 51
    assert sum(chunk.source_file.startswith("new") for chunk in await library.chunks()) == 8


async def test_what_was_replaced_goes_once_it_is_a_quarter(library: Library) -> None:
    files = {f"page-{n}.md": f"# Page {n}\n\nThe tide of day {n} is high.\n" for n in range(8)}
    library.write(files)
    await library.ingest("book")
    for name in ("page-0.md", "page-1.md"):
        (library.folder / "book" / name).unlink()
    await library.ingest("book")
    [segment] = (await library.edition()).segments
    assert (len(segment.hidden), segment.chunks) == (2, 12)
    for name in ("page-2.md", "page-3.md"):
        (library.folder / "book" / name).unlink()
    report = await library.ingest("book")
    [segment] = (await library.edition()).segments
    assert (len(segment.hidden), segment.chunks) == (0, 8)
    assert report.generation == (await library.edition()).generation


async def test_the_words_of_a_course_follow_its_changes(library: Library) -> None:
    await library.ingest("book")
    library.write({"charts.md": "# Charts\n\nA chart shows depths.\n"})
    await library.ingest("book")
    edition = await library.edition()
    words = words_from_bytes(await library.catalogue.vocabulary(edition.generation) or b"")
    chunks = await library.chunks()
    assert words == count_words(chunk.content_text for chunk in chunks)
    terms = await library.catalogue.term_statistics(edition.generation)
    texts = [
        embedding_text(c.page_title, c.headings, c.content_text) for c in await library.chunks()
    ]
    counted = TermStatistics.count([v.indices for v in Bm25Encoder().passages(texts)])
    assert terms == counted.to_bytes()


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


async def test_what_an_older_splitter_cut_is_cut_anew(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "PIPELINE_VERSION", "1")
    await library.ingest("book")
    monkeypatch.undo()
    report = await library.ingest("book")
    assert (sorted(report.reread), report.changed) == (sorted(BOOK), [])
    assert report.embedded == 0  # the same texts have their vectors


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


async def test_what_the_course_does_not_list_goes(library: Library) -> None:
    library.write({"waves.md": "# Waves\n\nWind makes waves.\n"}, "second")
    await library.ingest("book")
    report = await library.ingest("second", listed=())
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


async def test_a_reduced_copy_of_a_folder_that_is_gone_leaves_nothing_of_it(
    library: Library,
) -> None:
    await library.ingest("book")
    (library.folder / "book").rename(library.folder / "moved")
    (library.folder / "moved" / "gauges.md").unlink()
    report = await library.ingest("moved")
    assert (report.removed, sorted(report.unchanged)) == (["gauges.md"], ["charts.md", "moon.md"])
    [retired] = report.retired
    assert (retired.name, retired.documents) == (str(library.folder / "book"), 1)
    assert not retired.is_unlisted
    documents = await library.catalogue.documents((await library.edition()).generation)
    assert {document.origin for document in documents} == {str(library.folder / "moved")}


async def test_a_folder_that_is_gone_stays_where_nothing_took_its_place(library: Library) -> None:
    await library.ingest("book")
    (library.folder / "book").rename(library.folder / "away")
    library.write({"waves.md": "# Waves\n\nWind makes waves.\n"}, "second")
    report = await library.ingest("second")
    assert (report.removed, report.retired) == ([], [])
    assert len(await library.files()) == 4


async def test_a_source_that_is_not_listed_goes_at_the_next_ingestion_of_another(
    library: Library,
) -> None:
    library.write({"waves.md": "# Waves\n\nWind makes waves.\n"}, "second")
    library.write({"wind.md": "# Wind\n\nIt blows.\n"}, "third")
    for name in ("book", "second", "third"):
        await library.ingest(name)
    report = await library.ingest("second", listed=[str(library.folder / "third")])
    assert (sorted(report.removed), report.unchanged) == (sorted(BOOK), ["waves.md"])
    assert [one.documents for one in report.retired] == [3]
    assert sorted(await library.files()) == ["waves.md", "wind.md"]


async def test_a_folder_that_was_emptied_does_not_empty_its_part_of_the_course(
    library: Library,
) -> None:
    library.write({"waves.md": "# Waves\n\nWind makes waves.\n"}, "second")
    await library.ingest("book", "second")
    for path in (library.folder / "second").iterdir():
        path.unlink()
    with pytest.raises(IngestionError, match="has no document any more, and had 1"):
        await library.ingest("book", "second", least_share=0.5)
    assert len(await library.files()) == 4
    assert (await library.ingest("book", "second")).removed == ["second/waves.md"]


async def test_sections_that_changed_are_told_by_their_headings(library: Library) -> None:
    first = await library.ingest("book")
    assert not first.sections
    library.write({"moon.md": BOOK["moon.md"].replace("the sun pulls", "the sun also pulls")})
    library.write({"rivers.md": BOOK["gauges.md"]})
    (library.folder / "book" / "gauges.md").unlink()
    library.write({"bores.md": "# Bores\n\nA wave.\n\n## Where\n\nIn rivers.\n"})
    second = await library.ingest("book")
    assert second.sections.added == (("Bores",), ("Bores", "Where"))
    assert second.sections.changed == (("The moon", "Spring tides"),)
    assert second.sections.removed == ()
    kept = await CourseChanges(library.engine).since(now() - timedelta(hours=1), "tides")
    [change] = kept["tides"]
    assert (change.added, change.changed, change.removed) == (2, 1, 0)
    assert change.headings == second.sections
    assert change.sources == (str(library.folder / "book"),)


async def test_sources_that_are_the_whole_course_replace_all_of_it(library: Library) -> None:
    library.write({"moon.md": "# Moons\n\nJupiter has many moons.\n"}, "second")
    await library.ingest("book")
    report = await library.ingest("second", listed=())
    assert (report.changed, sorted(report.removed)) == (["moon.md"], ["charts.md", "gauges.md"])


# --- documents that cannot be read --------------------------------------------------------


async def test_bad_documents_are_named_and_the_rest_goes_in(library: Library) -> None:
    bad = {"broken.pdf": b"%PDF-1.7 broken", "noise.txt": bytes(range(256)) * 40}
    library.write(bad)
    report = await library.ingest("book")
    assert sorted(report.added) == sorted(BOOK)
    assert sorted(failures(report)) == sorted(bad)
    again = await library.ingest("book")
    assert (again.generation, sorted(failures(again))) == (report.generation, sorted(bad))


async def test_an_empty_file_is_left_out_and_no_failure(library: Library) -> None:
    library.write({"empty.md": b"", "blank.txt": b" \n"})
    report = await library.ingest("book")
    assert failures(report) == {}
    assert {one.path: (one.reason, one.is_missed) for one in report.left_out} == {
        "blank.txt": ("is empty", False),
        "empty.md": ("is empty", False),
    }


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
    for name, words in (
        ("blank", "a.md: is empty; b.md: is empty."),
        ("nothing", f"no file to read in {(library.folder / 'nothing').resolve()}."),
    ):
        with pytest.raises(IngestionError) as refused:
            await library.ingest(name)
        assert refused.value.user_message.startswith("There is nothing to ingest")
        assert refused.value.user_message.endswith(words)
    assert await library.catalogue.live(COURSE.course_id) is None
    assert await library.index.collections() == frozenset()


async def test_what_stays_where_nothing_is_left_to_ingest_is_told(library: Library) -> None:
    library.write({"a.md": "# A\n\nRain falls on the hills."}, "leaflet")
    await library.ingest("leaflet")
    (library.folder / "leaflet" / "a.md").unlink()
    with pytest.raises(IngestionError) as refused:
        await library.ingest("leaflet")
    assert f"courses remove {COURSE.course_id}" in refused.value.user_message


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
    named = (await library.edition()).collections | (await library.edition(other)).collections
    assert await library.index.collections() == named


async def test_a_course_that_is_being_ingested_is_left_alone(library: Library) -> None:
    async with library.ingestion._lock(COURSE.course_id):
        with pytest.raises(IngestionBusy):
            await library.ingest("book")
    assert (await library.ingest("book")).chunks == 4
