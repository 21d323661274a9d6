"""Nothing of a course, its name included, is seen by people who may not read it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from tests.security.courses_matrix import granting
from tests.security.courses_matrix.cells import Cell, cells, covered, cross_section
from tests.security.courses_matrix.discord.acts import DiscordActs
from tests.security.courses_matrix.discord.house import DiscordHouse, discord_house
from tests.security.courses_matrix.matrix import AT_ONCE, Findings, Lane, run, swept, table
from tests.security.courses_matrix.relations import Place, Relation, Role
from tests.security.courses_matrix.slack.acts import SlackActs
from tests.security.courses_matrix.slack.house import SlackHouse, slack_house
from tests.security.courses_matrix.surface import DISCORD, SLACK
from tests.security.courses_matrix.surfaces import SURFACES

pytestmark = pytest.mark.costly

EXTENTS = ["cross-section", *(pytest.param(role, marks=pytest.mark.slow) for role in Role)]
"""Who tries everything, in a school of their own: on a busy machine all of it takes an hour."""


@pytest.mark.costly
@pytest.mark.parametrize("extent", EXTENTS)
async def test_nothing_of_a_foreign_course_is_seen_on_discord(
    school_courses: Path, tmp_path: Path, extent: str, figure: Callable[[str], None]
) -> None:
    some = chosen(extent, DISCORD)
    async with discord_house(school_courses, tmp_path, some) as house:
        acts = DiscordActs(house)
        revoked_at = await prepare(acts, house)
        findings = await run(acts, house.lanes, some)
        findings.leaks += swept(acts, house.lanes, house.tenant_of(), revoked_at)
        named = acts.registered() | acts.pressable()
    figure(f"Discord, {extent}: {figures(findings)}")
    check(findings, some, named - covered(DISCORD))


@pytest.mark.costly
@pytest.mark.parametrize("extent", EXTENTS)
async def test_nothing_of_a_foreign_course_is_seen_on_slack(
    school_courses: Path, tmp_path: Path, extent: str, figure: Callable[[str], None]
) -> None:
    some = chosen(extent, SLACK)
    async with slack_house(school_courses, tmp_path, some) as house:
        acts = SlackActs(house)
        revoked_at = await prepare(acts, house)
        findings = await run(acts, house.lanes, some)
        findings.leaks += swept(acts, house.lanes, house.tenant_of(), revoked_at)
        named = acts.registered() | acts.pressable() | await acts.words_of_course()
    figure(f"Slack, {extent}: {figures(findings)}")
    check(findings, some, named - covered(SLACK))


def test_the_whole_has_thousands_of_cells_and_the_cross_section_misses_no_pair() -> None:
    whole = {platform: list(cells(platform)) for platform in (DISCORD, SLACK)}
    every = [cell for found in whole.values() for cell in found]
    print(*(f"{platform}: {len(found)} cells" for platform, found in whole.items()), sep="\n")
    assert len(every) >= 2_000
    handbook = (Path(__file__).parents[3] / "docs/security.md").read_text("utf-8")
    on = [f"{len(found):,}" for found in whole.values()]
    said = f"The whole has {len(every):,} cells, {on[0]} on Discord and {on[1]} on Slack."
    assert said in handbook
    some = [*cross_section(DISCORD), *cross_section(SLACK)]
    assert pairs(some) == pairs(every)
    assert {surface for surface, _ in pairs(every)} == {
        surface.name for surface in SURFACES if surface.platforms
    }


def pairs(some: Sequence[Cell]) -> set[tuple[str, Relation]]:
    return {(cell.surface.name, cell.relation) for cell in some}


def chosen(extent: str, platform: str) -> list[Cell]:
    some = [cell for cell in cells(platform) if cell.role == extent]
    return some or cross_section(platform)


async def prepare(
    acts: DiscordActs | SlackActs,
    house: DiscordHouse | SlackHouse,
    also: Callable[[Lane], Awaitable[None]] | None = None,
) -> int:
    """Name owners, let everybody ask, take the grant back; return what was shown before that.

    Then what is posted by itself falls due for each course, in the channels chosen for it.

    Args:
        also: What is done in each lane before the grant is taken back.
    """
    failed = await granting.name_owners(house.bot.folder, house.tenants)
    await asyncio.sleep(granting.FRESH)
    await acts.prepare_elsewhere()
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(lane: Lane) -> None:
        async with gate:
            await acts.prepare(lane)
            if also is not None:
                await also(lane)

    await asyncio.gather(*map(one, house.lanes))
    await asyncio.gather(*map(acts.prepare_offer, filter(is_revoked, house.lanes)))
    failed += await granting.revoke(house.bot.folder, house.tenants)
    assert not failed, "\n".join(failed)
    await asyncio.sleep(granting.FRESH)
    revoked_at = house.witness.mark()
    await asyncio.to_thread(granting.let_posts_fall_due, house.bot.folder)
    await acts.see_posts(revoked_at)
    return revoked_at


def is_revoked(lane: Lane) -> bool:
    return lane.relation is Relation.REVOKED and lane.place is not Place.DIRECT


def figures(findings: Findings) -> str:
    return f"{findings.tried.total():,} cells, {len(findings.leaks)} leaks"


WRITE_ALONE = frozenset({"button y", "button o"})
"""What shows nothing: the matrix of writes presses it."""
MENU = frozenset({"button rest"})
"""What only holds buttons, each of which a cell presses."""


def check(findings: Findings, some: Sequence[Cell], unnamed: frozenset[str]) -> None:
    print(f"\n{table(findings)}\n{figures(findings)}")
    unnamed -= WRITE_ALONE | MENU
    assert not unnamed, f"no cell tries {sorted(unnamed)}"
    assert not findings.leaks, "\n".join(map(str, findings.leaks))
    assert not findings.silent, "\n".join(map(str, findings.silent))
    assert not findings.missing, "\n".join(map(str, findings.missing))
    assert findings.tried.total() == len(some)
