"""What Slack's answers mean for a delivery: never again, later, or nobody knows."""

import pytest

from adapters.slack.refusals import Refused, TooMany, of_status
from core.domain.errors import Unclear


@pytest.mark.parametrize(
    ("status", "word"), [(502, ""), (200, ""), (200, "internal_error"), (503, "fatal_error")]
)
def test_what_may_have_been_done_all_the_same_is_unclear(status: int, word: str) -> None:
    error = of_status("chat.postMessage", status, {}, word)
    assert isinstance(error, Unclear)
    assert not error.permanent


def test_a_limit_says_how_long_to_wait_and_a_minute_where_it_does_not() -> None:
    told = of_status("chat.update", 429, {"Retry-After": "7"}, "ratelimited")
    silent = of_status("chat.update", 429, {"Retry-After": "soon"}, "")
    assert isinstance(told, TooMany)
    assert isinstance(silent, TooMany)
    assert (told.seconds, silent.seconds) == (7.0, 60.0)
    assert told.retry_after == 7.0


@pytest.mark.parametrize(
    ("word", "permanent"),
    [("not_in_channel", True), ("invalid_blocks", True), ("token_expired", False)],
)
def test_a_refusal_is_for_good_unless_a_later_try_may_succeed(word: str, permanent: bool) -> None:
    error = of_status("chat.postMessage", 200, {}, word)
    assert isinstance(error, Refused)
    assert (error.word, error.permanent) == (word, permanent)


def test_a_refusal_says_what_the_operator_can_do() -> None:
    assert "invite the bot" in str(of_status("chat.postMessage", 200, {}, "not_in_channel"))
