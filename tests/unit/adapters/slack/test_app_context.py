"""Which channel an agent's user looks at, of all that Slack tells."""

from typing import Any

import pytest

from adapters.slack.commands import channel_looked_at

CHANNEL = {"type": "slack#/types/channel_id", "value": "C1", "team_id": "T1"}
MESSAGE = {
    "type": "slack#/types/message_context",
    "value": {"channel_id": "C2", "message_ts": "1.2"},
    "team_id": "T1",
}
CANVAS = {"type": "slack#/types/canvas_id", "value": "F1", "team_id": "T1"}


@pytest.mark.parametrize(
    ("context", "channel"),
    [
        ({"entities": [CHANNEL]}, "C1"),
        ({"entities": [MESSAGE, CHANNEL]}, "C2"),
        ({"entities": [CANVAS, CHANNEL]}, "C1"),
        ({"entities": [{**CHANNEL, "team_id": "T2"}, MESSAGE]}, "C2"),
        ({"entities": [{"type": CHANNEL["type"], "value": "C3"}]}, "C3"),
        ({"entities": [CANVAS]}, None),
        ({"entities": []}, None),
        ({}, None),
        (None, None),
        ({"entities": "C1"}, None),
        (
            {"entities": [{"type": MESSAGE["type"], "value": "C1"}, 7, {**CHANNEL, "value": 7}]},
            None,
        ),
    ],
)
def test_the_first_channel_of_the_workspace_is_looked_at(context: Any, channel: str | None) -> None:
    assert channel_looked_at(context, "T1") == channel
