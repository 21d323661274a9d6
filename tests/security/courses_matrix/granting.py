"""The set-up steps that name owners, grants and staff, as an operator takes them."""

import asyncio
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

from tests.command_line import CommandLine
from tests.security.courses_matrix.relations import (
    GRANTS,
    LOCKS,
    OWNERS,
    REVOKED,
    STAND_INS,
    Relation,
    word,
)

FRESH = 2.5
"""Seconds after which every process knows of a change: what it has read holds for two."""
_ALL = """\
import sys
from bot.cli import main
for line in sys.stdin.read().splitlines():
    code = main(line.split())
    print(code, line)
"""
"""Runs many commands in one process, which saves their start."""


async def name_owners(folder: Path, tenants: dict[str, str]) -> list[str]:
    """Name owners and grants on the command line; return the commands that failed."""
    lines = [f"courses owner {word(c, 'id')} {tenants[t]}" for c, t in OWNERS.items()]
    lines += [f"courses grant {word(c, 'id')} {tenants[t]}" for c, t in GRANTS]
    return await _run(folder, lines)


async def revoke(folder: Path, tenants: dict[str, str]) -> list[str]:
    """Take the one grant back; return the commands that failed."""
    course, tenant = REVOKED
    return await _run(folder, [f"courses revoke {word(course, 'id')} {tenants[tenant]}"])


def let_posts_fall_due(folder: Path) -> None:
    """Have the latest week of each course posted again, and each card of its queue changed."""
    with sqlite3.connect(folder / "data" / "glossator.db", timeout=30) as db:
        db.execute("UPDATE radar_channels SET posted = NULL, claimed_until = NULL")
        db.execute("UPDATE queue_cards SET shown = NULL, claimed_until = NULL")


def locked(relation: Relation) -> dict[str, str]:
    """Return what the operator's file says of a relation's places, by key."""
    return LOCKS[relation]


def staff_tables(kind: str, named: dict[str, list[str]]) -> str:
    """Return what the operator's file says of staff.

    Args:
        kind: `roles` or `people`.
        named: Their ids by tenant.
    """
    tables = (f'[staff."{tenant}"]\n{kind} = {ids}\n' for tenant, ids in named.items())
    return "\n".join(tables)


async def _run(folder: Path, lines: list[str]) -> list[str]:
    line = CommandLine(folder).setting(STAND_INS=STAND_INS)
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", _ALL],
        cwd=folder,
        env=line.environment(),
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    passed = set(re.findall(r"^0 (.*)$", done.stdout, re.MULTILINE))
    return [f"{one}: {done.stderr[-300:]}" for one in lines if one not in passed]
