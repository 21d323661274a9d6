"""Files that a person attaches, as the page sends them."""

import base64
import mimetypes
from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tests.wire.playground.side import Refused

PICTURES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""What the page shows as pictures; everything else is shown by its name."""


class Attached(BaseModel):
    """A file, its bytes in base64."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, Field(pattern=r"^[^/\\\x00-\x1f]{1,200}$")]
    content: str


def contents(files: Iterable[Attached]) -> dict[str, bytes]:
    """Return the bytes of files by their names.

    Raises:
        Refused: Two have the same name, or one is no base64.
    """
    found: dict[str, bytes] = {}
    for file in files:
        if file.name in found:
            raise Refused(f"Two files are called {file.name}.")
        try:
            found[file.name] = base64.b64decode(file.content, validate=True)
        except ValueError as error:
            raise Refused(f"The bytes of {file.name} are not base64.") from error
    return found


def media_type(name: str) -> str:
    """Return what a platform takes a file for, by its name."""
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
