"""Prints when each new event was first seen in an inbox, whose file is the argument."""

import sqlite3
import sys
import time
from contextlib import closing

_LOOK = 0.001
_LONGEST = 600.0
"""Seconds after which it ends, whoever forgot it."""


def watch(file: str) -> None:
    """Print a moment of the monotonic clock and a key, a line for each event."""
    end = time.monotonic() + _LONGEST
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, isolation_level=None)) as db:
        (latest,) = db.execute("SELECT coalesce(max(rowid), 0) FROM inbox").fetchone()
        print("watching", flush=True)
        version = None
        while time.monotonic() < end:
            time.sleep(_LOOK)
            (found,) = db.execute("PRAGMA data_version").fetchone()
            if found == version:
                continue
            version = found
            new = db.execute("SELECT rowid, key FROM inbox WHERE rowid > ?", (latest,)).fetchall()
            moment = time.monotonic()
            for number, key in new:
                latest = max(latest, number)
                print(moment, key, flush=True)


if __name__ == "__main__":
    watch(sys.argv[1])
