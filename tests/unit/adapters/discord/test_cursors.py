"""How far Discord was heard is kept shard by shard, also when their number changes."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from adapters.discord.catch_up import ShardCursors, ShardRange

MOMENT = datetime(2026, 11, 22, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Kept:
    """The cursors of an inbox."""

    def __init__(self) -> None:
        self.positions = {"1180000000000000001": 9_999_999_999_999}

    async def cursors(self, platform: str) -> Mapping[str, int]:
        assert platform == "discord"
        return self.positions

    async def advance_cursor(self, platform: str, channel: str, position: int) -> None:
        assert platform == "discord"
        self.positions[channel] = position


@pytest.fixture
def incoming() -> ShardCursors:
    return ShardCursors(cast("Any", Kept()), cast("Any", None))


async def test_before_the_first_connection_nothing_was_heard(incoming: ShardCursors) -> None:
    assert await incoming.last(ShardRange(0, 1)) is None
    assert await incoming.last(ShardRange(3, 4)) is None


async def test_one_shard_says_nothing_of_another(incoming: ShardCursors) -> None:
    await incoming.note(ShardRange(0, 2), MOMENT + 9 * SECOND)
    await incoming.note(ShardRange(1, 2), MOMENT)
    assert await incoming.last(ShardRange(0, 2)) == MOMENT + 9 * SECOND
    assert await incoming.last(ShardRange(1, 2)) == MOMENT


async def test_new_shards_go_on_where_the_only_one_was(incoming: ShardCursors) -> None:
    await incoming.note(ShardRange(0, 1), MOMENT)
    assert await incoming.last(ShardRange(3, 4)) == MOMENT
    await incoming.note(ShardRange(3, 4), MOMENT + SECOND)
    assert await incoming.last(ShardRange(3, 4)) == MOMENT + SECOND
    assert await incoming.last(ShardRange(0, 4)) == MOMENT


async def test_another_number_of_shards_goes_on_where_the_slowest_was(
    incoming: ShardCursors,
) -> None:
    await incoming.note(ShardRange(0, 1), MOMENT - 9 * SECOND)
    await incoming.note(ShardRange(0, 2), MOMENT + 9 * SECOND)
    assert await incoming.last(ShardRange(2, 3)) == MOMENT - 9 * SECOND, (
        "the other half was never heard"
    )
    await incoming.note(ShardRange(1, 2), MOMENT)
    assert await incoming.last(ShardRange(2, 3)) == MOMENT
    assert await incoming.last(ShardRange(0, 1)) == MOMENT


@pytest.mark.parametrize(
    ("workspace", "shards"),
    [("@me", [0]), (str(5 << 22), [1]), (str((6 << 22) + 77), [2])],
)
def test_a_server_is_one_shards(workspace: str, shards: list[int]) -> None:
    assert [n for n in range(4) if ShardRange(n, 4).serves(workspace)] == shards
