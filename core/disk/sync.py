"""Brings what was written to the disk, so that a power cut loses none of it."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Bring a file's content, or a folder's names, to the disk.

    Windows opens no folder, and needs none of it.

    Raises:
        OSError: when the disk does not take it.
    """
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
