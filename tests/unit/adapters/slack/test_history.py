"""What is read of a channel, and in how few calls."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from adapters.slack.history import History

PAGE = 100
SINCE = 1_000_000


class Channel(History):
    """A channel of many threads, read by the page; counts the calls."""

    def __init__(self, roots: list[int], replies: Mapping[int, int]) -> None:
        """Prepare.

        Args:
            roots: Times of the messages, newest first.
            replies: The time of the latest reply, by the time of the first message.
        """
        super().__init__(cast("Any", None), ("T1", None))
        self._roots, self._replied = roots, replies
        self.calls = list[str]()

    async def _called(self, method: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        self.calls.append(method)
        if method == "conversations.replies":
            return {"messages": [{"ts": _ts(self._replied[int(float(asked["ts"]))])}]}
        begin = int(asked.get("cursor") or 0)
        shown = self._roots[begin : begin + PAGE]
        more = str(begin + PAGE) if begin + PAGE < len(self._roots) else ""
        messages = [self._message(root) for root in shown]
        return {"messages": messages, "response_metadata": {"next_cursor": more}}

    def _message(self, root: int) -> dict[str, Any]:
        latest = self._replied.get(root)
        return {"ts": _ts(root)} | ({} if latest is None else {"latest_reply": _ts(latest)})

    async def found(self, *threads: int) -> list[float]:
        """Return the times of the messages since a moment."""
        since = datetime.fromtimestamp(SINCE, UTC)
        return [float(m["ts"]) for m in await self.since("C1", since, [_ts(t) for t in threads])]


def _ts(seconds: int) -> str:
    return f"{seconds}.000000"


async def test_a_quiet_channel_takes_one_call() -> None:
    channel = Channel([SINCE - n for n in range(1, 300)], {SINCE - 9: SINCE - 8})
    assert await channel.found(SINCE - 9) == []
    assert channel.calls == ["conversations.history"]


async def test_one_old_thread_is_looked_into_by_itself() -> None:
    old = SINCE - 250
    channel = Channel([SINCE - n for n in range(1, 300)], {old: SINCE + 5})
    assert await channel.found(old) == [SINCE + 5]
    assert channel.calls == ["conversations.history", "conversations.replies"]


async def test_many_old_threads_are_looked_up_by_reading_on_in_their_channel() -> None:
    old = [SINCE - n for n in range(110, 190)]
    channel = Channel(
        [SINCE - n for n in range(1, 300)], {t: t + 1 for t in old} | {old[7]: SINCE + 5}
    )
    assert await channel.found(*old) == [SINCE + 5]
    assert channel.calls == [*["conversations.history"] * 2, "conversations.replies"]


async def test_threads_that_stand_nowhere_are_not_searched_for_ever() -> None:
    gone = [SINCE - 90_000, SINCE - 90_001]
    channel = Channel([SINCE - n for n in range(1, 5_000)], dict.fromkeys(gone, SINCE - 1))
    assert await channel.found(*gone) == []
    assert len(channel.calls) <= 2 * len(gone)


async def test_an_old_thread_that_nobody_asked_in_is_found_on_the_latest_page_only() -> None:
    near, far = SINCE - 50, SINCE - 150
    channel = Channel([SINCE - n for n in range(1, 300)], {near: SINCE + 1, far: SINCE + 2})
    assert await channel.found() == [SINCE + 1]
