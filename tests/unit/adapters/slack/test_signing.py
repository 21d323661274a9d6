"""Only what Slack signed, now, is Slack's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.gateway.signing import Signatures
from tests.wire.slack.callbacks import signed

NOW = 1_700_000_000
BODY = '{"a": "ä"}'
CHECK = Signatures("secret", clock=lambda: NOW)


def headers(body: str = BODY, at: int = NOW, secret: str = "secret") -> tuple[str, str]:
    found = signed(secret, body, str(at))
    return found["X-Slack-Request-Timestamp"], found["X-Slack-Signature"]


def is_slack(body: bytes, stamps: list[str], signatures: list[str]) -> bool:
    """Return whether a body, read in two parts, is Slack's."""
    check = CHECK.check(stamps, signatures)
    if check is None:
        return False
    check.feed(body[:3])
    check.feed(body[3:])
    return check.is_slack()


def test_what_slack_signs_is_slacks() -> None:
    stamp, signature = headers()
    assert is_slack(BODY.encode(), [stamp], [signature])


@pytest.mark.parametrize("seconds", [-301, 301])
def test_another_time_is_refused(seconds: int) -> None:
    stamp, signature = headers(at=NOW + seconds)
    assert not is_slack(BODY.encode(), [stamp], [signature])


def test_another_secret_or_body_is_refused() -> None:
    stamp, signature = headers(secret="guessed")
    assert not is_slack(BODY.encode(), [stamp], [signature])
    stamp, signature = headers()
    assert not is_slack(BODY.encode() + b" ", [stamp], [signature])


@given(st.lists(st.text()), st.lists(st.text()), st.binary())
def test_nothing_garbled_is_accepted_or_raises(
    stamps: list[str], signatures: list[str], body: bytes
) -> None:
    assert not is_slack(body, stamps, signatures)
    assert not is_slack(body, [str(NOW)], signatures)


def test_without_a_secret_there_is_nothing_to_check_with() -> None:
    with pytest.raises(ValueError, match="secret"):
        Signatures("")
