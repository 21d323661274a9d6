"""The bot as it is, with a note beside it, each second, of how many tasks there are."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from bot import runner
from bot.cli import main
from bot.settings import Settings

NOTE = Path("tasks")
_run_bot = runner.run_bot


async def _noted(settings: Settings, announce: Callable[[str], None]) -> None:
    noting = asyncio.create_task(_note())
    try:
        await _run_bot(settings, announce)
    finally:
        noting.cancel()


async def _note() -> None:
    while True:
        tasks = len(asyncio.all_tasks())
        await asyncio.to_thread(NOTE.write_text, str(tasks), encoding="utf-8")
        await asyncio.sleep(1.0)


if __name__ == "__main__":
    runner.run_bot = _noted
    sys.exit(main())
