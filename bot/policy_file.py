"""Reads how questions are answered from the course file: `[[courses.ID.policies]]`."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from core.errors import ConfigurationError
from core.models import NonBlank, PolicyMode
from core.policies.policy import AnswerPolicy, Assignment

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
        from core.policies.withheld import WithheldSolution

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
