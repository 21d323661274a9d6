"""A database that fails between two steps of a delivery costs a moment, and nothing else."""

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.speaking import Intent
from core.domain.errors import StoreError
from core.storage.inbox.base import Arrival, Kind
from tests.contracts.test_pointed_back import about_last, same
from tests.contracts.test_worker import House
from tests.inbox import event, forget, redo
from tests.platform import Platform

pytestmark = pytest.mark.costly

CASES: dict[str, Sequence[Arrival]] = {
    "question": [event(1)],
    "edit": [event(1), redo(1)],
    "deletion": [event(1), forget(1)],
    "crowd": [same(1), same(2)],
    "offer": [event(1, kind=Kind.OFFER)],
    "about the last": [event(1), about_last(Intent.WHERE)],
}


_NO_DATABASE = "quiet"
"""A method that waits for others, and asks no database."""


class FailsOnce:
    """What every method of a store does, after it has failed once."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.failed = {_NO_DATABASE}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name in self.failed or not inspect.iscoroutinefunction(found):
            return found
        return self._failing(name, found)

    def _failing(self, name: str, found: Callable[..., Any]) -> Callable[..., Any]:
        async def once(*arguments: Any, **options: Any) -> Any:
            if name in self.failed:
                return await found(*arguments, **options)
            self.failed.add(name)
            raise StoreError("away")

        return once


@pytest.fixture
async def house(engine: AsyncEngine) -> AsyncIterator[House]:
    async with House(engine, Platform()).open() as opened:
        yield opened


@pytest.mark.parametrize("case", CASES)
async def test_every_call_of_a_delivery_is_tried_again(
    house: House, case: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    *before, last = CASES[case]
    for arrival in before:
        await house.accept(arrival)
        await house.done()
    inbox, sessions = FailsOnce(house.inbox), FailsOnce(house.sessions)
    monkeypatch.setattr(house.worker, "_inbox", inbox)
    monkeypatch.setattr(house.worker, "_sessions", sessions)
    with caplog.at_level(logging.INFO):
        await house.accept(last)
        await house.done()
    row = await house.row(last.key)
    assert (row.state, row.attempts) == ("done", 0)
    assert {"claim", "finish"} <= inbox.failed
    assert "nobody foresaw" not in caplog.text
    assert "is tried again in" not in caplog.text
    if case == "crowd":
        assert "first_of_crowd" in inbox.failed
        assert "https://chat.example/" in house.answer(2)[0]
