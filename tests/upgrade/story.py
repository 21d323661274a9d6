"""What happened in the installation: staff set courses, people asked, and then it was killed."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.upgrade import courses
from tests.upgrade.courses import Question
from tests.upgrade.installation import Bot
from tests.upgrade.worlds import named
from tests.wire import discord, discord_bot, slack, slack_bot
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import DiscordServer
from tests.wire.discord_bot import button
from tests.wire.slack import SlackServer
from tests.wire.slack_bot import elements
from tests.wire.slack_installs import Browser

NEVER = 600.0
VOTE = "gl:vote"
REASON = "It does not say of which year."
_BEGUN = "SELECT lease_until IS NOT NULL AS begun FROM inbox WHERE state = 'waiting' ORDER BY begun"
_POSTS = ("chat.postMessage", "chat.startStream", "chat.update", "chat.postEphemeral")


@dataclass(frozen=True)
class OnDiscord:
    """The people of the local Discord, and how they use the bot."""

    trial: discord_bot.Trial

    @property
    def world(self) -> discord.World:
        return self.trial.world

    def person(self, name: str) -> discord.User:
        return named(self.world.users.values(), name)

    def room(self, name: str) -> discord.Channel:
        return named(self.world.channels.values(), name)

    async def staff(self, name: str, room: str, command: str, **options: Any) -> None:
        """Give a command that sets something."""
        given = await self.world.slash(self.person(name), self.room(room), command, **options)
        await given.response(PATIENCE)
        assert given.original is not None
        assert "Done" in given.original.text, given.original.text

    async def ask(self, name: str, room: str, asked: Question) -> discord.Message:
        """Ask by a mention in a channel, and return the right answer."""
        answer = await self.trial.ask(self.person(name), self.room(room), asked.text)
        assert asked.fact in answer.text, answer.text
        return answer

    async def go_on(self, name: str, place: discord.Channel, asked: Question) -> discord.Message:
        """Ask without a mention where the bot listens, and return the right answer."""
        said = await self.world.say(self.person(name), place, asked.text)
        answer = await self.trial.answer_to(said)
        assert asked.fact in answer.text, answer.text
        return answer

    async def vote(self, name: str, answer: discord.Message, label: str) -> discord.Interaction:
        """Press one of the buttons for votes."""
        click = await self.world.click(self.person(name), answer, button(answer, label))
        await click.response(PATIENCE)
        return click


@dataclass(frozen=True)
class OnSlack:
    """The people of the local Slack, and how they use the bot."""

    trial: slack_bot.Trial

    @property
    def world(self) -> slack.World:
        return self.trial.world

    def person(self, name: str) -> slack.User:
        return named(self.world.users.values(), name)

    def room(self, name: str) -> slack.Channel:
        return named(self.world.channels.values(), name)

    async def install(self) -> None:
        """Let the bot into both workspaces."""
        for workspace in self.world.workspaces.values():
            browser = Browser(self.trial)
            status, page = await browser.get(await browser.allow(workspace))
            assert status == 200, page

    async def staff(self, name: str, room: str, text: str) -> None:
        """Give a command that sets something."""
        given = await self.world.slash(self.person(name), self.room(room), "/course", text)
        said = (await self.trial.result_of(given)).shown
        assert "Done" in said, said

    async def say(self, name: str, room: slack.Channel, asked: Question, **more: Any
                  ) -> slack.Message:  # fmt: skip
        """Ask by a mention of the bot of the asker's workspace."""
        person = self.person(name)
        me = self.world.installation_for(self.world.app, person).bot
        return await self.world.say(person, room, f"<@{me.id}> {asked.text}", **more)

    async def answer_to(self, question: slack.Message, asked: Question) -> slack.Message:
        """Wait for the right answer, by the bot of whichever workspace."""
        bots = {installation.bot for installation in self.world.installations}

        def answered() -> slack.Message | None:
            replies = self.world.transcript(
                question.channel, thread=question.thread_ts or question.ts
            )
            mine = [m for m in replies if m.author in bots and m.ts > question.ts]
            return next(filter(slack_bot.is_finished, mine), None)

        answer = await self.trial.until(answered, f"an answer to {asked.text!r}")
        assert asked.fact in answer.shown, answer.shown
        return answer

    async def ask(self, name: str, room: str, asked: Question) -> slack.Message:
        """Ask by a mention in a channel, and return the right answer."""
        return await self.answer_to(await self.say(name, self.room(room), asked), asked)

    async def go_on(self, name: str, answer: slack.Message, asked: Question) -> slack.Message:
        """Ask in the thread of an answer without a mention, and return the right answer."""
        place, thread = answer.channel, answer.thread_ts
        said = await self.world.say(self.person(name), place, asked.text, thread=thread)
        return await self.answer_to(said, asked)

    async def vote(self, name: str, answer: slack.Message, side: str) -> slack.Interaction:
        """Press one of the buttons for votes: `positive` or `negative`."""
        [buttons] = [e for e in elements(answer) if e["action_id"] == VOTE]
        value = str(buttons[f"{side}_button"]["value"])
        return await self.world.click(self.person(name), answer, VOTE, value)


@dataclass(frozen=True)
class Town:
    """The bot with the people of both platforms around it."""

    bot: Bot
    discord: OnDiscord
    slack: OnSlack

    @classmethod
    def around(cls, bot: Bot, discord_server: DiscordServer, slack_server: SlackServer) -> "Town":
        """Return everybody around a bot."""
        return cls(
            bot,
            OnDiscord(discord_bot.Trial(discord_server, bot)),
            OnSlack(slack_bot.Trial(slack_server, bot)),
        )


async def live(town: Town) -> None:
    """Let everything happen that is to be found after the upgrade, and kill the bot."""
    await town.slack.install()
    await _set(town)
    await _ask_on_discord(town.discord)
    await _ask_on_slack(town.slack)
    await _leave_waiting(town)
    await town.bot.kill()


async def _set(town: Town) -> None:
    on_discord, on_slack = town.discord, town.slack
    await on_discord.staff("owner", "arden-questions", "course bind", course="arden")
    await on_discord.staff("owner", "lounge", "course switch", state="off")
    await on_discord.staff("olga", "wharf", "course bind", course="arden")
    await on_discord.staff("olga", "quay", "course bind", course="mill")
    await on_slack.staff("course-owner", "arden-questions", "bind arden")
    await on_slack.staff("course-owner", "lounge", "switch off")
    await on_slack.staff("second-owner", "wharf", "bind arden")


async def _ask_on_discord(on: OnDiscord) -> None:
    world, first = on.world, await on.ask("ann", "arden-questions", courses.WICK)
    await on.go_on("ann", first.channel, courses.BELL)
    await on.go_on("ben", first.channel, courses.BOAT)
    await on.vote("ann", first, "Helpful")
    other = await on.ask("ben", "mill-questions", courses.FLOATS)
    await on.go_on("ben", other.channel, courses.TAR)
    modal = await on.vote("ben", other, "Not helpful")
    await (await world.submit_modal(modal, reason=REASON)).response(PATIENCE)
    await on.trial.ask(on.person("ann"), on.room("unset"), courses.WICK.text)
    await world.say(on.person("ann"), on.room("lounge"), f"{on.trial.mention} anyone here?")
    await on.go_on("ann", world.direct_channel(on.person("ann"), world.bot), courses.BELL)
    private = await world.slash(
        on.person("ben"), on.room("arden-questions"), "ask", question=courses.STORM.text
    )
    assert courses.STORM.fact in (await on.trial.result_of(private)).text
    await on.ask("pia", "wharf", courses.STORM)
    await on.ask("pia", "quay", courses.POND)
    await on.trial.ask(on.person("cleo"), other.channel, courses.EELS.text)
    await _forget(on, on.person("cleo"))


async def _forget(on: OnDiscord, cleo: discord.User) -> None:
    """Let a person have everything deleted that is stored about them."""
    shown = await on.world.slash(cleo, on.room("arden-questions"), "glossator data")
    await shown.response(PATIENCE)
    original = shown.original
    assert original is not None
    done = await on.world.click(cleo, original, button(original, "Delete all of it"))
    await done.response(PATIENCE)
    await on.trial.until(lambda: original.text == "All of it is deleted." or None)


async def _ask_on_slack(on: OnSlack) -> None:
    first = await on.ask("ann", "arden-questions", courses.WICK)
    await on.go_on("ann", first, courses.BELL)
    await on.go_on("ben", first, courses.BOAT)
    await on.trial.result_of(await on.vote("ann", first, "positive"))
    await on.ask("ben", "mill-questions", courses.FLOATS)
    unset, ann = on.room("unset"), on.person("ann")
    await on.say("ann", unset, courses.WICK)
    await on.trial.until(lambda: on.trial.from_bot(unset, ann) or None, "a refusal")
    await on.say("ann", on.room("lounge"), Question("anyone here?", ""))
    await on.ask("pia", "wharf", courses.STORM)
    await on.ask("pia", "quay", courses.POND)
    direct = on.world.dm(on.person("pia"))
    await on.answer_to(await on.world.say(on.person("pia"), direct, courses.TAR.text), courses.TAR)


async def _leave_waiting(town: Town) -> None:
    """Let questions come in that are begun and cannot be answered, and one that waits for them."""
    town.discord.trial.server.faults.rest(discord.Slow(NEVER), "POST /channels", times=None)
    for method in _POSTS:
        town.slack.trial.server.faults.api(slack.Slow(NEVER), method, times=None)
    dan, room = town.discord.person("dan"), town.discord.room("arden-questions")
    for asked in (courses.CLOCKWORK, courses.BELL):
        mention = town.discord.trial.mention
        await town.discord.world.say(dan, room, f"{mention} {asked.text}")
    await town.slack.say("emma", town.slack.room("mill-questions"), courses.EELS)
    await town.slack.trial.until(lambda: _are_left(town.bot.folder) or None, "waiting questions")


def _are_left(folder: Path) -> bool:
    """Tell whether one question has not been begun, and two others have."""
    with closing(sqlite3.connect(folder / "data" / "glossator.db")) as db:
        return [begun for (begun,) in db.execute(_BEGUN)] == [0, 1, 1]
