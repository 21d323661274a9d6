"""What people wrote in Slack, read in time that grows as the text does, its code as it is."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.mrkdwn import from_mrkdwn

pytestmark = pytest.mark.costly

TOKENS = (
    *("*a ", "*", "_a ", "~a", "`a", "`", "```", "```\n", "<@U1", "<@U1>", "<a://", "<mailto:"),
    *("&gt; ", "> ", "&lt;", "\n", "a", " ", "[", "![", "](", "\\", "a*", "_a_", "*_a", "|", "é"),
)
LENGTH = 10_000
"""Characters; Slack takes messages of 40,000."""
MOST = 1.0
"""Seconds of a processor; what takes time by the square of the length takes several."""


def seconds(text: str) -> float:
    begun = time.process_time()
    from_mrkdwn(text, "U1")
    return time.process_time() - begun


@pytest.mark.parametrize("first", TOKENS)
def test_no_message_takes_more_time_than_its_length_asks_for(first: str) -> None:
    for second in TOKENS:
        assert seconds((first + second) * (LENGTH // len(first + second))) < MOST, first + second


@given(st.lists(st.sampled_from([*"*_~ab .\n"]), max_size=12).map("".join))
@settings(max_examples=300, deadline=None)
def test_code_in_a_message_keeps_its_marks(code: str) -> None:
    line = code.replace("\n", " ").strip()
    if line:
        assert f"`{line}`" in from_mrkdwn(f"*why* is `{line}` so").text.replace("  ", " ") or (
            "  " in line
        )


def test_marks_around_words_are_left_out() -> None:
    said = from_mrkdwn("*bold*, _*both*_ and ~struck~, but 2*3*4, snake_case and `*p = _q_`")
    assert said.text == "bold, both and struck, but 2*3*4, snake_case and `*p = _q_`"
