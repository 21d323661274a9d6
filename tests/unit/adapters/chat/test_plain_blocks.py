"""What Markdown says, on one line."""

import pytest

from adapters.chat.markdown.dialects import plain_blocks


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("### Oil › Uses\n\nIt **burns** well. [1]", "Oil › Uses · It burns well. [1]"),
        ("- one\n- `two`\n\n> three", "one two three"),
        ("```python\nprint(1)\n```\nprints.", "print(1) prints."),
        ("# Oil", "Oil"),
        ("| a | b |\n|---|---|\n| c | *d* |", "a b c d"),
        ("", ""),
    ],
)
def test_marks_are_left_out(markdown: str, said: str) -> None:
    assert plain_blocks(markdown) == said
