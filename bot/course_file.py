"""Reads glossator.toml: which courses there are, what they are made of, how they answer."""

import difflib
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from core.domain import AgentConfiguration, Course
from core.domain.errors import ConfigurationError

if TYPE_CHECKING:
    from bot.course_tables import CourseTable, RenewedSource, SourceTable
    from bot.model_tables import ModelTable
    from core.storage.access_store import Described
    from core.storage.channels import OperatorRules
    from core.teaching.policy import AnswerPolicy


@dataclass(frozen=True, slots=True)
class CourseFile:
    """What glossator.toml says; empty where there is none."""

    folder: Path = Path()
    """Relative sources are looked up from here."""
    tables: "Mapping[str, CourseTable]" = field(default_factory=dict)
    models: "Mapping[str, ModelTable]" = field(default_factory=dict)
    """The models that it describes, by name."""
    channels: "Mapping[str, Mapping[str, OperatorRules]]" = field(default_factory=dict)
    """What holds in channels, by platform and the channel's id there."""
    staff: "Described" = field(default_factory=dict)
    """Who is staff."""
    policies: "Mapping[str, Sequence[AnswerPolicy]]" = field(default_factory=dict)
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

    def untrusted(self, course_id: str) -> frozenset[str]:
        """Return those of the course's sources that others can write."""
        return frozenset(name for name, source in self._sources(course_id) if not source.trusted)

    def renewed(self, course_id: str) -> "list[RenewedSource]":
        """Return those of the course's sources that are ingested again by themselves."""
        from bot.course_tables import RenewedSource

        return [
            RenewedSource(course_id, name, source.every, source.watch)
            for name, source in self._sources(course_id)
            if source.every is not None or source.watch
        ]

    def _sources(self, course_id: str) -> "Iterator[tuple[str, SourceTable]]":
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
        from core.teaching.radar_activity import ASKERS

        table = self.tables.get(course_id)
        return table.radar_least_askers if table else ASKERS

    def policies_of(self, course_id: str) -> "Sequence[AnswerPolicy]":
        """Return how the course's questions are answered; empty: in full."""
        return self.policies.get(course_id, ())

    def rules_of(self, platform: str) -> "Mapping[str, OperatorRules]":
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
    from bot.course_tables import (  # only where there is a file
        FileTable,
        named_in,
        policies_in,
        problem_of,
    )
    from bot.platforms import PLATFORMS

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        parsed = FileTable.model_validate(content)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}.") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {problem_of(error)}") from error
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
