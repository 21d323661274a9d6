"""Discord sends what it does not document: the bot lives on, and answers the next question."""

import itertools
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.wire.discord import Message
from tests.wire.discord.message_payloads import dispatched
from tests.wire.discord.session import Session
from tests.wire.discord_bot import Trial, a_trial, button
from tests.wire.monitored import Pages
from tests.wire.odd_payloads import FRAMES, described, odd_ones

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("odd_discord"),
]
MONITORED = {"MONITORING__PORT": "0", "MONITORING__HOST": "127.0.0.1"}
SECRET_WORDS = "the heron sleeps at noon"
"""Said in every odd message: no log may hold it."""
MESSAGE_FIELDS = (
    *("poll", "embeds", "attachments", "components", "sticker_items", "reactions", "thread"),
    *("activity", "application", "interaction_metadata", "call", "role_subscription_data"),
    *("flags", "pinned", "tts", "nonce", "position", "member", "mentions", "mention_roles"),
    *("message_reference", "referenced_message", "message_snapshots", "timestamp", "type"),
    *("edited_timestamp", "mention_everyone", "webhook_id", "resolved", "purchase_notification"),
)


@asynccontextmanager
async def an_odd_trial(template: Path, folder: Path, starts: int = 1) -> AsyncIterator[Trial]:
    """Let a bot run in front of a Discord that sends what cannot be read."""
    async with a_trial(template, folder, settings=MONITORED) as trial:
        trial.bot.passes_over = True
        yield trial
        assert trial.bot.is_running
        assert trial.bot.log.count("Starting; stop with Ctrl-C.") == starts, "no process ended"
        assert SECRET_WORDS not in trial.bot.log


def session(trial: Trial) -> Session:
    """Return the session that has a connection."""
    return next(s for s in trial.server.gateway.sessions.values() if s.send is not None)


def last(trial: Trial, name: str) -> Any:
    """Return the payload of the latest event of a name."""
    sent = trial.world.history.dispatches
    return next(one.data for one in reversed(sent) if one.name == name)


async def still_answers(trial: Trial) -> None:
    """Ask a good question in the same server, and check its answer."""
    answer = await trial.ask(trial.user(), trial.channel(), COVERED)
    assert COVERED_FACT in answer.text


async def everything_happens(trial: Trial) -> dict[str, Any]:
    """Do each thing once, and return the payload that the bot was sent of it, by its name."""
    world, ann, channel = trial.world, trial.user(), trial.channel()
    answer = await trial.ask(ann, channel, COVERED)
    asked = await world.slash(ann, channel, "ask", question=COVERED)
    await trial.result_of(asked)
    payloads = {"/ask": last(trial, "INTERACTION_CREATE")}
    await world.autocomplete(ann, channel, "ask", "section", section="lamp")
    payloads["autocomplete"] = last(trial, "INTERACTION_CREATE")
    await trial.result_of(await world.context_menu(ann, answer, "Explain this passage"))
    payloads["menu"] = last(trial, "INTERACTION_CREATE")
    opened = await world.click(ann, answer, button(answer, "Not helpful"))
    await opened.response()
    payloads["click"] = last(trial, "INTERACTION_CREATE")
    await (await world.submit_modal(opened, reason=SECRET_WORDS)).response()
    payloads["modal"] = last(trial, "INTERACTION_CREATE")
    said = await world.say(ann, channel, SECRET_WORDS)
    await world.edit(said, f"{SECRET_WORDS}!")
    await world.delete(said)
    names = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "GUILD_CREATE", "THREAD_CREATE")
    return payloads | {name: last(trial, name) for name in names}


def events_of(payloads: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each event's name with a good payload, the same for several names where that fits."""
    for name, payload in payloads.items():
        yield (name if name.isupper() else "INTERACTION_CREATE"), payload
    thread = payloads["THREAD_CREATE"]
    guild = payloads["GUILD_CREATE"]
    for name in ("THREAD_UPDATE", "THREAD_DELETE", "CHANNEL_UPDATE"):
        yield name, {**thread, "id": "118000000000000009"}
    role = {"guild_id": guild["id"], "role": {**guild["roles"][0], "id": "118000000000000008"}}
    yield "GUILD_ROLE_CREATE", role
    yield "GUILD_ROLE_UPDATE", role
    yield "GUILD_ROLE_DELETE", {"guild_id": guild["id"], "role_id": "118000000000000008"}
    yield "GUILD_UPDATE", {key: guild[key] for key in ("id", "name", "roles", "owner_id")}
    yield "MESSAGE_DELETE_BULK", {"ids": ["1", "2"], "channel_id": "3", "guild_id": guild["id"]}
    yield "MESSAGE_POLL_VOTE_ADD", {"user_id": "1", "channel_id": "2", "message_id": "3"}
    yield "USER_UPDATE", payloads["MESSAGE_CREATE"]["author"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def odd(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    """A bot for all tests that leave it as it is, and do not ask how often it was started."""
    async with an_odd_trial(one_course, tmp_path_factory.mktemp("odd")) as trial:
        yield trial


async def test_a_poll_without_an_end_is_passed_over_and_a_question_in_one_is_answered(
    odd: Trial,
) -> None:
    world, ann, channel = odd.world, odd.user(), odd.channel()
    options = ("Who keeps the lamp?", "Ada", "Bob")
    await world.say(ann, channel, "Please vote.", poll=options)
    asked = await world.say(ann, channel, f"{odd.mention} {COVERED}", poll=options)
    answer = await odd.answer_to(asked)
    assert COVERED_FACT in answer.text
    explained = await world.context_menu(ann, asked, "Explain this passage")
    assert COVERED_FACT in (await odd.result_of(explained)).text
    await world.edit(asked, f"{odd.mention} How much does the fog bell of Arden weigh?")
    await odd.until(lambda: "half a ton" in answer.text or None)


async def test_what_was_missed_is_answered_behind_messages_that_cannot_be_read(
    one_course: Path, tmp_path: Path
) -> None:
    async with an_odd_trial(one_course, tmp_path, starts=2) as trial:
        world, ann = trial.world, trial.user()
        first, second = trial.channel(), trial.channel()
        await still_answers(trial)
        assert await trial.bot.stop() == 0
        options = ("Which?", "This", "That")
        asked = list[Message]()
        for channel in (first, second):
            await world.say(ann, channel, SECRET_WORDS, poll=options)
            broken = await world.say(ann, channel, f"{trial.mention} {SECRET_WORDS}")
            world.odd_messages[broken.id] = lambda message: {**message, "author": None}
            nothing = await world.say(ann, channel, SECRET_WORDS)
            world.odd_messages[nothing.id] = lambda message: {"id": None}
            asked.append(await world.say(ann, channel, f"{trial.mention} {COVERED}", poll=options))
        await trial.bot.start()
        for question in asked:
            assert COVERED_FACT in (await trial.answer_to(question)).text
        pages = Pages(trial.bot)
        await pages.reaches(4, "events_unreadable_total", platform="discord", event="history")
        last_said = asked[-1].created_at.timestamp()
        await trial.until(lambda: heard_up_to(trial) >= last_said or None, "the cursor")


def heard_up_to(trial: Trial) -> float:
    """Return up to when the bot has noted that it missed nothing, as a timestamp."""
    with closing(sqlite3.connect(trial.bot.folder / "data" / "glossator.db")) as db:
        (found,) = db.execute(
            "SELECT max(position) FROM inbox_cursors WHERE channel = '*'"
        ).fetchone()
    return float(found or 0) / 1_000


async def send_odd_ones(trial: Trial, events: list[tuple[str, Any]], step: int, every: int) -> int:
    """Send what differs from good events in one field; a good question comes every so often."""
    count = itertools.count(1)
    for name, payload in events:
        for odd in odd_ones(payload, step=step):
            session(trial).dispatch(name, odd.payload)
            if next(count) % every == 0:
                await still_answers(trial)
    await still_answers(trial)
    return next(count) - 1


async def test_events_with_one_odd_field_are_contained(odd: Trial) -> None:
    payloads = await everything_happens(odd)
    assert await send_odd_ones(odd, [*events_of(payloads)], 23, 60) > 80
    for frame in FRAMES:
        send_raw(odd, frame)
    await still_answers(odd)
    pages = Pages(odd.bot)
    assert await pages.value("events_unreadable_total", platform="discord") > 20
    assert await pages.value("parts_restarted_total") == 0


def send_raw(trial: Trial, frame: str) -> None:
    """Send a frame that may be no JSON."""
    for connection in trial.server.gateway.connections:
        connection.send_text(frame)


@pytest.mark.slow
async def test_every_odd_field_of_every_event_is_contained(
    one_course: Path, tmp_path: Path
) -> None:
    async with an_odd_trial(one_course, tmp_path) as trial:
        events = [*events_of(await everything_happens(trial))]
        sent = await send_odd_ones(trial, events, 1, 200)
        contained = await Pages(trial.bot).value("events_unreadable_total")
        print(f"\n{sent} events of {len(events)} kinds, {contained:.0f} contained")
        assert sent > 2_000


@pytest.mark.slow
async def test_every_field_that_discord_describes_may_be_odd(
    one_course: Path, tmp_path: Path
) -> None:
    known = described()
    if known is None:
        pytest.skip("Discord's description is not beside the project")
    async with an_odd_trial(one_course, tmp_path) as trial:
        ann, channel = trial.user(), trial.channel()
        said = await trial.world.say(ann, channel, SECRET_WORDS)
        good = dispatched(said, trial.world.bot, True)
        message = {**known.payload("MessageResponse"), **good}
        events: list[tuple[str, Any]] = [("MESSAGE_CREATE", message), ("MESSAGE_UPDATE", message)]
        thread, guild = known.payload("ThreadResponse"), known.payload("GuildWithCountsResponse")
        member = known.payload("GuildMemberResponse") | {"guild_id": str(trial.world.guild.id)}
        channels = known.payload("GuildChannelResponse")
        interaction = {**(await everything_happens(trial))["menu"], "message": message}
        interaction["data"]["resolved"]["messages"] = {str(said.id): message}
        events += [("THREAD_CREATE", thread), ("GUILD_CREATE", guild), ("GUILD_UPDATE", guild)]
        events += [("GUILD_MEMBER_UPDATE", member), ("CHANNEL_CREATE", channels)]
        events += [("CHANNEL_UPDATE", channels), ("INTERACTION_CREATE", interaction)]
        sent = await send_odd_ones(trial, events, 1, 200)
        contained = await Pages(trial.bot).value("events_unreadable_total")
        print(f"\n{sent} events of {len(events)} kinds, {contained:.0f} contained")
        assert sent > 2_000


_NO_QUESTION = [("type", 2**70), *(("webhook_id", one) for one in ("odd", {"odd": None}, 2**70))]
"""What a webhook says, and what is of a type that nobody writes."""


@pytest.mark.parametrize(
    "fields",
    [MESSAGE_FIELDS[::9], pytest.param(MESSAGE_FIELDS, marks=pytest.mark.slow)],
    ids=["some", "all"],
)
async def test_a_question_is_answered_whatever_else_is_odd_about_its_message(
    odd: Trial, fields: tuple[str, ...]
) -> None:
    asked = dict[str, Message]()
    for field, value in itertools.product(fields, (None, "odd", {"odd": None}, 2**70)):
        if (field, value) in _NO_QUESTION:
            continue

        def shown(data: Any, field: str = field, value: Any = value) -> Any:
            is_question = data["content"].startswith("<@")
            return {**data, field: value} if is_question else data

        odd.world.odd_events["MESSAGE_CREATE"] = shown
        question = f"{odd.mention} {COVERED}"
        name = f"{field}: {value}"
        asked[name] = await odd.world.say(odd.user(), odd.channel(), question)
    odd.world.odd_events.clear()
    for name, message in asked.items():
        assert COVERED_FACT in (await odd.answer_to(message)).text, name


@pytest.mark.slow
async def test_sessions_that_begin_oddly_are_sessions_all_the_same(
    one_course: Path, tmp_path: Path
) -> None:
    async with an_odd_trial(one_course, tmp_path) as trial:
        world, gateway = trial.world, trial.server.gateway
        await still_answers(trial)
        odd: dict[str, Any] = {
            "user": {"id": "7"},
            "guilds": [None],
            "shard": None,
            "session_id": None,
            "resume_gateway_url": 7,
            "application": None,
            "something_new": {"deep": [1]},
        }
        for field, value in odd.items():

            def begun_oddly(data: Any, field: str = field, value: Any = value) -> Any:
                return {**data, field: value}

            world.odd_events["READY"] = begun_oddly
            missed = await lose_the_session(trial)
            assert COVERED_FACT in (await trial.answer_to(missed)).text, field
            await still_answers(trial)
        world.odd_events = {"RESUMED": lambda data: None}
        await gateway.reconnect()
        await trial.bot.says("resumed the connection")
        await still_answers(trial)
        for name in ("members", "channels", "roles", "threads"):

            def with_odd_ones(data: Any, name: str = name) -> Any:
                return {**data, name: [None, {"id": "x"}, *data[name]]}

            world.odd_events = {"GUILD_CREATE": with_odd_ones}
            missed = await lose_the_session(trial)
            assert COVERED_FACT in (await trial.answer_to(missed)).text, name


async def lose_the_session(trial: Trial) -> Message:
    """End the connection for good, and ask something meanwhile."""
    times = trial.bot.log.count("connected to Discord as")
    await trial.server.gateway.close(4009)
    asked = await trial.world.say(trial.user(), trial.channel(), f"{trial.mention} {COVERED}")
    await trial.bot.says("connected to Discord as", times=times + 1)
    return asked
