"""The parser that says what is code, a link or a list, everywhere where text is cut or shown."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

SOURCE = "source"
"""Key of a code span's metadata: its offsets in the text of its paragraph, marks included."""


@cache
def parser() -> "MarkdownIt":
    """Return a parser of CommonMark with tables, without HTML and link definitions.

    However deep the marks of a text stand inside each other, what it returns is shallow enough
    to be walked through by recursion.
    """
    from core.markdown.rules import shallow_commonmark  # the library: only for a text with marks

    return shallow_commonmark()


def normalized(text: str) -> str:
    """Return the text as the parser reads it: line feeds alone end its lines, no NUL is in it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
