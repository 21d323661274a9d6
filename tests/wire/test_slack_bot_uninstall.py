"""A workspace takes the app out: nothing of it stays in any table, all of the others does."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.books import COVERED, COVERED_FACT
from tests.wire.grants import grant
from tests.wire.slack import Channel, Installation, Message, User, Workspace
from tests.wire.slack_bot import Trial, a_trial, elements
from tests.wire.slack_installs import install, rows_with, tables

pytestmark = pytest.mark.costly

_PSEUDONYM = re.compile(r"[0-9a-f]{64}")


class Class:
    """A workspace with the bot in it, and all that its people do with the bot."""

    def __init__(self, trial: Trial, workspace: Workspace, name: str) -> None:
        world = trial.world
        installation = world.installation_of(world.app, workspace)
        assert installation is not None
        self.trial = trial
        self.workspace = workspace
        self.installation: Installation = installation
        self.word = f"{name}word"
        self.user: User = world.add_user(f"{name}-user", workspace)
        self.other: User = world.add_user(f"{name}-other", workspace)
        self.direct = world.dm(self.user)
        members = (world.owner_of(workspace), installation.bot, self.user, self.other)
        self.channel: Channel = world.add_channel(workspace, f"{name}-channel", members=members)

    @property
    def needles(self) -> tuple[str, ...]:
        """Return what can only stand in a row about this workspace."""
        ids = (self.workspace.id, self.channel.id, self.direct.id, self.user.id, self.other.id)
        return (*ids, self.installation.bot.id, self.word)

    async def use_everything(self) -> None:
        """Ask in every way, vote, set a rule, name staff, and look at a channel."""
        world, trial = self.trial.world, self.trial
        owner = world.owner_of(self.workspace)
        question = f"{COVERED} {self.word}"
        await self._asked(self.channel, f"<@{self.installation.bot.id}> {question}")
        await self._asked(self.direct, question)
        private = await world.slash(self.user, self.channel, "/ask", f"private {question}")
        assert COVERED_FACT in (await trial.result_of(private)).shown
        answer = next(m for m in self.answers(self.channel) if COVERED_FACT in m.shown)
        [buttons] = [e for e in elements(answer) if e["action_id"] == "gl:vote"]
        choice = buttons["positive_button"]["value"]
        await (await world.click(self.other, answer, "gl:vote", choice)).ack()
        setting = await world.slash(owner, self.channel, "/course", "set length: short")
        assert "Done" in (await trial.result_of(setting)).shown
        naming = await world.slash(owner, self.channel, "/course", f"staff add @{self.other.name}")
        assert "is now staff" in (await trial.result_of(naming)).shown
        await world.open_home(self.user, "messages", beside=self.channel)
        await trial.until(lambda: self._panels() or None)

    async def _asked(self, channel: Channel, text: str) -> None:
        await self.trial.world.say(self.user, channel, text)
        await self.trial.until(
            lambda: any(COVERED_FACT in m.shown for m in self.answers(channel)) or None
        )

    def answers(self, channel: Channel) -> list[Message]:
        """Return the finished messages of the bot in a channel."""
        shown = self.trial.world.transcript(channel, self.user)
        return [m for m in shown if m.author is self.installation.bot and "Stop" not in m.shown]

    def _panels(self) -> list[str]:
        return rows_with({"panels": tables(self.trial.bot.folder)["panels"]}, *self.needles)


async def test_of_two_workspaces_the_one_that_leaves_is_deleted_and_the_other_stays(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path, by_oauth=True) as trial:
        await trial.bot.says("listening for Slack on port")
        world = trial.world
        leaving = world.add_workspace("Leaving")
        for workspace in (world.workspace, leaving):
            await install(trial, workspace)
        stays, leaves = Class(trial, world.workspace, "stay"), Class(trial, leaving, "leave")
        await grant(tmp_path, "arden", f"slack:{leaving.id}")
        await asyncio.sleep(2.5)  # until the running bot knows it
        await stays.use_everything()
        await leaves.use_everything()
        before = tables(tmp_path)
        theirs = rows_with(before, *leaves.needles)
        touched = {row.partition(":")[0] for row in theirs}
        assert touched >= {"inbox", "sessions", "turns", "channel_rules", "conversations", "panels"}
        assert touched >= {"staff", "tenants", "course_grants"}
        people = _pseudonyms(before, leaves)
        assert not people & _pseudonyms(before, stays)

        world.uninstall(world.app, leaving)
        await trial.bot.says("took the app out")
        await trial.until(lambda: not rows_with(tables(tmp_path), *leaves.needles, *people) or None)
        after = tables(tmp_path)
        kept = rows_with(before, *stays.needles, *_pseudonyms(before, stays))
        assert kept
        assert [row for row in kept if row not in rows_with(after, "")] == []
        assert len(after["votes"]) == 1
        assert await _still_answers(stays)
        assert not rows_with(tables(tmp_path), *leaves.needles, *people)


async def test_a_workspace_that_comes_back_is_answered_and_keeps_its_new_token(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path, by_oauth=True) as trial:
        await trial.bot.says("listening for Slack on port")
        world = trial.world
        await install(trial, world.workspace)
        world.uninstall(world.app, world.workspace)
        await trial.until(lambda: not tables(tmp_path)["installations"] or None)
        await install(trial, world.workspace)
        again = Class(trial, world.workspace, "again")
        # Slack delivers the news of the end once more, behind the new beginning.
        world.events.uninstalled(again.installation)
        await trial.bot.says("has the app all the same")
        assert tables(tmp_path)["installations"]
        world.enter(again.installation.bot, again.channel)
        assert await _still_answers(again)


def _pseudonyms(found: dict[str, list[str]], its: Class) -> set[str]:
    """Return the pseudonyms under which a workspace's people asked."""
    asked = [row.split(" | ") for row in found["inbox"] if its.workspace.id in row]
    users = {value for row in asked for value in row if _PSEUDONYM.fullmatch(value)}
    assert users
    return users


async def _still_answers(its: Class) -> bool:
    text = f"<@{its.installation.bot.id}> How heavy is the fog bell of Arden?"
    await its.trial.world.say(its.user, its.channel, text)
    await its.trial.until(
        lambda: any("half a ton" in m.shown for m in its.answers(its.channel)) or None
    )
    return True
