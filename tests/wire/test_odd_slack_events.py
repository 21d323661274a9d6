"""Slack sends what it does not document: all is acknowledged, and the next question answered."""

import asyncio
import copy
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.inbound import PLATFORM
from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import PATIENCE
from tests.wire.monitored import Pages
from tests.wire.odd_payloads import odd_ones
from tests.wire.slack import Message
from tests.wire.slack.state import Dispatch
from tests.wire.slack_bot import Transport, Trial, a_trial

pytestmark = pytest.mark.costly

MONITORED = {"MONITORING__PORT": "0", "MONITORING__HOST": "127.0.0.1"}
SECRET_WORDS = "the heron sleeps at noon"
"""Said in every odd message: no log may hold it."""
SUBTYPES = (
    *("bot_message", "me_message", "file_share", "thread_broadcast", "channel_join"),
    *("channel_topic", "message_replied", "reminder_add", "ekm_access_denied", "huddle_thread"),
)
_AT_ONCE = 20
_TO_ALL: Any = {"who-sees": "public"}
BOTH = pytest.mark.parametrize("transport", ["socket", "http"])


@asynccontextmanager
async def an_odd_trial(
    template: Path, folder: Path, transport: Transport, starts: int = 1
) -> AsyncIterator[Trial]:
    """Let a bot run in front of a Slack that sends what cannot be read."""
    async with a_trial(template, folder, transport=transport, settings=MONITORED) as trial:
        trial.bot.passes_over = True
        yield trial
        assert trial.bot.is_running
        assert trial.bot.log.count("Starting; stop with Ctrl-C.") == starts, "no process ended"
        assert SECRET_WORDS not in trial.bot.log
        assert not trial.world.history.lost, "all is acknowledged"


async def still_answers(trial: Trial) -> None:
    """Ask a good question in the same workspace, and check its answer."""
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    assert COVERED_FACT in answer.shown


async def everything_happens(trial: Trial) -> list[Dispatch]:
    """Do each thing once, and return what the bot was sent of it."""
    world, seen = trial.world, list[Dispatch]()
    world.listen(seen.append)
    ann = trial.user()
    channel = trial.channel(ann)
    await trial.ask(ann, channel, COVERED)
    said = await world.say(ann, channel, SECRET_WORDS)
    await world.edit(said, f"{SECRET_WORDS}!")
    await world.react(ann, said, "tada")
    for command in sorted(world.app.commands):
        await (await world.slash(ann, channel, command)).ack(PATIENCE)
    await (await world.shortcut(ann, "explain", said)).ack(PATIENCE)
    await trial.until(lambda: world.modals.top(ann) or None, "the modal")
    await (await world.submit_view(ann, question=COVERED, **_TO_ALL)).ack(PATIENCE)
    await world.delete(said)
    await world.open_home(ann)
    await world.open_home(ann, "messages", beside=channel)
    await world.agents.look_at(ann, channel)
    for session in list(world.sessions.values()):
        session.statuses.append("processing")
        await world.agents.stop(ann, session)
    await world.join(trial.user(), channel)
    await still_answers(trial)
    return [*_one_of_each([*seen])]


def _one_of_each(seen: list[Dispatch]) -> Iterator[Dispatch]:
    """Yield one dispatch of each kind, and messages of further subtypes."""
    known = dict[tuple[str, object], Dispatch]()
    for one in seen:
        event = one.payload.get("event", {})
        known.setdefault((one.name, event.get("subtype")), one)
    yield from known.values()
    plain = known["message", None]
    for subtype in SUBTYPES:
        payload = copy.deepcopy(plain.payload)
        payload["event"] |= {"subtype": subtype, "text": SECRET_WORDS}
        yield Dispatch(plain.app, plain.kind, plain.name, payload)
    team = {"id": trial_team(plain), "domain": "course"}
    user = {"id": "U1", "team_id": team["id"]}
    common = {"team": team, "user": user, "trigger_id": "1.2.3", "token": "t"}
    click = {"action_id": "gl:evidence", "value": "no", "action_ts": "1700000000.000100"}
    others: dict[str, dict[str, Any]] = {
        "block_actions": {"actions": [click], "container": {"type": "message"}},
        "view_closed": {"view": {"id": "V1", "callback_id": "explain"}},
        "shortcut": {"callback_id": "nothing", "action_ts": "1700000000.000100"},
        "block_suggestion": {"action_id": "a", "value": SECRET_WORDS},
        "message_action": {"callback_id": "unknown", "message": {"text": SECRET_WORDS}},
    }
    for kind, more in others.items():
        yield Dispatch(plain.app, "interactive", kind, {"type": kind, **common, **more})


def trial_team(dispatch: Dispatch) -> str:
    """Return the workspace of an event."""
    return str(dispatch.payload["team_id"])


async def send_odd_ones(trial: Trial, dispatches: list[Dispatch], step: int) -> int:
    """Send what differs from good events in one field; a good question comes now and then."""
    count, waiting = 0, list[Dispatch]()
    for good in dispatches:
        for odd in odd_ones(good.payload, step=step):
            count += 1
            waiting.append(Dispatch(good.app, good.kind, good.name, odd.payload))
            trial.world.emit(waiting[-1])
            if len(waiting) == _AT_ONCE:
                await acknowledged(trial, waiting)
                waiting = []
            if count % 500 == 0:
                await still_answers(trial)
    await acknowledged(trial, waiting)
    await still_answers(trial)
    return count


async def acknowledged(trial: Trial, sent: list[Dispatch]) -> None:
    """Wait until each of these was acknowledged, at the first attempt."""
    wanted = {id(one.payload) for one in sent}

    def all_of_them() -> bool | None:
        found = [d for d in trial.world.history.deliveries[-1_000:] if id(d.payload) in wanted]
        failed = [f"{d.name} {d.failure}: {d.payload}" for d in found if d.failure]
        assert not failed, "\n".join(failed)
        return sum(d.acked_at is not None for d in found) >= len(wanted) or None

    await trial.until(all_of_them, "the acknowledgements")


@BOTH
async def test_events_with_one_odd_field_are_acknowledged(
    one_course: Path, tmp_path: Path, transport: Transport
) -> None:
    async with an_odd_trial(one_course, tmp_path, transport) as trial:
        dispatches = await everything_happens(trial)
        assert await send_odd_ones(trial, dispatches, 41) > 80
        app = trial.world.app
        whole: list[Any] = [None, [], "text", 7, {}, {"event": None}, {"type": "event_callback"}]
        nothing = [Dispatch(app, "events_api", "message", one) for one in whole]
        for dispatch in nothing:
            trial.world.emit(dispatch)
        await _questions_with_an_odd_field_are_answered(trial)
        await _nobody_waits_for_what_is_long_to_read(trial)
        pages = Pages(trial.bot)
        assert await pages.value("events_unreadable_total", platform=PLATFORM) >= len(whole) - 2
        assert await pages.value("parts_restarted_total") == 0


@pytest.mark.slow
@BOTH
async def test_every_odd_field_of_every_event_is_acknowledged(
    one_course: Path, tmp_path: Path, transport: Transport
) -> None:
    async with an_odd_trial(one_course, tmp_path, transport) as trial:
        dispatches = await everything_happens(trial)
        sent = await send_odd_ones(trial, dispatches, 1)
        contained = await Pages(trial.bot).value("events_unreadable_total")
        print(
            f"\n{sent} events of {len(dispatches)} kinds by {transport}, {contained:.0f} contained"
        )
        assert sent > 2_000


async def _questions_with_an_odd_field_are_answered(trial: Trial) -> None:
    fields = ("blocks", "attachments", "files", "edited", "team", "thread_ts", "user_team")
    world, asked = trial.world, dict[str, Message]()
    for field in fields:

        def shown(payload: dict[str, Any], field: str = field) -> dict[str, Any]:
            return {**payload, "event": {**payload["event"], field: {"odd": [7]}}}

        world.odd_events = {"message": shown, "app_mention": shown}
        ann = trial.user()
        asked[field] = await world.say(ann, trial.channel(ann), f"{trial.mention} {COVERED}")
    world.odd_events = {}
    for field, message in asked.items():
        assert COVERED_FACT in (await trial.answer_to(message)).shown, field


async def _nobody_waits_for_what_is_long_to_read(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    for text in ("*a " * 13_000, "`_a" * 13_000, "&gt; ```\n" * 4_000):

        def long(payload: dict[str, Any], text: str = text) -> dict[str, Any]:
            event = {**payload["event"], "text": f"{trial.mention} {text}", "blocks": []}
            return {**payload, "event": event}

        world.odd_events = {"message": long, "app_mention": long}
        await world.say(ann, trial.channel(ann), f"{trial.mention} {COVERED}")
        world.odd_events = {}
        await still_answers(trial)


async def test_what_was_missed_is_answered_behind_messages_that_cannot_be_read(
    one_course: Path, tmp_path: Path
) -> None:
    async with an_odd_trial(one_course, tmp_path, "socket", starts=2) as trial:
        world, ann = trial.world, trial.user()
        channel = trial.channel(ann)
        await still_answers(trial)
        assert await trial.bot.stop() == 0
        odd: list[Any] = [None, {}, {"ts": 7}, {"ts": "soon"}, "text"]
        for one in odd:
            broken = await world.say(ann, channel, SECRET_WORDS)
            world.odd_messages[broken.ts] = lambda message, one=one: one  # type: ignore[misc]
        strange = await world.say(ann, channel, SECRET_WORDS)
        world.odd_messages[strange.ts] = lambda message: {**message, "user": {}, "edited": 7}
        asked = await world.say(ann, channel, f"{trial.mention} {COVERED}")
        world.odd_messages[asked.ts] = lambda message: {**message, "edited": "x", "files": 7}
        await asyncio.sleep(0)
        await trial.bot.start()
        assert COVERED_FACT in (await trial.answer_to(asked)).shown
        pages = Pages(trial.bot)
        await pages.reaches(len(odd), "events_unreadable_total", event="history")
        world.history.lost.clear()  # what was told while nobody listened
