"""A run: one bot on SQLite in front of both platforms, asked over and over, and measured."""

import asyncio
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import Outcome
from core.storage.database import create_engine, reading
from core.storage.sessions import TurnRow
from tests.chaos.fleet import ON_DISCORD, ON_SLACK
from tests.chaos.ground import a_ground
from tests.chaos.people import until
from tests.chaos.templates import STAND_INS, Templates, make_models
from tests.program import program
from tests.soak.crowd import Crowd
from tests.soak.samples import Sample, keep, kept_in, taken
from tests.wire.bot_process import BotProcess, copied

LEG = 200
"""Questions that are asked before people forget what was said."""
PACE = 5.0
"""Questions a second, well below what it can do: what is kept for minutes, such as discord.py's
knowledge of rate limits, would grow and shrink with the pace."""
BURST = 1_000.0
"""Questions a second of the first leg: connections that the busiest moment needs are kept by their
libraries, so it comes first."""
_SAMPLES_EVERY = 2.0
_PATIENCE = 240.0


async def run(questions: int, state: Path, pace: float = PACE) -> Sequence[Sample]:
    """Go on until so many questions are answered, at so many a second, and return all samples.

    Only a run of this very program at this pace is gone on with.
    """
    models = await make_models(state / "models")
    kept = state / f"{program('tests/soak')}-{pace:g}"
    kept.mkdir(exist_ok=True)
    before = list(kept_in(kept))
    if not before or before[-1].questions < questions:
        life = before[-1].life + 1 if before else 1
        begun = before[-1].questions if before else 0
        await _live(life, begun, questions, kept, models, pace)
    return list(kept_in(kept))


async def _live(
    life: int, begun: int, questions: int, kept: Path, models: Path, pace: float
) -> None:
    """Let one process answer until the end of the run, or until we are interrupted."""
    with TemporaryDirectory(prefix="glossator-soak-") as name:
        folder = Path(name) / "bot"
        data = kept / "data"
        if data.exists():  # the database goes on as long as the run does
            copied(data, folder)
        else:
            template = await Templates(Path(name), models, None).get(
                on_postgres=False, stand_ins=True
            )
            copied(template.data, folder)
        async with a_ground(None, life) as ground:
            settings = ground.settings("") | STAND_INS | {"INBOX__LEASE": "30"}
            bot = BotProcess(folder, settings, ON_SLACK)
            bot.module = "tests.soak.process"
            await bot.start()
            await bot.says(ON_DISCORD)
            crowd = Crowd(ground, life, LEG, pace)
            crowd.answered = begun
            try:
                await _ask(crowd, bot, life, questions, kept)
                assert await bot.stop() == 0, bot.log[-3000:]
            finally:
                if bot.is_running:
                    await bot.kill()
                shutil.rmtree(data, ignore_errors=True)
                shutil.copytree(folder / "data", data, symlinks=True)


async def _ask(crowd: Crowd, bot: BotProcess, life: int, questions: int, kept: Path) -> None:
    engine = create_engine(f"sqlite:///{bot.folder / 'data' / 'glossator.db'}")
    await crowd.can_read(engine)
    watching = asyncio.create_task(crowd.watch(engine))
    measuring = asyncio.create_task(_measure(crowd, bot, life, kept))
    pace, crowd.pace = crowd.pace, BURST
    try:
        while crowd.answered < questions:
            await crowd.ask_all()
            crowd.pace = pace
            await until(lambda: all(one.done_at for one in crowd.asked), _PATIENCE)
            await asyncio.sleep(1.0)
            crowd.forget()
            print(f"{crowd.answered:,} questions answered", flush=True)
        await asyncio.sleep(2 * _SAMPLES_EVERY)  # what they end with counts
        assert {*await _outcomes(engine)} == {Outcome.ANSWERED}, await _outcomes(engine)
    finally:
        for task in (watching, measuring):
            task.cancel()
        await asyncio.wait({watching, measuring})
        await engine.dispose()


async def _outcomes(engine: AsyncEngine) -> dict[str, int]:
    """Return how many questions came to which end."""
    query = select(TurnRow.outcome, func.count()).group_by(TurnRow.outcome)
    async with reading(engine) as db:
        return dict((await db.execute(query)).tuples().all())


async def _measure(crowd: Crowd, bot: BotProcess, life: int, kept: Path) -> None:
    began = time.monotonic()
    while bot.is_running:
        keep(taken(bot, life, crowd.answered, time.monotonic() - began), kept)
        await asyncio.sleep(_SAMPLES_EVERY)
