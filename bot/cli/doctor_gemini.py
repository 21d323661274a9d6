"""What `glossator doctor` checks of Gemini: key, models, budgets, prices and embeddings."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

from bot.cli.findings import Finding, failed, warning
from bot.courses import CourseFile
from bot.gemini import Gemini, models_in_use, prices
from bot.settings import BudgetSettings, GeminiSettings, Settings
from bot.wiring import chosen_generator
from core.errors import BotError
from core.generation.prompt import longest_kept
from core.models import EXTRACTIVE, AgentConfiguration


async def check_gemini(settings: Settings, course_file: CourseFile) -> AsyncIterator[Finding]:
    """Check who writes answers and what that may cost, and who embeds."""
    async for finding in _check_writing(settings, course_file):
        yield finding
    if "gemini" in {settings.embedding.provider, *map(course_file.embedding, course_file.tables)}:
        yield await _check_embedding(settings.gemini)


async def _check_writing(settings: Settings, course_file: CourseFile) -> AsyncIterator[Finding]:
    gemini = settings.gemini
    models = models_in_use(gemini, course_file)
    try:
        if chosen_generator(settings) == EXTRACTIVE:
            yield Finding("generator", EXTRACTIVE)
            return
        async with AsyncExitStack() as closing:
            opened = Gemini(gemini, closing)
            for model in models:
                await opened.chat(model).check()
    except BotError as error:
        yield failed("generator", error)
        return
    yield Finding("generator", _who_writes(gemini, models))
    yield _check_budgets(settings.budget, course_file)
    if unpriced := _without_price(gemini, models):
        text = (
            f"no price of {', '.join(unpriced)}: set GLOSSATOR_GEMINI__PRICES, or no cost is told"
        )
        yield warning("prices", text)


def _who_writes(gemini: GeminiSettings, models: Sequence[str]) -> str:
    """Return which models answer and where; an address is told without what may be secret in it."""
    text = f"gemini: {', '.join(models)} {'answers' if len(models) == 1 else 'answer'}"
    if gemini.repair_model is not None:
        text += f"; {gemini.repair_model} mends (GLOSSATOR_GEMINI__REPAIR_MODEL)"
    if gemini.base_url is not None:
        text += f"; reached at {urlsplit(gemini.base_url).hostname} (GLOSSATOR_GEMINI__BASE_URL)"
    return text


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


def _without_price(gemini: GeminiSettings, models: Sequence[str]) -> list[str]:
    """Return the models without a price, unless nobody wants to know about costs."""
    known = prices(gemini)
    costs = {model: known.cost(model, 1, 1) for model in models}
    wanted = known.of_models or {known.input_price, known.output_price} != {None}
    return [model for model, cost in costs.items() if wanted and cost is None]


async def _check_embedding(gemini: GeminiSettings) -> Finding:
    """Check the model that courses are embedded with which do not use the local one."""
    try:
        async with AsyncExitStack() as closing:
            opened = Gemini(gemini, closing)
            embedder = opened.embedder(gemini.embedding_model, gemini.embedding_dimensions)
            await embedder.warm_up()
            await embedder.embed_queries(["Is anybody there?"])
    except BotError as error:
        return failed("embedding", error)
    text = f"{gemini.embedding_model} answers with {gemini.embedding_dimensions} dimensions"
    return Finding("embedding", text)
