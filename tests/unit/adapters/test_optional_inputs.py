"""What need not be filled in says so once, on each platform."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import discord
import pytest

from adapters.actions.presses import reason_form
from adapters.discord.presses import modal
from adapters.slack import modals


def inputs_of(view: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (block for block in view["blocks"] if block["type"] == "input")


@pytest.mark.parametrize(
    "view",
    [modals.explain_modal("A passage.", "{}"), modals.form_view(reason_form(UUID(int=1)), "{}")],
    ids=["explain", "reason"],
)
def test_slack_says_itself_that_an_input_is_optional(view: dict[str, Any]) -> None:
    assert [*inputs_of(view)]
    for block in inputs_of(view):
        assert "optional" not in block["label"]["text"].lower()
        assert "optional" not in str(block["element"].get("placeholder", "")).lower()


async def test_discord_says_nothing_so_the_label_does() -> None:
    shown = modal(reason_form(UUID(int=1)))
    labels = [one for one in shown.children if isinstance(one, discord.ui.Label)]
    assert len(labels) == 2
    for label in labels:
        assert isinstance(label.component, discord.ui.TextInput | discord.ui.RadioGroup)
        assert label.text.lower().count("optional") == (0 if label.component.required else 1)
