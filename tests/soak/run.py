"""A run: one bot on SQLite in front of both platforms, asked over and over, and measured."""

import asyncio
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from core.database import create_engine
from tests.chaos.fleet import READY
from tests.chaos.ground import a_ground
from tests.chaos.people import until
from tests.chaos.templates import STAND_INS, Templates, make_models
from tests.soak.crowd import Crowd
from tests.soak.samples import Sample, keep, kept_in, taken
from tests.wire.bot_process import BotProcess, copied

SAMPLES = "samples.jsonl"
LEG = 200
"""Questions that are asked before people forget what was said."""
PACE = 5.0
"""Questions a second, well below what it can do: what is kept for minutes, such as discord.py's
knowledge of rate limits, would grow and shrink with the pace."""
_SAMPLES_EVERY = 2.0
_PATIENCE = 240.0


async def run(questions: int, state: Path, pace: float = PACE) -> Sequence[Sample]:
    """Go on until so many questions are answered, at so many a second, and return all samples."""
    file = state / SAMPLES
    before = list(kept_in(file))
    if not before or before[-1].questions < questions:
        life = before[-1].life + 1 if before else 1
        begun = before[-1].questions if before else 0
        await _live(life, begun, questions, state, pace)
    return list(kept_in(file))


async def _live(life: int, begun: int, questions: int, state: Path, pace: float) -> None:
    """Let one process answer until the end of the run, or until we are interrupted."""
    models = await make_models(state / "models")
    with TemporaryDirectory(prefix="glossator-soak-") as name:
        folder = Path(name) / "bot"
        data = state / "data"
        if data.exists():  # the database goes on as long as the run does
            copied(data, folder)
        else:
            template = await Templates(Path(name), models, None).get(
                on_postgres=False, stand_ins=True
            )
            copied(template.data, folder)
        async with a_ground(None, life) as ground:
            settings = ground.settings("") | STAND_INS | {"INBOX__LEASE": "30"}
            bot = BotProcess(folder, settings, READY[0])
            bot.module = "tests.soak.process"
            await bot.start()
            await bot.says(READY[1])
            crowd = Crowd(ground, life, LEG, pace)
            crowd.answered = begun
            try:
                await _ask(crowd, bot, life, questions, state / SAMPLES)
                assert await bot.stop() == 0, bot.log[-3000:]
            finally:
                if bot.is_running:
                    await bot.kill()
                shutil.rmtree(data, ignore_errors=True)
                shutil.copytree(folder / "data", data, symlinks=True)


async def _ask(crowd: Crowd, bot: BotProcess, life: int, questions: int, file: Path) -> None:
    engine = create_engine(f"sqlite:///{bot.folder / 'data' / 'glossator.db'}")
    watching = asyncio.create_task(crowd.watch(engine))
    measuring = asyncio.create_task(_measure(crowd, bot, life, file))
    try:
        while crowd.answered < questions:
            await crowd.ask_all()
            await until(lambda: all(one.done_at for one in crowd.asked), _PATIENCE)
            await asyncio.sleep(1.0)
            crowd.forget()
            print(f"{crowd.answered:,} questions answered", flush=True)
        await asyncio.sleep(2 * _SAMPLES_EVERY)  # what they end with counts
    finally:
        for task in (watching, measuring):
            task.cancel()
        await asyncio.wait({watching, measuring})
        await engine.dispose()


async def _measure(crowd: Crowd, bot: BotProcess, life: int, file: Path) -> None:
    began = time.monotonic()
    while bot.is_running:
        keep(taken(bot, life, crowd.answered, time.monotonic() - began), file)
        await asyncio.sleep(_SAMPLES_EVERY)
