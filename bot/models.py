"""Opens the models that write, judge and embed, each when it is first asked for."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.course_file import CourseFile
from bot.model_tables import (
    BY_KEY,
    GEMINI,
    HOW_TO_SET_A_KEY,
    KEY_SETTING,
    LOCAL,
    NO_JUDGE,
    ModelTable,
    check_named,
    names_of,
    usable_key,
)
from bot.settings import Settings
from core.domain import EXTRACTIVE
from core.domain.errors import ConfigurationError
from core.providers.capabilities import SettingNames
from core.providers.services import ServiceAddress, ServiceClient
from core.storage.budgets import Prices

if TYPE_CHECKING:
    from core.answering.grounding.judge import Judge
    from core.answering.writers.base import AnswerTimes
    from core.answering.writers.model import ModelGenerator
    from core.providers.embeddings.remote import RemoteEmbedder
    from core.providers.guarded import GuardedModel


class Models:
    """The models of this process; connections are shared, and closed with the stack given."""

    def __init__(
        self, settings: Settings, tables: Mapping[str, ModelTable], closing: AsyncExitStack
    ) -> None:
        self.tables = tables
        self._settings = settings
        self._closing = closing
        self._clients: dict[str, ServiceClient] = {}
        self._chats: dict[tuple[str, str], GuardedModel] = {}
        self._generators: dict[str, ModelGenerator] = {}
        self._judges: dict[tuple[str, str, float | None, float | None], Judge] = {}

    @property
    def times(self) -> "AnswerTimes":
        """How long a model may take."""
        from core.answering.writers.base import AnswerTimes

        return AnswerTimes(self._settings.answer.first_sentence, self._settings.answer.whole)

    def chat(self, name: str, model: str | None = None) -> "GuardedModel":
        """Return a model that writes or judges; it and its breaker are everybody's.

        Args:
            name: Of its table.
            model: Another model of the same service; None: the table's own.

        Raises:
            ConfigurationError: when there is no such table, or no usable key.
        """
        from core.providers.guarded import GuardedModel
        from core.providers.pacing import Timeouts

        table = self.table(name)
        key = (name, model or table.model)
        if key not in self._chats:
            times, is_near = self.times, table.provider.is_near(table.base_url)
            # A server of one's own that is silent reads: another try would begin anew.
            first = times.whole if is_near else times.first_token
            self._chats[key] = GuardedModel(
                self.client(name).wire(model or table.model, table.thinking),
                service=name,
                stream=table.stream,
                context=table.context,
                timeouts=Timeouts(
                    table.first_token_timeout or first,
                    table.silence_timeout or times.silence,
                    is_fixed=table.first_token_timeout is not None,
                ),
                concurrency=table.concurrency,
                measured_at_start=is_near,
            )
        return self._chats[key]

    def generator(self, name: str) -> "ModelGenerator":
        """Return the writer of answers whose model is that of a table, unless a task names one.

        Raises:
            ConfigurationError: when there is no such table, or no usable key.
        """
        from core.answering.writers.model import ModelGenerator

        if name not in self._generators:
            self.chat(name)  # tells now what is missing
            self._generators[name] = ModelGenerator(
                lambda named: self.named(named, name), times=self.times
            )
        return self._generators[name]

    def named(self, named: str | None, default: str) -> "GuardedModel":
        """Return the model of a table, or another model of the default one's service."""
        if named is not None and named in self.tables:
            return self.chat(named)
        return self.chat(default, named)

    def judge(
        self,
        name: str,
        model: str | None = None,
        *,
        mark: float | None = None,
        fitted: float | None = None,
    ) -> "Judge":
        """Return the judge whose model is that of a table: it remembers how it can be asked.

        Args:
            name: Of its table.
            model: Another model of the same service; None: the table's own.
            mark: The probability from which a claim holds, as a course sets it; None: the
                table's own.
            fitted: The mark that was fitted for the course; None: the usual one.

        Raises:
            ConfigurationError: when there is no such table, or no usable key.
        """
        from core.answering.grounding.judge import MARK, RELEVANCE_MARK, WAIT, Judge

        table = self.table(name)
        key = (name, model or table.model, mark, fitted)
        if key not in self._judges:
            self._judges[key] = Judge(
                self.chat(name, model),
                mark=_first(mark, table.judge_mark, fitted, MARK),
                relevance_mark=_first(table.relevance_mark, RELEVANCE_MARK),
                wait=_first(table.judge_wait, WAIT),
            )
        return self._judges[key]

    def left_alone(self) -> Mapping[str, bool]:
        """Return of each model asked so far whether its circuit breaker is open.

        A model that several tables name is named `TABLE/MODEL`, as it is of several services.
        """
        return {self._told(*key): chat.breaker.is_open for key, chat in self._chats.items()}

    def _told(self, name: str, model: str) -> str:
        others = (other for key, other in self.tables.items() if key != name)
        return f"{name}/{model}" if model in {other.model for other in others} else model

    def embedder(self, name: str, model: str, dimensions: int) -> "RemoteEmbedder":
        """Return an embedding model of the service of a table.

        Raises:
            ConfigurationError: when there is no such table, or no usable key.
        """
        return self.client(name).embedder(model, dimensions, f"models.{name}.dimensions")

    def table(self, name: str) -> ModelTable:
        """Return the table with that name.

        Raises:
            ConfigurationError: naming what to set, when there is none.
        """
        if name in self.tables:
            return self.tables[name]
        if name in BY_KEY:
            raise ConfigurationError(f"The model {name} needs a key: {HOW_TO_SET_A_KEY}.")
        raise ConfigurationError(f"There is no table models.{name}.")

    def client(self, name: str) -> ServiceClient:
        """Return the connections of a table, opened at first use."""
        if name not in self._clients:
            self._clients[name] = self._connect(name, self.table(name))
            self._closing.push_async_callback(self._clients[name].aclose)
        return self._clients[name]

    def _connect(self, name: str, table: ModelTable) -> ServiceClient:
        names = self._names(name, table)
        how = HOW_TO_SET_A_KEY if names.key == KEY_SETTING else f"set {names.key}"
        address = ServiceAddress(
            usable_key(name, table, how),
            table.base_url,
            table.api_version,
            table.project,
            table.location,
        )
        return table.provider.connect(address, names, self.times.whole)

    def _names(self, name: str, table: ModelTable) -> SettingNames:
        """Return how the operator knows a model's settings, of a key the variable that holds it."""
        names = names_of(name, table)
        is_shared = table.provider.shares_key and table.api_key == self._settings.google_key
        return replace(names, key=KEY_SETTING) if is_shared else names


def _first(*values: float | None) -> float:
    """Return the first value that is set; the last one is."""
    return next(value for value in values if value is not None)


def configured_generator(settings: Settings) -> str:
    """Return who writes where none is asked for: who is set, else Gemini where it has a key."""
    return settings.generator or (GEMINI if settings.google_key is not None else EXTRACTIVE)


def chosen_generator(
    settings: Settings, tables: Mapping[str, ModelTable], name: str | None = None
) -> str:
    """Return who writes answers: who is asked for, else configured, else Gemini with a key.

    Raises:
        ConfigurationError: when it is a model that there is not, or one that has no key.
    """
    chosen = name or configured_generator(settings)
    if chosen == GEMINI and GEMINI not in tables:
        raise ConfigurationError(
            f"The generator {GEMINI} needs a key: {HOW_TO_SET_A_KEY}, or choose extractive."
        )
    check_named(
        chosen, {*tables, GEMINI}, "--generator" if name else "GLOSSATOR_GENERATOR", EXTRACTIVE
    )
    return chosen


def check_named_models(
    settings: Settings, tables: Mapping[str, ModelTable], course_file: CourseFile
) -> None:
    """Make sure that every model that is named is one that there is.

    Raises:
        ConfigurationError: naming the first key that names no model.
    """
    named = {"GLOSSATOR_EMBEDDING__PROVIDER": settings.embedding.provider}
    if settings.judge is not None:
        check_named(settings.judge, tables, "GLOSSATOR_JUDGE", NO_JUDGE)
    for course, table in course_file.tables.items():
        place = f"In the course file, courses.{course}"
        if table.generator is not None:
            check_named(table.generator, tables, f"{place}.generator", EXTRACTIVE)
        if table.judge is not None:
            check_named(table.judge, tables, f"{place}.judge", NO_JUDGE)
        if table.judge_mark is not None and (table.judge or settings.judge) == NO_JUDGE:
            raise ConfigurationError(
                f"{place}.judge_mark is set, and no model judges there: leave the mark out, or "
                f"name a model in {place}.judge."
            )
        named[f"{place}.embedding"] = table.embedding or LOCAL
    for place, name in named.items():
        check_named(name, {*tables, *BY_KEY}, place, LOCAL)
        if name in tables and tables[name].dimensions is None:
            raise ConfigurationError(f"{place} names {name}: set models.{name}.dimensions.")


def check_contexts(
    settings: Settings, tables: Mapping[str, ModelTable], course_file: CourseFile
) -> None:
    """Make sure that every model that writes reads enough for a short question.

    Raises:
        ConfigurationError: naming the first context that is too small.
    """
    default = configured_generator(settings)
    writers: dict[str, str | None] = {default: None}
    for course in course_file.tables:
        told = course_file.configuration(course)
        named = course_file.generator(course) or told.model_name
        writer = named if named is not None and named in {EXTRACTIVE, *tables} else default
        longest = max(writers.get(writer) or "", told.system_prompt or "", key=len)
        writers[writer] = longest or None
    contexts = {name: tables[name].context for name in writers.keys() & tables.keys()}
    limited = {name: context for name, context in contexts.items() if context is not None}
    if not limited:
        return
    from core.answering.writers.prompt import smallest_context

    for name, context in limited.items():
        if context < (least := smallest_context(writers[name])):
            raise ConfigurationError(
                f"models.{name}.context is {context:,}, and the instructions with a short "
                f"question, one passage and an answer need {least:,}."
            )


def models_in_use(
    settings: Settings, tables: Mapping[str, ModelTable], course_file: CourseFile, default: str
) -> list[tuple[str, str]]:
    """Return the models that may write or judge, each once, as a table's name and a model's."""
    found: list[tuple[str, str]] = []
    if default != EXTRACTIVE:
        found.append((default, tables[default].model))
    judges = [settings.judge, *map(course_file.judge, course_file.tables)]
    found += [(name, tables[name].model) for name in judges if name and name in tables]
    for course in course_file.tables:
        named = course_file.generator(course)
        if named is not None and named in tables:
            found.append((named, tables[named].model))
        other = course_file.configuration(course).model_name
        if named is not None or other is None or EXTRACTIVE in (other, default):
            continue
        found.append((other, tables[other].model) if other in tables else (default, other))
    return list(dict.fromkeys(found))


def prices(tables: Mapping[str, ModelTable]) -> Prices:
    """Return what the models cost, as far as it is set; tables of one service know each other's."""
    return Prices(of_services={name: _prices_at(table, tables) for name, table in tables.items()})


def _prices_at(table: ModelTable, tables: Mapping[str, ModelTable]) -> Prices:
    """Return the prices at the service of a table; its own are those of its model."""
    there = [other for other in tables.values() if _service_of(other) == _service_of(table)]
    return Prices(
        of_models={
            one.model: (one.input_price, one.output_price)
            for one in [*there, table]
            if one.input_price is not None and one.output_price is not None
        }
    )


def _service_of(table: ModelTable) -> tuple[str | None, ...]:
    return table.kind, table.base_url, table.project, table.location
