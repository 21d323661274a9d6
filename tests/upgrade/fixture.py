"""Installations as earlier versions left them: how one is packed, and unpacked."""

import os
import subprocess
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
FIRST = "8d99dd9"
"""The commit whose installation is upgraded."""
_LEFT_OUT = ("models", "bot.log", "locks")
"""What the program makes again at once, and what it said."""


def path_of(commit: str) -> Path:
    """Return where the installation of a commit is kept."""
    return HERE / f"installation-{commit}.tar.xz"


def pack(folder: Path, archive: Path) -> None:
    """Keep an installation in an archive, by GNU tar, which leaves the holes of files out."""
    command = ["tar", "--sparse", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]
    command += [f"--exclude={name}" for name in _LEFT_OUT]
    command += ["-cJf", str(archive.absolute()), "-C", str(folder), "."]
    subprocess.run(command, check=True, env={**os.environ, "XZ_OPT": "-9e"})


def unpack(commit: str, folder: Path) -> None:
    """Put the installation of a commit into a folder, with its times, rights and holes."""
    with tarfile.open(path_of(commit)) as packed:
        packed.extractall(folder, filter="tar")
