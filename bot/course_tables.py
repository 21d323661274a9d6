"""The tables of glossator.toml, as they are written and checked."""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
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
from pydantic_core import ErrorDetails

from bot.model_tables import ModelName, ModelTable, Probability
from bot.platforms import PLATFORMS, Platform
from core.domain import AgentConfiguration, CourseId, NonBlank, PolicyMode, WebUrl, course_id_like
from core.domain.errors import ConfigurationError
from core.storage.access import NamedStaff, Tenant
from core.storage.channels import OperatorRules, Rules
from core.teaching.policy import AnswerPolicy, Assignment
from core.teaching.radar_activity import ASKERS, LEAST

if TYPE_CHECKING:
    from core.storage.access_store import Described


_PLACE = re.compile(r"\d{15,20}|[CGTD][A-Z0-9]{6,}")


def _place(written: str) -> str:
    if _PLACE.fullmatch(written) is None:
        raise ValueError("this is no id of a channel, category, server or workspace")
    return written


def _zone(written: str) -> str:
    try:
        ZoneInfo(written)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f'{written!r} is no time zone; one is "Europe/Berlin"') from error
    return written


ZoneName = Annotated[str, AfterValidator(_zone)]
"""A name of the IANA time zone database."""


class PolicyTable(BaseModel):
    """A `[[courses.ID.policies]]` table: how questions are answered, where, and until when."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    mode: PolicyMode
    place: Annotated[str, AfterValidator(_place)] | None = None
    section: NonBlank | None = None
    valid_from: datetime | date | None = Field(None, alias="from")
    valid_until: datetime | date | None = Field(None, alias="until")
    assignment: NonBlank | None = None
    text: NonBlank | None = None
    text_file: Path | None = None
    sections: tuple[NonBlank, ...] = ()
    solution_file: Path | None = None

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        of_assignment = (self.text, self.text_file, self.sections or None, self.solution_file)
        if self.assignment is None:
            if any(one is not None for one in of_assignment):
                raise ValueError(
                    "text, text_file, sections and solution_file are an assignment's: name it "
                    'with assignment = "..."'
                )
            return self
        if self.place is not None or self.section is not None:
            raise ValueError(
                "a policy with an assignment holds wherever the course is answered: leave out "
                "place and section, and name the book's sections with sections"
            )
        if (self.text is None) == (self.text_file is None):
            raise ValueError("an assignment has either text or text_file: what students are given")
        if self.mode is PolicyMode.FULL:
            raise ValueError("mode full says nothing of an assignment: leave the policy out")
        return self

    @model_validator(mode="after")
    def _ends_after_its_beginning(self) -> Self:
        begins, ends = (_utc(one, ZoneInfo("UTC")) for one in (self.valid_from, self.valid_until))
        if begins is not None and ends is not None and ends <= begins:
            raise ValueError("until must lie after from")
        return self


def policies_in(
    course_id: str,
    tables: Sequence[PolicyTable],
    zone: ZoneInfo,
    language: str,
    folder: Path,
) -> tuple[AnswerPolicy, ...]:
    """Return what the course file says of a course; of a solution nothing else is kept.

    Args:
        language: The language of its assignments, as a BCP 47 tag.
        zone: Whose days and times are meant where none is written.
        folder: Relative files are looked up from here.

    Raises:
        ConfigurationError: when a file cannot be read, or is empty.
    """
    return tuple(
        AnswerPolicy(
            key=f"file:{number}",
            course_id=course_id,
            mode=table.mode,
            place=table.place,
            section=table.section,
            valid_from=_utc(table.valid_from, zone),
            valid_until=_utc(table.valid_until, zone),
            assignment=_assignment(
                f"courses.{course_id}.policies[{number}]", table, language, folder
            ),
        )
        for number, table in enumerate(tables, 1)
    )


def _assignment(place: str, table: PolicyTable, language: str, folder: Path) -> Assignment | None:
    if table.assignment is None:
        return None
    text = table.text or _read(f"{place}.text_file", folder, table.text_file)
    solution = None
    if table.solution_file is not None:
        from core.teaching.policy import WithheldSolution

        told = _read(f"{place}.solution_file", folder, table.solution_file)
        solution = WithheldSolution(told, text, language)
    return Assignment(table.assignment, text, table.sections, solution)


def _read(key: str, folder: Path, path: Path | None) -> str:
    assert path is not None, "checked with the table"
    try:
        content = (folder / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ConfigurationError(f"{key}: {folder / path} cannot be read: {why}.") from None
    if not content.strip():
        raise ConfigurationError(f"{key}: {folder / path} is empty.")
    return content


def _utc(moment: datetime | date | None, zone: ZoneInfo) -> datetime | None:
    """Return a moment in UTC; a day begins at midnight of the zone."""
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


_PERIOD = re.compile(r"([0-9]{1,4})([mhdw])")
_UNITS = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_SHORTEST = timedelta(minutes=5)


def _period(written: object) -> object:
    """Return the time that a text such as `12h` stands for."""
    found = _PERIOD.fullmatch(written) if isinstance(written, str) else None
    if found is None:
        raise ValueError('write a number and m, h, d or w, such as "12h" or "1d"')
    period = int(found[1]) * _UNITS[found[2]]
    if period < _SHORTEST:
        raise ValueError(f"the shortest is {_SHORTEST // timedelta(minutes=1)}m")
    return period


class SourceTable(BaseModel):
    """A source with what holds for it alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: NonBlank
    trusted: bool = True
    """Whether it is the course's own; false for what others can write, such as a public wiki."""
    every: Annotated[timedelta | None, BeforeValidator(_period)] = None
    """How often 'glossator run' ingests it again."""
    watch: bool = False
    """Whether 'glossator run' ingests it again when its files change."""

    @model_validator(mode="after")
    def _watches_files(self) -> Self:
        if self.watch and "://" in self.path:
            raise ValueError('only files and folders can be watched; say every = "1d" instead')
        return self


def as_table(source: object) -> object:
    """Return a source that is only named as the table that it stands for."""
    return source if isinstance(source, Mapping | BaseModel) else {"path": source}


@dataclass(frozen=True, slots=True)
class RenewedSource:
    """A source that 'glossator run' ingests again by itself."""

    course_id: str
    name: str
    """As `CourseFile.sources` gives it."""
    every: timedelta | None
    is_watched: bool


class StaffTable(BaseModel):
    """A `[staff."PLATFORM:ID"]` table: roles on Discord, groups in Slack, people in both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


def _tenant(written: str) -> str:
    platform, _, workspace = written.partition(":")
    if platform not in PLATFORMS:
        forms = " or ".join(f'"{name}:ID"' for name in PLATFORMS)
        raise ValueError(f"a tenant is written {forms}, with the quotation marks")
    tenant = PLATFORMS[platform].tenant
    if not tenant.fits(workspace):
        raise ValueError(f"after {platform}: comes {tenant.words}")
    return written


def _fitting(tables: Mapping[str, StaffTable]) -> Mapping[str, StaffTable]:
    """Raise ValueError for the first id that its tenant cannot have."""
    for name, table in tables.items():
        tenant = Tenant.named(name)
        for key, ids in table:
            _check(tenant, key, ids)
    return tables


def _check(tenant: Tenant, key: str, ids: tuple[str, ...]) -> None:
    if not ids:
        return
    kinds = PLATFORMS[tenant.platform].staff
    if key not in kinds:
        raise ValueError(f"{tenant} has no {key}: name its {' and '.join(kinds)}")
    _, form = kinds[key]
    for one in ids:
        if not form.fits(one):
            raise ValueError(f"in {key} of {tenant}, {one!r} is not {form.words}")
        if one == tenant.workspace:
            raise ValueError(f"in {key} of {tenant}, {one!r} is the role that everybody has")


StaffTables = Annotated[
    Mapping[Annotated[str, AfterValidator(_tenant)], StaffTable],
    Field(default_factory=dict),
    AfterValidator(_fitting),
]
"""Tables by tenant."""


def named_in(
    tables: Mapping[str, StaffTable], by_course: Mapping[str, Mapping[str, StaffTable]]
) -> "Described":
    """Return who is named, in all courses and in one of them, by tenant."""
    named = defaultdict[Tenant, list[NamedStaff]](list)
    for course_id, of_course in [(None, tables), *by_course.items()]:
        for name, table in of_course.items():
            tenant = Tenant.named(name)
            named[tenant] += _named(tenant.platform, table, course_id)
    return dict(named)


def _named(platform: str, table: StaffTable, course_id: str | None) -> Iterator[NamedStaff]:
    for key, ids in table:
        if ids:
            kind, _ = PLATFORMS[platform].staff[key]
            yield from (NamedStaff(kind, one, course_id) for one in dict.fromkeys(ids))


_KEYS_OF_IDS = ("course", "course_id")
"""Where the id is the value, which is not told."""
_COURSE_ID = "^[a-z0-9]["
_LANGUAGE = "^[A-Za-z]{2,3}"

_ALLOWED: Mapping[str, str] = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "enum": "must be {expected}",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "greater_than_equal": "must be {ge} or more",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be {le} or less",
    "literal_error": "must be {expected}",
    "string_too_short": "must not be empty",
    "string_type": 'must be a text, such as "this"',
    "tuple_type": 'must be a list, such as ["this", "that"]',
}
_VALIDATION_TEXT_TABLES = frozenset(
    {"dict_type", "mapping_type", "model_attributes_type", "model_type"}
)


def sentence_of(problem: ErrorDetails) -> str:
    """Return the key and what may stand there, as one sentence without its full stop."""
    place = ".".join(str(part) for part in problem["loc"] if part != "[key]")
    allowed = _allowed(problem, place)
    return f"{place} {allowed}" if allowed.startswith("must ") else f"{place}: {allowed}"


def _allowed(problem: ErrorDetails, place: str) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind in _VALIDATION_TEXT_TABLES:
        name = f"{place}.ID" if place in _TABLES_OF_TABLES else place
        return f"must be a table: begin it with a line that says [{name}]"
    if kind == "string_pattern_mismatch":
        return _written(context, str(problem["loc"][-2 if problem["loc"][-1] == "[key]" else -1]))
    if kind in _ALLOWED:
        return _ALLOWED[kind].format_map(context)
    return problem["msg"].removeprefix("Value error, ")


_TABLES_OF_TABLES = frozenset({"courses", *(f"{name}.channels" for name in PLATFORMS)})


def _written(context: Mapping[str, Any], key: str) -> str:
    """Return how a text must be written, by the pattern that it does not fit.

    Args:
        key: under which it stands, or which it is.
    """
    pattern = str(context["pattern"])
    if pattern.startswith(_COURSE_ID):
        return (
            "must be a course's name: lower-case letters, digits, - and _ only, at most 64, "
            "and a letter or digit first"
        ) + (
            f", such as {near}" if key not in _KEYS_OF_IDS and (near := course_id_like(key)) else ""
        )
    if pattern.startswith(_LANGUAGE):
        return 'must be the code of a language, such as "en", "de" or "pt-BR"'
    return "must not be empty"


class AnswersTable(AgentConfiguration):
    """The `[courses.ID.answers]` table; every key is optional."""

    model_name: NonBlank | None = Field(None, alias="model")

    @model_validator(mode="after")
    def _leaves_room_for_a_question(self) -> Self:
        from core.answering.writers.prompt import smallest_window

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
