"""What is read of a channel, and in how few calls."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from adapters.chat.acceptor import Unreadable
from adapters.slack import catch_up as module
from adapters.slack.catch_up import History
from adapters.slack.refusals import Refused
from core.domain.telemetry import NO_METER

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
        super().__init__(cast("Any", None), ("T1", None), Unreadable("slack", (), NO_METER))
        self._roots, self._replied = roots, replies
        self.calls = list[str]()
        self.closed = False
        """Whether no thread can be read."""
        self.endless = False
        """Whether Slack says that there is more, and gives no cursor."""

    async def _called(self, method: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        self.calls.append(method)
        if method == "conversations.replies":
            if self.closed:
                raise Refused(method, "thread_not_found", permanent=True)
            return {"messages": [{"ts": _ts(self._replied[int(float(asked["ts"]))])}]}
        begin = int(asked.get("cursor") or 0)
        shown = self._roots[begin : begin + PAGE]
        more = str(begin + PAGE) if begin + PAGE < len(self._roots) else ""
        messages = [self._message(root) for root in shown]
        metadata = {"next_cursor": more}
        return {"messages": messages, "has_more": self.endless, "response_metadata": metadata}

    def _message(self, root: int) -> dict[str, Any]:
        latest = self._replied.get(root)
        return {"ts": _ts(root)} | ({} if latest is None else {"latest_reply": _ts(latest)})

    async def found(self, *threads: int) -> list[float]:
        """Return the times of the messages since a moment."""
        since = datetime.fromtimestamp(SINCE, UTC)
        self.read = await self.since("C1", since, [_ts(t) for t in threads])
        return [float(message["ts"]) for message in self.read.messages]


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


# --- how far it goes -----------------------------------------------------------------------


async def test_of_a_channel_that_was_read_to_its_end_all_is_known() -> None:
    channel = Channel([SINCE - 5, SINCE - 9], {})
    await channel.found()
    assert channel.read.covers(_ts(SINCE - 7), None)
    assert channel.read.covers(_ts(SINCE - 5_000), None)


async def test_beyond_the_last_page_nothing_is_known() -> None:
    channel = Channel([SINCE - n for n in range(1, 300)], {})
    await channel.found()
    assert channel.read.covers(_ts(SINCE - PAGE), None)
    assert not channel.read.covers(_ts(SINCE - PAGE - 1), None)


async def test_what_the_most_pages_do_not_reach_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_MOST_PAGES", 1)
    channel = Channel([SINCE + n for n in range(300, 0, -1)], {})
    await channel.found()
    assert channel.read.covers(_ts(SINCE + 250), None)
    assert not channel.read.covers(_ts(SINCE + 150), None)


async def test_a_page_without_a_cursor_is_no_end_where_slack_says_that_there_is_more() -> None:
    channel = Channel([SINCE - 5], {})
    channel.endless = True
    await channel.found()
    assert not channel.read.covers(_ts(SINCE - 7), None)


async def test_of_threads_only_those_are_known_that_were_looked_into() -> None:
    grown, other = SINCE - 5, SINCE - 9
    channel = Channel([grown, other], {grown: SINCE + 5, other: SINCE - 8})
    await channel.found()
    assert channel.read.covers(_ts(SINCE + 3), _ts(grown))
    assert not channel.read.covers(_ts(SINCE - 3), _ts(grown)), "it was read since the moment"
    assert not channel.read.covers(_ts(SINCE + 3), _ts(other))


async def test_of_a_thread_that_could_not_be_read_nothing_is_known() -> None:
    channel = Channel([SINCE - 5], {SINCE - 5: SINCE + 5})
    channel.closed = True
    await channel.found()
    assert not channel.read.covers(_ts(SINCE + 3), _ts(SINCE - 5))
