"""When Slack's history is looked through, and what a look that fails leads to."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

import pytest

from adapters.slack import catch_up as module
from adapters.slack.catch_up import CatchUp
from core.errors import StoreError
from core.models import now


class Cursors:
    """Remembers how far Slack was heard; fails as often as a test wants."""

    def __init__(self) -> None:
        self.failures = 0
        self.noted = list[datetime]()

    async def last(self) -> datetime | None:
        if self.failures:
            self.failures -= 1
            raise StoreError("the database is away")
        return now()

    async def note(self, moment: datetime) -> None:
        self.noted.append(moment)

    async def positions(self) -> Mapping[str, int]:
        return {}


class NoInstallations:
    """Nobody has installed the app: there is no history to read."""

    async def places(self) -> list[str]:
        return []


async def test_a_look_that_was_put_off_is_left_out_when_another_came_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_AGAIN_IN", 0.3)
    cursors = Cursors()
    looking = CatchUp(
        workspaces=cast("Any", None),
        installations=cast("Any", NoInstallations()),
        events=cast("Any", None),
        cursors=cast("Any", cursors),
        is_listening=cast("Any", None),
    )
    running = asyncio.create_task(looking.run())
    cursors.failures = 1
    looking.begin()
    async with asyncio.timeout(5):
        while cursors.failures:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    looking.begin()  # another pause is over before the failed look is begun anew
    await asyncio.wait({running}, timeout=0.8)
    assert not running.done()
    assert len(cursors.noted) == 1
    running.cancel()
    await asyncio.wait({running})
