"""What is said, once for all platforms, and who says it on one of them."""

from pathlib import Path
from typing import Protocol

from tests.books import COVERED, VERBATIM

FOLLOW_UP = "And how heavy is the fog bell of Arden?"
ABOUT_THE_PASSAGE = "What darkens the prisms?"
SECTION = "Duties of the keeper › Fog"
IN_THE_SECTION = "What does the keeper do?"
REASON = "It says nothing about the boat."


class Driver(Protocol):
    """Somebody who asks on one platform; each method returns when the bot is done with it."""

    folder: Path
    """Where the bot runs: its data folder lies below, its record within."""
    takes_votes: bool

    async def ask(self, question: str) -> None:
        """Begin a conversation."""

    async def follow_up(self, question: str) -> None:
        """Ask on in the conversation."""

    async def quote(self, passage: str, question: str) -> None:
        """Ask about a passage, in the conversation."""

    async def ask_within(self, section: str, question: str) -> None:
        """Begin another conversation, with a question to one section of the book."""

    async def vote_not_helpful(self, reason: str) -> None:
        """Say of the first answer that it does not help, and why."""

    async def forget(self) -> None:
        """Have everything deleted that is stored about the asker."""


async def converse(driver: Driver) -> None:
    """Say everything up to the vote."""
    await driver.ask(COVERED)
    await driver.follow_up(FOLLOW_UP)
    await driver.quote(VERBATIM, ABOUT_THE_PASSAGE)
    await driver.ask_within(SECTION, IN_THE_SECTION)
    if driver.takes_votes:
        await driver.vote_not_helpful(REASON)
