"""A file with all that is stored about a user, as they get it on every platform."""

import asyncio
import gzip
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.access.course_directory import CourseDirectory
from adapters.access.location import Location, location_in
from adapters.access.readers import Readers
from core.access.reading import Reader
from core.errors import RequestError
from core.i18n import text
from core.privacy.personal_export import Json, PersonalExport

_NAME = "glossator-data.json"
_MOST_BYTES = 8_000_000
"""What every platform takes as one file."""


@dataclass(frozen=True, slots=True)
class File:
    """A file for a user."""

    name: str
    data: bytes


class DataExport:
    """Makes the file; one at a time, as each may be as large as a user's past is long."""

    def __init__(
        self, export: PersonalExport, directory: CourseDirectory, readers: Readers
    ) -> None:
        self._export = export
        self._directory = directory
        self._readers = readers
        self._alone = asyncio.Lock()

    async def file(self, user_ids: Sequence[str], location: Location) -> File:
        """Return what is stored about a user, by their pseudonyms; compressed when it is long.

        What a user asked is theirs. What they were answered from a course that is closed by
        now, wherever they asked, or removed, is the course's, and left out with its name and
        the section that was asked for.

        Raises:
            StoreError: when the database fails.
            MembershipUnknown: as `Readers.of` does.
            RequestError: when it is too much for a file.
        """
        async with self._alone:
            stored = await self._export.of(user_ids)
            readable = await self._directory.courses(await self._reader(stored, location))
            closed = frozenset(_course_ids(stored)) - frozenset(readable)
            return await asyncio.to_thread(_written, _without(stored, closed))

    async def _reader(self, stored: Json, location: Location) -> Reader:
        """Return who reads wherever a user asked, or is now."""
        asked = {location_in(row) for row in stored["stored"]["inbox"]}
        readers = [await self._readers.of(one) for one in {location, *asked}]
        return Reader(
            location.platform,
            frozenset().union(*(reader.tenants for reader in readers)),
            frozenset().union(*(reader.bound for reader in readers)),
        )


def _course_ids(stored: Any) -> Iterator[str]:
    """Yield the id of each course that stored values name."""
    if isinstance(stored, list):
        for one in stored:
            yield from _course_ids(one)
    if not isinstance(stored, dict):
        return
    if stored.get("course_id"):
        yield stored["course_id"]
    yield from (choice[0] for choice in stored.get("choices", ()))
    for value in stored.values():
        yield from _course_ids(value)


def _without(stored: Any, closed: Collection[str]) -> Any:
    """Return stored values without the names and the words of closed courses."""
    if not closed:
        return stored
    if isinstance(stored, list):
        return [_without(one, closed) for one in stored]
    if not isinstance(stored, dict):
        return stored
    is_closed = stored.get("course_id") in closed
    if is_closed and "response_text" in stored:
        return text("privacy-export-withheld")
    shown = {name: _without(value, closed) for name, value in stored.items()}
    answer = stored.get("agent_response") or stored  # a turn's course stands in its answer
    if answer.get("course_id") in closed:
        shown.pop("section_filter", None)
    if is_closed:
        shown["course_id"] = text("privacy-export-withheld")
    if "choices" in stored:
        shown["choices"] = [choice for choice in stored["choices"] if choice[0] not in closed]
    return shown


def _written(stored: Json) -> File:
    data = json.dumps(stored, ensure_ascii=False, indent=1).encode()
    if len(data) <= _MOST_BYTES:
        return File(_NAME, data)
    packed = gzip.compress(data)
    if len(packed) > _MOST_BYTES:
        raise RequestError("an export is too large", user_message=text("privacy-export-too-much"))
    return File(f"{_NAME}.gz", packed)
