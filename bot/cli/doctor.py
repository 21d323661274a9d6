"""`glossator doctor`: checks one thing after another and says what to do."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from bot.cli.db import WHAT_TO_DO
from bot.cli.exits import Exit, sentence_for
from bot.courses import CourseFile, read_course_file
from bot.database import SchemaState
from bot.database import check as check_schema
from bot.embedders import gemini_model, open_local
from bot.gemini import Gemini
from bot.settings import BudgetSettings, Settings, load_settings
from bot.wiring import chosen_generator, make_data_dir, open_index
from core.catalogue import Catalogue, Edition
from core.database import create_engine
from core.embeddings.local import LocalEmbedder
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
    async for finding in _check_writing(settings, course_file):
        yield finding
    if "gemini" in {settings.embedding.provider, *map(course_file.embedding, course_file.tables)}:
        yield await _check_embedding(settings)
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
        embedder = open_local(settings)
        try:
            await embedder.embed_queries(["Is anybody there?"])
        finally:
            embedder.close()
    except BotError as error:
        return _failed("model", error)
    return _Finding("model", f"{embedder.name} answers with {embedder.dimensions} dimensions")


async def _check_writing(settings: Settings, course_file: CourseFile) -> AsyncIterator[_Finding]:
    """Check who writes answers, and say what that may cost."""
    try:
        if chosen_generator(settings) == "extractive":
            yield _Finding("generator", "extractive")
            return
        models = _models(settings, course_file)
        async with AsyncExitStack() as closing:
            client = Gemini(settings.gemini, closing).client
            for model in models:
                await client.check(model)
    except BotError as error:
        yield _failed("generator", error)
        return
    url = settings.gemini.base_url
    place = f" at {urlsplit(url).hostname}" if url else ""
    verb = "answers" if len(models) == 1 else "answer"
    yield _Finding("generator", f"gemini: {', '.join(models)} {verb}{place}")
    yield _Finding("budgets", _budgets(settings.budget))


def _models(settings: Settings, course_file: CourseFile) -> list[str]:
    """Return the models that answers are written with, each once."""
    gemini = settings.gemini
    of_courses = [course_file.configuration(name).model_name for name in course_file.tables]
    named = [gemini.model, gemini.repair_model, *of_courses]
    return list(dict.fromkeys(model for model in named if model and model != "extractive"))


def _budgets(budget: BudgetSettings) -> str:
    limits = {
        "a user": budget.user_tokens,
        "a course": budget.course_tokens,
        "in all": budget.total_tokens,
    }
    told = [f"{tokens:,} {whose}" for whose, tokens in limits.items() if tokens is not None]
    daily = ", ".join(told) if told else "any number"
    return f"{budget.request_tokens:,} tokens a question; {daily} a day"


async def _check_embedding(settings: Settings) -> _Finding:
    """Check the model that courses are embedded with which do not use the local one."""
    gemini = settings.gemini
    try:
        async with AsyncExitStack() as closing:
            opened = Gemini(gemini, closing)
            embedder = opened.embedder(gemini.embedding_model, gemini.embedding_dimensions)
            await embedder.warm_up()
            await embedder.embed_queries(["Is anybody there?"])
    except BotError as error:
        return _failed("embedding", error)
    text = f"{gemini.embedding_model} answers with {gemini.embedding_dimensions} dimensions"
    return _Finding("embedding", text)


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
        return _failed("course", ConfigurationError(text))
    if found != edition.chunks:
        text = f"The index holds {found} of {edition.chunks} chunks of {name}: {again} again."
        return _failed("course", ConfigurationError(text))
    try:
        if edition.embedding_model != LocalEmbedder.name:
            gemini_model(settings, edition.embedding_model)
    except ConfigurationError as error:
        return _failed("course", ConfigurationError(f"{name}: {error}"))
    model = edition.embedding_model
    return _Finding("course", f"{name}: {edition.chunks} chunks, embedded with {model}")


def _failed(subject: str, error: BotError) -> _Finding:
    code = Exit.UNAVAILABLE if isinstance(error, ServiceError) else Exit.CONFIGURATION
    return _Finding(subject, sentence_for(error), code)
