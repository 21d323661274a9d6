"""The Protocol every way of answering speaks."""

from typing import Protocol

from core.errors import BotError
from core.models import AgentResponse


class Reply(Protocol):
    """One answer on its way to one reader."""

    async def update(self, delta: str) -> None:
        """Show some more of the answer, right behind what was shown before."""
        ...

    async def withdraw(self) -> None:
        """Take back all that was shown: it no longer holds, and other text may follow."""
        ...

    async def finish(self, response: AgentResponse) -> None:
        """Show the finished answer in place of all deltas; called once, last."""
        ...

    async def fail(self, error: BotError) -> None:
        """Tell the reader that there is no answer; called once, last.

        Readers are told `error.user_message`. Where the reader is the operator, as at a
        terminal, the error's own text may be told instead.
        """
        ...
