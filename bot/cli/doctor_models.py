"""What `glossator doctor` checks of models: keys, names, context, budgets, prices, embeddings."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from adapters.chat.markdown.printable import on_one_line
from bot.cli.exits import Exit, exit_code, sentence_for
from bot.course_file import CourseFile
from bot.embedders import Marks, meant
from bot.model_tables import LOCAL, NO_JUDGE, ModelTable, names_of
from bot.models import Models, chosen_generator, configured_generator, models_in_use, prices
from bot.settings import BudgetSettings, Settings
from core.answering.writers.prompt import longest_kept
from core.domain import EXTRACTIVE, AgentConfiguration
from core.domain.errors import (
    BotError,
    ConfigurationError,
    EmbeddingError,
    GenerationError,
    ServiceError,
)
from core.retrieval.ranking import BUILT_IN
from core.storage.catalogue import Edition


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's."""

    subject: str
    text: str
    exit_code: Exit = Exit.OK
    is_warning: bool = False
    """Whether it works, and yet something is to be done about it."""

    @property
    def line(self) -> str:
        """What is printed."""
        mark = "FAIL" if self.exit_code is not Exit.OK else "WARN" if self.is_warning else "ok  "
        return on_one_line(f"{mark}  {self.subject:<9} {self.text}")


def warning(subject: str, text: str) -> Finding:
    """Return what should be looked after, though nothing fails."""
    return Finding(subject, text, is_warning=True)


def failed(subject: str, error: BotError) -> Finding:
    """Return what does not work; of a model, what it said itself and what to look at."""
    is_passing = isinstance(error, ServiceError)
    of_model = isinstance(error, GenerationError | EmbeddingError)
    text = str(error) if of_model else sentence_for(error)
    return Finding(subject, text, exit_code(error) if is_passing else Exit.CONFIGURATION)


def misconfigured(subject: str, text: str) -> Finding:
    """Return what cannot work before the operator has changed something."""
    return failed(subject, ConfigurationError(text))


_UNJUDGED = (
    "the judge is none: citations, numbers, links and code of an answer are checked, and nobody "
    "checks that the book says what its sentences say. Set judge of the course, or "
    "GLOSSATOR_JUDGE, to the name of a model; it may be the one that writes"
)


async def check_models(
    settings: Settings, tables: Mapping[str, ModelTable], course_file: CourseFile
) -> AsyncIterator[Finding]:
    """Check who writes answers and what that may cost, and who embeds."""
    async for finding in _check_writing(settings, tables, course_file):
        yield finding
    wanted = {settings.embedding.provider, *map(course_file.embedding, course_file.tables)}
    for name in sorted(wanted - {LOCAL, None}, key=str):
        yield await _check_embedding(settings, tables, str(name))


async def _check_writing(
    settings: Settings, tables: Mapping[str, ModelTable], course_file: CourseFile
) -> AsyncIterator[Finding]:
    try:
        chosen = chosen_generator(settings, tables)
        in_use = models_in_use(settings, tables, course_file, chosen)
        if not in_use:
            yield Finding("generator", _nobody_writes(tables))
            return
        async with AsyncExitStack() as closing:
            models = Models(settings, tables, closing)
            for name, model in in_use:
                await models.chat(name, model).check()
            contexts = [await _check_context(models, name, model) for name, model in in_use]
    except BotError as error:
        yield failed("generator", error)
        return
    yield Finding("generator", _who_writes(tables, in_use))
    for finding in filter(None, contexts):
        yield finding
    yield _check_budgets(settings.budget, course_file)
    if unpriced := _without_price(tables, in_use):
        how = "set input_price and output_price of its table"
        yield warning("prices", f"no price of {', '.join(unpriced)}: {how}, or no cost is told")


def check_marks(
    settings: Settings,
    tables: Mapping[str, ModelTable],
    course_file: CourseFile,
    edition: Edition,
) -> Iterator[Finding]:
    """Warn of models of a course for which no marks are known."""
    course, marks = edition.course_id, Marks(settings.data_dir)
    how = f"run 'glossator calibrate {course}'"
    try:
        fitted = marks.read()
    except ConfigurationError as error:
        yield failed("marks", error)
        return
    model = edition.embedding_model
    if model != BUILT_IN and model not in fitted.scales.get(course, {}):
        text = f"{course}: how near is near was never fitted for {model}, so words alone decide"
        yield warning("marks", f"{text} what the book may answer: {how}")
    table = tables.get(course_file.judge(course) or settings.judge or NO_JUDGE)
    if table is not None and table.model not in fitted.judges.get(course, {}):
        text = f"{course}: from which probability a claim holds was never fitted for {table.model}"
        yield warning("marks", f"{text}: {how}")


def check_judge(
    settings: Settings, tables: Mapping[str, ModelTable], course_file: CourseFile, course: str
) -> Iterator[Finding]:
    """Warn of a course whose answers a model writes and no model judges, as the operator set it."""
    if (course_file.judge(course) or settings.judge) != NO_JUDGE:
        return
    writer = course_file.generator(course)
    if writer is None and course_file.configuration(course).model_name != EXTRACTIVE:
        writer = configured_generator(settings)
    if writer in tables:
        yield warning("judge", f"{course}: {writer} writes its answers, and {_UNJUDGED}")


def _nobody_writes(tables: Mapping[str, ModelTable]) -> str:
    if not tables:
        return EXTRACTIVE
    return f"{EXTRACTIVE}; to let a model write, GLOSSATOR_GENERATOR names one: {', '.join(tables)}"


async def _check_context(models: Models, name: str, model: str) -> Finding | None:
    """Warn when a call may be longer than the server reads: local ones cut it silently."""
    table = models.table(name)
    if not table.provider.tells_context:
        return None
    given = await models.chat(name, model).ask_context()
    if given is None or (table.context is not None and table.context <= given):
        return None
    said = "no context is set" if table.context is None else f"{table.context:,} are set"
    return warning(
        "context",
        f"the server gives {model} {given:,} tokens and {said}: what is longer may be cut without "
        f"a word; set models.{name}.context to {given}",
    )


def _who_writes(tables: Mapping[str, ModelTable], in_use: Sequence[tuple[str, str]]) -> str:
    """Return which models answer and where; an address without what may be secret in it."""
    texts = []
    for name in dict.fromkeys(name for name, _ in in_use):
        table, models = tables[name], [model for other, model in in_use if other == name]
        text = f"{name}: {', '.join(models)} {'answers' if len(models) == 1 else 'answer'}"
        if table.base_url is not None:
            setting = names_of(name, table).base_url
            text += f"; reached at {urlsplit(table.base_url).hostname} ({setting})"
        texts.append(text)
    return "; ".join(texts)


def _check_budgets(budget: BudgetSettings, course_file: CourseFile) -> Finding:
    limits = {
        "a user": budget.user_tokens,
        "a course": budget.course_tokens,
        "in all": budget.total_tokens,
    }
    told = [f"{tokens:,} {whose}" for whose, tokens in limits.items() if tokens is not None]
    daily = ", ".join(told) if told else "any number"
    text = f"{budget.request_tokens:,} tokens a question; {daily} a day"
    for name in course_file.tables or [""]:
        configuration = course_file.configuration(name)
        needed = _longest_question(configuration)
        if configuration.model_name != EXTRACTIVE and budget.request_tokens < needed:
            of_course = f" of {name}" if name else ""
            return warning(
                "budgets",
                f"{text}; a question{of_course} may need {needed:,}, of which max_tokens is "
                f"{configuration.max_tokens:,}: raise GLOSSATOR_BUDGET__REQUEST_TOKENS, or longer "
                "questions are answered in the book's own words",
            )
    return Finding("budgets", text)


def _longest_question(configuration: AgentConfiguration) -> int:
    """Return the tokens that one call for the longest question reads and writes at most."""
    return longest_kept(configuration.system_prompt) + configuration.max_tokens


def _without_price(
    tables: Mapping[str, ModelTable], in_use: Sequence[tuple[str, str]]
) -> list[str]:
    """Return the models without a price, unless no one wants to know about costs."""
    known = prices(tables)
    costs = {(name, model): known.cost(model, 1, 1, name) for name, model in in_use}
    described = [price for t in tables.values() for price in (t.input_price, t.output_price)]
    wanted = any(price is not None for price in described)
    return [model for (_, model), cost in costs.items() if wanted and cost is None]


async def _check_embedding(
    settings: Settings, tables: Mapping[str, ModelTable], name: str
) -> Finding:
    """Check a model that courses are embedded with which do not use the local one."""
    try:
        async with AsyncExitStack() as closing:
            models = Models(settings, tables, closing)
            embedder = models.embedder(name, *meant(tables, name))
            await embedder.warm_up()
            await embedder.embed_queries(["Is anybody there?"])
    except BotError as error:
        return failed("embedding", error)
    model, _, _ = embedder.name.rpartition("/")
    return Finding("embedding", f"{model} answers with {embedder.dimensions} dimensions")
