"""Reads JSON that is not to be trusted: what has another form than expected is absent."""

import re
from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]

_NOTHING: Json = {}
_UNSTORABLE = re.compile("[\\0\\ud800-\\udfff]")


def mapping(value: object) -> Json:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, Mapping) else _NOTHING


def mappings(value: object) -> list[Json]:
    """Return the objects of a list; none for anything else."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def text(value: object) -> str:
    """Return a text that can be stored and sent; an empty one for anything else."""
    return well_formed(value) if isinstance(value, str) else ""


def well_formed(value: str) -> str:
    """Return a text with a sign in place of each half character and of NUL, as JSON can hold."""
    return _UNSTORABLE.sub("\ufffd", value)
