"""One part of a run: so many questions against so many replicas, disturbed, then checked."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from core.storage.database import create_engine
from tests.chaos.book import names_in
from tests.chaos.checker import Anomaly, check
from tests.chaos.disturbances import Troublemaker, planned
from tests.chaos.fleet import Fleet, a_fleet
from tests.chaos.ground import Ground, a_ground
from tests.chaos.happenings.crowds import USER_PER_MINUTE
from tests.chaos.happenings.poison import Poison
from tests.chaos.history import Asked, History, Turn, Way
from tests.chaos.people import People, until
from tests.chaos.reading import Watcher, read
from tests.chaos.settlements import Settlement, ledger, limiter_calls
from tests.chaos.sightings import Sightings
from tests.chaos.stays import longest, orphans, second_answers
from tests.chaos.templates import STAND_INS, Templates
from tests.chaos.whispers import was_refused_by_platform, was_told_to_ask_again
from tests.postgres import PostgresServer

ORPHANS_GONE_WITHIN = 60.0
"""Seconds after the last answer, by which nothing may be left over."""
_LAST_ANSWER_WITHIN = 240.0
"""Seconds after the last disturbance; a busy machine takes its time."""
_NOTED_WITHIN = 60.0
"""Seconds after which a user asks again who was told that a command is not noted yet."""
_LOOKS_EVERY = 0.4
_ON_THE_WAY = 0.1
"""Seconds before a refusal in which a fault may have begun that kept it from being told."""
UNSETTLED = "no settlement"
REPLIES, REPLIES_ONCE = "replies of the staff", "of these once in the asker's thread"
_MANY, _SHARDS = 3, 2
"""With so many replicas, there are so many shards."""


@dataclass(frozen=True)
class Part:
    """What is to be done."""

    seed: int
    replicas: int
    on_postgres: bool
    stand_ins: bool
    questions: int
    pace: float = 4.0

    @property
    def name(self) -> str:
        """What it is called in the state's folder and in the table."""
        database = "PostgreSQL" if self.on_postgres else "SQLite"
        models = "stand-ins" if self.stand_ins else "real models"
        shards = f", {self.shards} shards" if self.shards > 1 else ""
        return f"{database}, {self.replicas} replica{'s'[: self.replicas - 1]}{shards}, {models}"

    @property
    def shards(self) -> int:
        """How many shards of Discord there are; one of the replicas holds them all."""
        return _SHARDS if self.replicas == _MANY else 1


@dataclass
class Outcome:
    """What came of it; everything a table needs, as JSON."""

    name: str
    seed: int
    counts: dict[str, float] = field(default_factory=dict)
    acks: list[float] = field(default_factory=list)
    """Seconds from each delivery of Slack's to its acknowledgement."""
    anomalies: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    settled: dict[str, dict[str, int]] = field(default_factory=dict)
    """By platform, how many questions were settled in which way."""
    told_of_limits: dict[str, int] = field(default_factory=dict)
    """By platform, how many calls were about questions that a limit stopped."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


async def run_part(
    part: Part, folder: Path, templates: Templates, postgres: PostgresServer | None
) -> Outcome:
    """Carry a part out and return what came of it."""
    server = postgres if part.on_postgres else None
    template = await templates.get(on_postgres=part.on_postgres, stand_ins=part.stand_ins)
    database = f"part_{part.seed}"
    if template.database is not None:
        await templates.copy_database(template.database, database)
    began = time.monotonic()
    async with a_ground(server, part.seed) as ground:
        settings = ground.settings(database, part.shards) | (STAND_INS if part.stand_ins else {})
        async with a_fleet(template.data, folder, part.replicas, settings, part.seed) as fleet:
            url = f"sqlite:///{fleet.bots[0].folder / 'data' / 'glossator.db'}"
            async with _engine(f"{server.url}{database}" if server else url) as engine:
                outcome = await _run(part, ground, fleet, server, engine)
    outcome.counts["seconds"] = time.monotonic() - began
    return outcome


async def _run(
    part: Part,
    ground: Ground,
    fleet: Fleet,
    server: PostgresServer | None,
    engine: AsyncEngine,
) -> Outcome:
    people = People(ground, part.seed, part.questions, part.pace)
    poison = Poison(ground, part.seed)
    await poison.prepare()
    await people.can_read(engine)
    watcher, sightings = Watcher(engine, people.asked), Sightings(ground)
    watching = asyncio.create_task(_watch(watcher))
    trouble = Troublemaker(ground, fleet, server, poison, part.seed)
    plan = planned(part.questions, part.seed, crashes=server is not None)
    began = time.monotonic()
    try:
        ground.spoil(part.seed)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(trouble.carry_out(plan, lambda: len(people.asked)))
            tasks.create_task(people.ask_all(trouble.away))
        await trouble.ended()
        ground.heal()
        healed = time.monotonic()
        asking = healed - began
        late = await _settle(watcher, people)
        settled = time.monotonic() - healed
    finally:
        watching.cancel()
        await asyncio.wait({watching})
    unpeaceful = await fleet.end()
    pressed = [deed for office in people.offices.values() for deed in office.deeds]
    history = await read(ground, watcher, sightings, engine, poison.places, pressed)
    history.user_per_minute = USER_PER_MINUTE
    history.tells_all, history.late, history.disturbed = part.stand_ins, late, trouble.spans()
    history.halts = trouble.halts()
    history.spoiled = {platform: trouble.spoiled(platform) for platform in ("discord", "slack")}
    beside = {one.key for one in history.asked if one.way is Way.STAFF}
    silent = [t for t in history.turns if not names_in(t.text) and t.key not in beside]
    entries = ledger(history)
    counted = {platform: Counter[str]() for platform in ("discord", "slack")}
    for entry in entries:
        if not entry.asked.is_reply:
            counted[entry.asked.platform][entry.settlement or UNSETTLED] += 1
    questions = [one for one in history.asked if not one.is_reply]
    replies = [entry for entry in entries if entry.asked.is_reply]
    outcome = Outcome(part.name, part.seed, notes=[*fleet.exits, *fleet.alarms()][:40])
    outcome.notes += [f"of {_asked(history, turn)}: {turn.text}" for turn in silent]
    early = early_calls(ground, trouble)
    outcome.notes += map(str, early)
    outcome.counts = {
        "questions": len(questions),
        "accepted": sum(one.seen_at is not None for one in questions),
        "apologies": sum(entry.settlement is Settlement.APOLOGISED for entry in entries),
        **{way.value: sum(one.way is way for one in questions) for way in Way},
        REPLIES: len(replies),
        REPLIES_ONCE: sum(
            entry.settlement is Settlement.ANSWERED and entry.times == 1 for entry in replies
        ),
        "not found in the book": len(silent),
        **fleet.counts,
        **trouble.counts,
        "ends without 0": unpeaceful,
        "failed deliveries tried again": watcher.attempts,
        "taken over": watcher.taken_over,
        "seconds of asking": asking,
        "settled after": settled,
        "longest stay of a second answer": longest(second_answers(history)),
        "longest stay of an orphan": longest(orphans(history)),
        **platform_counts(ground),
        "calls into a closed window": len(early),
        "the same while nothing else was wrong": sum(not one.meanwhile for one in early),
    }
    outcome.settled = {platform: dict(found) for platform, found in counted.items()}
    outcome.told_of_limits = dict(limiter_calls(history, entries))
    outcome.acks = [d.seconds for d in _message_deliveries(ground) if d.seconds is not None]
    outcome.anomalies = [_told(anomaly) for anomaly in check(history)]
    return outcome


def _asked(history: History, turn: Turn) -> str:
    """Return the names that were asked about by what a turn answers."""
    return ", ".join(one.name for one in history.asked if one.key == turn.key)


async def _settle(watcher: Watcher, people: People) -> list[str]:
    """Wait until all is answered and cleaned up; return what did not come about in time."""
    late = []
    try:
        await until(lambda: not watcher.waiting and _all_done(people), _LAST_ANSWER_WITHIN)
    except TimeoutError:
        late.append(f"answers are missing {_LAST_ANSWER_WITHIN:.0f} s after the last fault")
    try:
        await until(lambda: watcher.is_quiet, ORPHANS_GONE_WITHIN)
    except TimeoutError:
        late.append(f"something is to be cleaned up {ORPHANS_GONE_WITHIN:.0f} s after that")
    return late


async def _watch(watcher: Watcher) -> None:
    while True:
        await watcher.look()
        await asyncio.sleep(_LOOKS_EVERY)


def _all_done(people: People) -> bool:
    return all(_has_ended(one) for one in people.asked)


def _has_ended(one: Asked) -> bool:
    """Return whether nothing is to be waited for any more: the inbox is done, or never has it."""
    if one.done_at is not None:
        return True
    if one.seen_at is not None:
        return False
    is_over = time.monotonic() - one.said_at > _NOTED_WITHIN and was_told_to_ask_again(one.deed)
    return is_over or was_refused_by_platform(one.deed)


def platform_counts(ground: Ground) -> Counter[str]:
    """Return what both platforms counted."""
    there, here = ground.discord.world.history, ground.slack.world.history
    deliveries = _message_deliveries(ground)
    calls: list[Any] = [*there.calls, *here.calls]
    return Counter(
        {
            "calls": len(calls),
            "calls answered 429": sum(call.status == 429 for call in calls),
            "calls spoiled": sum(call.fault is not None for call in calls),
            "events sent": len(deliveries)
            + sum(sent.name == "MESSAGE_CREATE" for sent in there.dispatches),
            "redeliveries by Slack": sum(delivery.attempt > 0 for delivery in deliveries),
            "given up by Slack": len(here.lost),
        }
    )


@dataclass(frozen=True)
class EarlyCall:
    """A call into a closed window."""

    name: str
    late: float
    """Seconds for which somebody had been told."""
    meanwhile: Sequence[str]
    """What was wrong in that time, so that who was told may have told nobody, or was not told."""

    def __str__(self) -> str:
        why = ", ".join(self.meanwhile) or "nothing"
        return f"{self.name} {self.late:.2f} s after a refusal; meanwhile: {why}"


def early_calls(ground: Ground, trouble: Troublemaker) -> list[EarlyCall]:
    """Return the calls into a closed window."""
    found = []
    for world in (ground.discord.world, ground.slack.world):
        zero = time.monotonic() - world.clock.now()
        for call in world.history.early_requests:
            at = zero + call.at
            meanwhile = trouble.between(at - call.late - _ON_THE_WAY, at)
            found.append(EarlyCall(str(call), call.late, meanwhile))
    return found


def _message_deliveries(ground: Ground) -> list[Any]:
    history = ground.slack.world.history
    return [d for d in history.deliveries if d.name in ("message", "app_mention")]


def _told(anomaly: Anomaly) -> dict[str, str]:
    return {"kind": anomaly.kind.value, "key": anomaly.key, "detail": anomaly.detail}


@asynccontextmanager
async def _engine(url: str) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(url)
    try:
        yield engine
    finally:
        await engine.dispose()
