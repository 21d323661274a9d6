"""`glossator doctor`: checks one thing after another and says what to do."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from bot.cli.db import WHAT_TO_DO
from bot.cli.doctor_discord import check_discord
from bot.cli.doctor_gemini import check_gemini
from bot.cli.doctor_slack import check_slack
from bot.cli.exits import Exit
from bot.cli.findings import Finding, failed, misconfigured, warning
from bot.courses import CourseFile, read_course_file
from bot.database import SchemaState
from bot.database import check as check_schema
from bot.embedders import gemini_model, meant_model, open_local
from bot.handbook import COURSE
from bot.settings import Settings, load_settings
from bot.stand_ins import LOUDLY
from bot.wiring import make_data_dir, open_index, short_keys
from core.catalogue import Catalogue, Edition
from core.database import create_engine, dispose
from core.embeddings.local import LocalEmbedder
from core.errors import BotError, ConfigurationError
from core.ingestion.sources import is_gone

_STRONGER = "take what 'openssl rand -base64 32' prints."


async def doctor() -> int:
    """Print a line for each thing checked; the exit code is that of the worst finding."""
    worst = Exit.OK
    async for finding in _findings():
        print(finding.line, flush=True)
        worst = max(worst, finding.exit_code)
    return worst


async def _findings() -> AsyncIterator[Finding]:
    try:
        settings = load_settings()
        course_file = read_course_file(
            settings.config, required="config" in settings.model_fields_set
        )
        make_data_dir(settings.data_dir)
    except BotError as error:
        yield failed("settings", error)
        return
    described = len(course_file.tables)
    yield Finding("settings", f"data in {settings.data_dir}; courses in the file: {described}")
    yield Finding("data", _kept(settings.retention.days))
    for name in short_keys(settings):
        yield warning("settings", f"{name} is so short that it can be guessed: {_STRONGER}")
    state, database = await _check_database(settings)
    yield database
    yield await _check_model(settings)
    async for finding in check_gemini(settings, course_file):
        yield finding
    async for finding in check_discord(settings.discord):
        yield finding
    async for finding in check_slack(settings.slack):
        yield finding
    held, index = await _check_index(settings)
    yield index
    if state is SchemaState.CURRENT and held is not None:
        async for finding in _check_courses(settings, course_file, held):
            yield finding
    elif state is SchemaState.BEHIND:
        yield _no_course(course_file)
    for finding in _check_described(course_file):
        yield finding


def _kept(days: int) -> str:
    """Return how long conversations are kept."""
    if not days:
        return "conversations are kept until somebody deletes them"
    return f"conversations are kept for {days} days, then deleted while the bot runs"


async def _check_database(settings: Settings) -> tuple[SchemaState | None, Finding]:
    try:
        engine = create_engine(settings.database_url)
        try:
            state = await check_schema(engine)
        finally:
            await dispose(engine)
    except BotError as error:
        return None, failed("database", error)
    name = engine.dialect.name
    if state is SchemaState.CURRENT:
        return state, Finding("database", f"{name}, up to date")
    if state is SchemaState.BEHIND:
        return state, Finding("database", f"{name}, its tables are made by the next command")
    return state, misconfigured("database", WHAT_TO_DO[state])


async def _check_model(settings: Settings) -> Finding:
    try:
        embedder = open_local(settings)
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
    return held, Finding("index", f"{len(held)} collections {where}")


def _unwritable(folder: Path) -> Path | None:
    """Return what may not be written in the index's folder, if any; even its readers must."""
    found = os.walk(folder)
    below = [Path(at, name) for at, folders, files in found for name in [*folders, *files]]
    closed = (path for path in (folder, *below) if path.exists() and not os.access(path, os.W_OK))
    return next(closed, None)


async def _check_courses(
    settings: Settings, course_file: CourseFile, held: frozenset[str]
) -> AsyncIterator[Finding]:
    """Check that the index holds what the database says it holds."""
    engine = create_engine(settings.database_url)
    try:
        known = await Catalogue(engine).courses()
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
        elif edition.collection not in held:
            text = f"The index does not hold {course.course_id}: {again} again."
            yield misconfigured("course", text)
        else:
            yield await _check_edition(settings, course_file, edition, again)
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


def _check_described(course_file: CourseFile) -> Iterator[Finding]:
    """Check that the sources of the described courses are there."""
    for name in course_file.tables:
        sources = course_file.sources(name)
        if not sources:
            yield warning(
                "course", f"{name} has no sources in the course file: nothing can be read anew"
            )
        for source in sources:
            if is_gone(source):
                yield warning("course", f"The source {source} of {name} is not there.")


async def _check_edition(
    settings: Settings, course_file: CourseFile, edition: Edition, again: str
) -> Finding:
    """Check that an edition can be read, is whole, and can be searched."""
    name = edition.course_id
    try:
        index = open_index(settings)
        try:
            found = await index.count(edition.collection)
        finally:
            await index.close()
    except BotError:
        text = f"The text of {name} in the index is damaged: {again} again."
        return misconfigured("course", text)
    if found != edition.chunks:
        text = f"The index holds {found} of {edition.chunks} chunks of {name}: {again} again."
        return misconfigured("course", text)
    try:
        if edition.embedding_model != LocalEmbedder.name:
            gemini_model(settings, edition.embedding_model)
    except ConfigurationError as error:
        return misconfigured("course", f"{name}: {error}")
    text = f"{name}: {edition.chunks} chunks, embedded with {edition.embedding_model}"
    wanted = meant_model(settings, course_file, name)
    if wanted == edition.embedding_model:
        return Finding("course", text)
    source = "" if course_file.sources(name) else "SOURCE "
    command = f"glossator ingest {source}--course {name}"
    return warning("course", f"{text}, not with {wanted} as is configured: run '{command}'")
