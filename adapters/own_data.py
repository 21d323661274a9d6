"""A file with all that is stored about somebody, as they get it on every platform."""

import asyncio
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass

from core.disclosure import Disclosure, Json
from core.errors import RequestError

SENT = (
    "Here is everything that is stored about you, as a file for machines to read (JSON). "
    "`/forget-me` deletes it."
)
_NAME = "glossator-data.json"
_MOST_BYTES = 8_000_000
"""What every platform takes as one file."""
_TOO_MUCH = (
    "More is stored about you than fits into one file here. "
    "Please ask whoever runs me for it; nothing was deleted."
)


@dataclass(frozen=True, slots=True)
class File:
    """A file for somebody."""

    name: str
    data: bytes


class OwnData:
    """Makes the file; one at a time, as each may be as large as somebody's past is long."""

    def __init__(self, disclosure: Disclosure) -> None:
        self._disclosure = disclosure
        self._alone = asyncio.Lock()

    async def file(self, user_ids: Sequence[str]) -> File:
        """Return what is stored about somebody, by their pseudonyms; compressed when it is long.

        Raises:
            StoreError: when the database fails.
            RequestError: when it is too much for a file.
        """
        async with self._alone:
            return await asyncio.to_thread(_written, await self._disclosure.of(user_ids))


def _written(stored: Json) -> File:
    data = json.dumps(stored, ensure_ascii=False, indent=1).encode()
    if len(data) <= _MOST_BYTES:
        return File(_NAME, data)
    packed = gzip.compress(data)
    if len(packed) > _MOST_BYTES:
        raise RequestError("an export is too large", user_message=_TOO_MUCH)
    return File(f"{_NAME}.gz", packed)
