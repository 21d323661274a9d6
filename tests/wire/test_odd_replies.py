"""Each odd reply, from the official SDK to what a reader sees."""

from pathlib import Path

import pytest

from tests.wire.odd_replies import ODD, is_right, open_odd_house, row


@pytest.mark.costly
async def test_right_answers_come_out_right_and_failures_have_their_cause(
    models: Path, tmp_path: Path
) -> None:
    assert len(ODD) >= 60
    async with open_odd_house(tmp_path, models) as house:
        seen = [(odd, await house.ask(number)) for number, odd in enumerate(ODD)]
    assert [row(odd, what) for odd, what in seen if not is_right(odd, what)] == []
    # What a model thinks, and the marks that it does so with, are nobody's to read.
    assert not [what for _, what in seen if "Okay" in what.text or "<|" in what.text.split("`")[0]]
    assert max(what.seconds for _, what in seen) < 20.0
