"""The table of commands: the handbook and the manifest name each of them."""

import re
from pathlib import Path

import pytest
import yaml

from adapters.actions.command_names import CommandNames
from adapters.actions.commands import COMMANDS, GROUPS, Command, usage_hint

DOCS = Path(__file__).parents[3] / "docs"


def named(command: Command) -> str:
    return f"/{' '.join(command.path)}"


@pytest.mark.parametrize("page", ["discord.md", "slack.md"])
@pytest.mark.parametrize("command", COMMANDS, ids=named)
def test_the_handbook_names_each_command(page: str, command: Command) -> None:
    pages = (DOCS / one for one in (page, "teaching.md", "policies.md", "radar.md"))
    assert any(named(command) in one.read_text("utf-8") for one in pages)
    if command.path[0] == "glossator":
        assert f"| `{named(command)}` |" in (DOCS / page).read_text("utf-8")


@pytest.mark.parametrize("group", CommandNames.model_fields)
def test_the_hint_of_the_manifest_is_that_of_the_table(group: str) -> None:
    manifest = yaml.safe_load((DOCS / "slack-manifest.yaml").read_text("utf-8"))
    hints = {one["command"]: one["usage_hint"] for one in manifest["features"]["slash_commands"]}
    assert hints[f"/{group}"] == usage_hint(group)


def test_every_command_has_a_function_or_asks_and_stands_in_a_described_group() -> None:
    assert len({command.path for command in COMMANDS}) == len(COMMANDS)
    for command in COMMANDS:
        assert command.does is not None or command.arguments[0].name == "question"
        for end in range(1, len(command.path)):
            assert command.path[:end] in GROUPS
        assert all(re.fullmatch("[a-z]+", word) for word in command.path)
