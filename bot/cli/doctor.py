"""`glossator doctor`: checks one thing after another and says what to do."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from pkgutil import resolve_name

from adapters.features.command_names import CommandNames
from bot.cli.counted import counted
from bot.cli.exits import Exit
from bot.course_file import CourseFile, read_course_file
from bot.database import WHAT_TO_DO, SchemaState, is_new
from bot.database import check as check_schema
from bot.doctor.access import check_access
from bot.doctor.accounts import check_account
from bot.doctor.disk import check_disks
from bot.doctor.findings import Finding, failed, misconfigured, warning
from bot.doctor.models import check_judge, check_marks, check_models
from bot.doctor.sources import check_pandoc, check_scans, check_sources
from bot.doctor.staff import check_staff
from bot.handbook import COURSE
from bot.keyring.keys import Keys, prove, short_keys
from bot.platforms.entry import PlatformSettings
from bot.platforms.registry import PLATFORMS
from bot.providers.embedders import embedding_model, meant_model, open_local
from bot.providers.models import check_contexts, check_named_models
from bot.providers.stand_ins import LOUDLY
from bot.providers.tables import read_tables
from bot.services import missing_text
from bot.settings import Settings, load_settings
from bot.wiring import make_data_dir, open_index
from core.disk.space import is_read_only
from core.embeddings.local import LocalEmbedder
from core.errors import BotError, ConfigurationError
from core.index.points import course_of
from core.storage.catalogue import Catalogue, Edition
from core.storage.database import create_engine, dispose
from core.storage.ingest_accounts import IngestAccounts
from core.storage.origins import Origins

Findings = AsyncIterator[Finding]
_STRONGER = "take what 'openssl rand -base64 32' prints."
_UNKNOWN = (
    "it holds texts of courses that the database does not know: {courses}. An ingestion that was "
    "interrupted leaves them so: ingest them again; if the database was lost, restore one that is "
    "as new as the index"
)

_NAMED = (
    "they are called {}; on Slack, the app's manifest has to say so: "
    "'glossator slack-manifest' prints it"
)
_OLD = (
    "{name}, its tables are those of an earlier version: make a backup, run "
    "'glossator db upgrade', then 'glossator doctor' again for what is to be done after that"
)


async def doctor(*, live: bool = False) -> int:
    """Print a line for each thing checked; the exit code is that of the worst finding.

    Args:
        live: Have the platforms judge what the bot can show there, too; nobody sees it.
    """
    worst = Exit.OK
    async for finding in _findings(live=live):
        print(finding.line, flush=True)
        worst = max(worst, finding.exit_code)
    return worst


async def _findings(*, live: bool) -> AsyncIterator[Finding]:
    try:
        settings = load_settings()
        course_file = read_course_file(
            settings.config, required="config" in settings.model_fields_set
        )
        tables = read_tables(settings, course_file.models)
        check_named_models(settings, tables, course_file)
        check_contexts(settings, tables, course_file)
        make_data_dir(settings, needs_room=False)
    except BotError as error:
        yield failed("settings", error)
        return
    described = len(course_file.tables)
    yield Finding("settings", f"data in {settings.data_dir}; courses in the file: {described}")
    yield Finding("data", _kept(settings.retention.days))
    for name in short_keys(settings):
        yield warning("settings", f"{name} is so short that it can be guessed: {_STRONGER}")
    for finding in check_disks(settings):
        yield finding
    state, database = await _check_database(settings)
    yield database
    keys = None
    if state is SchemaState.CURRENT:
        keys, proved = await _check_keys(settings)
        yield proved
    yield await _check_model(settings)
    async for finding in check_models(settings, tables, course_file):
        yield finding
    for name, platform in PLATFORMS.items():
        check: Callable[[PlatformSettings], Findings] = resolve_name(platform.doctor)
        async for finding in check(settings.platform(name)):
            yield finding
        if live and platform.live is not None:
            judge: Callable[[PlatformSettings], Findings] = resolve_name(platform.live)
            async for finding in judge(settings.platform(name)):
                yield finding
    if settings.commands != CommandNames():
        yield Finding("commands", _NAMED.format(", ".join(settings.commands.terms().values())))
    if keys is not None:
        for checked in filter(None, (platform.stored for platform in PLATFORMS.values())):
            stored: Callable[[Settings, Sequence[bytes]], Findings] = resolve_name(checked)
            async for finding in stored(settings, keys.sealing):
                yield finding
    if state is SchemaState.CURRENT:
        async for finding in _check_tenants(settings, course_file):
            yield finding
    held, index = await _check_index(settings)
    yield index
    if state is SchemaState.CURRENT and held is not None:
        async for finding in _check_courses(settings, course_file, held):
            yield finding
    elif state is SchemaState.BEHIND:
        yield _no_course(course_file)
    async for finding in check_sources(course_file):
        yield finding
    async for finding in check_scans(course_file, settings.ingest.max_recognised_pages):
        yield finding
    yield await check_pandoc()


def _kept(days: int) -> str:
    """Return how long conversations are kept."""
    if not days:
        return "conversations are kept until somebody deletes them"
    return f"conversations are kept for {counted(days, 'day')}, then deleted while the bot runs"


async def _check_database(settings: Settings) -> tuple[SchemaState | None, Finding]:
    try:
        engine = create_engine(settings.database_url, needs_room=False)
        try:
            state = await check_schema(engine)
            is_old = state is SchemaState.BEHIND and not await is_new(engine)
        finally:
            await dispose(engine)
    except BotError as error:
        return None, failed("database", error)
    name = engine.dialect.name
    if state is SchemaState.CURRENT:
        return state, Finding("database", f"{name}, up to date")
    if is_old:
        return None, warning("database", _OLD.format(name=name))
    if state is SchemaState.BEHIND:
        return state, Finding("database", f"{name}, its tables are made by the next command")
    return state, misconfigured("database", WHAT_TO_DO[state])


async def _check_tenants(settings: Settings, course_file: CourseFile) -> AsyncIterator[Finding]:
    engine = create_engine(settings.database_url, needs_room=False)
    try:
        async for finding in check_access(engine, course_file):
            yield finding
    finally:
        await dispose(engine)


async def _check_keys(settings: Settings) -> tuple[Keys | None, Finding]:
    """Return the keys, none when they are not those of the database."""
    engine = create_engine(settings.database_url, needs_room=False)
    try:
        keys = await prove(settings, engine, needs_room=False)
    except BotError as error:
        return None, failed("keys", error)
    finally:
        await dispose(engine)
    there = {"pseudonyms": bool(keys.pseudonym), "sealed tokens": bool(keys.sealing)}
    named = " and that of ".join(name for name, is_there in there.items() if is_there)
    fits = f"the key of {named} is there, and the database was used with it"
    return keys, Finding("keys", fits if named else "none is needed yet")


async def _check_model(settings: Settings) -> Finding:
    try:
        embedder = open_local(settings, may_install=False)
        try:
            await embedder.embed_queries(["Is anybody there?"])
        finally:
            embedder.close()
    except BotError as error:
        return failed("model", error)
    text = f"{embedder.name} answers with {embedder.dimensions} dimensions"
    if settings.stand_ins is not None:
        return warning("model", f"{text}: {LOUDLY % settings.stand_ins}")
    return Finding("model", text)


async def _check_index(settings: Settings) -> tuple[frozenset[str] | None, Finding]:
    """Return the collections that the index holds, none when it does not answer."""
    try:
        index = open_index(settings)
        try:
            held = await index.collections()
        finally:
            await index.close()
    except BotError as error:
        return None, failed("index", error)
    if settings.qdrant.url is None and (closed := _unwritable(settings.data_dir / "index")):
        return None, misconfigured(
            "index", f"{closed} cannot be written: give it to the account that runs Glossator."
        )
    where = "in the data folder" if settings.qdrant.url is None else "at the Qdrant URL"
    return held, Finding("index", f"{counted(len(held), 'collection')} {where}")


def _unwritable(folder: Path) -> Path | None:
    """Return what may not be written in the index's folder, if any, though its disk may be."""
    if is_read_only(folder):
        return None
    found = os.walk(folder)
    below = [Path(at, name) for at, folders, files in found for name in [*folders, *files]]
    closed = (path for path in (folder, *below) if path.exists() and not os.access(path, os.W_OK))
    return next(closed, None)


async def _check_courses(
    settings: Settings, course_file: CourseFile, held: frozenset[str]
) -> AsyncIterator[Finding]:
    """Check that the index holds what the database says it holds."""
    engine = create_engine(settings.database_url, needs_room=False)
    try:
        catalogue = Catalogue(engine)
        known = await catalogue.courses()
        documents = {
            course.course_id: await catalogue.documents(edition.generation)
            for course, edition in known
            if edition
        }
        accounts = await IngestAccounts(engine, Origins.of(settings.data_dir)).all()
        there = {course.course_id for course, _ in known} | set(course_file.tables)
        async for finding in check_staff(engine, course_file, there):
            yield finding
    except BotError as error:
        yield failed("course", error)
        return
    finally:
        await dispose(engine)
    try:
        course_file.check_channels({COURSE.course_id, *(course.course_id for course, _ in known)})
    except ConfigurationError as error:
        yield failed("channels", error)
    for course, edition in known:
        again = f"run 'glossator ingest' for the course {course.course_id}"
        if edition is None:
            yield misconfigured("course", f"No text yet: {again}.")
        elif not edition.collections <= held:
            yield misconfigured("course", missing_text(course.course_id))
        else:
            yield await _check_edition(settings, course_file, edition, again)
            tables = read_tables(settings, course_file.models)
            for finding in check_judge(settings, tables, course_file, course.course_id):
                yield finding
            for finding in check_marks(settings, tables, course_file, edition):
                yield finding
            accounted = accounts.get(course.course_id, [])
            # The handbook is no operator's to ingest: a start does it, once its text changes.
            if accounted or course.course_id != COURSE.course_id:
                least = settings.ingest.least_share
                texts = documents.get(course.course_id, [])
                yield check_account(course.course_id, accounted, least, texts)
    named = {name for _, edition in known if edition for name in edition.collections}
    strange = {course_of(collection) for collection in held - named}
    if unknown := strange - {course.course_id for course, _ in known}:
        yield warning("index", _UNKNOWN.format(courses=", ".join(sorted(unknown))))
    own = {course.course_id for course, _ in known} - {COURSE.course_id}
    if not own:
        yield _no_course(course_file)
    else:
        for name in sorted(set(course_file.tables) - own):
            text = (
                f"{name} is described, but not ingested yet: run 'glossator ingest --course {name}'"
            )
            yield warning("course", text)


def _no_course(course_file: CourseFile) -> Finding:
    """Return what to do where there is nothing to ask about but the handbook."""
    if not course_file.tables:
        return warning("course", "There is no course yet: run 'glossator ingest SOURCE'.")
    names = ", ".join(sorted(course_file.tables))
    return warning(
        "course", f"There is no course yet, only described: {names}: run 'glossator ingest'."
    )


async def _check_edition(
    settings: Settings, course_file: CourseFile, edition: Edition, again: str
) -> Finding:
    """Check that an edition can be read, is whole, and can be searched."""
    name, tables = edition.course_id, read_tables(settings, course_file.models)
    try:
        index = open_index(settings)
        try:
            found = [await index.count(segment.collection) for segment in edition.segments]
        finally:
            await index.close()
    except BotError:
        text = f"The text of {name} in the index is damaged: {again} again."
        return misconfigured("course", text)
    stored = [segment.chunks for segment in edition.segments]
    if found != stored:
        chunks = counted(sum(stored), "chunk")
        text = f"The index holds {sum(found)} of {chunks} of {name}: {again} again."
        return misconfigured("course", text)
    try:
        if edition.embedding_model != LocalEmbedder.name:
            preferred = course_file.embedding(name) or settings.embedding.provider
            embedding_model(tables, edition.embedding_model, preferred)
    except ConfigurationError as error:
        return misconfigured("course", f"{name}: {error}")
    text = f"{name}: {counted(edition.chunks, 'chunk')}, embedded with {edition.embedding_model}"
    wanted = meant_model(settings, tables, course_file, name)
    if wanted == edition.embedding_model:
        return Finding("course", text)
    source = "" if course_file.sources(name) else "SOURCE "
    command = f"glossator ingest {source}--course {name}"
    return warning("course", f"{text}, not with {wanted} as is configured: run '{command}'")
