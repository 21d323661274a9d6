"""Puts files that were left out into few rows: by reason, folder and suffix, with counts."""

import posixpath
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlsplit

from core.ingestion.account.left_out import LeftOut
from core.ingestion.formats.registry import suffix_of
from core.storage.ingest_accounts import LeftOutGroup

_ROWS_A_REASON = 8
ALL = "*"
"""In place of a folder or suffix: there are several."""


def grouped(left_out: Iterable[LeftOut], most: int) -> list[LeftOutGroup]:
    """Return at most `most` groups, those with the most missed files first.

    The files of a reason that lie in many folders, or have many suffixes, share rows.
    """
    by_reason: dict[str, list[LeftOut]] = {}
    for left in left_out:
        by_reason.setdefault(left.reason, []).append(left)
    groups = [group for same in by_reason.values() for group in _rows(same)]
    groups.sort(key=lambda group: (-group.missed, -group.files, group.reason, group.folder))
    if len(groups) <= most:
        return groups
    return [*groups[: most - 1], _rest(groups[most - 1 :])]


def _rest(groups: Sequence[LeftOutGroup]) -> LeftOutGroup:
    return LeftOutGroup(
        "has another reason",
        ALL,
        ALL,
        sum(group.files for group in groups),
        sum(group.missed for group in groups),
        groups[0].example,
    )


def _rows(same: Sequence[LeftOut]) -> list[LeftOutGroup]:
    """Return the groups of one reason: as fine as few rows allow."""
    rows: dict[tuple[str, str], list[LeftOut]] = {}
    for place in _PLACES:
        rows = {}
        for left in same:
            rows.setdefault(place(left.path), []).append(left)
        if len(rows) <= _ROWS_A_REASON:
            break
    return [
        LeftOutGroup(
            members[0].reason,
            folder,
            suffix,
            len(members),
            sum(left.is_missed for left in members),
            members[0].path,
        )
        for (folder, suffix), members in rows.items()
    ]


def _folder(path: str, depth: int) -> str:
    if "://" in path:
        return urlsplit(path).netloc
    return "/".join(posixpath.dirname(path).split("/")[:depth])


_PLACES: Sequence[Callable[[str], tuple[str, str]]] = (
    lambda path: (_folder(path, 99), _suffix(path)),
    lambda path: (_folder(path, 2), _suffix(path)),
    lambda path: (_folder(path, 1), _suffix(path)),
    lambda path: (ALL, _suffix(path)),
    lambda path: (_folder(path, 1), ALL),
    lambda path: (ALL, ALL),
)
"""From the finest to the coarsest."""


def _suffix(path: str) -> str:
    return "" if "://" in path else suffix_of(path)
