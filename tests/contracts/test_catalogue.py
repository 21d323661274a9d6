"""The catalogue keeps its promises on every database."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

import core.storage.catalogue
from core.domain import Course, now
from core.domain.errors import StoreError
from core.index.base import FORMAT
from core.ingestion.changes import CourseChanges, SectionChanges, SourceCheck, SourceChecks
from core.storage.catalogue import (
    Catalogue,
    DocumentRecord,
    Edition,
    NewSegment,
    Origins,
    SectionRecord,
    Segment,
    StoredDocument,
)
from core.storage.database import create_engine
from core.storage.ingest_accounts import AccountRecord, IngestAccounts
from tests.samples import EARLIER

COURSE = Course(course_id="algorithms", title="Algorithms", base_url="https://book.example.org/")
OTHER = Course(course_id="biology", title="Biologie 生物", language="de")


def edition(course_id: str = "algorithms", **changes: object) -> Edition:
    generation = uuid4()
    made = Edition(
        generation=generation,
        course_id=course_id,
        segments=(Segment(f"{course_id}-{generation.hex}", FORMAT, 7),),
        embedding_model="mini",
        dimensions=384,
        created_at=EARLIER,
        chunks=7,
        documents=2,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def documents(count: int) -> list[DocumentRecord]:
    """Documents whose order is neither that of their ids nor of their names."""
    return [
        DocumentRecord(
            document_id=UUID(int=count - n),
            source_file=f"{(n * 7) % count:05}.md",
            origin="./book",
            content_hash="ab" * 32,
            fingerprint=f"size {n}",
            title=f"Page {n}",
            url=None if n % 2 else f"https://book.example.org/{n}",
            module=None if n % 2 else "Trees",
            chunk_count=n,
        )
        for n in range(count)
    ]


def sections(count: int) -> list[SectionRecord]:
    return [
        SectionRecord(
            section_id=uuid4().hex,
            title=f"Section {n}",
            path=("Heaps", f"Section {n}") if n else (),
            module=None,
            url=None,
            source_file="heaps.md",
            ordinal=n,
        )
        for n in range(count)
    ]


async def publish(
    catalogue: Catalogue,
    live: Edition,
    docs: Sequence[DocumentRecord],
    parts: Sequence[SectionRecord],
    terms: bytes = b"",
) -> Edition | None:
    """Publish an edition of one collection; all sections are of its first document."""
    [name] = live.collections
    own = [parts, *[()] * (len(docs) - 1)][: len(docs)]
    order = [StoredDocument(name, number) for number in range(len(docs))]
    new = NewSegment(name, docs, own, b"outline")
    return await catalogue.publish(live, [new], order, terms, b"words")


@pytest.fixture
async def catalogue(engine: AsyncEngine) -> Catalogue:
    catalogue = Catalogue(engine)
    await catalogue.save_course(COURSE)
    return catalogue


class TestCourses:
    async def test_a_course_comes_back_equal(self, catalogue: Catalogue) -> None:
        await catalogue.save_course(OTHER)
        assert await catalogue.course("biology") == OTHER
        assert await catalogue.course("chemistry") is None

    async def test_saving_again_changes_it_and_keeps_its_edition(
        self, catalogue: Catalogue
    ) -> None:
        live = edition()
        await publish(catalogue, live, [], [])
        renamed = COURSE.model_copy(update={"title": "Algorithms, 2nd ed.", "base_url": None})
        await catalogue.save_course(renamed)
        assert await catalogue.courses() == [(renamed, live)]

    async def test_courses_are_listed_by_id_with_their_editions(self, catalogue: Catalogue) -> None:
        live = edition("biology")
        await catalogue.save_course(OTHER)
        await publish(catalogue, live, [], [])
        assert await catalogue.courses() == [(COURSE, None), (OTHER, live)]

    async def test_a_removed_course_leaves_nothing_behind(
        self, catalogue: Catalogue, engine: AsyncEngine
    ) -> None:
        live = edition()
        await publish(catalogue, live, documents(3), sections(3), b"terms")
        assert await catalogue.remove_course("algorithms") == live
        assert await catalogue.remove_course("algorithms") is None
        async with engine.connect() as connection:
            for table in ("courses", "editions", "documents", "sections"):
                assert await connection.scalar(text(f"SELECT count(*) FROM {table}")) == 0


class TestPublishing:
    async def test_a_course_without_a_text_has_no_edition(self, catalogue: Catalogue) -> None:
        assert await catalogue.live("algorithms") is None
        assert await catalogue.live("unheard-of") is None

    @pytest.mark.costly
    async def test_an_edition_comes_back_equal_with_its_contents_in_order(
        self, catalogue: Catalogue
    ) -> None:
        live, docs, parts = edition(), documents(1_203), sections(1_203)
        assert await publish(catalogue, live, docs, parts, b"\x00terms") is None
        assert await catalogue.live("algorithms") == live
        assert await catalogue.documents(live.generation) == docs
        assert await catalogue.sections(live.generation) == parts
        assert await catalogue.term_statistics(live.generation) == b"\x00terms"

    async def test_the_next_edition_replaces_the_last_with_everything_in_it(
        self, catalogue: Catalogue
    ) -> None:
        first, second = edition(), edition()
        await publish(catalogue, first, documents(3), sections(3))
        assert await publish(catalogue, second, documents(2), sections(2)) == first
        assert await catalogue.live("algorithms") == second
        assert await catalogue.collections() == second.collections
        assert await catalogue.documents(first.generation) == []
        assert await catalogue.sections(first.generation) == []
        assert await catalogue.term_statistics(first.generation) is None
        assert len(await catalogue.documents(second.generation)) == 2

    async def test_courses_do_not_touch_one_another(self, catalogue: Catalogue) -> None:
        await catalogue.save_course(OTHER)
        mine, theirs = edition(), edition("biology")
        await publish(catalogue, mine, documents(2), sections(2))
        assert await publish(catalogue, theirs, documents(2), sections(2)) is None
        assert await catalogue.live("algorithms") == mine
        assert await catalogue.collections() == mine.collections | theirs.collections

    async def test_a_failed_publish_changes_nothing(self, catalogue: Catalogue) -> None:
        live = edition()
        await publish(catalogue, live, documents(2), sections(2))
        twice = documents(1) * 2
        with pytest.raises(StoreError):
            await publish(catalogue, edition(), twice, sections(1))
        assert await catalogue.live("algorithms") == live
        assert len(await catalogue.documents(live.generation)) == 2

    async def test_a_course_must_be_saved_first(self, catalogue: Catalogue) -> None:
        with pytest.raises(StoreError, match="not in the catalogue"):
            await publish(catalogue, edition("biology"), [], [])

    async def test_publishing_at_once_leaves_one_edition_and_names_each_replaced_one(
        self, database_url: str, catalogue: Catalogue
    ) -> None:
        engines = [create_engine(database_url) for _ in range(2)]
        replicas = [Catalogue(engine) for engine in engines]
        made = [edition() for _ in range(8)]
        replaced = await asyncio.gather(
            *(
                publish(replicas[n % 2], each, documents(5), sections(5))
                for n, each in enumerate(made)
            )
        )
        live = await catalogue.live("algorithms")
        assert live in made
        assert set(replaced) == {None, *made} - {live}
        for engine in engines:
            await engine.dispose()

    @pytest.mark.costly
    async def test_a_reader_never_sees_a_part_of_an_edition(
        self, catalogue: Catalogue, database_url: str
    ) -> None:
        engine = create_engine(database_url)
        reader = Catalogue(engine)
        await publish(catalogue, edition(), documents(50), sections(50))

        async def publish_often() -> None:
            for _ in range(8):
                await publish(catalogue, edition(), documents(50), sections(50))

        publishing = asyncio.create_task(publish_often())
        while not publishing.done():
            live = await reader.live("algorithms")
            assert live is not None
            assert len(await reader.sections(live.generation)) in {0, 50}
        await publishing
        await engine.dispose()


class TestRememberedVectors:
    async def test_vectors_come_back_bit_by_bit(self, catalogue: Catalogue) -> None:
        rows = np.random.default_rng(7).normal(size=(1_203, 8)).astype("<f4")
        made = {n.to_bytes(32): row.tobytes() for n, row in enumerate(rows)}
        await catalogue.remember_vectors("mini", made)
        assert await catalogue.vectors("mini", [*made, b"unknown"]) == made

    async def test_models_do_not_share_vectors(self, catalogue: Catalogue) -> None:
        await catalogue.remember_vectors("mini", {b"key": b"mini"})
        await catalogue.remember_vectors("large", {b"key": b"large"})
        assert await catalogue.vectors("mini", [b"key"]) == {b"key": b"mini"}
        assert await catalogue.vectors("other", [b"key"]) == {}

    async def test_nothing_asked_or_given_is_nothing_done(self, catalogue: Catalogue) -> None:
        await catalogue.remember_vectors("mini", {})
        assert await catalogue.vectors("mini", []) == {}

    async def test_remembering_the_same_texts_at_once_is_no_error(
        self, catalogue: Catalogue, database_url: str
    ) -> None:
        engine = create_engine(database_url)
        made = {n.to_bytes(32): bytes(32) for n in range(600)}
        backwards = dict(reversed(made.items()))
        await asyncio.gather(
            catalogue.remember_vectors("mini", made),
            Catalogue(engine).remember_vectors("mini", backwards),
        )
        assert await catalogue.vectors("mini", list(made)) == made
        await engine.dispose()

    async def test_reading_and_pruning_the_same_old_vectors_at_once_is_no_error(
        self, catalogue: Catalogue, database_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = create_engine(database_url)
        made = {n.to_bytes(32): bytes(32) for n in range(400)}
        with monkeypatch.context() as patch:
            patch.setattr(core.storage.catalogue, "now", lambda: EARLIER)
            await catalogue.remember_vectors("mini", made)
        other, before = Catalogue(engine), EARLIER - timedelta(days=1)
        readers = [
            c.vectors("mini", list(made)[::step]) for c in (catalogue, other) for step in (1, -1)
        ]
        await asyncio.gather(*readers, other.prune_vectors(before))
        assert await catalogue.prune_vectors(now() - timedelta(days=30)) == 0
        await engine.dispose()

    async def test_only_vectors_out_of_use_are_pruned(
        self, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(core.storage.catalogue, "now", lambda: EARLIER)
            await catalogue.remember_vectors("mini", {b"old": b"1", b"read again": b"2"})
        await catalogue.vectors("mini", [b"read again"])
        await catalogue.remember_vectors("mini", {b"new": b"3"})
        assert await catalogue.prune_vectors(now() - timedelta(days=30)) == 1
        kept = await catalogue.vectors("mini", [b"old", b"read again", b"new"])
        assert kept == {b"read again": b"2", b"new": b"3"}


class TestOrigins:
    async def test_no_table_says_where_the_folder_of_data_and_books_lies(
        self, engine: AsyncEngine, tmp_path: Path
    ) -> None:
        origins = Origins.of(tmp_path / "data")
        catalogue = Catalogue(engine, origins)
        await catalogue.save_course(COURSE)
        book = str(tmp_path / "book")
        live = edition()
        await publish(catalogue, live, [replace(documents(1)[0], origin=book)], [])
        account = AccountRecord(book, now(), False, 1, 0, 0, 0, ())
        await IngestAccounts(engine, origins).save("algorithms", [account], keep=None)
        await CourseChanges(engine, origins).save("algorithms", [book], SectionChanges())
        checks = SourceChecks(engine, origins)
        assert await checks.claim("algorithms", book, SourceCheck())
        await checks.done("algorithms", book, problem=None, seen="state")
        async with engine.connect() as db:
            for column in ("origin FROM documents", "source FROM ingest_accounts"):
                assert (await db.scalars(text(f"SELECT {column}"))).all() == ["./book"]
            assert (await db.scalars(text("SELECT source FROM source_checks"))).all() == ["./book"]
            changed = await db.scalar(text("SELECT sources FROM course_changes"))
            assert str(tmp_path) not in str(changed)

        moved = Origins.of(tmp_path / "elsewhere" / "data")
        there = str(tmp_path / "elsewhere" / "book")
        [document] = await Catalogue(engine, moved).documents(live.generation)
        [kept] = (await IngestAccounts(engine, moved).all())["algorithms"]
        [change] = (await CourseChanges(engine, moved).since(EARLIER))["algorithms"]
        assert (document.origin, kept.source, change.sources) == (there, there, (there,))
        assert [*await SourceChecks(engine, moved).all()] == [("algorithms", there)]

    async def test_what_an_earlier_version_stored_is_healed_once(
        self, engine: AsyncEngine, tmp_path: Path
    ) -> None:
        await Catalogue(engine).save_course(COURSE)
        book, elsewhere = str(tmp_path / "book"), "/srv/book"
        live = edition()
        before = [replace(documents(1)[0], origin=book), replace(documents(2)[0], origin=elsewhere)]
        await publish(Catalogue(engine), live, before, [])
        for source in (book, "./book", elsewhere):
            await SourceChecks(engine).claim("algorithms", source, SourceCheck())
        catalogue = Catalogue(engine, Origins.of(tmp_path / "data"))
        for _ in range(2):
            await catalogue.heal_origins()
            async with engine.connect() as db:
                stored = await db.scalars(text("SELECT origin FROM documents ORDER BY origin"))
                assert sorted(stored.all()) == ["./book", elsewhere]
                checked = await db.scalars(text("SELECT source FROM source_checks"))
                assert sorted(checked.all()) == ["./book", elsewhere]
        found = [document.origin for document in await catalogue.documents(live.generation)]
        assert found == [book, elsewhere]

    async def test_replaced_documents_of_a_source_that_went_forget_it(
        self, catalogue: Catalogue, engine: AsyncEngine
    ) -> None:
        live = edition()
        old, kept = documents(2)
        await publish(catalogue, live, [replace(old, origin="/gone"), kept], [])
        await catalogue.set_origins(live.generation, {kept.source_file: "moved"}, ["/gone"])
        async with engine.connect() as db:
            stored = await db.scalars(text("SELECT origin FROM documents"))
            assert sorted(stored.all()) == ["", "moved"]
