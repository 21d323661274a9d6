"""Turns an answer's Markdown into Discord's dialect of it."""

import re
from collections.abc import Sequence

from adapters.discord.markup.code import code_span, fence, guarded
from adapters.discord.markup.text import disarm, escape
from adapters.markdown import dialects
from adapters.markdown.dialects import Dialect, rendered
from adapters.markdown.footnotes import Footnote
from core.markdown.code import outside_code
from core.markdown.locating import Code, CodeKind
from core.markdown.writing import one_line

_DIALECT = Dialect(
    marks={"em": "*", "strong": "**", "s": "~~"},
    deepest_heading=3,
    bullet="- ",
    escape=escape,
    disarm=disarm,
    code_span=code_span,
    fence=fence,
)


_LABEL = re.compile(r"(?:[^\[\]]|\[[^\[\]]*\](?!\())*")
"""A label whose brackets Discord takes for a part of it."""


def to_discord(markdown: str) -> str:
    """Return the text in Discord's dialect: no one is notified, nothing is a link.

    Give it the whole text so far while an answer grows: what is cut off anywhere holds to the
    same.
    """
    return guarded(rendered(markdown, _DIALECT))[0]


def as_written(text: str) -> str:
    """Return words of a book or a reader as they are, but for their code, which is code."""
    return guarded(dialects.as_written(text, _DIALECT))[0]


def footnote_lines(notes: Sequence[Footnote], lead_in: str = "") -> str:
    """Return footnotes in small print, a line each, linking into the book.

    Args:
        lead_in: The bot's word in front of them, such as `From`.
    """
    lines = "\n".join(f"-# {place_line(note, file=False)}" for note in notes)
    return lines.replace("-# ", f"-# {lead_in} ", 1) if lead_in else lines


def masked_link(label: str, url: str) -> str:
    """Return a link of our own with a label, without a preview."""
    label = outside_code(one_line(label), _round_brackets)
    label = dialects.as_written(label, _DIALECT)
    if not _LABEL.fullmatch(label):
        label = _round_brackets(label)
    return f"[{label}](<{re.sub('[<>()|`*_~ ]', _percent, url)}>)"


def place_line(note: Footnote, *, file: bool = True) -> str:
    """Return where something stands, in one line; `file`: name the file as well."""
    title = masked_link(note.title, note.url) if note.url else as_written(note.title)
    where = [title, escape(note.locator), escape(note.file) if file else ""]
    return f"{note.numbers} {' · '.join(part for part in where if part)}"


def code_of(code: Code) -> str:
    """Return code of the book as code."""
    is_span = code.kind is CodeKind.SPAN
    return code_span(code.content) if is_span else fence(code.content, code.info)


def _round_brackets(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def _percent(character: re.Match[str]) -> str:
    return f"%{ord(character.group()):02X}"
