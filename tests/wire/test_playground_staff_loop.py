"""Students and staff at the playground's page go through the whole loop, in a real browser."""

from pathlib import Path

import pytest

from tests.wire import chromium
from tests.wire.playground.running import Playground
from tests.wire.playground.staff_loop import LOOPS, StaffLoop
from tests.wire.visitor import Visitor, shown

_PROGRAM = chromium.installed()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_PROGRAM is None, reason="no Chromium is installed"),
]


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.platform)
async def test_what_staff_answer_and_verify_reaches_students(
    loop: type[StaffLoop], tmp_path: Path, models: Path
) -> None:
    assert _PROGRAM is not None
    data = tmp_path / "data"
    data.mkdir()
    (data / "models").symlink_to(models, target_is_directory=True)
    async with Playground(data_dir=data) as playground:
        url = f"{playground.url}{loop.platform}/"
        async with chromium.opened(_PROGRAM, tmp_path / "profile", url) as tab:
            await tab.look(1280, 800)
            await tab.until(shown(".light.ready"), 300)
            await loop(Visitor(tab, tmp_path)).go_through()
            for step in loop.pictures:
                picture = (tmp_path / f"{loop.platform}-{step}.png").read_bytes()
                assert picture.startswith(b"\x89PNG")
            await tab.look(360, 740, dark=True)
            assert await tab.value("document.documentElement.scrollWidth") == 360
            assert tab.problems == []
        assert playground.discord.world.mistakes == []
        assert playground.slack.world.mistakes == []
