"""The room on the disks: warned of early, said once, and told to whoever watches."""

import logging
from pathlib import Path

import pytest

from bot.health import DiskWatch, Level, disks
from bot.settings import DatabaseSettings, DiskSettings, Settings
from core.domain.errors import NoRoom
from tests.disks import pretend_full

LEVELS = [(600, Level.ENOUGH), (500, Level.ENOUGH), (499, Level.LOW), (19, Level.CRITICAL)]


@pytest.mark.parametrize(("free", "level"), LEVELS)
def test_the_marks_tell_how_much_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, level: Level
) -> None:
    pretend_full(monkeypatch, tmp_path, free=free * 1_000_000)
    (disk,) = disks(Settings(data_dir=tmp_path))
    assert (disk.name, disk.level, disk.space.free) == ("data", level, free * 1_000_000)
    assert 0 < disk.space.share < 1
    marks = DiskSettings(low_megabytes=free + 1, critical_megabytes=0)
    (disk,) = disks(Settings(data_dir=tmp_path, disk=marks))
    assert disk.level is Level.LOW


async def test_each_change_is_logged_once_and_little_room_makes_unready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="bot.health")
    watch = DiskWatch(Settings(data_dir=tmp_path))
    said = []
    for free in (900, 300, 300, 5, 5, 900):
        with monkeypatch.context() as patch:
            pretend_full(patch, tmp_path, free=free * 1_000_000)
            if free == 5:
                with pytest.raises(NoRoom, match=r"5\.0 MB are free"):
                    await watch.check()
            else:
                await watch.check()
        said.append(len(caplog.records))
    assert said == [0, 1, 1, 2, 2, 3]
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "INFO"]


def test_a_database_that_is_not_ours_to_watch_is_left_out(tmp_path: Path) -> None:
    for url in ("postgresql://bot@127.0.0.1/bot", "nonsense"):
        settings = Settings(data_dir=tmp_path, database=DatabaseSettings(url=url))
        assert [disk.name for disk in disks(settings)] == ["data"]


def test_a_data_folder_that_is_not_there_yet_is_where_it_would_be(tmp_path: Path) -> None:
    assert len(disks(Settings(data_dir=tmp_path / "a" / "b"))) == 1
