"""Reads JSON that is not to be trusted: what has another form than expected is absent."""

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]

_NOTHING: Json = {}


def mapping(value: object) -> Json:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, Mapping) else _NOTHING


def mappings(value: object) -> list[Json]:
    """Return the objects of a list; none for anything else."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def text(value: object) -> str:
    """Return a text; an empty one for anything else."""
    return value if isinstance(value, str) else ""
