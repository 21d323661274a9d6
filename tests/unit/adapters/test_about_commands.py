"""The commands about the bot: the handbook and the manifests name each of them."""

from pathlib import Path

import pytest
import yaml

from adapters.actions.about import ABOUT_COMMANDS

DOCS = Path(__file__).parents[3] / "docs"
WORDS = [*ABOUT_COMMANDS, "data"]


@pytest.mark.parametrize("page", ["discord.md", "slack.md"])
@pytest.mark.parametrize("name", ["help", *WORDS])
def test_the_page_of_a_platform_has_a_row_for_each_command(page: str, name: str) -> None:
    assert f"| `/glossator {name}` |" in (DOCS / page).read_text("utf-8")


def test_the_hint_of_the_manifest_lists_each_command() -> None:
    manifest = yaml.safe_load((DOCS / "slack-manifest.yaml").read_text("utf-8"))
    hints = {one["command"]: one["usage_hint"] for one in manifest["features"]["slash_commands"]}
    assert hints["/glossator"] == " | ".join(["help [question]", *WORDS])
