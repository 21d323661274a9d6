"""The file of fitted marks: what is kept is found again, and a damaged file stops no answer."""

import logging
from pathlib import Path

import pytest

from bot.embedders import FILE, Marks
from core.domain.errors import ConfigurationError
from core.retrieval.ranking import ScoreScale

SCALE = ScoreScale(0.8, 0.1, 0.1, usable_at=0.3, answerable_at=0.4)


def test_what_one_process_keeps_another_finds_at_once(tmp_path: Path) -> None:
    reading, writing = Marks(tmp_path), Marks(tmp_path)
    assert reading.scale("pots", "vectors/256") is None
    writing.keep_scale("pots", "vectors/256", SCALE)
    writing.keep_judge("pots", "qwen", 0.6)
    writing.keep_judge("pans", "qwen", 0.7)
    assert reading.scale("pots", "vectors/256") == SCALE
    assert reading.scale("pots", "vectors/512") is None
    assert reading.scale("pans", "vectors/256") is None
    assert (reading.judge("pots", "qwen"), reading.judge("pans", "qwen")) == (0.6, 0.7)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "[]", '{"judges": {"pots": {"qwen": 7}}}', '{"scales": 1}'])
def test_a_damaged_file_is_told_and_leaves_the_marks_as_they_were(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    marks = Marks(tmp_path)
    marks.keep_judge("pots", "qwen", 0.6)
    assert marks.judge("pots", "qwen") == 0.6
    marks.path.write_text(text)
    with caplog.at_level(logging.WARNING):
        assert marks.judge("pots", "qwen") == 0.6
        assert marks.judge("pots", "qwen") == 0.6
    assert caplog.text.count("delete it, and run 'glossator calibrate' again") == 1
    with pytest.raises(ConfigurationError, match="cannot be read"):
        marks.keep_judge("pots", "qwen", 0.5)
    assert marks.path.read_text() == text
