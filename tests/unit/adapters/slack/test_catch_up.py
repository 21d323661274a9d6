"""When Slack's history is looked through, how far that reaches, and what a failure leads to."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, ClassVar, cast

import pytest

from adapters.chat.acceptor import Acceptor, Unreadable
from adapters.chat.front_desk import Received
from adapters.chat.incoming_message import PlatformClock
from adapters.slack import catch_up as module
from adapters.slack.catch_up import CatchUp, Read
from adapters.slack.events import Events
from adapters.slack.inbound import Origin
from core.domain import now
from core.domain.errors import DeliveryError, StoreError
from core.domain.telemetry import NO_METER
from core.storage.inbox.queries import PlacedQuestion
from core.storage.installations import Installed

_EPOCH = datetime.fromtimestamp(0, UTC)
ORIGIN = Origin(team="T1", enterprise=None, me="UBOT", bot="B1")


class Cursors:
    """Remembers how far Slack was heard; fails as often as a test wants."""

    def __init__(self, last: datetime | None = None) -> None:
        self.failures = 0
        self.noted = list[datetime]()
        self.kept: datetime | None = last or now()

    async def last(self) -> datetime | None:
        if self.failures:
            self.failures -= 1
            raise StoreError("the database is away")
        return self.kept

    async def note(self, moment: datetime) -> None:
        self.noted.append(moment)
        self.kept = moment

    async def positions(self) -> Mapping[str, int]:
        return {}

    async def threads(self, workspace: str, since: datetime) -> Sequence[tuple[str, str]]:
        return []

    async def questions(self, since: datetime) -> Sequence[PlacedQuestion]:
        return []


class Installations:
    """The workspaces that installed the app."""

    def __init__(self, *places: str) -> None:
        self._places = places

    async def places(self) -> list[str]:
        return [*self._places]

    async def find(self, place: str, organisation: str | None) -> Installed:
        return Installed(place, None, "UBOT", "B1", "", "xoxb-1")


class Questions:
    """Takes every question in, but fails for some."""

    def __init__(self, *bad: str, error: Exception | None = None) -> None:
        self.bad = set(bad)
        self.error = error or DeliveryError("Slack does not say who somebody is")
        self.taken = list[str]()
        self.tried = list[str]()

    async def receive(self, incoming: Any) -> Received | None:
        self.tried.append(incoming.text)
        if incoming.text in self.bad:
            raise self.error
        self.taken.append(incoming.text)
        return None


class History:
    """One channel's messages, the same at each look."""

    said: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, *_: Any, pause: float) -> None:
        assert pause >= 0

    async def channels(self) -> list[dict[str, Any]]:
        return [{"id": "C1"}]

    async def since(self, channel: str, since: datetime, threads: Collection[str]) -> Read:
        return Read(_EPOCH, {message["ts"]: message for message in self.said})


async def _listening() -> bool:
    return True


async def _deaf() -> bool:
    return False


def looking(cursors: Cursors, *places: str, **parts: Any) -> CatchUp:
    """Return what looks through the history of some workspaces."""
    given: dict[str, Any] = {
        "workspaces": None,
        "installations": Installations(*places),
        "events": None,
        "intake": Acceptor(lambda: None),
        "unreadable": Unreadable("slack", (), NO_METER),
        "cursors": cursors,
        "is_listening": _listening,
    }
    return CatchUp(**cast("Any", {**given, **parts}))


def events(questions: Questions, intake: Acceptor) -> Events:
    """Return what takes events in, as far as messages are concerned."""
    others = dict.fromkeys(("desk", "assistant", "home", "uninstalls", "stop"))
    noting = Unreadable("slack", (), NO_METER)
    given = {"questions": questions, "intake": intake, "unreadable": noting}
    return Events(**cast("Any", {**others, **given}))


def said(text: str, ts: str) -> dict[str, Any]:
    return {"type": "message", "user": "U1", "text": f"<@UBOT> {text}", "ts": ts}


@asynccontextmanager
async def running(catch_up: CatchUp) -> AsyncIterator[None]:
    """Let it look; a look that ends the process fails the test."""
    task = asyncio.create_task(catch_up.run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait({task})


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have looks come at once, and no time between them."""
    for name in ("_LOOKS_EVERY", "_BETWEEN_CALLS", "_RESTS"):
        monkeypatch.setattr(module, name, 0.0)
    monkeypatch.setattr(module, "_AWAKE_EVERY", 0.01)
    monkeypatch.setattr(module, "History", History)


async def test_a_look_that_was_put_off_is_left_out_when_another_came_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_AGAIN_IN", 0.3)
    cursors = Cursors()
    catch_up = looking(cursors)
    async with running(catch_up):
        cursors.failures = 1
        catch_up.begin()
        await until(lambda: not cursors.failures)
        catch_up.begin()  # another pause is over before the failed look is begun anew
        await asyncio.sleep(0.8)
        assert len(cursors.noted) == 1


@pytest.mark.usefixtures("quick")
async def test_without_a_pause_the_history_is_looked_through_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(History, "said", [said("lost", "1.0")])
    cursors, intake, questions = Cursors(), Acceptor(lambda: None), Questions()
    async with running(looking(cursors, "T1", events=events(questions, intake), intake=intake)):
        await until(lambda: len(cursors.noted) > 1)
    assert questions.taken[:2] == ["lost", "lost"]
    assert cursors.noted[0] < cursors.noted[1]


@pytest.mark.usefixtures("quick")
async def test_no_look_moves_the_cursor_while_nothing_can_be_heard() -> None:
    cursors = Cursors()
    async with running(looking(cursors, is_listening=_deaf)):
        await asyncio.sleep(0.2)
    assert not cursors.noted


@pytest.mark.usefixtures("quick")
async def test_one_of_several_processes_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOKS_EVERY", 0.1)
    cursors = Cursors(now() + timedelta(minutes=1))  # another process has looked
    async with running(looking(cursors)):
        await asyncio.sleep(0.4)
        assert not cursors.noted
        cursors.kept = now() - timedelta(seconds=1)
        await until(lambda: bool(cursors.noted))


@pytest.mark.usefixtures("quick")
async def test_a_look_that_took_long_is_followed_by_a_longer_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Slow(History):
        async def since(self, channel: str, since: datetime, threads: Collection[str]) -> Read:
            await asyncio.sleep(0.2)
            return Read(since)

    monkeypatch.setattr(module, "History", Slow)
    monkeypatch.setattr(module, "_RESTS", 1_000.0)
    cursors = Cursors()
    async with running(looking(cursors, "T1")):
        await until(lambda: bool(cursors.noted))
        await asyncio.sleep(0.5)
    assert len(cursors.noted) == 1


@pytest.mark.usefixtures("quick")
async def test_the_cursor_stays_while_an_event_waits_for_the_inbox() -> None:
    cursors, intake, away = Cursors(now() - timedelta(seconds=60)), Acceptor(lambda: None), True

    async def accept() -> None:
        if away:
            raise StoreError("the database is away")

    waiting = intake.begin(("T1", "C1"), accept)
    await until(lambda: intake.waiting == 1)
    async with running(looking(cursors, intake=intake)):
        await asyncio.sleep(0.2)
        assert not cursors.noted
        away = False
        await waiting
        await until(lambda: bool(cursors.noted))


async def test_the_first_connection_ever_is_noted_whatever_is_said_meanwhile() -> None:
    cursors, intake = Cursors(), Acceptor(lambda: None)
    cursors.kept = None

    async def accept() -> None:
        raise StoreError("the database is away")

    waiting = intake.begin(("T1", "C1"), accept)
    await until(lambda: intake.waiting == 1)
    catch_up = looking(cursors, intake=intake)
    async with running(catch_up):
        before = now()
        catch_up.begin()
        after = now()
        await until(lambda: bool(cursors.noted))
    assert before <= cursors.noted[0] <= after
    waiting.cancel()
    await asyncio.wait({waiting})


@pytest.mark.usefixtures("quick")
async def test_a_message_that_fails_is_tried_again_and_keeps_no_other_one_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(History, "said", [said("bad", "1.0"), said("good", "2.0")])
    cursors, intake, questions = Cursors(), Acceptor(lambda: None), Questions("bad")
    async with running(looking(cursors, "T1", events=events(questions, intake), intake=intake)):
        await until(lambda: questions.taken == ["good"])
        assert not cursors.noted
        await until(lambda: questions.tried.count("bad") == 2)
        questions.bad.clear()
        await until(lambda: bool(cursors.noted))
    assert "bad" in questions.taken
    failures = [r for r in caplog.records if r.exc_info and r.exc_info[0] is DeliveryError]
    assert len(failures) == 2


@pytest.mark.usefixtures("quick")
async def test_a_message_that_cannot_be_read_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(History, "said", [said("bad", "1.0"), said("good", "2.0")])
    questions = Questions("bad", error=KeyError("what nobody foresaw"))
    cursors, intake = Cursors(), Acceptor(lambda: None)
    async with running(looking(cursors, "T1", events=events(questions, intake), intake=intake)):
        await until(lambda: bool(cursors.noted))
    assert (questions.tried, questions.taken) == (["bad", "good"], ["good"])


@pytest.mark.usefixtures("quick")
async def test_a_message_that_always_fails_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(History, "said", [said("bad", "1.0")])
    cursors, intake, questions = Cursors(), Acceptor(lambda: None), Questions("bad")
    async with running(looking(cursors, "T1", events=events(questions, intake), intake=intake)):
        await until(lambda: bool(cursors.noted))
    assert questions.tried.count("bad") == 3
    assert "a message is given up" in caplog.text


async def test_a_message_whose_event_fails_on_its_way_is_taken_in_behind_it() -> None:
    intake, questions = Acceptor(lambda: None), Questions()
    hears = events(questions, intake)
    event = {**said("now", "1.0"), "channel": "C1"}
    failing = asyncio.Event()

    async def accept() -> None:
        await failing.wait()
        raise KeyError("what nobody foresaw")

    name = ("T1", "C1", "1.0", None, None)
    told = asyncio.ensure_future(hears._once(name, ("T1", "C1"), accept))
    await asyncio.sleep(0)
    looked = asyncio.ensure_future(hears.missed(event, ORIGIN, now()))
    await asyncio.sleep(0.05)
    assert not looked.done()
    failing.set()
    with pytest.raises(KeyError):
        await told
    assert await looked
    assert questions.taken == ["now"]


@pytest.mark.parametrize("minutes", [-30, 0, 30])
@pytest.mark.parametrize("is_first", [True, False])
async def test_how_far_slack_was_heard_is_noted_by_slacks_clock(
    quick: None, minutes: int, is_first: bool
) -> None:
    there = now() + timedelta(minutes=minutes)
    clock, cursors = PlatformClock("slack"), Cursors()
    clock.note(format_datetime(there, usegmt=True))
    cursors.kept = None if is_first else there - timedelta(hours=1)
    catch_up = looking(cursors, clock=clock)
    async with running(catch_up):
        catch_up.begin()
        await until(lambda: bool(cursors.noted))
    assert abs(cursors.noted[0] - there) < timedelta(seconds=30)
