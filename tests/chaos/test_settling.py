"""A part that is not done in time is not waited for in silence."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from core.domain import i18n
from tests.chaos import part
from tests.chaos.history import Asked
from tests.wire import slack
from tests.wire.slack.interactions import Interaction, InteractionType
from tests.wire.slack.posting import Draft


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


@pytest.mark.parametrize(
    ("sentence", "noted_within", "is_awaited"),
    [("asking-slow", 0.0, False), ("asking-slow", 60.0, True), ("asking-still-waiting", 0.0, True)],
)
async def test_a_command_of_which_its_user_is_to_ask_again_is_awaited_a_minute(
    monkeypatch: pytest.MonkeyPatch, sentence: str, noted_within: float, is_awaited: bool
) -> None:
    monkeypatch.setattr(part, "_LAST_ANSWER_WITHIN", 0.05)
    monkeypatch.setattr(part, "_NOTED_WITHIN", noted_within)
    world = slack.World()
    ann, place = world.add_user("ann", world.workspace, world.channel), world.channel
    deed = Interaction(
        InteractionType.COMMAND, world.installations[0], ann, place, "trigger", "secret", 0.0
    )
    deed.messages = [
        world.posting.create(world.bot, place, Draft(i18n.text(sentence)), visible_to=ann)
    ]
    asked = Asked("slack:t:1", "K0001", 1, deed=deed, said_at=time.monotonic())
    watcher: Any = SimpleNamespace(waiting=frozenset(), is_quiet=True)
    late = await part._settle(watcher, SimpleNamespace(asked=[asked]))  # type: ignore[arg-type]
    assert bool(late) is is_awaited
