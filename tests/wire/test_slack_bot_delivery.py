"""Slack delivers what it likes, as often as it likes: one answer comes of it."""

import itertools
from collections.abc import AsyncIterator, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import PATIENCE
from tests.wire.pace import COUNT, Figure, Report, delays, paced
from tests.wire.slack import Duplicate, Echo, NoAck
from tests.wire.slack.history import Delivery
from tests.wire.slack.sockets import Sockets
from tests.wire.slack_bot import Transport, Trial, a_trial

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_delivery"),
]


def _more_than(sockets: Sockets, before: int) -> bool | None:
    return sockets.opened > before or None


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def running(
    request: pytest.FixtureRequest, one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    transport: Transport = request.param
    folder = tmp_path_factory.mktemp("delivery")
    async with a_trial(one_course, folder, transport=transport) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


@pytest.mark.parametrize(
    "fault", [Duplicate(10), Echo(10), NoAck()], ids=["same envelope", "new event_id", "no ack"]
)
async def test_ten_deliveries_of_a_mention_are_answered_once(
    trial: Trial, fault: Duplicate | Echo | NoAck
) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    for name in ("message", "app_mention"):
        trial.server.faults.delivery(fault, name)
    answer = await trial.ask(ann, channel, COVERED)
    trial.server.faults.heal()
    await trial.quiet()
    assert COVERED_FACT in answer.shown
    assert trial.from_bot(channel) == [answer]


async def test_a_command_that_is_delivered_twice_is_answered_once(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    trial.server.faults.delivery(Duplicate(3), "/ask")
    await (await trial.world.slash(ann, channel, "/ask", COVERED)).ack()
    await trial.until(lambda: len(trial.from_bot(channel)) == 2 or None)
    await trial.quiet()
    assert len(trial.from_bot(channel)) == 2


async def test_a_socket_that_breaks_is_replaced_and_nothing_is_lost(trial: Trial) -> None:
    if trial.world.app.request_url is not None:
        pytest.skip("there are no sockets over HTTP")
    ann = trial.user()
    channel = trial.channel(ann)
    sockets = trial.server.sockets
    for end in (sockets.close, sockets.refresh, sockets.link_disabled, sockets.warn):
        before = sockets.opened
        await end()
        await trial.until(partial(_more_than, sockets, before))
        assert COVERED_FACT in (await trial.ask(ann, channel, COVERED)).shown
    await trial.quiet()
    assert len(trial.from_bot(channel)) == 4


async def test_of_each_event_the_first_acknowledged_attempt_is_measured() -> None:
    def attempt(event: str, number: int, acked_after: float | None) -> Delivery:
        payload = {"event_id": event, "event": {"user": "U1"}}
        acked_at = None if acked_after is None else 10.0 + acked_after
        return Delivery("A1", "message", payload, "socket", 10.0, number, acked_at=acked_at)

    lost, again, late = attempt("Ev1", 0, None), attempt("Ev1", 1, 0.5), attempt("Ev1", 2, 0.1)
    other = attempt("Ev2", 0, 0.25)
    assert _taken([lost, other], {"U1"}, 2) is None
    taken = _taken([lost, other, again, late], {"U1"}, 2)
    assert taken is not None
    assert (sorted(taken.seconds), taken.others) == ([0.25, 0.5], [lost, late])


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["socket", "http"])
async def test_fifty_questions_a_second_are_acknowledged_at_once(
    one_course: Path, tmp_path: Path, transport: Transport, figure: Figure
) -> None:
    """Measure how soon a question is safe, while the bot answers those before it.

    From the moment at which a delivery is handed to the connection until the acknowledgement
    is read, which the bot sends after the commit. Every mention is delivered twice, as the
    events `message` and `app_mention`, and both count. How late the event loop of the local
    server is adds to that, and is told beside.
    """
    async with a_trial(one_course, tmp_path, transport=transport) as trial:
        world, report = trial.world, Report()
        places = itertools.cycle([trial.channel() for _ in range(100)])
        deliveries = world.history.deliveries
        seconds = list[float]()
        for how in ("commands", "mentions"):
            askers = set[str]()
            with delays() as late:
                async for _ in paced():
                    ann, channel = trial.user(), next(places)
                    channel.members[ann.id] = ann
                    askers.add(ann.id)
                    if how == "commands":
                        await world.slash(ann, channel, "/ask", COVERED)
                    else:
                        await world.say(ann, channel, f"{trial.mention} {COVERED}")
                wanted = COUNT * (1 if how == "commands" else 2)
                taken = await world.until(partial(_taken, deliveries, askers, wanted), PATIENCE)
            report.add(f"{how} by {transport}, until acknowledged", taken.seconds)
            report.add("the local server's loop meanwhile", late)
            for other in taken.others:
                report.say(f"attempt {other.attempt} of {other.name}: {other.failure or 'acked'}")
            seconds += taken.seconds
        report.keep(figure)
        assert len(seconds) == 3 * COUNT


@dataclass
class _Taken:
    """What came of the deliveries of some events."""

    seconds: list[float]
    """By event, how long its first acknowledged delivery took."""
    others: list[Delivery]
    """Those that were not acknowledged, or came after one that was."""


def _taken(deliveries: Sequence[Delivery], askers: Set[str], wanted: int) -> _Taken | None:
    """Return how what people asked was taken, once so many events are acknowledged."""
    seconds, others = dict[str, float](), list[Delivery]()
    for delivery in deliveries:
        if _asker(delivery) not in askers:
            continue
        event = str(delivery.event_id or delivery.payload.get("trigger_id"))
        if delivery.seconds is None or event in seconds:
            others.append(delivery)
        else:
            seconds[event] = delivery.seconds
    return _Taken([*seconds.values()], others) if len(seconds) == wanted else None


def _asker(delivery: Delivery) -> str:
    """Return whose command or message was delivered."""
    payload = delivery.payload
    return str(payload.get("user_id") or payload.get("event", {}).get("user"))
