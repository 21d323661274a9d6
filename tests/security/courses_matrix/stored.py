"""Whose each stored row is, in every table, and which rows of others a deed has changed."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from core.storage.inbox.base import WAITS

NOBODYS = "the installation"
"""Whose rows are that no tenant may change: the courses, their text, and who may read them."""
_WHERE = (
    "{0}.platform || ':' || CASE {0}.workspace WHEN '@me' THEN '@me' || {1} ELSE {0}.workspace END"
)
_EVENT = f"(SELECT {_WHERE.format('e', 'e.channel')} FROM inbox e WHERE {{}} LIMIT 1)"
_REQUEST = _EVENT.format("e.request_id = t.request_id")
_ANSWER = (
    "(SELECT a.platform || ':' || a.workspace FROM verified_answers a"
    " WHERE a.answer_id = t.answer_id)"
)
_SESSION = (
    "(SELECT {} FROM (SELECT json_extract(s.details, '$.platform') AS platform,"
    " json_extract(s.details, '$.workspace') AS workspace,"
    " json_extract(s.details, '$.channel') AS channel"
    " FROM sessions s WHERE s.session_id = t.session_id) s)"
).format(_WHERE.format("s", "s.channel"))
_REST = f"substr(t.subject, {len(WAITS) + 1})"
_COUNTED = f"""CASE
 WHEN t.subject LIKE 'channel:%' THEN {
    _EVENT.format("'channel:' || e.platform || ':' || e.workspace || ':' || e.channel = t.subject")
}
 WHEN t.subject LIKE '{WAITS}%' THEN {
    _EVENT.format(f"e.user_id = substr({_REST}, 1, instr({_REST}, ':') - 1)")
}
 ELSE {_EVENT.format("e.user_id = substr(t.subject, 6)")} END"""
_OF_PLACES = ("channel_rules", "conversations", "exchanges", "panels")
_OF_TENANTS = (
    *("answer_policies", "help_requests", "queue_cards", "queue_channels", "radar_channels"),
    *("staff", "tenants", "verified_answers"),
)
_OF_NOBODY = (
    *("course_changes", "course_grants", "courses", "documents", "editions", "ingest_accounts"),
    *("key_ids", "sections", "segments", "source_checks"),
)
OWNERS: Mapping[str, str] = {
    **dict.fromkeys(_OF_PLACES, _WHERE.format("t", "t.place")),
    **dict.fromkeys(_OF_TENANTS, "t.platform || ':' || t.workspace"),
    **dict.fromkeys(_OF_NOBODY, "NULL"),
    "hint_steps": _REQUEST,
    "inbox": _WHERE.format("t", "t.channel"),
    "inbox_counts": _COUNTED,
    "inbox_cursors": "t.platform || ':@me' || t.channel",
    "inbox_posts": _EVENT.format("e.key = t.key"),
    "installations": "t.platform || ':' || t.place",
    "radar_weeks": "t.tenant",
    "sessions": _SESSION,
    "token_usage": f"CASE t.scope WHEN 'user' THEN {_EVENT.format('e.user_id = t.subject')} END",
    "turns": _SESSION,
    "verified_phrasings": _ANSWER,
    "verified_revisions": _ANSWER,
    "votes": _REQUEST,
}
"""The tenant of a row of each table, in SQL; NULL: it is nobody's."""
_NOT_OF_ONE = frozenset({"*", ""})
"""Stand for all direct messages where it is kept how far these were read, and for one of them
where nothing is kept of a deleted message but its key."""
OF_THE_PROCESS = frozenset({"cached_vectors", "closed_windows", "leases"})
"""Tables in which a running process keeps house, whatever anybody does."""

LEASED = {"queue_cards": frozenset({"claimed_until"})}
"""Columns in which a running process says that it sees to a row, again and again while it must not
show a course any more, whatever anybody does."""

Key = tuple[str, int]
"""A table and the number of one of its rows."""
Rows = dict[Key, tuple[Any, ...]]


class Stored:
    """The rows of all tenants, and what has become of those that are not of the one that acts.

    Whose a row is, is asked once when the row is new or changed: to ask it of all rows after each
    cell took longer the more there were, and kept the platform, which runs in the same process,
    from answering.
    """

    def __init__(self, data: Path, own: str, tenant_of: Callable[[], Mapping[str, str]]) -> None:
        """Look at a bot's database.

        Args:
            own: The tenant that acts.
            tenant_of: Returns the tenant of each channel, those of direct messages included.
        """
        self._file = data / "glossator.db"
        self._own = own
        self._tenant_of = tenant_of
        self._channels: Mapping[str, str] = {}
        self._rows: Rows = {}
        self._owner: dict[Key, str] = {}
        """Whose each row was when it was written last."""
        self.changes()

    def __len__(self) -> int:
        """Return how many rows there are of others."""
        return sum(owner != self._own for owner in self._owner.values())

    def changes(self) -> list[str]:
        """Return what has become of the rows of others since this was asked last."""
        with closing(sqlite3.connect(self._file, timeout=30)) as db:
            db.execute("BEGIN")  # all of it is of one moment
            before, now = self._rows, _read(db)
            if before == now:
                return []
            written = {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)}
            owners = self._owners(db, written & now.keys())
        found = list[str]()
        for key in sorted(written):
            was, owner = self._owner.pop(key, None), owners.get(key)
            if owner is not None:
                self._owner[key] = owner
            others = sorted({whose for whose in (was, owner) if whose not in (None, self._own)})
            for whose in others:
                before_it = before.get(key) if was == whose else None
                after_it = now.get(key) if owner == whose else None
                how = "added" if before_it is None else "removed" if after_it is None else "changed"
                differing = _differing(before_it, after_it)
                found.append(f"{whose}: a row of {key[0]} is {how}: {differing}")
        self._rows = now
        return found

    def own_rows(self) -> int:
        """Return how many rows the tenant that acts had when it was looked last."""
        return sum(owner == self._own for owner in self._owner.values())

    def _owners(self, db: sqlite3.Connection, keys: Iterable[Key]) -> dict[Key, str]:
        """Return whose these rows are."""
        numbers: dict[str, list[int]] = defaultdict(list)
        for table, number in keys:
            numbers[table].append(number)
        found: dict[Key, str] = {}
        for table, wanted in numbers.items():
            query = (
                f"SELECT t.rowid, {OWNERS[table]} FROM {table} t"
                " WHERE t.rowid IN (SELECT value FROM json_each(?))"
            )
            for number, whose in db.execute(query, (json.dumps(wanted),)):
                _, is_direct, channel = (whose or "").partition(":@me")
                if is_direct and channel in _NOT_OF_ONE:
                    found[table, number] = self._own
                elif is_direct:
                    if channel not in self._channels:  # it was opened since
                        self._channels = self._tenant_of()
                    found[table, number] = self._channels[channel]
                else:
                    found[table, number] = whose or NOBODYS
        return found


def _read(db: sqlite3.Connection) -> Rows:
    """Return all rows, without what changes by itself."""
    found: Rows = {}
    for table in OWNERS:
        rows = db.execute(f"SELECT t.rowid, t.* FROM {table} t")
        names = [column for column, *_ in rows.description][1:]
        kept = [n for n, name in enumerate(names, 1) if name not in LEASED.get(table, ())]
        found |= {(table, row[0]): tuple(row[n] for n in kept) for row in rows}
    return found


def _differing(was: tuple[Any, ...] | None, now: tuple[Any, ...] | None) -> str:
    pairs = zip(was or now or (), now or was or (), strict=True)
    return "; ".join(f"{str(one)[:80]} → {str(other)[:80]}" for one, other in pairs
                     if one != other or was is None or now is None)[:400]  # fmt: skip
