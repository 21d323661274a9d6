"""Files with holes keep them, and get blocks before they are written to."""

import random
import sys
from pathlib import Path

import pytest

from core.disk.sparse import copy_sparse, hole, holes_take_room, reserve

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems tell of no holes")
_BLOCK = 1 << 16


def layout(path: Path, seed: int) -> bytes:
    """Write a file with data and holes in random places, and return its content."""
    drawn = random.Random(seed)
    with path.open("wb") as file:
        for block in range(drawn.randrange(1, 12)):
            if drawn.random() < 0.5:
                file.seek(block * _BLOCK)
                file.write(drawn.randbytes(drawn.randrange(1, _BLOCK)))
        file.truncate(drawn.randrange(1, 14) * _BLOCK)
    return path.read_bytes()


@pytest.mark.parametrize("seed", range(25))
def test_a_copy_has_the_content_and_no_more_blocks(tmp_path: Path, seed: int) -> None:
    content = layout(tmp_path / "a", seed)
    copy_sparse(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == content
    assert hole(tmp_path / "b") >= hole(tmp_path / "a") - 4_096


@pytest.mark.parametrize("seed", range(25))
def test_reserving_changes_no_content_and_fills_the_hole(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "a"
    content = layout(path, seed)
    before, size = hole(path), 3 * _BLOCK
    beyond = reserve(path, size)
    assert path.read_bytes() == content
    assert 0 <= beyond <= size
    assert hole(path) <= before
    reserve(path, 100 * _BLOCK)  # more than the file has
    assert path.read_bytes() == content


def test_only_file_systems_in_memory_give_holes_their_blocks(tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if memory.is_dir():
        assert holes_take_room(memory)
    assert not holes_take_room(Path("/proc"))
