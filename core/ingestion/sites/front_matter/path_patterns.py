"""Compares paths with the patterns by which configurations name files: `*`, `**` and `{a,b}`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

_ANY_FOLDERS = "**"
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_CHOICES = 100


def fits(path: str, pattern: str) -> bool:
    """Return whether a whole path fits; `*` stands for a part of a name, `**` for any folders."""
    return any(_is_whole(path.split("/"), one.split("/")) for one in _choices(pattern))


def begins_with(path: str, pattern: str) -> bool:
    """Return whether a path, or a folder that it is in, fits."""
    parts = path.split("/")
    return any(_is_whole(parts[:n], pattern.split("/")) for n in range(1, len(parts) + 1))


def _is_whole(path: Sequence[str], pattern: Sequence[str]) -> bool:
    reached = _onward({0}, pattern)
    for part in path:
        stays = {at for at in reached if at < len(pattern) and pattern[at] == _ANY_FOLDERS}
        passes = {
            at + 1 for at in reached - stays if at < len(pattern) and fnmatchcase(part, pattern[at])
        }
        reached = _onward(stays | passes, pattern)
    return len(pattern) in reached


def _onward(reached: Iterable[int], pattern: Sequence[str]) -> set[int]:
    """Return places in a pattern with those that come after marks which stand for nothing."""
    found = set[int]()
    for place in reached:
        at = place
        found.add(at)
        while at < len(pattern) and pattern[at] == _ANY_FOLDERS:
            at += 1
            found.add(at)
    return found


def _choices(pattern: str) -> Iterator[str]:
    """Yield the patterns that one with braces stands for."""
    waiting, count = [pattern], 0
    while waiting and count < _MOST_CHOICES:
        one = waiting.pop()
        count += 1
        braces = _BRACES.search(one)
        if braces is None:
            yield one
        else:
            head, tail = one[: braces.start()], one[braces.end() :]
            waiting += [f"{head}{choice}{tail}" for choice in braces[1].split(",")[:_MOST_CHOICES]]
