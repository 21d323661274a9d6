"""The first start of all reads the handbook, and says so instead of failing."""

import asyncio
from pathlib import Path

import pytest

from tests.command_line import shell
from tests.wire.bot_process import PATIENCE
from tests.wire.discord_bot import a_trial
from tests.wire.monitored import Pages

pytestmark = pytest.mark.costly

MONITORED = {"MONITORING__PORT": "0", "MONITORING__HOST": "127.0.0.1"}


async def test_a_first_start_tells_what_it_does_until_it_is_ready(
    tmp_path: Path, models: Path
) -> None:
    nothing = shell(tmp_path / "nothing", models).data
    async with a_trial(nothing, tmp_path / "bot", settings=MONITORED, start=False) as trial:
        pages, told = Pages(trial.bot), dict[str, None]()
        await trial.bot.launch()
        await trial.bot.says("monitoring at")
        async with asyncio.timeout(PATIENCE * 3):
            while (page := await pages.json("/readyz"))["status"] == "starting":
                assert "checks" not in page
                told[page["doing"]] = None
                await asyncio.sleep(0.02)
        assert any(doing.startswith("reading the handbook, ") for doing in told), told
        assert any(doing.startswith("embedding the handbook, ") for doing in told), told
        await pages.becomes("/readyz", 200)
