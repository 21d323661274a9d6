"""`glossator slack-manifest`: prints the manifest of the Slack app, with the commands' names."""

import re

from adapters.features.command_names import CommandNames
from bot.cli.exits import Exit
from bot.handbook import handbook_folder
from bot.settings import load_settings

_FILE = "slack-manifest.yaml"
_COMMAND = re.compile(r"(?P<before>^ *- command: )/(?P<name>\S+)$", re.MULTILINE)


def slack_manifest() -> int:
    """Print the manifest to be pasted into Slack.

    Raises:
        ConfigurationError: when a setting is wrong, or the installation came without it.
    """
    names = load_settings().commands
    print(named((handbook_folder() / _FILE).read_text("utf-8"), names), end="")
    return Exit.OK


def named(manifest: str, names: CommandNames) -> str:
    """Return a manifest whose commands have the names of the settings."""
    chosen = names.model_dump()
    return _COMMAND.sub(lambda found: f"{found['before']}/{chosen[found['name']]}", manifest)
