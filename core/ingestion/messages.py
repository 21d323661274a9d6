"""What the sandbox and its child say to one another, checked by the side that trusts less."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.ingestion.document import Block, BlockKind, ParsedDocument

MAX_FRAME_BYTES = 20_000_000
MAX_TEXT_CHARACTERS = 20_000_000
MAX_BLOCKS = 500_000
_MAX_REASON = 300
_MAX_SHORT_TEXTS = 1_000
_LOCATOR_NAMES = frozenset({"page", "slide", "cell", "line_start", "line_end"})
_SURROGATES = re.compile("[\ud800-\udfff]")

HEADER_BYTES = 4
"""A frame is its length, four bytes, most significant first, then that many bytes."""


class InvalidMessage(Exception):
    """The child said something that no intact child says."""


@dataclass(frozen=True, slots=True)
class ParseJob:
    """A document to parse, whole in memory."""

    data: bytes
    name: str
    """Its path below `include_root`, or any name; the suffix tells its format."""
    media_type: str | None = None
    dialect: str = "commonmark"
    """Which Markdown it is written in."""
    include_root: Path | None = None
    """The folder from which its pages may include files; none allows no includes."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the child could not parse a document; `retire` when it must not go on."""

    reason: str
    retire: bool = False


def frame(message: Mapping[str, Any]) -> bytes:
    """Return a message with its length before it."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return len(body).to_bytes(HEADER_BYTES, "big") + body


