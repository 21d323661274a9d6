"""The conversation on Discord: a mention, its thread, a command, buttons."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.wire.bot_process import PATIENCE
from tests.wire.conversation.recording import MODULE
from tests.wire.discord import Interaction, Message
from tests.wire.discord_bot import Trial, a_trial, button


class Discord:
    """A member of a server."""

    takes_votes = True

    def __init__(self, trial: Trial) -> None:
        self.folder = trial.bot.folder
        self._trial = trial
        self._world = trial.world
        self._ann = trial.user()
        self._channel = trial.channel()
        self._answers = list[Message]()

    async def ask(self, question: str) -> None:
        """Begin a conversation."""
        answer = await self._trial.ask(self._ann, self._channel, question)
        self._answers.append(answer)

    async def follow_up(self, question: str) -> None:
        """Ask on in the conversation."""
        thread = self._answers[0].channel
        asked = await self._world.say(self._ann, thread, question)
        self._answers.append(await self._trial.answer_to(asked))

    async def quote(self, passage: str, question: str) -> None:
        """Ask about a passage, in the conversation."""
        await self.follow_up(f"> {passage}\n{question}")

    async def ask_within(self, section: str, question: str) -> None:
        """Begin another conversation, with a question to one section of the book."""
        asked = await self._world.slash(
            self._ann, self._channel, "ask", question=question, section=section
        )
        self._answers.append(await self._trial.result_of(asked))

    async def vote_not_helpful(self, reason: str) -> None:
        """Say of the first answer that it does not help, and why."""
        form = await self._pressed(self._answers[0], "Not helpful")
        sent = await self._world.submit_modal(form, reason=reason)
        await sent.response(PATIENCE)

    async def forget(self) -> None:
        """Have everything deleted that is stored about the asker."""
        told = await self._world.slash(self._ann, self._channel, "glossator data")
        await told.response(PATIENCE)
        assert told.original is not None
        await self._pressed(told.original, "Delete all of it")

    async def _pressed(self, message: Message, label: str) -> Interaction:
        click = await self._world.click(self._ann, message, button(message, label))
        await click.response(PATIENCE)
        return click


@asynccontextmanager
async def opened(template: Path, folder: Path) -> AsyncIterator[Discord]:
    """Let a bot run in front of a local Discord."""
    async with a_trial(template, folder, start=False) as trial:
        trial.bot.module = MODULE
        await trial.bot.start()
        yield Discord(trial)
