"""The paragraphs that an answer rests on, as cards of Discord's."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from adapters.discord.markup.code import guarded
from adapters.discord.markup.dialect import code_of, place_line, to_discord
from adapters.discord.markup.text import escape
from adapters.discord.replies.outbound import LONGEST_MESSAGE, Post
from adapters.markdown.evidence import Exhibit, Paragraph, Stretch, exhibits
from adapters.markdown.splitting import split, utf16_length
from core import i18n
from core.markdown.locating import CodeKind
from core.models import AgentResponse

_MOST = 4
"""Messages: what is more, the book itself shows."""


def evidence(response: AgentResponse) -> list[Post]:
    """Return the paragraphs that an answer cites, the cited words bold, each place once."""
    found = exhibits(response)
    if not found:
        return [Post(i18n.text("answer-no-evidence"))]
    (passages,) = guarded("\n\n".join(map(_shown, found)))
    posts = [Post(part) for part in split(passages, LONGEST_MESSAGE, count=utf16_length)]
    if len(posts) > _MOST:
        return [*posts[: _MOST - 1], Post(i18n.text("discord-more-evidence"))]
    return posts


def _shown(exhibit: Exhibit) -> str:
    shown = "\n\n".join(map(_paragraph, exhibit.paragraphs))
    return f"-# {place_line(exhibit.place)}\n{shown}"


def _paragraph(paragraph: Paragraph) -> str:
    if paragraph.table:
        return to_discord(paragraph.table)
    shown = "".join(_marked(paragraph.stretches)).strip("\n")
    return "\n".join(f"> {line}" for line in shown.split("\n"))


def _marked(stretches: Iterable[Stretch]) -> Iterator[str]:
    """Yield the words and the code, what is cited bold; a block of code cannot be."""
    for is_bold, run in groupby(stretches, _can_be_bold):
        text = "".join(map(_written, run))
        yield "\n".join(map(_bold, text.split("\n"))) if is_bold else text


def _can_be_bold(stretch: Stretch) -> bool:
    return stretch.cited and (stretch.code is None or stretch.code.kind is CodeKind.SPAN)


def _bold(line: str) -> str:
    """Return a line in bold, the blanks at its ends outside."""
    words = line.strip()
    return line.replace(words, f"**{words}**", 1) if words else line


def _written(stretch: Stretch) -> str:
    if stretch.code is None:
        return escape(stretch.text)
    shown = code_of(stretch.code)
    return shown if stretch.code.kind is CodeKind.SPAN else f"\n{shown}"
