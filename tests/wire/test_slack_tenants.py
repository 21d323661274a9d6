"""Courses have owners: what a workspace gets that installs the app after the operator's own."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT
from tests.wire.discord_bot import FOREIGN_FACT
from tests.wire.grants import copy_course, grant
from tests.wire.slack import Channel, Message, User, Workspace
from tests.wire.slack_bot import Trial, a_trial, elements, is_finished
from tests.wire.slack_installs import Browser, install, tables_but_cursors

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_tenants"),
]

FOLLOWS_IN = 2.5
"""Seconds after which a running bot knows what the operator typed."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(
    two_courses: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    folder = tmp_path_factory.mktemp("tenants")
    async with a_trial(two_courses, folder, transport="http", by_oauth=True) as trial:
        await trial.bot.says("listening for Slack on port")
        await install(trial, trial.world.workspace)
        yield trial


class Stranger:
    """A workspace that installed the app later, with somebody in it."""

    def __init__(self, trial: Trial, workspace: Workspace) -> None:
        installation = trial.world.installation_of(trial.world.app, workspace)
        assert installation is not None
        self.trial, self.bot = trial, installation.bot
        self.user: User = trial.world.add_user(f"bea-{workspace.id}", workspace)
        self.admin: User = trial.world.add_user(f"admin-{workspace.id}", workspace, admin=True)
        members = (self.user, self.bot, self.admin)
        self.channel: Channel = trial.world.add_channel(workspace, "bio", members=members)

    async def refusal(self, text: str, user: User | None = None) -> Message:
        return await self.trial.refusal_of(await self.ask(text, user))

    async def ask(self, text: str, user: User | None = None) -> Message:
        said = f"<@{self.bot.id}> {text}"
        return await self.trial.world.say(user or self.user, self.channel, said)

    async def answer(self, text: str) -> Message:
        world, question = self.trial.world, await self.ask(text)

        def answered() -> Message | None:
            said = world.transcript(self.channel)
            mine = [m for m in said if m.author is self.bot and m.thread_ts == question.ts]
            return next((m for m in mine if is_finished(m)), None)

        return await self.trial.until(answered)


async def test_a_later_workspace_gets_nothing_until_it_is_granted(trial: Trial) -> None:
    other = trial.world.add_workspace("Later")
    await install(trial, other)
    command = f"glossator courses grant COURSE slack:{other.id}"
    await trial.bot.says(command)
    stranger = Stranger(trial, other)
    assert i18n.text("course-none-yet-tell") in (await stranger.refusal(COVERED)).shown
    for_staff = (await stranger.refusal(COVERED, stranger.admin)).shown
    assert f"`glossator courses grant COURSE slack:{other.id}`" in for_staff
    assert "arden" not in for_staff
    await grant(trial.bot.folder, "arden", f"slack:{other.id}")
    await asyncio.sleep(FOLLOWS_IN)
    assert COVERED_FACT in (await stranger.answer(COVERED)).shown
    vault = "Which words open the vault of the Bellhaven bank?"
    assert FOREIGN_FACT not in (await stranger.answer(vault)).shown
    assert trial.bot.log.count(command) == 1


async def test_a_direct_message_is_asked_which_course_and_answered_then(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    direct = world.dm(ann)
    await world.say(ann, direct, COVERED)
    menu = await trial.until(
        lambda: next(
            (m for m in trial.from_bot(direct, ann) if i18n.text("course-which") in m.shown), None
        )
    )
    await world.click(ann, menu, "gl:course", "arden")
    answer = await trial.until(
        lambda: next((m for m in world.transcript(direct, ann) if COVERED_FACT in m.shown), None)
    )
    assert FOREIGN_FACT not in answer.shown


async def test_a_workspace_that_is_not_on_the_list_installs_nothing(
    one_course: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "listed"
    async with a_trial(one_course, folder, transport="http", by_oauth=True) as trial:
        own = trial.world.workspace
        assert await trial.bot.stop() == 0
        trial.bot._settings = {**trial.bot._settings, "SLACK__WORKSPACES": f'["{own.id}"]'}
        await trial.bot.start()
        await trial.bot.says("listening for Slack on port")
        await install(trial, own)
        before = tables_but_cursors(trial.bot.folder)
        other = trial.world.add_workspace("Unlisted")
        browser = Browser(trial)
        status, page = await browser.get(await browser.allow(other))
        assert status == 403
        assert "other workspaces" in page
        assert tables_but_cursors(trial.bot.folder) == before


async def test_a_workspace_that_is_taken_off_the_list_is_not_called_uninstalled(
    one_course: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "taken-off"
    async with a_trial(one_course, folder, transport="http", by_oauth=True) as trial:
        world = trial.world
        other = world.add_workspace("Former")
        for workspace in (world.workspace, other):
            await install(trial, workspace)
        stranger = Stranger(trial, other)
        assert await trial.bot.stop() == 0
        listed = f'["{world.workspace.id}"]'
        trial.bot._settings = {**trial.bot._settings, "SLACK__WORKSPACES": listed}
        await trial.bot.start()
        await trial.server.subscribe(f"{trial.bot.url}/slack/events")
        asked = await world.slash(stranger.user, stranger.channel, "/ask", COVERED)
        assert (await trial.result_of(asked)).shown == i18n.text("asking-not-admitted")


@pytest.mark.parametrize("count", [60, 150])
async def test_who_is_in_many_courses_finds_each_of_them_in_a_menu_that_is_searched(
    one_course: Path, tmp_path: Path, count: int
) -> None:
    async with a_trial(one_course, tmp_path / "many", start=False) as trial:
        await copy_course(trial.bot.folder, "arden", count)
        await trial.bot.start()
        world, ann = trial.world, trial.user()
        direct = world.dm(ann)
        await world.say(ann, direct, COVERED)
        menu = await trial.until(
            lambda: next(
                (m for m in trial.from_bot(direct) if i18n.text("course-which") in m.shown), None
            )
        )
        (select,) = [one for one in elements(menu) if one["action_id"] == "gl:course"]
        groups = select.get("option_groups") or [select]
        assert sum(len(group["options"]) for group in groups) == count + 1
        await world.click(ann, menu, "gl:course", "arden")
        await trial.until(
            lambda: next((m for m in trial.from_bot(direct) if COVERED_FACT in m.shown), None)
        )
