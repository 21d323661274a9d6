"""Brings a course's sources into the index: a new edition is built aside, then published."""

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

from core.domain import Chunk, Course, now
from core.domain.errors import (
    EmptyDocument,
    IngestionError,
    NoRoom,
    ProgramMissing,
    StoreUnwritable,
    UnsupportedDocument,
)
from core.index.base import VectorIndex, collection_of, course_of
from core.ingestion.account import SourceAccount, record_of
from core.ingestion.building import EditionBuilder, Live, SettleEdition, settles_nothing
from core.ingestion.changes import CourseChanges
from core.ingestion.coverage import (
    Failure,
    IngestionRefused,
    IngestReport,
    Progress,
    refuse_emptied,
    refuse_little,
)
from core.ingestion.embedding import CheckRoom, ChunkEmbedder, EncodeSparse, dropped, given_back
from core.ingestion.formats import registry
from core.ingestion.passages import course_document, with_boilerplate
from core.ingestion.plan import Plan, others_of
from core.ingestion.refusal import LeftOut, more_left_out_than_read, not_read, not_read_before
from core.ingestion.sources.sources import Source, SourceDocument
from core.providers.embeddings.base import Embedder, SentenceEmbedder
from core.storage.catalogue import Catalogue, DocumentRecord, Edition
from core.storage.ingest_accounts import IngestAccounts

logger = logging.getLogger(__name__)


ForeignLanguage = Callable[[Sequence[str], str], str | None]
"""Returns what most of some texts are in, if not a language: a code, or a script in capitals."""
_SAMPLE = 200
"""Chunks that are looked at, spread over the whole source."""


def all_in_their_language(texts: Sequence[str], language: str) -> None:
    """Take all texts to be in a language."""
    return


def warn_of_foreign_text(
    source: str, chunks: Sequence[Chunk], language: str, foreign_language: ForeignLanguage
) -> list[Failure]:
    """Return a warning where most of a source is in another language than its course."""
    if not chunks:
        return []
    sample = chunks[:: -(-len(chunks) // _SAMPLE)]
    found = foreign_language([chunk.content_text for chunk in sample], language)
    if found is None:
        return []
    seen = f"{found.capitalize()} script" if found.isupper() else f'"{found}"'
    return [
        Failure(
            source,
            f'most of its text seems to be in {seen}, and its course says "{language}": '
            "set the course's `language` in the course file, and ingest it again",
        )
    ]


PIPELINE_VERSION = "5"
"""Part of every fingerprint: a splitter that works differently gets another one. What reads one
format differently gets another `version` in the entry of the format."""
_VECTORS_KEPT = timedelta(days=90)
"""How long a vector that no run asks for stays in the cache."""


class Ingestion:
    """Ingests courses with the collaborators it is given."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        accounts: IngestAccounts,
        changes: CourseChanges,
        index: VectorIndex,
        embedder: Embedder,
        sentence_embedder: SentenceEmbedder,
        encode_sparse: EncodeSparse,
        lock: Callable[[str], AbstractAsyncContextManager[None]],
        check_room: CheckRoom = lambda *_: None,
        settle: SettleEdition = settles_nothing,
        foreign_language: ForeignLanguage = all_in_their_language,
    ) -> None:
        """`encode_sparse` takes the course's language and texts; `lock` a course's id.

        `sentence_embedder` is the model that answers are chosen by, whichever a course is
        searched with.
        `foreign_language` is asked whether what was read is in the course's language.
        """
        self._catalogue = catalogue
        self._accounts = accounts
        self._changes = changes
        self._index = index
        self._model = embedder.name
        self._lock = lock
        self._foreign_language = foreign_language
        chunks = ChunkEmbedder(catalogue, embedder, sentence_embedder, encode_sparse)
        self._builder = EditionBuilder(catalogue, index, chunks, check_room, settle)

    async def run(
        self,
        course: Course,
        sources: Sequence[Source],
        *,
        listed: Collection[str] | None = None,
        untrusted: Collection[str] = (),
        least_share: float = 0.0,
        progress: Progress = lambda *_: None,
    ) -> IngestReport:
        """Bring the course up to date with `sources` and return what changed.

        Documents of other sources stay, and are not replaced by documents of the same name.
        They go where the course does not list their source any more, or where their file or
        folder is gone and one of `sources` has taken up a document of it: it has moved. Readers
        see the old edition until the new one is complete; where nothing changed, none is made.
        What the sources named in `untrusted` say is shown with its origin, as others' words.

        Args:
            listed: the names of the other sources that the course has; None: it is not known.

        Raises:
            IngestionBusy: when another process is ingesting this course.
            IngestionRefused: when nothing can be read, or less than `least_share`, from 0 to 1,
                of the text-like files, or when a source that had documents has none any more and
                `least_share` is more than 0; nothing is embedded or changed then.
            NoRoom: when the disk is full, or would be; the old edition stays.
        """
        async with self._lock(course.course_id):
            await self._catalogue.heal_origins()
            published = await self._catalogue.live(course.course_id)
            readable = published if await self._is_readable(published) else None
            if readable or not published:  # else what is swept may be the only text there is
                await self._sweep(course.course_id)
            live = await self._placed(readable)
            plan = await self._plan(course, sources, live, listed, untrusted, progress)
            report = plan.report
            report.chunk_counts = plan.chunk_counts
            await self._refuse_little(plan, readable, least_share)
            if published and not readable:
                report.failed += await self._lost(published, plan)
            changed = bool(plan.parsed or report.removed)
            if readable and live and not changed and live.is_of(self._model):
                await self._catalogue.save_course(course)
                await self._catalogue.set_origins(readable.generation, plan.moved, plan.retired)
                await self._note(plan)
                report.generation, report.chunks = readable.generation, readable.chunks
                return report
            generation = uuid4()
            async with given_back(self._index, collection_of(course.course_id, generation)):
                edition = await self._builder.build(course, plan, live, generation, progress)
            await self._catalogue.set_origins(edition.generation, plan.moved, plan.retired)
            await self._note(plan)
            if report.sections:
                names = [source.name for source in sources]
                await self._changes.save(course.course_id, names, report.sections)
            report.chunks = edition.chunks
            await self._sweep(course.course_id)
            report.generation = (await self._compacted(edition)).generation
            await self._catalogue.prune_vectors(now() - _VECTORS_KEPT)
            return report

    async def _placed(self, edition: Edition | None) -> Live | None:
        """Return the live edition with where each of its documents is."""
        if edition is None:
            return None
        placed = await self._catalogue.placed(edition.generation)
        return Live(edition, {entry[1].source_file: entry for entry in placed})

    async def _compacted(self, edition: Edition) -> Edition:
        """Bring collections of an edition together; readers go on with it meanwhile.

        Where there is no room for that, it stays as it is.
        """
        live = await self._placed(edition)
        while live is not None and (run := live.run_to_merge()):
            generation = uuid4()
            collection = collection_of(edition.course_id, generation)
            try:
                async with given_back(self._index, collection):
                    edition = await self._builder.compact(run, live, generation)
            except (NoRoom, StoreUnwritable) as error:
                logger.warning("the index of %s is not compacted: %s", edition.course_id, error)
                break
            await self._sweep(edition.course_id)
            live = await self._placed(edition)
        return edition

    async def _is_readable(self, edition: Edition | None) -> bool:
        """Return whether there is an edition and this index holds all of it."""
        if edition is None:
            return False
        names = {segment.collection for segment in edition.segments}
        if not names <= await self._index.collections():
            return False
        return all(
            [await self._index.is_whole(one.collection, one.chunks) for one in edition.segments]
        )

    async def _lost(self, published: Edition, plan: Plan) -> list[Failure]:
        """Return the documents that went with their index and that no source has brought back."""
        logger.warning("the index does not hold %s: all is read again", published.course_id)
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
        live: Live | None,
        listed: Collection[str] | None,
        untrusted: Collection[str],
        progress: Progress,
    ) -> Plan:
        """Compare the sources with the live edition; parse what is new or changed."""
        known = [record for _, record in live.placed.values()] if live else []
        named = {source.name for source in sources}
        plan = Plan(
            IngestReport(course.course_id),
            {doc.source_file: doc for doc in known},
            others_of(known, named, listed),
        )
        for source in sources:
            documents = await source.documents()
            account = SourceAccount(source.name, list(source.left_out))
            plan.report.accounts.append(account)
            plan.report.warnings += [Failure(source.name, text) for text in source.warnings]
            for position, document in enumerate(documents, 1):
                await self._take_up(
                    course, plan, document, account, is_trusted=source.name not in untrusted
                )
                progress("reading", position, len(documents))
            plan.report.warnings += self._foreign_text(course, plan, account)
        plan.parsed = with_boilerplate(plan.parsed)
        plan.drop_absent(named)
        return plan

    def _foreign_text(self, course: Course, plan: Plan, account: SourceAccount) -> list[Failure]:
        """Return a warning where what was newly read of a source is in another language."""
        read = [plan.parsed[name] for name in account.read if name in plan.parsed]
        if 2 * len(read) < len(account.read):
            return []  # of the others it is not known
        chunks = [chunk for document in read for chunk in document.chunks]
        return warn_of_foreign_text(account.source, chunks, course.language, self._foreign_language)

    async def _refuse_little(self, plan: Plan, live: Edition | None, least_share: float) -> None:
        """Raise IngestionRefused where too little was read; the account is kept even then."""
        report, is_empty = plan.report, not plan.parsed and not plan.kept
        try:
            refuse_emptied(plan.emptied() if least_share else {}, report)
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
        self,
        course: Course,
        plan: Plan,
        document: SourceDocument,
        account: SourceAccount,
        *,
        is_trusted: bool,
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
            facts = [course.language, course.base_url or "", *([] if is_trusted else ["untrusted"])]
            state = ":".join((*facts, document.fingerprint()))
            reader, _, state_before = before.fingerprint.partition(":") if before else ("", "", "")
            if before and state_before == state and reader in _readers().values():
                report.unchanged.append(name)
                report.not_read += not_read_before(name, before.left_out)
                account.read.append(name)
                if before.origin != document.place.origin and name not in plan.others.foreign:
                    plan.moved[name] = document.place.origin
                return
            if other := plan.others.foreign.get(name):
                raise UnsupportedDocument(f"has the name of a document of {other}")
            place = replace(document.place, is_trusted=is_trusted)
            text = await document.parse()
            parsed = course_document(course, place, text, f"{_readers()[text.format]}:{state}")
        except IngestionError as error:
            if isinstance(error, ProgramMissing | EmptyDocument) and before is None:
                is_missed = isinstance(error, ProgramMissing)
                account.left_out.append(LeftOut(name, str(error), is_missed=is_missed))
                return
            stays = "; its earlier text stays" if before else ""
            plan.fail(account, name, f"{error}{stays}")
            return
        account.read.append(name)
        report.warnings += [Failure(name, warning) for warning in parsed.warnings]
        if warning := more_left_out_than_read(text.blocks, text.left_out):
            report.warnings.append(Failure(name, warning))
        report.not_read += not_read(name, text.left_out)
        if before is None:
            report.added.append(name)
        else:
            is_stale = reader not in _readers().values()
            is_same = is_stale and _shown(before) == _shown(parsed.record)
            (report.unchanged if is_same else report.changed).append(name)
            if is_stale:
                report.reread.append(name)
        plan.kept.pop(name, None)
        plan.parsed[name] = parsed


def _shown(record: DocumentRecord) -> tuple[str, ...]:
    """Return what people see of a document."""
    return record.content_hash, record.title, record.url or "", record.module or ""


def _readers() -> dict[str, str]:
    """Return for each format what a document keeps of its reader: another one reads it again."""
    return {
        each.name: f"{PIPELINE_VERSION}-{each.name}-{each.version}" for each in registry.FORMATS
    }
