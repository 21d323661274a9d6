"""Walks the nested lists by which generators order their pages: Quarto's and Jupyter Book's."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

MOST_PATTERNS = 200
"""How many entries are looked up among all files; a course has a few."""
_MAX_VISITS = 200_000
_MAX_DEPTH = 30


class NavigationKeys(NamedTuple):
    """Under which keys a generator keeps what; the first that is there counts."""

    files: tuple[str, ...]
    titles: tuple[str, ...]
    groups: tuple[str, ...]
    """What an entry is called for the entries below it; may be a file as well."""
    lists: tuple[str, ...]


class ListedFile(NamedTuple):
    """A file, or a pattern, that the navigation names."""

    path: str
    title: str | None
    groups: tuple[str, ...]


def listed(value: object, keys: NavigationKeys) -> Iterator[ListedFile]:
    """Yield what a value of the configuration lists, in order, addresses of the web left out.

    It ends after 200,000 values and 30 levels: YAML's aliases make a small file grow.
    """
    return _walk(value, keys, (), count(), 0)


def _walk(
    value: object, keys: NavigationKeys, groups: tuple[str, ...], visits: Iterator[int], depth: int
) -> Iterator[ListedFile]:
    if next(visits) > _MAX_VISITS or depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        yield from _entry(value, None, groups)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, keys, groups, visits, depth + 1)
    elif isinstance(value, Mapping):
        title = text_of(value, keys.titles)
        group = text_of(value, keys.groups)
        is_file = group is not None and posixpath.splitext(group)[1] != "" and " " not in group
        yield from _entry(text_of(value, keys.files) or "", title, groups)
        if is_file:
            yield from _entry(group or "", title, groups)
        name = title or (None if is_file else group)
        inside = (*groups, name) if name else groups
        for key in keys.lists:
            yield from _walk(value.get(key), keys, inside, visits, depth + 1)


def _entry(path: str, title: str | None, groups: tuple[str, ...]) -> Iterator[ListedFile]:
    if path.strip() and "://" not in path and not path.startswith(("#", "mailto:")):
        yield ListedFile(posixpath.normpath(path.strip().lstrip("/")), title, groups)


def text_of(value: Mapping[object, object], keys: Sequence[str]) -> str | None:
    """Return the first text under one of `keys`, if there is any."""
    texts = (value.get(key) for key in keys)
    return next((text.strip() for text in texts if isinstance(text, str) and text.strip()), None)
