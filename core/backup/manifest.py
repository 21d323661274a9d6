"""The manifest of a backup: its format, its version, and what it holds."""

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

from core.errors import ConfigurationError

FORMAT = 1
"""Raise it when an older version could not restore what is written."""


class NewerBackup(ConfigurationError):
    """A backup cannot be restored by this version, as a newer one made it."""

    def __init__(self, program: str) -> None:
        super().__init__(
            f"The backup was made by a newer version of Glossator ({program}): install that "
            "version, and restore with it."
        )


@dataclass(frozen=True, slots=True)
class BackedUpTable:
    """A table, as it was at that moment."""

    name: str
    columns: dict[str, str]
    """What kind of value each holds, see `core.backup.rows`; in their order."""
    rows: int


@dataclass(frozen=True, slots=True)
class BackedUpEdition:
    """A collection of the text of a course, as it was at that moment."""

    course_id: str
    generation: str
    collection: str
    dimensions: int
    chunks: int
    has_text: bool
    """Whether the chunks and their vectors are in the backup."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """When a backup was made, by which version, and what is in it."""

    program: str
    """The version that wrote it."""
    revision: str
    """Of the schema that the tables have."""
    made_at: datetime
    tables: tuple[BackedUpTable, ...]
    """Each after those that it refers to."""
    editions: tuple[BackedUpEdition, ...]
    keys: tuple[str, ...]
    format: int = field(default=FORMAT)

    def rows(self, table: str) -> int:
        """Return how many rows of a table there are."""
        return sum(one.rows for one in self.tables if one.name == table)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "made_at": self.made_at.astimezone(UTC).isoformat()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """Return what `to_json` gave.

        Raises:
            NewerBackup: when a newer version gave it, whatever that put into it.
        """
        if fields["format"] > FORMAT:
            raise NewerBackup(fields.get("program", "unknown"))
        return cls(
            **{
                **fields,
                "made_at": datetime.fromisoformat(fields["made_at"]),
                "tables": tuple(BackedUpTable(**table) for table in fields["tables"]),
                "editions": tuple(BackedUpEdition(**edition) for edition in fields["editions"]),
                "keys": tuple(fields["keys"]),
            }
        )
