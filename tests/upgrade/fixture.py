"""Installations as versions left them: how one is packed, and unpacked."""

import os
import subprocess
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
FIRST = "0.2.0"
"""The version whose installation is upgraded: upgrades are promised from it on."""
_LEFT_OUT = ("models", "bot.log", "locks")
"""What the program makes again at once, and what it said."""


def path_of(version: str) -> Path:
    """Return where the installation of a version is kept."""
    return HERE / f"installation-{version}.tar.xz"


def pack(folder: Path, archive: Path) -> None:
    """Keep an installation in an archive, by GNU tar, which leaves the holes of files out."""
    command = ["tar", "--sparse", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]
    command += [f"--exclude={name}" for name in _LEFT_OUT]
    command += ["-cJf", str(archive.absolute()), "-C", str(folder), "."]
    subprocess.run(command, check=True, env={**os.environ, "XZ_OPT": "-9e"})


def unpack(version: str, folder: Path) -> None:
    """Put the installation of a version into a folder, with its times, rights and holes."""
    with tarfile.open(path_of(version)) as packed:
        packed.extractall(folder, filter="tar")
