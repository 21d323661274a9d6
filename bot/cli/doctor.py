"""`glossator doctor`: checks one thing after another and says what to do."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from bot.cli.db import WHAT_TO_DO
from bot.cli.exits import Exit, sentence_for
from bot.courses import CourseFile, read_course_file
from bot.database import SchemaState
from bot.database import check as check_schema
from bot.settings import Settings, load_settings
from bot.wiring import chosen_generator, make_data_dir, open_embedder, open_index
from core.catalogue import Catalogue, Edition
from core.database import create_engine
from core.errors import BotError, ConfigurationError, ServiceError


@dataclass(frozen=True, slots=True)
class _Finding:
    subject: str
    text: str
    exit_code: Exit = Exit.OK


async def doctor() -> int:
    """Print a line for each thing checked; the exit code is that of the worst finding."""
    worst = Exit.OK
    async for finding in _findings():
        mark = "ok  " if finding.exit_code is Exit.OK else "FAIL"
        print(f"{mark}  {finding.subject:<9} {finding.text}", flush=True)
        worst = max(worst, finding.exit_code)
    return worst


async def _findings() -> AsyncIterator[_Finding]:
    try:
        settings = load_settings()
        course_file = read_course_file(
            settings.config, required="config" in settings.model_fields_set
        )
        make_data_dir(settings.data_dir)
    except BotError as error:
        yield _failed("settings", error)
        return
    described = len(course_file.tables)
    yield _Finding("settings", f"data in {settings.data_dir}; {described} courses in the file")
    state, database = await _check_database(settings)
    yield database
    yield await _check_model(settings)
    yield _check_generator(settings)
    held, index = await _check_index(settings)
    yield index
    if state is SchemaState.CURRENT and held is not None:
        async for finding in _check_courses(settings, course_file, held):
            yield finding
    elif state is SchemaState.BEHIND:
        yield _Finding("course", "none yet: run 'glossator ingest SOURCE'")


async def _check_database(settings: Settings) -> tuple[SchemaState | None, _Finding]:
    try:
        engine = create_engine(settings.database_url)
        try:
            state = await check_schema(engine)
        finally:
            await engine.dispose()
    except BotError as error:
        return None, _failed("database", error)
    name = engine.dialect.name
    if state is SchemaState.CURRENT:
        return state, _Finding("database", f"{name}, up to date")
    if state is SchemaState.BEHIND:
        return state, _Finding("database", f"{name}, its tables are made by the next command")
    return state, _failed("database", ConfigurationError(WHAT_TO_DO[state]))


async def _check_model(settings: Settings) -> _Finding:
    try:
        embedder = open_embedder(settings)
        try:
            await embedder.embed_queries(["Is anybody there?"])
        finally:
            embedder.close()
    except BotError as error:
        return _failed("model", error)
    return _Finding("model", f"{embedder.name} answers with {embedder.dimensions} dimensions")


def _check_generator(settings: Settings) -> _Finding:
    try:
        return _Finding("generator", chosen_generator(settings))
    except BotError as error:
        return _failed("generator", error)


async def _check_index(settings: Settings) -> tuple[frozenset[str] | None, _Finding]:
    """Return the collections that the index holds, none when it does not answer."""
    try:
        index = open_index(settings)
        try:
            held = await index.collections()
        finally:
            await index.close()
    except BotError as error:
        return None, _failed("index", error)
    where = "in the data folder" if settings.qdrant.url is None else "at the Qdrant URL"
    return held, _Finding("index", f"{len(held)} collections {where}")


async def _check_courses(
    settings: Settings, course_file: CourseFile, held: frozenset[str]
) -> AsyncIterator[_Finding]:
    """Check that the index holds what the database says it holds."""
    engine = create_engine(settings.database_url)
    try:
        known = await Catalogue(engine).courses()
    except BotError as error:
        yield _failed("course", error)
        return
    finally:
        await engine.dispose()
    for course, edition in known:
        again = f"run 'glossator ingest' for the course {course.course_id}"
        if edition is None:
            yield _failed("course", ConfigurationError(f"No text yet: {again}."))
        elif edition.collection not in held:
            text = f"The index does not hold {course.course_id}: {again} again."
            yield _failed("course", ConfigurationError(text))
        else:
            yield await _check_edition(settings, edition, again)
    if not known and not course_file.tables:
        yield _Finding("course", "none yet: run 'glossator ingest SOURCE'")


async def _check_edition(settings: Settings, edition: Edition, again: str) -> _Finding:
    """Check that an edition can be read and is whole."""
    name = edition.course_id
    try:
        index = open_index(settings)
        try:
            found = await index.count(edition.collection)
        finally:
            await index.close()
    except BotError:
        text = f"The text of {name} in the index is damaged: {again} again."
        return _failed("course", ConfigurationError(text))
    if found != edition.chunks:
        text = f"The index holds {found} of {edition.chunks} chunks of {name}: {again} again."
        return _failed("course", ConfigurationError(text))
    return _Finding("course", f"{name}: {edition.chunks} chunks")


def _failed(subject: str, error: BotError) -> _Finding:
    code = Exit.UNAVAILABLE if isinstance(error, ServiceError) else Exit.CONFIGURATION
    return _Finding(subject, sentence_for(error), code)
