"""The conversation on Slack: a mention, its thread, a command, feedback buttons."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.wire.conversation.recording import MODULE
from tests.wire.slack import Message
from tests.wire.slack_bot import Trial, a_trial, elements

_VOTE = "gl:vote"


class Slack:
    """A member of a workspace."""

    takes_votes = True

    def __init__(self, trial: Trial) -> None:
        self.folder = trial.bot.folder
        self._trial = trial
        self._world = trial.world
        self._ann = trial.user()
        self._channel = trial.channel(self._ann)
        self._answers = list[Message]()

    async def ask(self, question: str) -> None:
        """Begin a conversation."""
        answer = await self._trial.ask(self._ann, self._channel, question)
        self._answers.append(answer)

    async def follow_up(self, question: str) -> None:
        """Ask on in the conversation."""
        thread = self._answers[0].thread_ts
        asked = await self._world.say(self._ann, self._channel, question, thread=thread)
        self._answers.append(await self._trial.answer_to(asked))

    async def quote(self, passage: str, question: str) -> None:
        """Ask about a passage, in the conversation."""
        await self.follow_up(f"&gt; {passage}\n{question}")

    async def ask_within(self, section: str, question: str) -> None:
        """Begin another conversation, with a question to one section of the book."""
        before = len(self._trial.from_bot(self._channel))
        text = f'in "{section}" {question}'
        command = await self._world.slash(self._ann, self._channel, "/ask", text)
        await command.ack()
        posted = await self._trial.until(
            lambda: next(iter(self._trial.from_bot(self._channel)[before:]), None)
        )
        self._answers.append(await self._trial.answer_to(posted))

    async def vote_not_helpful(self, reason: str) -> None:
        """Say of the first answer that it does not help, and why."""
        answer = self._answers[0]
        [votes] = [e for e in elements(answer) if e["action_id"] == _VOTE]
        value = str(votes["negative_button"]["value"])
        click = await self._world.click(self._ann, answer, _VOTE, value)
        await click.ack()
        [form] = click.opened
        await (await self._world.submit_view(self._ann, form, reason=reason)).ack()

    async def forget(self) -> None:
        """Have everything deleted that is stored about the asker."""
        command = await self._world.slash(self._ann, self._channel, "/glossator", "data")
        told = await self._trial.result_of(command)
        await (await self._world.click(self._ann, told, "gl:g")).ack()
        await self._trial.until(lambda: "All of it is deleted" in told.shown or None)


@asynccontextmanager
async def opened(template: Path, folder: Path) -> AsyncIterator[Slack]:
    """Let a bot run in front of a local Slack."""
    async with a_trial(template, folder, module=MODULE) as trial:
        yield Slack(trial)
