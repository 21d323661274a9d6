"""The blocks of a Home that has more to show than Slack takes."""

from adapters.slack.home import MOST_BLOCKS, _fitting, _sections
from tests.wire.slack import Limits
from tests.wire.slack.view_checks import check_view


def test_many_courses_take_many_blocks_and_no_more_than_there_is_room_for() -> None:
    lines = [f"• Course {number} {'x' * 480}" for number in range(1_000)]
    blocks = _fitting(_sections(lines), MOST_BLOCKS)
    view = {"type": "home", "blocks": blocks}
    assert check_view(view, Limits(), kind="home") == view
    assert len(blocks) == MOST_BLOCKS
    *shown, last = [block["text"]["text"] for block in blocks]
    told = sum(text.count("\n") + 1 for text in shown)
    assert last == f"and {1_000 - told} more"


def test_what_fits_is_shown_whole() -> None:
    lines = [f"• Course {number}" for number in range(150)]
    (block,) = _fitting(_sections(lines), 5)
    assert block["text"]["text"].split("\n") == lines
