"""Reads the sources of a course in glossator.toml: where each is, and how often it is read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from core.models import NonBlank

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
