"""The contract of all platforms: one conversation, the same requests, the same responses."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.wire.conversation import on_console, on_discord, on_slack
from tests.wire.conversation.script import REASON, Driver, converse
from tests.wire.conversation.transcript import Stored, Transcript, recorded, stored, without_scores

pytestmark = pytest.mark.costly

Opening = Callable[[Path, Path], AbstractAsyncContextManager[Driver]]

DRIVERS: dict[str, Opening] = {
    "console": on_console.opened,
    "discord": on_discord.opened,
    "slack": on_slack.opened,
}


async def _held(opening: Opening, template: Path, folder: Path) -> Transcript:
    """Hold the conversation, have everything forgotten, and return what was said."""
    async with opening(template, folder) as driver:
        await converse(driver)
        transcript = recorded(folder)
        votes = ((0, False, REASON),) if driver.takes_votes else ()
        assert stored(folder) == Stored(len(transcript.requests), votes)
        await driver.forget()
        assert stored(folder) == Stored(0, ())
    return transcript


@pytest.mark.essential
async def test_one_conversation_is_the_same_on_all_platforms(
    one_course: Path, tmp_path: Path
) -> None:
    async with asyncio.TaskGroup() as group:
        holding = {
            name: group.create_task(_held(opening, one_course, tmp_path / name))
            for name, opening in DRIVERS.items()
        }
    console = holding["console"].result()
    for name, task in holding.items():
        transcript = task.result()
        for asked, as_there in zip(transcript.requests, console.requests, strict=True):
            assert asked == as_there, name
        pairs = zip(transcript.responses, console.responses, strict=True)
        for number, (answered, as_there) in enumerate(pairs):
            kept = without_scores if number in transcript.of_chat else dict
            assert kept(answered) == kept(as_there), name
