"""No address of the web is left in what we say."""

import pytest

from core.domain.links import without_layout, without_links


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("See https://user@www.example.org/a?b=c.", "See example.org."),
        ("Open http://[::ffff:127.0.0.1]/ now", "Open [::ffff:127.0.0.1] now"),
        ("Open http://[::1]:80/a?b now", "Open [::1]:80 now"),
        ("(ftp://host.example/file)", "(host.example)"),
        (
            "An address begins with http:// or https://",
            "An address begins with http:// or https://",
        ),
        ("xmlns=%22http://www.example.org/2000/svg%22", "xmlns=%22example.org"),
        ("3www.example.org/x 4javascript:alert(1)", "3example.org 4javascript"),
        ("my_data:int stays", "my_data:int stays"),
    ],
)
def test_an_address_is_reduced_to_its_host(text: str, left: str) -> None:
    assert without_links(text) == left


def test_what_an_answer_says_is_left_without_its_headings_and_bold() -> None:
    answer = "### Loops › `for`\n\n**It ends.** Run `a ** b`. [1]\n\n```sh\n# no heading\n```\n"
    assert without_layout(answer) == "It ends. Run `a ** b`. [1]\n\n```sh\n# no heading\n```\n"
