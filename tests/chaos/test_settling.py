"""A part that is not done in time is not waited for in silence."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.chaos import part
from tests.chaos.history import Asked


@pytest.mark.parametrize(
    ("done_at", "is_quiet", "late"),
    [(2.0, True, []), (None, True, ["answers"]), (2.0, False, ["clean"])],
)
async def test_what_does_not_come_about_in_time_is_told(
    monkeypatch: pytest.MonkeyPatch, done_at: float | None, is_quiet: bool, late: list[str]
) -> None:
    monkeypatch.setattr(part, "_LAST_ANSWER_WITHIN", 0.05)
    monkeypatch.setattr(part, "ORPHANS_GONE_WITHIN", 0.05)
    watcher: Any = SimpleNamespace(waiting=frozenset(), is_quiet=is_quiet)
    people: Any = SimpleNamespace(asked=[Asked("slack:1", "K0001", 1, done_at=done_at)])
    told = await part._settle(watcher, people)
    assert len(told) == len(late)
    assert all(word in line for word, line in zip(late, told, strict=True))
