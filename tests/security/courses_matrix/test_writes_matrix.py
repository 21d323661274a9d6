"""Nothing of another tenant is written, whoever presses or sends whatever, and however often."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from core.tables import METADATA
from tests.security.courses_matrix.cells import Cell
from tests.security.courses_matrix.discord.acts import DiscordActs
from tests.security.courses_matrix.discord.house import DiscordHouse, discord_house
from tests.security.courses_matrix.matrix import Finding, Findings, run
from tests.security.courses_matrix.relations import Role
from tests.security.courses_matrix.slack.acts import SlackActs
from tests.security.courses_matrix.slack.house import SlackHouse, slack_house
from tests.security.courses_matrix.stored import OF_THE_PROCESS, OWNERS, Stored
from tests.security.courses_matrix.surface import DISCORD, SLACK
from tests.security.courses_matrix.test_courses_matrix import prepare
from tests.security.courses_matrix.writing import STEALING, essential_cells, write_cells

pytestmark = pytest.mark.costly

EXTENTS = ["what is another's", *(pytest.param(role, marks=pytest.mark.slow) for role in Role)]
"""What is tried: the buttons and forms of others alone, or everything, by one role at a time."""
_PAUSE, _SETTLING = 1.0, 20
"""Seconds without a change, after which nothing is under way any more; how often that is tried."""


def test_it_is_known_of_every_table_whose_its_rows_are() -> None:
    tables = set(METADATA.tables)
    assert OWNERS.keys() | OF_THE_PROCESS == tables
    assert not OWNERS.keys() & OF_THE_PROCESS


def test_a_row_of_another_tenant_is_seen_when_it_comes_changes_and_goes(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'glossator.db'}")
    METADATA.create_all(engine)
    engine.dispose()
    stored = Stored(tmp_path, "slack:mine", dict)
    deeds = {
        "slack:other: a row of queue_channels is added: ": (
            "INSERT INTO queue_channels VALUES ('bio', 'slack', 'other', 'c1', NULL, NULL)"
        ),
        "slack:other: a row of queue_channels is changed: c1 → c2": (
            "UPDATE queue_channels SET channel = 'c2'"
        ),
        "slack:other: a row of queue_channels is removed: ": (
            "UPDATE queue_channels SET workspace = 'mine'"
        ),
        "slack:other: a row of queue_channels is added: bio": (
            "UPDATE queue_channels SET workspace = 'other'"
        ),
        "the installation: a row of courses is added: ": (
            "INSERT INTO courses (course_id, title, language) VALUES ('bio', 'Biology', 'en')"
        ),
    }
    for said, deed in deeds.items():
        write(tmp_path, deed)
        [found] = stored.changes()
        assert found.startswith(said)
        assert stored.changes() == []
    write(tmp_path, "INSERT INTO queue_channels VALUES ('sea', 'slack', 'mine', 'c', NULL, NULL)")
    assert (stored.changes(), stored.own_rows()) == ([], 1)


def write(folder: Path, deed: str) -> None:
    with closing(sqlite3.connect(folder / "glossator.db")) as db, db:
        db.execute(deed)


def test_the_matrix_of_writes_has_thousands_of_cells() -> None:
    found = {platform: len(write_cells(platform)) for platform in (DISCORD, SLACK)}
    print(*(f"{platform}: {count} cells" for platform, count in found.items()), sep="\n")
    assert sum(found.values()) >= 1_500
    handbook = (Path(__file__).parents[3] / "docs/security.md").read_text("utf-8")
    counts = [f"{found[platform]:,}" for platform in (DISCORD, SLACK)]
    said = f"It has {sum(found.values()):,} cells, {counts[0]} on Discord and {counts[1]} on Slack."
    assert said in handbook


@pytest.mark.essential
async def test_staff_of_a_guest_write_nothing_of_the_owner(
    school_courses: Path, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    assert await on_discord(school_courses, tmp_path, essential_cells(DISCORD), figure) == []


@pytest.mark.parametrize("extent", EXTENTS)
async def test_nothing_of_another_tenant_is_written_on_discord(
    school_courses: Path, tmp_path: Path, extent: str, figure: Callable[[str], None]
) -> None:
    assert await on_discord(school_courses, tmp_path, chosen(extent, DISCORD), figure) == []


@pytest.mark.parametrize("extent", EXTENTS)
async def test_nothing_of_another_tenant_is_written_on_slack(
    school_courses: Path, tmp_path: Path, extent: str, figure: Callable[[str], None]
) -> None:
    assert await on_slack(school_courses, tmp_path, chosen(extent, SLACK), figure) == []


def chosen(extent: str, platform: str) -> list[Cell]:
    """Return the cells that try to write another's, or all of one role."""
    every = write_cells(platform)
    named = {surface.name for surface in STEALING}
    if extent in list(Role):
        return [cell for cell in every if cell.role == extent]
    return [cell for cell in every if cell.surface.name in named]


async def on_discord(
    school_courses: Path, folder: Path, some: Sequence[Cell], figure: Callable[[str], None]
) -> list[str]:
    """Try cells on Discord, and return what is wrong."""
    async with discord_house(school_courses, folder, some) as house:
        house.bot.passes_over = True  # what is delivered again is answered twice
        findings, own = await tried(DiscordActs(house), house, some)
    return wrong("Discord", findings, own, some, figure)


async def on_slack(
    school_courses: Path, folder: Path, some: Sequence[Cell], figure: Callable[[str], None]
) -> list[str]:
    """Try cells on Slack, and return what is wrong."""
    async with slack_house(school_courses, folder, some) as house:
        findings, own = await tried(SlackActs(house), house, some)
    return wrong("Slack", findings, own, some, figure)


async def tried(
    acts: DiscordActs | SlackActs, house: DiscordHouse | SlackHouse, some: Sequence[Cell]
) -> tuple[Findings, int]:
    """Try all cells, one tenant after the other; return the rows of its own that each wrote, too.

    While one acts, no row of any other tenant may change.
    """
    await prepare(acts, house, acts.open_form)
    acts.waits_for_words = False  # what is shown, or is not any more, is another matrix's
    findings, written = Findings(), 0
    for tenant in dict.fromkeys(lane.tenant for lane in house.lanes):
        house.aside = tenant
        lanes = [lane for lane in house.lanes if lane.tenant == tenant]
        stored = Stored(house.bot.folder / "data", house.tenants[tenant], lambda: named(house))
        await settled(stored)
        before = stored.own_rows()
        await run(acts, lanes, some, stored, findings)
        late = await settled(stored)
        findings.changes += [Finding(f"after the cells of {tenant}", one) for one in late]
        written += stored.own_rows() - before
    return findings, written


def named(house: DiscordHouse | SlackHouse) -> dict[str, str]:
    """Return the tenant of each channel, as rows name it."""
    return {channel: house.tenants[tenant] for channel, tenant in house.tenant_of().items()}


async def settled(stored: Stored) -> list[str]:
    """Wait until nothing is written any more, and return what was."""
    found = list[str]()
    for _ in range(_SETTLING):
        await asyncio.sleep(_PAUSE)
        latest = stored.changes()
        found += latest
        if not latest:
            break
    return found


def wrong(
    platform: str,
    findings: Findings,
    own: int,
    some: Sequence[Cell],
    figure: Callable[[str], None],
) -> list[str]:
    """Return rows of others that changed, cells that were silent or not tried; none is right."""
    cells, changes = findings.tried.total(), len(findings.changes)
    figure(
        f"{platform}, writes: {cells:,} cells, {changes} rows of other tenants changed, "
        f"{own:,} rows of their own added"
    )
    complaints = [*map(str, findings.changes[:50]), *map(str, findings.silent)]
    if cells != len(some):
        complaints.append(f"{cells:,} of {len(some):,} cells were tried")
    if own < cells / 10:
        complaints.append("the cells write nothing at all")
    return complaints
