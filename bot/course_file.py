"""Reads glossator.toml: which courses there are, what they are made of, how they answer."""

import difflib
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from bot.platforms.entry import Platform
from bot.platforms.registry import PLATFORMS
from bot.policy_file import PolicyTable, ZoneName, policies_in
from bot.providers.tables import ModelName, ModelTable, Probability
from bot.source_file import RenewedSource, SourceTable, as_table
from bot.staff_file import StaffTable, StaffTables, named_in
from bot.validation_text import sentence_of
from core.errors import ConfigurationError
from core.models import AgentConfiguration, Course, CourseId, NonBlank, WebUrl
from core.policies.policy import AnswerPolicy
from core.radar.activity import ASKERS, LEAST
from core.storage.channels.rules import OperatorRules, Rules

if TYPE_CHECKING:
    from core.access.roster import Described


class AnswersTable(AgentConfiguration):
    """The `[courses.ID.answers]` table; every key is optional."""

    model_name: NonBlank | None = Field(None, alias="model")

    @model_validator(mode="after")
    def _leaves_room_for_a_question(self) -> Self:
        from core.generation.claims.prompt import smallest_window

        least = smallest_window(self.system_prompt)
        if self.context_window < least:
            raise ValueError(
                f"context_window is {self.context_window:,}, and the instructions with a long "
                f"question, a long quote and one passage need {least:,}"
            )
        return self


class _CourseTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    title: NonBlank | None = None
    sources: tuple[Annotated[SourceTable, BeforeValidator(as_table)], ...] = ()
    base_url: WebUrl | None = None
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$")] = "en"
    embedding: NonBlank | None = None
    generator: NonBlank | None = None
    judge: NonBlank | None = None
    judge_mark: Probability | None = None
    answers: AnswersTable = Field(default_factory=AnswersTable)
    staff: StaffTables
    time_zone: ZoneName = "UTC"
    policies: tuple[PolicyTable, ...] = ()
    radar_least_askers: Annotated[int, Field(ge=LEAST)] = ASKERS

    @model_validator(mode="after")
    def _says_once_who_writes(self) -> Self:
        if self.generator is not None and self.answers.model_name is not None:
            raise ValueError("generator and answers.model both say who writes: keep one of them")
        return self


def _locked(written: object) -> frozenset[str]:
    """Return the names of the rules that chat cannot change: all of them for `true`."""
    names = {"course" if name == "course_id" else name: name for name in Rules.model_fields}
    if isinstance(written, bool):
        return frozenset(names.values()) if written else frozenset()
    found = [str(one) for one in written] if isinstance(written, list) else [str(written)]
    for one in found:
        if one not in names:
            raise ValueError(f"{one!r} is no rule; write true, or a list of {', '.join(names)}")
    return frozenset(names[one] for one in found)


class ChannelTable(OperatorRules):
    """A `[PLATFORM.channels.ID]` table: what holds in a channel, category or server."""

    course_id: CourseId | None = Field(None, alias="course")
    locked: Annotated[frozenset[str], BeforeValidator(_locked)] = frozenset()


def _channel_id(platform: Platform[Any], written: str) -> str:
    if not platform.channel.fits(written):
        raise ValueError(platform.channel.words)
    return written


class _PlatformTable(BaseModel):
    """A `[PLATFORM]` table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    channels: Mapping[str, ChannelTable] = Field(default_factory=dict)


def _table_of(platform: Platform[Any]) -> type[_PlatformTable]:
    channel = Annotated[str, AfterValidator(partial(_channel_id, platform))]
    return create_model(
        f"_{platform.name.title()}Table",
        __base__=_PlatformTable,
        channels=(Mapping[channel, ChannelTable], Field(default_factory=dict)),
    )


_TABLES = {name: _table_of(platform) for name, platform in PLATFORMS.items()}
if TYPE_CHECKING:

    class _Platforms(BaseModel):
        pass

else:
    _Platforms = create_model(
        "_Platforms",
        __config__=ConfigDict(frozen=True, extra="forbid"),
        **{name: (table, table()) for name, table in _TABLES.items()},
    )


class _File(_Platforms):
    courses: Mapping[CourseId, _CourseTable] = Field(default_factory=dict)
    models: Mapping[ModelName, ModelTable] = Field(default_factory=dict)
    staff: StaffTables


@dataclass(frozen=True, slots=True)
class CourseFile:
    """What glossator.toml says; empty where there is none."""

    folder: Path = Path()
    """Relative sources are looked up from here."""
    tables: Mapping[str, _CourseTable] = field(default_factory=dict)
    models: Mapping[str, ModelTable] = field(default_factory=dict)
    """The models that it describes, by name."""
    channels: Mapping[str, Mapping[str, OperatorRules]] = field(default_factory=dict)
    """What holds in channels, by platform and the channel's id there."""
    staff: "Described" = field(default_factory=dict)
    """Who is staff."""
    policies: Mapping[str, Sequence[AnswerPolicy]] = field(default_factory=dict)
    """How questions are answered, by course."""

    def course(self, course_id: str) -> Course | None:
        """Return the course as it is described, or none."""
        table = self.tables.get(course_id)
        if table is None:
            return None
        return Course(
            course_id=course_id,
            title=table.title or course_id,
            base_url=table.base_url,
            language=table.language,
        )

    def sources(self, course_id: str) -> list[str]:
        """Return the course's sources; paths are made relative to the file's folder."""
        return [name for name, _ in self._sources(course_id)]

    def trusted(self, course_id: str) -> frozenset[str]:
        """Return those of the course's sources of which nothing is withheld."""
        return frozenset(name for name, source in self._sources(course_id) if source.trusted)

    def renewed(self, course_id: str) -> list[RenewedSource]:
        """Return those of the course's sources that are ingested again by themselves."""
        return [
            RenewedSource(course_id, name, source.every, source.watch)
            for name, source in self._sources(course_id)
            if source.every is not None or source.watch
        ]

    def _sources(self, course_id: str) -> Iterator[tuple[str, SourceTable]]:
        table = self.tables.get(course_id)
        for source in table.sources if table else ():
            path = source.path
            yield path if "://" in path else str(self.folder / path), source

    def generator(self, course_id: str) -> str | None:
        """Return who writes the course's answers, or none where nothing is said."""
        table = self.tables.get(course_id)
        return table.generator if table else None

    def judge(self, course_id: str) -> str | None:
        """Return which model judges the course's claims, or none where nothing is said."""
        table = self.tables.get(course_id)
        return table.judge if table else None

    def judge_mark(self, course_id: str) -> float | None:
        """Return from which probability a claim of the course holds, or none: its judge's own."""
        table = self.tables.get(course_id)
        return table.judge_mark if table else None

    def embedding(self, course_id: str) -> str | None:
        """Return whose model the course is embedded with, or none where nothing is said."""
        table = self.tables.get(course_id)
        return table.embedding if table else None

    def language(self, course_id: str) -> str:
        """Return the language of the course's book, as a BCP 47 tag."""
        table = self.tables.get(course_id)
        return table.language if table else "en"

    def zone(self, course_id: str) -> ZoneInfo:
        """Return the time zone that the course's days are of."""
        table = self.tables.get(course_id)
        return ZoneInfo(table.time_zone if table else "UTC")

    def radar_least_askers(self, course_id: str) -> int:
        """Return how many people each number of the course's radar is about at least."""
        table = self.tables.get(course_id)
        return table.radar_least_askers if table else ASKERS

    def policies_of(self, course_id: str) -> Sequence[AnswerPolicy]:
        """Return how the course's questions are answered; empty: in full."""
        return self.policies.get(course_id, ())

    def rules_of(self, platform: str) -> Mapping[str, OperatorRules]:
        """Return what holds in a platform's channels, by id."""
        return self.channels.get(platform, {})

    def check_channels(self, ingested: Collection[str]) -> None:
        """Check that every channel is bound to a course that there is.

        Args:
            ingested: The ids of the courses that are known besides those in the file.

        Raises:
            ConfigurationError: naming the first key that names no course.
        """
        known = sorted({*ingested, *self.tables})
        for platform, channels in self.channels.items():
            for channel, rules in channels.items():
                course = rules.course_id
                if course is not None and course not in known:
                    near = difflib.get_close_matches(course, known, 1)
                    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}."
                    raise ConfigurationError(
                        f"In the course file, {platform}.channels.{channel}.course names "
                        f"{course!r}, and there is no such course; {hint}"
                    )

    def configuration(self, course_id: str) -> AgentConfiguration:
        """Return how the course answers; the defaults where nothing is said."""
        table = self.tables.get(course_id)
        return AgentConfiguration(**table.answers.model_dump()) if table else AgentConfiguration()


def read_course_file(path: Path, *, required: bool = False) -> CourseFile:
    """Return what the file says.

    Raises:
        ConfigurationError: naming the line or key that is wrong, or that the file is missing
            although it is `required`.
    """
    if path.is_dir():
        raise ConfigurationError(f"The course file {path} is a folder: put a file in its place.")
    if not path.is_file():
        if required:
            raise ConfigurationError(f"The course file {path} does not exist.")
        return CourseFile()
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        parsed = _File.model_validate(content)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}.") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {_problem(error)}") from error
    channels = {name: getattr(parsed, name).channels for name in PLATFORMS}
    limited = {course_id: table.staff for course_id, table in parsed.courses.items()}
    staff = named_in(parsed.staff, limited)
    policies = {
        course_id: policies_in(
            course_id, table.policies, ZoneInfo(table.time_zone), table.language, path.parent
        )
        for course_id, table in parsed.courses.items()
        if table.policies
    }
    return CourseFile(path.parent, parsed.courses, parsed.models, channels, staff, policies)


def keys_of(table: type[BaseModel]) -> list[str]:
    """Return the keys that a table may have, as they are written in the file."""
    return [info.alias or name for name, info in table.model_fields.items()]


def _problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    if problem["type"] != "extra_forbidden":
        return f"{sentence_of(problem)}."
    place = ".".join(str(part) for part in problem["loc"])
    known = keys_of(_table_with(problem["loc"]))
    near = difflib.get_close_matches(str(problem["loc"][-1]), known, 1)
    hint = f"Did you mean {near[0]}?" if near else f"There is: {', '.join(known)}."
    return f"{place} is not a key. {hint}"


def _table_with(place: tuple[str | int, ...]) -> type[BaseModel]:
    """Return the table that a key stands in, by the path to the key."""
    match place:
        case ("models", _, _):
            return ModelTable
        case ("courses", _, "answers", _):
            return AnswersTable
        case ("staff", _, _) | ("courses", _, "staff", _, _):
            return StaffTable
        case ("courses", _, "policies", *_):
            return PolicyTable
        case ("courses", _, "sources", *_):
            return SourceTable
        case ("courses", _, _):
            return _CourseTable
        case (_, "channels", _, _):
            return ChannelTable
        case (_, _):
            return _PlatformTable
        case _:
            return _File
