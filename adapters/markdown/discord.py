"""Turns an answer's Markdown into Discord's dialect of it."""

from collections.abc import Iterator, Sequence

from adapters.markdown.code import code_span, fence
from adapters.markdown.dialects import Dialect, rendered
from adapters.markdown.discord_text import disarm, escape, masked_link
from adapters.markdown.footnotes import Footnote

_DIALECT = Dialect(
    marks={"em": "*", "strong": "**", "s": "~~"},
    deepest_heading=3,
    bullet="- ",
    escape=escape,
    disarm=disarm,
    code_span=code_span,
    fence=fence,
)


def to_discord(markdown: str) -> str:
    """Return the text in Discord's dialect: no one is notified, nothing is a link.

    Give it the whole text so far while an answer grows: what is cut off anywhere holds to the
    same.
    """
    return rendered(markdown, _DIALECT)


def footnote_lines(notes: Sequence[Footnote]) -> str:
    """Return footnotes in small print, a line each, linking into the book."""
    return "\n".join(f"-# {line}" for note in notes for line in _footnote(note))


def _footnote(note: Footnote) -> Iterator[str]:
    title = masked_link(note.title, note.url) if note.url else escape(note.title)
    where = [title, escape(note.locator), "" if note.url else escape(note.file)]
    yield f"{note.numbers} {' · '.join(part for part in where if part)}"
    if note.quote:
        yield f"“{escape(note.quote)}”"
