"""One answer to each question, whatever Discord, the network or an operator does meanwhile."""

import itertools
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import (
    Behind,
    Channel,
    Drop,
    Duplicate,
    Interaction,
    Limits,
    Message,
    RateLimited,
    ServerError,
    Slow,
)
from tests.wire.discord.faults import RestFault
from tests.wire.discord_bot import BotProcess, Trial, a_trial, button, is_finished
from tests.wire.pace import COUNT, Figure, Report, commits, delays, paced

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_delivery"),  # one bot for all, where groups are kept together
]

BELL = "How much does the fog bell of Arden weigh?"
LEASE = {"INBOX__LEASE": "4"}
"""Short, so that what a killed process held is taken over soon."""
SENDS = {
    "acknowledgement": "/callback",
    "response": "PATCH /webhooks",
    "post": "POST /channels/{channel_id}/messages",
    "thread": "/threads",
    "edit": "PATCH /channels/{channel_id}/messages",
}
"""Every kind of request that shows something, by a part of its route."""
LIMITED = 429
CALLBACK = "POST /interactions/{interaction_id}/{interaction_token}/callback"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    """One bot for all tests here; each leaves it running and connected."""
    folder = tmp_path_factory.mktemp("delivery")
    async with a_trial(one_course, folder, settings=LEASE) as trial:
        yield trial


@pytest.fixture(autouse=True)
def _healed(trial: Trial) -> Iterator[None]:
    yield
    trial.server.faults.heal()
    trial.check_manners()


async def answered_once(trial: Trial, *questions: Message) -> None:
    """Wait for the answer to each question, and check that nothing else stands beside them."""
    answers = [await trial.answer_to(question) for question in questions]
    await trial.quiet(trial.channel(), trial.user())
    for question, answer in zip(questions, answers, strict=True):
        assert COVERED_FACT in answer.text
        place = question.thread or question.channel
        beside = [m for m in trial.from_bot(place) if not is_finished(m)]
        assert not beside, "no placeholder is left"
    places = {id(a.channel): a.channel for a in answers}
    assert sum(len(trial.from_bot(place)) for place in places.values()) == len(answers)


async def mentions(trial: Trial, count: int = 1) -> list[Message]:
    """Ask by mentions, each by somebody else in another channel."""
    return [
        await trial.world.say(trial.user(), trial.channel(), f"{trial.mention} {COVERED}")
        for _ in range(count)
    ]


async def finished_in(trial: Trial, place: Channel) -> Message:
    """Wait for a finished answer anywhere in a channel."""
    return await trial.until(lambda: next(filter(is_finished, trial.from_bot(place)), None))


async def begun(trial: Trial, question: Message) -> None:
    """Wait until there is something of an answer."""
    await trial.until(lambda: (question.thread and trial.from_bot(question.thread)) or None)


async def commanded_once(trial: Trial) -> Interaction:
    """Ask by command, check that there is one answer, and return what was asked."""
    channel = trial.channel()
    asked = await trial.world.slash(trial.user(), channel, "ask", question=COVERED)
    answer = await trial.result_of(asked)
    assert COVERED_FACT in answer.text
    assert asked.responded_after is not None
    assert asked.responded_after < 3
    assert trial.from_bot(channel) == [answer]
    return asked


def times_told(trial: Trial, name: str, of: Message | Interaction) -> int:
    """Return how often the bot was sent an event of a kind about a message or a command."""
    told = (event for event in trial.world.history.dispatches if event.name == name)
    return sum(event.data["id"] == str(of.id) for event in told)


# --- events -------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [2, 10])
async def test_an_event_that_comes_several_times_is_answered_once(trial: Trial, times: int) -> None:
    trial.server.faults.gateway(Duplicate(times), "MESSAGE_CREATE")
    (question,) = await mentions(trial)
    await answered_once(trial, question)
    assert times_told(trial, "MESSAGE_CREATE", question) == times
    trial.server.faults.gateway(Duplicate(times), "INTERACTION_CREATE")
    asked = await commanded_once(trial)
    assert times_told(trial, "INTERACTION_CREATE", asked) == times


async def test_events_out_of_order_are_answered_once_each(trial: Trial) -> None:
    trial.server.faults.gateway(Behind("MESSAGE_CREATE"), "MESSAGE_CREATE", times=2)
    await answered_once(trial, *await mentions(trial, 4))
    thread = (await trial.ask(trial.user(), trial.channel(), COVERED)).channel
    trial.server.faults.gateway(Behind("MESSAGE_CREATE"), "MESSAGE_CREATE")
    for _ in range(2):
        await trial.world.say(trial.user(), thread, COVERED)
    await trial.until(lambda: len(list(filter(is_finished, trial.from_bot(thread)))) == 3 or None)
    await trial.quiet(thread, trial.user())
    assert len(trial.from_bot(thread)) == 3


@pytest.mark.parametrize("way", ["close 4000", "op 7", "op 9 true", "cut"])
async def test_a_resumed_connection_loses_and_repeats_nothing(trial: Trial, way: str) -> None:
    gateway = trial.server.gateway
    before = await mentions(trial)
    await trial.answer_to(before[0])
    trial.server.faults.overlap = 30
    connected = trial.bot.log.count("connected to Discord as")
    resumed = trial.bot.log.count("resumed the connection")
    await _disturb(trial, way)
    while_away = await mentions(trial, 2)
    await trial.bot.says("resumed the connection", resumed + 1)
    await gateway.connected(timeout=PATIENCE)
    await answered_once(trial, *before, *while_away, *await mentions(trial))
    await commanded_once(trial)
    assert times_told(trial, "MESSAGE_CREATE", before[0]) > 1, "what was heard was told again"
    assert trial.bot.log.count("connected to Discord as") == connected


@pytest.mark.parametrize("way", ["close 4009", pytest.param("op 9 false", marks=pytest.mark.slow)])
async def test_after_a_connection_that_cannot_be_resumed_what_was_missed_is_found(
    trial: Trial, way: str
) -> None:
    world, ann = trial.world, trial.user()
    known = await mentions(trial)
    thread = (await trial.answer_to(known[0])).channel
    direct = world.direct_channel(ann, world.bot)
    in_direct = await world.say(ann, direct, COVERED)
    await trial.answer_to(in_direct)
    connected = trial.bot.log.count("connected to Discord as")
    await _disturb(trial, way)
    assert not [s for s in trial.server.gateway.sessions.values() if s.resumable()]
    missed = await mentions(trial, 2)
    in_thread = await world.say(ann, thread, COVERED)
    directly = await world.say(ann, direct, COVERED)
    await trial.bot.says("connected to Discord as", connected + 1)
    for question in (*missed, in_thread, directly):
        assert COVERED_FACT in (await trial.answer_to(question)).text
    await answered_once(trial, *missed)
    assert len(trial.from_bot(thread)) == 2
    assert len(trial.from_bot(direct)) == 2


async def test_what_was_missed_is_looked_for_until_discord_tells_it(trial: Trial) -> None:
    connected = trial.bot.log.count("connected to Discord as")
    trial.server.faults.rest(ServerError(503), "GET /channels/{channel_id}/messages", times=2)
    await _disturb(trial, "close 4009")
    missed = await mentions(trial, 2)
    await trial.bot.says("connected to Discord as", connected + 1)
    await answered_once(trial, *missed)
    assert "could not be looked for" in trial.bot.log


async def _disturb(trial: Trial, way: str) -> None:
    """Disturb the connection, and wait until the bot has noticed."""
    gateway = trial.server.gateway
    connections = list(gateway.connections)
    disturbances: dict[str, Callable[[], Awaitable[None]]] = {
        "close 4000": lambda: gateway.close(4000),
        "close 4009": lambda: gateway.close(4009),
        "op 7": gateway.reconnect,
        "op 9 true": lambda: gateway.invalidate(resumable=True),
        "op 9 false": lambda: gateway.invalidate(resumable=False),
        "cut": gateway.drop,
    }
    await disturbances[way]()
    await trial.until(lambda: not set(connections) & set(gateway.connections) or None)


@pytest.mark.slow
async def test_a_connection_that_says_nothing_is_replaced(one_course: Path, tmp_path: Path) -> None:
    limits = Limits.relaxed()
    limits.heartbeat_interval = 5.0
    async with a_trial(one_course, tmp_path, limits=limits) as trial:
        await answered_once(trial, *await mentions(trial))
        trial.server.gateway.silence()
        unheard = await mentions(trial, 2)
        await trial.world.until(lambda: trial.bot.log.count("the connection to Discord"), 120)
        await answered_once(trial, *unheard)
        assert [c.silent for c in trial.server.gateway.connections] == [False]


# --- requests -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SENDS)
async def test_what_was_applied_and_then_failed_is_seen_once(trial: Trial, kind: str) -> None:
    faults: list[RestFault] = [ServerError(502, applied=True), Drop(applied=True), Drop()]
    for fault in faults:
        trial.server.faults.rest(fault, SENDS[kind])
        if kind in {"acknowledgement", "response"}:
            await commanded_once(trial)
        else:
            await answered_once(trial, *await mentions(trial))
        struck = [call for call in trial.world.history.calls if call.fault == repr(fault)]
        assert struck, "the fault was met"


@pytest.mark.parametrize("scope", ["user", "shared", "global"])
async def test_rate_limits_are_waited_out(trial: Trial, scope: str) -> None:
    before = len(trial.world.history.invalid_requests)
    for kind in ("post", "edit"):
        trial.server.faults.rest(RateLimited(0.3, scope), SENDS[kind])
        await answered_once(trial, *await mentions(trial, 2))
    limited = [c for c in trial.world.history.calls if c.fault == repr(RateLimited(0.3, scope))]
    assert [call.status for call in limited] == [LIMITED, LIMITED]
    counted = len(trial.world.history.invalid_requests) - before
    # While all routes are closed, a call that was on its way is refused, too.
    assert counted in {"shared": (0,), "user": (2,), "global": range(2, 5)}[scope]


async def test_a_burst_of_server_errors_delays_answers_and_loses_none(trial: Trial) -> None:
    calls = trial.world.history.calls
    before = len(calls)
    trial.server.faults.seed(4)
    trial.server.faults.rest(ServerError(503), "/channels", times=8, probability=0.5)
    trial.server.faults.rest(ServerError(500, applied=True), times=4, probability=0.3)
    await answered_once(trial, *await mentions(trial, 4))
    assert {call.status for call in calls[before:] if call.fault} == {500, 503}, "they were met"


# --- interactions -------------------------------------------------------------------------


async def test_an_answer_whose_token_died_comes_as_a_message(trial: Trial) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    life, world.limits.token_life = world.limits.token_life, 0.0
    try:
        await world.slash(ann, channel, "ask", question=COVERED)
        await world.slash(ann, channel, "ask", question=COVERED, private=True)
        direct = world.direct_channel(ann, world.bot)
        for place in (channel, direct):
            await finished_in(trial, place)
    finally:
        world.limits.token_life = life
    assert len(list(filter(is_finished, trial.from_bot(channel)))) == 1
    assert len(trial.from_bot(direct)) == 1


async def test_a_lost_interaction_is_answered_by_a_message(trial: Trial) -> None:
    world, channel = trial.world, trial.channel()
    patience, world.limits.first_response = world.limits.first_response, -1.0
    try:
        await world.slash(trial.user(), channel, "ask", question=COVERED)
        await finished_in(trial, channel)
    finally:
        world.limits.first_response = patience
    (answer,) = trial.from_bot(channel)
    assert COVERED_FACT in answer.text


async def test_a_database_that_is_locked_delays_the_answer_and_not_the_response(
    trial: Trial,
) -> None:
    world, ann = trial.world, trial.user()
    answer = await trial.ask(ann, trial.channel(), COVERED)
    database = trial.bot.folder / "data" / "glossator.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        asked = await world.slash(ann, trial.channel(), "ask", question=COVERED)
        (question,) = await mentions(trial)
        clicked = await world.click(ann, answer, button(answer, "Helpful"))
        reasoned = await world.click(ann, answer, button(answer, "Not helpful"))
        for interaction in (asked, clicked, reasoned):
            await interaction.response()
            assert interaction.responded_after is not None
            assert interaction.responded_after < 3
        other.execute("ROLLBACK")
    await trial.until(lambda: "Thank you" in clicked.original.text or None)  # type: ignore[union-attr]
    await trial.until(lambda: "Noted" in reasoned.original.text or None)  # type: ignore[union-attr]
    await trial.until(lambda: COVERED_FACT in asked.original.text or None)  # type: ignore[union-attr]
    assert not asked.ephemeral, "it was asked publicly"
    await answered_once(trial, question)


# --- the process --------------------------------------------------------------------------


@pytest.mark.essential
async def test_a_killed_bot_is_taken_up_where_it_was(trial: Trial) -> None:
    trial.server.faults.rest(Slow(PATIENCE), "PATCH /channels/{channel_id}/messages")
    trial.server.faults.rest(Slow(PATIENCE), "PATCH /webhooks")
    channel = trial.channel()
    asked = await trial.world.slash(trial.user(), channel, "ask", question=COVERED)
    (question,) = await mentions(trial)
    await asked.response(PATIENCE)
    await begun(trial, question)
    await trial.bot.kill()
    trial.server.faults.heal()
    unheard = await mentions(trial)
    await trial.bot.start()
    await answered_once(trial, question, *unheard)
    answer = await trial.result_of(asked)
    assert COVERED_FACT in answer.text
    assert trial.from_bot(channel) == [answer]


async def test_an_orderly_end_finishes_what_was_begun(trial: Trial) -> None:
    trial.server.faults.rest(Slow(1.5, applied=True), "PATCH /channels/{channel_id}/messages")
    (question,) = await mentions(trial)
    await begun(trial, question)
    assert await trial.bot.stop() == 0
    assert question.thread is not None
    (answer,) = trial.from_bot(question.thread)
    assert is_finished(answer)
    await trial.bot.start()
    await answered_once(trial, question)


async def test_two_bots_on_one_database_answer_once(trial: Trial) -> None:
    second = BotProcess(trial.bot.folder, trial.server, LEASE)
    await second.launch()
    try:
        await trial.bot.says("this one stands by")
        await answered_once(trial, *await mentions(trial, 3))
        await commanded_once(trial)
        assert await second.stop(signal.SIGINT) == 0
    finally:
        if second.is_running:
            await second.kill()
    await answered_once(trial, *await mentions(trial))


async def test_a_refused_token_or_intent_ends_the_bot_with_a_sentence(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path, start=False) as trial:
        trial.world.application.message_content = False
        await trial.bot.launch()
        assert await trial.bot.ended() == 78
        assert "Discord refuses the message content intent: switch" in trial.bot.log
        trial.world.application.message_content = True
        token, trial.world.application.token = trial.world.application.token, "wrong"
        other = BotProcess(tmp_path, trial.server, {"DISCORD__TOKEN": token})
        await other.launch()
        assert await other.ended() == 78
        assert "Discord refuses the token: copy it again" in trial.bot.log
        trial.check_manners()


async def test_a_discord_that_is_down_is_waited_for_and_its_own_limits_are_kept(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path, limits=Limits(), start=False) as trial:
        trial.server.faults.rest(Drop(), "GET /users/@me", times=2)
        trial.server.faults.rest(ServerError(503), "GET /gateway/bot")
        await trial.bot.start()
        questions = [
            await trial.world.say(trial.user(), trial.channel(), f"{trial.mention} {COVERED}")
            for _ in range(7)
        ]
        for question in questions:
            assert COVERED_FACT in (await trial.answer_to(question)).text
        assert not [call for call in trial.world.history.calls if call.status == LIMITED]


@pytest.mark.slow
async def test_fifty_questions_a_second_are_taken_in_at_once(
    one_course: Path, tmp_path: Path, figure: Figure
) -> None:
    """Measure how soon a question is safe, while the bot answers those before it.

    A command: from the moment at which the event was written to the connection until Discord's
    side begins to read the first response, which the bot sends after the commit. A mention,
    which is acknowledged by nothing else: until the commit, as another process sees it. What
    the local server does with the response does not count; how late its event loop is does,
    and is told beside.
    """
    async with a_trial(one_course, tmp_path) as trial:
        world, report = trial.world, Report()
        places = itertools.cycle([trial.channel() for _ in range(100)])
        with delays() as late:
            asked = [
                await world.slash(trial.user(), next(places), "ask", question=COVERED)
                async for _ in paced()
            ]
            for interaction in asked:
                await interaction.response(PATIENCE)
        written, responded = _written(trial, "INTERACTION_CREATE"), _responded(trial)
        times = [responded[str(i.id)] - written[str(i.id)] for i in asked]
        report.add("commands, until acknowledged", times)
        report.add("the local server's loop meanwhile", late)
        everything = [interaction.original for interaction in asked]
        await world.until(lambda: all(m and is_finished(m) for m in everything), 300)

        async with commits(trial.bot.folder / "data" / "glossator.db") as stored:
            said = [
                str((await world.say(trial.user(), place, f"{trial.mention} {COVERED}")).id)
                async for place in _each_in(places)
            ]
            prefix, zero = f"discord:{world.application.id}:", time.monotonic() - world.clock.now()
            await world.until(lambda: all(prefix + id in stored for id in said), 120)
        written = _written(trial, "MESSAGE_CREATE")
        kept = [stored[prefix + id] - zero - written[id] for id in said]
        report.add("mentions, until committed", kept)
        report.keep(figure)
        assert len(times) == len(kept) == COUNT


async def _each_in(places: Iterator[Channel]) -> AsyncIterator[Channel]:
    async for _ in paced():
        yield next(places)


def _written(trial: Trial, name: str) -> dict[str, float]:
    """Return when each event of a kind left for the bot, by the id of what it tells of."""
    history = trial.world.history
    events = (event for event in history.dispatches if event.name == name)
    return {e.data["id"]: history.written[e.session_id, e.sequence] for e in events}


def _responded(trial: Trial) -> dict[str, float]:
    """Return when the response to each interaction was begun to be read."""
    calls = trial.world.history.of(CALLBACK)
    return {call.path.split("/")[2]: call.at for call in reversed(calls)}
