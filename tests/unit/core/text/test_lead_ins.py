"""A line that only leads in to an example stands with it; one that says something does not."""

import pytest

from core.text.lead_ins import leads_in

TOPIC = "How do I write a closure? A closure is a function without a name: `let f = |x| x;`."


@pytest.mark.parametrize(
    "line",
    [
        "For example:",
        "**Example:**",
        "Here is an example:",
        "The code looks like this:",
        "Here is an example of a closure:",
        "The following code shows `let f`:",
        "Zum Beispiel:",
        "例えば：",
    ],
)
def test_a_line_that_says_nothing_leads_in(line: str) -> None:
    assert leads_in(line, TOPIC)


@pytest.mark.parametrize(
    "line",
    [
        "For example.",
        "A closure is slow:",
        "There are 3 ways:",
        "Here is why closures are slow:",
        "For example, a closure is a function:",
        "Here is an example from evil.example/x:",
        "Here are the steps that never fail:",
        "Here is an example of `unsafe`:",
        "Here is an example of a monad:",
    ],
)
def test_a_line_that_says_something_is_a_claim(line: str) -> None:
    assert not leads_in(line, TOPIC)
