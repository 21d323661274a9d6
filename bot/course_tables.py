"""The tables of glossator.toml, as they are written and checked."""

import difflib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Self

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
from bot.policy_file import PolicyTable, ZoneName
from bot.providers.tables import ModelName, ModelTable, Probability
from bot.source_file import SourceTable, as_table
from bot.staff_file import StaffTable, StaffTables
from bot.validation_text import sentence_of
from core.models import AgentConfiguration, CourseId, NonBlank, WebUrl
from core.radar.activity import ASKERS, LEAST
from core.storage.channels.rules import OperatorRules, Rules


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


class CourseTable(BaseModel):
    """A `[courses.ID]` table."""

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


class FileTable(_Platforms):
    """All of the file."""

    courses: Mapping[CourseId, CourseTable] = Field(default_factory=dict)
    models: Mapping[ModelName, ModelTable] = Field(default_factory=dict)
    staff: StaffTables


def keys_of(table: type[BaseModel]) -> list[str]:
    """Return the keys that a table may have, as they are written in the file."""
    return [info.alias or name for name, info in table.model_fields.items()]


def problem_of(error: ValidationError) -> str:
    """Return what is wrong with the file first, as a sentence with the key."""
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
            return CourseTable
        case (_, "channels", _, _):
            return ChannelTable
        case (_, _):
            return _PlatformTable
        case _:
            return FileTable
