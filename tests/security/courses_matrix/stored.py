"""Whose each stored row is, in every table, and which rows of others a deed has changed."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from core.inbox.limits import WAITS

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
_EVERY = "*"
"""Stands for all channels of a platform where it is kept how far these were read."""
OF_THE_PROCESS = frozenset({"cached_vectors", "closed_windows", "gateway_sessions", "leases"})
"""Tables in which a running process keeps house, whatever anybody does."""
_LEASE = "claimed_until"
"""The column by which a process holds what it posts by itself, such as the card of a question."""

Rows = dict[tuple[str, str, int], tuple[Any, ...]]
"""Rows by tenant, table and number."""


class Stored:
    """The rows of all tenants but one, as they are now and as they were."""

    def __init__(self, data: Path, own: str, tenant_of: Callable[[], Mapping[str, str]]) -> None:
        """Look at a bot's database.

        Args:
            own: The tenant that acts.
            tenant_of: Returns the tenant of each channel, those of direct messages included.
        """
        self._file = data / "glossator.db"
        self._own = own
        self._tenant_of = tenant_of
        self._rows = self._read()

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self._rows)

    def changes(self) -> list[str]:
        """Return what has become of these rows since this was asked last."""
        before, self._rows = self._rows, self._read()
        if before == self._rows:
            return []
        found = list[str]()
        for key in sorted(before.keys() | self._rows.keys()):
            was, now = before.get(key), self._rows.get(key)
            if was != now:
                how = "added" if was is None else "removed" if now is None else "changed"
                found.append(f"{key[0]}: a row of {key[1]} is {how}: {_differing(was, now)}")
        return found

    def own_rows(self) -> int:
        """Return how many rows the tenant that acts has."""
        with closing(sqlite3.connect(self._file, timeout=30)) as db:
            counts = (
                db.execute(f"SELECT count(*) FROM {table} t WHERE {owner} = ?", (self._own,))
                for table, owner in OWNERS.items()
            )
            return sum(found for count in counts for (found,) in count)

    def _read(self) -> Rows:
        rows: Rows = {}
        with closing(sqlite3.connect(self._file, timeout=30)) as db:
            db.execute("BEGIN")  # all of it is of one moment
            for table, owner in OWNERS.items():
                query = (
                    f"SELECT {owner} AS of_whom, t.rowid, t.* FROM {table} t WHERE of_whom IS NOT ?"
                )
                for whose, number, *values in db.execute(query, (self._own,)):
                    tenant = self._tenant(whose)
                    if tenant != self._own:
                        rows[tenant, table, number] = tuple(values)
        return rows

    def _tenant(self, whose: str | None) -> str:
        """Return whose a row is, by its channel where the row names no tenant."""
        _, is_direct, channel = (whose or "").partition(":@me")
        if channel == _EVERY:
            return self._own
        return self._tenant_of()[channel] if is_direct else whose or NOBODYS


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]


def _differing(was: tuple[Any, ...] | None, now: tuple[Any, ...] | None) -> str:
    pairs = zip(was or now or (), now or was or (), strict=True)
    return "; ".join(f"{str(one)[:80]} → {str(other)[:80]}" for one, other in pairs
                     if one != other or was is None or now is None)[:400]  # fmt: skip
