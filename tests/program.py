"""Tells one program from another, for figures that are kept between two sittings."""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_TRIED = ("adapters", "bot", "core", "migrations")
_TRIED_WITH = ("tests/chaos", "tests/wire", "tests/stand_ins.py", "tests/embedding.py")


@cache
def program(*also: str) -> str:
    """Return what changes with every change of the bot, or of how it is tried.

    Args:
        also: Files and folders, beside those that every trial has.
    """
    read = hashlib.sha256()
    for file in _files(*_TRIED, *_TRIED_WITH, "tests/postgres.py", *also):
        read.update(file.read_bytes())
    return read.hexdigest()[:12]


def _files(*names: str) -> Iterator[Path]:
    for name in names:
        place = _ROOT / name
        yield from sorted(place.rglob("*.py")) if place.is_dir() else (place,)
