"""Brings a course's sources into the index: a new edition is built aside, then published."""

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar
from uuid import UUID, uuid4

from core.catalogue import Catalogue, Edition, SectionRecord
from core.embeddings.base import Embedder, SentenceEmbedder, Vectors
from core.errors import IngestionError, UnsupportedDocument, VectorIndexError
from core.index.base import IndexedPoint, SparseVector, VectorIndex
from core.index.points import collection_of, course_of
from core.index.terms import TermStatistics
from core.ingestion.account.ledger import SourceAccount, record_of
from core.ingestion.account.refusal import IngestionRefused, refuse_little
from core.ingestion.embedding import embed_cached, embed_sentences_cached, embedding_text
from core.ingestion.footprint import CheckRoom, dropped, footprint, given_back
from core.ingestion.passages import CourseDocument, course_document
from core.ingestion.plan import Plan, foreign_documents
from core.ingestion.report import Failure, IngestReport, Progress
from core.ingestion.sources import Source, SourceDocument
from core.models import Chunk, Course, now
from core.storage.ingest_accounts import IngestAccounts
from core.text.sentences import Span, sentence_spans

logger = logging.getLogger(__name__)

PIPELINE_VERSION = "3"
"""Part of every fingerprint: a parser or splitter that works differently gets another one."""
_EMBED_BATCH = 1_024
"""Chunks that are embedded, and held, at a time."""
_VECTORS_KEPT = timedelta(days=90)
"""How long a vector that no run asks for stays in the cache."""
_DOCUMENTS_A_COPY = 50

T = TypeVar("T")
OrdersMachines = Callable[[str, Sequence[str]], bool]
"""Tells of a passage, and the titles above it, whether it holds an order to an assistant."""


class Ingestion:
    """Ingests courses with the collaborators it is given."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        accounts: IngestAccounts,
        index: VectorIndex,
        embedder: Embedder,
        sentence_embedder: SentenceEmbedder,
        encode_sparse: Callable[[str, Sequence[str]], list[SparseVector]],
        lock: Callable[[str], AbstractAsyncContextManager[None]],
        orders_machines: OrdersMachines = lambda *_: False,
        check_room: CheckRoom = lambda *_: None,
    ) -> None:
        """`encode_sparse` takes the course's language and texts; `lock` a course's id.

        `sentence_embedder` is the model that answers are chosen by, whichever a course is
        searched with.
        What `orders_machines` finds is ingested, and told as a warning: answers leave it out.
        """
        self._catalogue = catalogue
        self._accounts = accounts
        self._index = index
        self._embedder = embedder
        self._sentence_embedder = sentence_embedder
        self._encode_sparse = encode_sparse
        self._lock = lock
        self._orders_machines = orders_machines
        self._check_room = check_room

    async def run(
        self,
        course: Course,
        sources: Sequence[Source],
        *,
        only_these: bool = False,
        least_share: float = 0.0,
        progress: Progress = lambda *_: None,
    ) -> IngestReport:
        """Bring the course up to date with `sources` and return what changed.

        Documents of other sources stay, unless `only_these`, and are not replaced by documents
        of the same name, unless their file or folder has gone: it may have moved. Readers see
        the old edition until the new one is complete; where nothing changed, none is made.

        Raises:
            IngestionBusy: when another process is ingesting this course.
            IngestionRefused: when nothing can be read, or less than `least_share`, from 0 to 1,
                of the text-like files; nothing is embedded or changed then.
            NoRoom: when the disk is full, or would be; the old edition stays.
        """
        async with self._lock(course.course_id):
            published = await self._catalogue.live(course.course_id)
            live = published if await self._is_readable(published) else None
            if live or not published:  # else what is swept may be the only text there is
                await self._sweep(course.course_id)
            plan = await self._plan(course, sources, live, only_these, progress)
            report = plan.report
            await self._refuse_little(plan, live, least_share)
            if published and not live:
                report.failed += await self._lost(published, plan)
            stale = live is not None and live.embedding_model != self._embedder.name
            if live and not stale and not plan.parsed and not report.removed:
                await self._catalogue.save_course(course)
                await self._note(plan)
                report.generation, report.chunks = live.generation, live.chunks
                return report
            generation = uuid4()
            async with given_back(self._index, collection_of(course.course_id, generation)):
                edition = await self._build(course, plan, live, generation, progress)
            await self._note(plan)
            report.generation, report.chunks = edition.generation, edition.chunks
            await self._sweep(course.course_id)
            await self._catalogue.prune_vectors(now() - _VECTORS_KEPT)
            return report

    async def _is_readable(self, edition: Edition | None) -> bool:
        """Return whether there is an edition and this index holds all of it."""
        if edition is None or edition.collection not in await self._index.collections():
            return False
        try:
            return await self._index.count(edition.collection) == edition.chunks
        except VectorIndexError:  # damaged: everything is read anew
            return False

    async def _lost(self, published: Edition, plan: Plan) -> list[Failure]:
        """Return the documents that went with their index and that no source has brought back."""
        logger.warning("the index does not hold %s: all is read anew", published.collection)
        reason = "is no longer in the index: ingest its source again"
        documents = await self._catalogue.documents(published.generation)
        gone = [doc.source_file for doc in documents if doc.source_file not in plan.seen]
        return [Failure(name, reason) for name in gone]

    async def _sweep(self, course_id: str) -> None:
        """Drop this course's collections that no edition names: leftovers and old editions."""
        named = await self._catalogue.collections()
        for collection in await self._index.collections():
            if course_of(collection) == course_id and collection not in named:
                await dropped(self._index, collection)

    async def _plan(
        self,
        course: Course,
        sources: Sequence[Source],
        live: Edition | None,
        only_these: bool,
        progress: Progress,
    ) -> Plan:
        """Compare the sources with the live edition; parse what is new or changed."""
        known = await self._catalogue.documents(live.generation) if live else []
        named = {source.name for source in sources}
        plan = Plan(
            IngestReport(course.course_id),
            {doc.source_file: doc for doc in known},
            {} if only_these else foreign_documents(known, named),
        )
        for source in sources:
            documents = await source.documents()
            account = SourceAccount(source.name, list(source.left_out))
            plan.report.accounts.append(account)
            plan.report.warnings += [Failure(source.name, text) for text in source.warnings]
            for position, document in enumerate(documents, 1):
                await self._take_up(course, plan, document, account)
                progress("reading", position, len(documents))
        for name, record in list(plan.kept.items()):
            if name not in plan.seen and (only_these or record.origin in named):
                plan.report.removed.append(name)
                del plan.kept[name]
        return plan

    async def _refuse_little(self, plan: Plan, live: Edition | None, least_share: float) -> None:
        """Raise IngestionRefused where too little was read; the account is kept even then."""
        report, is_empty = plan.report, not plan.parsed and not plan.kept
        try:
            refuse_little(
                report, is_empty=is_empty, has_text=live is not None, least_share=least_share
            )
        except IngestionRefused:
            if live is not None:
                report.generation, report.chunks = live.generation, live.chunks
            await self._note(plan, is_refused=True)
            raise

    async def _note(self, plan: Plan, *, is_refused: bool = False) -> None:
        """Keep the account of the run."""
        records = [record_of(each, is_refused=is_refused) for each in plan.report.accounts]
        keep = None if is_refused else plan.origins
        await self._accounts.save(plan.report.course, records, keep=keep)

    async def _take_up(
        self, course: Course, plan: Plan, document: SourceDocument, account: SourceAccount
    ) -> None:
        """Decide about one document, and parse it where it is new or changed."""
        report, name = plan.report, document.place.source_file
        if name in plan.seen:
            plan.fail(account, name, "another source has a document of this name")
            return
        plan.seen.append(name)
        before = plan.kept.get(name)
        try:
            await document.read()
            facts = (PIPELINE_VERSION, course.language, course.base_url or "")
            fingerprint = ":".join((*facts, document.fingerprint()))
            if before and before.fingerprint == fingerprint:
                report.unchanged.append(name)
                account.read.append(name)
                return
            if name in plan.foreign:
                raise UnsupportedDocument(f"has the name of a document of {plan.foreign[name]}")
            parsed = course_document(course, document.place, await document.parse(), fingerprint)
        except IngestionError as error:
            stays = "; its earlier text stays" if before else ""
            plan.fail(account, name, f"{error}{stays}")
            return
        account.read.append(name)
        warnings = (*self._ordering_sections(parsed), *parsed.warnings)
        report.warnings += [Failure(name, warning) for warning in warnings]
        (report.added if before is None else report.changed).append(name)
        plan.kept.pop(name, None)
        plan.parsed[name] = parsed

    def _ordering_sections(self, document: CourseDocument) -> list[str]:
        """Return a warning for each section that holds an order to an assistant, in order."""
        named = [
            " › ".join(chunk.headings) or chunk.page_title
            for chunk in document.chunks
            if self._orders_machines(chunk.content_text, (chunk.page_title, *chunk.headings))
        ]
        return [
            f"text in “{name}” reads like an instruction to a machine: answers leave it out"
            for name in dict.fromkeys(named)
        ]

    async def _build(
        self,
        course: Course,
        plan: Plan,
        live: Edition | None,
        generation: UUID,
        progress: Progress,
    ) -> Edition:
        """Store the next edition aside, make it readable, and publish it."""
        parsed = [chunk for doc in plan.parsed.values() for chunk in doc.chunks]
        kept = sum(doc.chunk_count for doc in plan.kept.values())
        self._check_room(course.course_id, footprint(parsed, kept, self._embedder.dimensions))
        collection = collection_of(course.course_id, generation)
        await self._index.create(collection, self._embedder.dimensions)
        terms: list[Sequence[int]] = []
        stored = 0
        total = sum(doc.chunk_count for doc in plan.kept.values())
        total += sum(len(doc.chunks) for doc in plan.parsed.values())
        async for points in self._points(course, plan, live, progress):
            fresh = [
                replace(p, chunk=p.chunk.model_copy(update={"generation": generation}))
                for p in points
            ]
            await self._index.upsert(collection, fresh)
            terms += [point.sparse.indices for point in fresh]
            stored += len(fresh)
            progress("storing", stored, total)
        await self._index.seal(collection, total)
        edition = Edition(
            generation=generation,
            course_id=course.course_id,
            collection=collection,
            embedding_model=self._embedder.name,
            dimensions=self._embedder.dimensions,
            created_at=now(),
            chunks=total,
            documents=len(plan.kept) + len(plan.parsed),
        )
        sections = await self._sections(plan, live)
        records = {name: doc.record for name, doc in plan.parsed.items()} | plan.kept
        await self._catalogue.publish(
            edition,
            [records[name] for name in plan.order],
            sections,
            TermStatistics.count(terms).to_bytes(),
            course=course,
        )
        return edition

    async def _points(
        self, course: Course, plan: Plan, live: Edition | None, progress: Progress
    ) -> AsyncIterator[list[IndexedPoint]]:
        """Yield the points of the next edition in batches, kept documents first."""
        kept = [doc.document_id for doc in plan.kept.values()]
        for batch in _batches(kept, _DOCUMENTS_A_COPY):
            assert live is not None
            points = await self._index.points(live.collection, batch)
            if live.embedding_model != self._embedder.name or not _have_sentences(points):
                chunks, vectors = await self._embed([p.chunk for p in points], plan, progress)
                points = [
                    replace(point, chunk=chunk, dense=vector)
                    for point, chunk, vector in zip(points, chunks, vectors, strict=True)
                ]
            yield points
        pairs = [
            (chunk, section_ids)
            for doc in plan.parsed.values()
            for chunk, section_ids in zip(doc.chunks, doc.chunk_sections, strict=True)
        ]
        for batch_pairs in _batches(pairs, _EMBED_BATCH):
            chunks, vectors = await self._embed([c for c, _ in batch_pairs], plan, progress)
            sparse = self._encode_sparse(course.language, [_text_of(chunk) for chunk in chunks])
            yield [
                IndexedPoint(chunk, section_ids, vector, terms)
                for chunk, (_, section_ids), vector, terms in zip(
                    chunks, batch_pairs, vectors, sparse, strict=True
                )
            ]

    async def _embed(
        self, chunks: Sequence[Chunk], plan: Plan, progress: Progress
    ) -> tuple[list[Chunk], Vectors]:
        """Return the chunks with the vectors of their sentences, and their own."""

        def report(done: int, total: int) -> None:
            progress("embedding", done, total)

        texts = [_text_of(chunk) for chunk in chunks]
        spans = [sentence_spans(chunk.content_text) for chunk in chunks]
        shifted = [
            _shifted(own, len(text), c) for own, text, c in zip(spans, texts, chunks, strict=True)
        ]
        vectors, sentences, computed = await embed_sentences_cached(
            self._sentence_embedder, self._catalogue, texts, shifted, report
        )
        if self._embedder.name != self._sentence_embedder.name:
            vectors, computed = await embed_cached(self._embedder, self._catalogue, texts, report)
        plan.report.embedded += computed
        told = zip(chunks, spans, sentences, strict=True)
        return [
            chunk.model_copy(update={"sentences": tuple(own), "sentence_vectors": data})
            for chunk, own, data in told
        ], vectors

    async def _sections(self, plan: Plan, live: Edition | None) -> list[SectionRecord]:
        """Return the sections of the next edition in book order, each once."""
        by_file: dict[str, list[SectionRecord]] = {}
        for section in await self._catalogue.sections(live.generation) if live else []:
            if section.source_file in plan.kept:
                by_file.setdefault(section.source_file, []).append(section)
        for name, document in plan.parsed.items():
            by_file[name] = list(document.sections)
        ordered = [section for name in plan.order for section in by_file.get(name, [])]
        unique = {section.section_id: section for section in reversed(ordered)}
        kept = [section for section in ordered if unique.pop(section.section_id, None)]
        return [replace(section, ordinal=ordinal) for ordinal, section in enumerate(kept)]


def _text_of(chunk: Chunk) -> str:
    return embedding_text(chunk.page_title, chunk.headings, chunk.content_text)


def _shifted(spans: Sequence[Span], length: int, chunk: Chunk) -> list[Span]:
    """Return where a chunk's spans are in the text of that length that is embedded."""
    by = length - len(chunk.content_text)
    return [Span(start + by, end + by) for start, end in spans]


def _have_sentences(points: Sequence[IndexedPoint]) -> bool:
    return all(point.chunk.sentence_vectors for point in points)


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
