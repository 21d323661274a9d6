"""Many workspaces: they install the app by OAuth, are kept apart, and are forgotten."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain.i18n import text
from tests.books import COVERED, COVERED_FACT
from tests.wire.grants import grant
from tests.wire.slack_bot import Transport, Trial, a_trial
from tests.wire.slack_installs import Browser, install, tables_but_cursors

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_workspaces"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def running(
    request: pytest.FixtureRequest, one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    transport: Transport = request.param
    async with a_trial(
        one_course, tmp_path_factory.mktemp("oauth"), transport=transport, by_oauth=True
    ) as trial:
        await trial.bot.says("listening for Slack on port")
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


def tokens(trial: Trial) -> dict[str, bytes]:
    with closing(sqlite3.connect(trial.bot.folder / "data" / "glossator.db")) as db:
        return dict(db.execute("SELECT place, token FROM installations").fetchall())


async def test_two_workspaces_are_answered_and_one_that_leaves_is_forgotten(trial: Trial) -> None:
    world = trial.world
    other = world.add_workspace("Other")
    for workspace in (world.workspace, other):
        await install(trial, workspace)
    assert set(tokens(trial)) == {world.workspace.id, other.id}
    installation = world.installation_of(world.app, other)
    assert installation is not None
    assert installation.token.encode() not in b"".join(tokens(trial).values())
    await trial.bot.says(f"slack:{other.id} has let the bot in")
    await grant(trial.bot.folder, "arden", f"slack:{other.id}")
    await asyncio.sleep(2.5)  # until the running bot knows it
    bea = world.add_user("bea", other)
    channel = world.add_channel(other, "bio", members=(bea, installation.bot))
    question = await world.say(bea, channel, f"<@{installation.bot.id}> {COVERED}")
    answer = await trial.until(
        lambda: next(
            (m for m in world.transcript(channel) if m is not question and COVERED_FACT in m.shown),
            None,
        )
    )
    assert answer.author is installation.bot
    world.uninstall(world.app, other)
    await trial.until(lambda: set(tokens(trial)) == {world.workspace.id} or None)
    ann = trial.user()
    own = world.installation_of(world.app, world.workspace)
    assert own is not None
    assert COVERED_FACT in (await trial.ask(ann, trial.channel(ann), COVERED)).shown


async def test_an_installation_is_made_once_and_in_its_own_browser_alone(trial: Trial) -> None:
    browser = Browser(trial)
    path = await browser.allow(trial.world.workspace)
    assert (await Browser(trial).get(path))[0] == 400
    again = Browser(trial, browser.cookie)
    assert (await browser.get(path))[0] == 200
    assert (await again.get(path))[0] == 401
    forged = re.sub(r"state=[^&]+", "state=forged", path)
    attacker = Browser(trial, "slack-app-oauth-state=forged")
    assert (await attacker.get(forged))[0] == 401


async def test_whoever_declines_installs_nothing(trial: Trial) -> None:
    before = tokens(trial)
    status, page = await Browser(trial).get("/slack/oauth_redirect?error=access_denied&state=x")
    assert (status, text("install-declined") in page) == (200, True)
    status, page = await Browser(trial).get("/slack/oauth_redirect?error=<b>gone</b>&state=x")
    assert (status, text("install-refused") in page, "gone" in page) == (400, True, False)
    assert tokens(trial) == before


async def test_installing_leaves_no_row_behind_for_who_only_asks(trial: Trial) -> None:
    before = tables_but_cursors(trial.bot.folder)
    for _ in range(20):
        status, page = await Browser(trial).get("/slack/install")
        assert status == 200
        assert "state=" in page
    assert tables_but_cursors(trial.bot.folder) == before
