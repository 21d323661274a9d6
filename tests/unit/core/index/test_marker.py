"""What a collection's marker says of its files."""

from pathlib import Path

from core.index.base import Marker, is_whole, sizes, write_marker


def test_a_file_that_takes_the_place_of_another_in_a_moment_is_none_of_the_collection(
    tmp_path: Path,
) -> None:
    (tmp_path / "segment").mkdir()
    (tmp_path / "segment" / "page_0.dat").write_bytes(b"stored")
    write_marker(tmp_path, Marker(dimensions=4, points=1, files=sizes(tmp_path)))
    assert is_whole(tmp_path, 1)
    (tmp_path / "segment" / ".atomicwriteQ1").write_bytes(b"half")
    assert is_whole(tmp_path, 1)
    (tmp_path / "segment" / "page_1.dat").write_bytes(b"more")
    assert not is_whole(tmp_path, 1)
