"""The pages of an installation: in our words, whatever Slack says."""

from typing import Any, cast

import pytest
from slack_bolt.oauth.async_callback_options import AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest

from adapters.slack.oauth import callbacks, page
from core.domain.i18n import text

SETTINGS = AsyncOAuthSettings(client_id="1.2", client_secret="x")
REQUEST = AsyncBoltRequest(body="")


def failed(reason: str, status: int) -> AsyncFailureArgs:
    return AsyncFailureArgs(
        request=REQUEST,
        reason=reason,
        suggested_status_code=status,
        settings=SETTINGS,
        default=cast("Any", None),
    )


@pytest.mark.parametrize(
    ("reason", "suggested", "status"),
    [
        ("access_denied", 200, 200),
        ("server_error", 200, 400),
        ("<script>alert(1)</script>", 200, 400),
        ("invalid_browser", 400, 400),
        ("invalid_state", 401, 401),
        ("missing_code", 401, 401),
        ("invalid_code", 401, 401),
        ("storage_error", 500, 500),
    ],
)
async def test_a_failure_is_told_without_its_reason(
    reason: str, suggested: int, status: int
) -> None:
    response = await callbacks("/slack/install").failure(failed(reason, suggested))
    assert response.status == status
    assert reason not in response.body
    assert "Glossator" in response.body
    assert "went wrong" not in response.body.lower()
    assert (text("install-declined") in response.body) is (reason == "access_denied")
    assert ('href="/slack/install"' in response.body) is (reason != "access_denied")
    assert "1970" in response.headers["set-cookie"][0]


async def test_an_unknown_reason_says_what_to_do() -> None:
    response = await callbacks("/slack/install").failure(failed("anything", 200))
    assert text("install-refused") in response.body


async def test_a_success_is_told() -> None:
    args = AsyncSuccessArgs(
        request=REQUEST,
        installation=cast("Any", None),
        settings=SETTINGS,
        default=cast("Any", None),
    )
    response = await callbacks("/slack/install").success(args)
    assert response.status == 200
    assert text("install-done") in response.body


def test_no_word_is_markup() -> None:
    assert "<b>" not in page("<b>", '"><b>', "<b>")
