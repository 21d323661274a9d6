"""The manifests that people paste into Slack say what the code needs, and no more."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from adapters.actions.command_names import CommandNames
from adapters.slack.http import EVENTS as PATH
from adapters.slack.modals import EXPLAIN
from adapters.slack.oauth import EVENTS, REDIRECT, SCOPES
from adapters.slack.presses import VERIFY
from tests.wire.slack.manifest import check_manifest

DOCS = Path(__file__).parents[4] / "docs"
FILE = DOCS / "slack-manifest.yaml"
COMMANDS = [f"/{name}" for _, name in CommandNames()]


@pytest.fixture
def manifest() -> Any:
    return yaml.safe_load(FILE.read_text("utf-8"))


def test_slack_takes_it(manifest: Any) -> None:
    assert check_manifest(manifest)


def test_it_asks_for_the_scopes_that_the_bot_needs(manifest: Any) -> None:
    scopes = manifest["oauth_config"]["scopes"]
    assert sorted(SCOPES) == scopes["bot"]
    assert list(scopes) == ["bot"]


def test_it_subscribes_to_the_events_that_are_heard(manifest: Any) -> None:
    assert sorted(EVENTS) == manifest["settings"]["event_subscriptions"]["bot_events"]


def test_it_has_every_command_and_the_shortcut(manifest: Any) -> None:
    features = manifest["features"]
    assert [c["command"] for c in features["slash_commands"]] == COMMANDS
    assert [s["callback_id"] for s in features["shortcuts"]] == [EXPLAIN, VERIFY]
    assert features["app_home"]["home_tab_enabled"]


def test_it_begins_with_sockets_and_names_the_paths_over_http(manifest: Any) -> None:
    assert manifest["settings"]["socket_mode_enabled"]
    text = FILE.read_text("utf-8")
    assert text.count(f"example.org{PATH}") == len(COMMANDS) + 2
    assert f"example.org{REDIRECT}" in text
