"""Small file systems of the tests' own, which can be filled, and disks that only seem full."""

import os
import shutil
import subprocess
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

KINDS = ("ext4", "tmpfs")
_FILLER = "filler"
_Usage = namedtuple("_Usage", "total used free")


@contextmanager
def small_disk(folder: Path, kind: str, megabytes: int) -> Iterator[Path]:
    """Mount a file system of that size, and give the folder that it is mounted on."""
    place, image = folder / f"{kind}-disk", folder / f"{kind}.image"
    place.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    if kind == "tmpfs":
        _mount("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", place)
    else:
        with image.open("wb") as file:
            file.truncate(megabytes << 20)
        _mount("mkfs.ext4", "-q", "-m", "0", image)
        _mount("mount", "-o", "loop", image, place)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=False, timeout=30)
        image.unlink(missing_ok=True)


def _mount(*command: object) -> None:
    try:
        subprocess.run([*map(str, command)], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"this machine mounts no small file system: {error}")


def fill(place: Path, *, but: int = 0) -> None:
    """Leave only so many bytes free on the disk."""
    with (place / _FILLER).open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)
        file.truncate(max(0, file.tell() - but))


def make_room(place: Path) -> None:
    """Take back what `fill` did."""
    (place / _FILLER).unlink()


def make_read_only(place: Path) -> None:
    """Refuse every write to the disk from now on."""
    _mount("mount", "-o", "remount,ro", place)


def pretend_full(monkeypatch: pytest.MonkeyPatch, folder: Path, free: int = 0) -> None:
    """Have the system say that little is free below a folder."""
    real_usage = shutil.disk_usage

    def usage(path: Any) -> Any:
        if not Path(path).is_relative_to(folder):
            return real_usage(path)
        return _Usage(real_usage(path).total, real_usage(path).total - free, free)

    monkeypatch.setattr(shutil, "disk_usage", usage)
