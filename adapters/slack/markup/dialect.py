"""Turns an answer's Markdown into what Slack's blocks and notifications show."""

from collections.abc import Sequence

from adapters.markdown import dialects
from adapters.markdown.dialects import Dialect, rendered
from adapters.markdown.footnotes import Footnote
from adapters.markdown.visible import without_controls
from adapters.slack.markup.text import disarm, escape, link, words
from core.markdown.writing import code_span, fenced

_TICK = "ˋ"
"""Looks like a backtick, and ends no code."""


def to_slack(markdown: str) -> str:
    """Return the text for a `markdown` block: no one is notified, nothing is a link.

    The characters `&`, `<` and `>` are still to be escaped, by `controls_escaped`: that is done
    last, so that no cut tears an escape.
    """
    return rendered(markdown, MARKDOWN)


def to_mrkdwn(markdown: str) -> str:
    """Return the text in Slack's older dialect, for notifications; escaped as `to_slack`."""
    return rendered(markdown, _MRKDWN)


def as_written(text: str) -> str:
    """Return words of a book or a reader as they are, but for their code, as `to_slack` does."""
    return dialects.as_written(text, MARKDOWN)


def footnote_lines(notes: Sequence[Footnote], lead_in: str = "") -> list[str]:
    """Return footnotes in mrkdwn, each linking into the book, their controls escaped.

    Args:
        lead_in: The bot's word in front of them, such as `From`.
    """
    lines = [_footnote(note) for note in notes]
    return [f"{lead_in} {lines[0]}", *lines[1:]] if lead_in and lines else lines


def _footnote(note: Footnote) -> str:
    title = link(note.title, note.url) if note.url else words(note.title)
    return f"{note.numbers} {' · '.join(filter(None, [title, words(note.locator)]))}"


def _simple_words(text: str) -> str:
    """Return words in which nothing begins or ends code; mrkdwn knows no escape for a backtick."""
    return disarm(text).replace("`", _TICK)


def _simple_span(code: str) -> str:
    return f"`{without_controls(code).replace('`', _TICK).replace(chr(10), ' ')}`"


def _simple_fence(code: str, info: str) -> str:
    """Return a block of code; mrkdwn would show the name of its language as code."""
    code = without_controls(code).strip("\n").replace("```", _TICK * 3)
    return f"```\n{code if code.strip() else ' '}\n```"


def _span(code: str) -> str:
    return code_span(without_controls(code).replace("\n", " "))


def _fence(code: str, info: str) -> str:
    code = without_controls(code).removesuffix("\n")
    return fenced(code if code.strip() else " ", info)


MARKDOWN = Dialect(
    marks={"em": "*", "strong": "**", "s": "~~"},
    deepest_heading=3,
    bullet="- ",
    escape=escape,
    disarm=disarm,
    code_span=_span,
    fence=_fence,
)
_MRKDWN = Dialect(
    marks={"em": "_", "strong": "*", "s": "~"},
    deepest_heading=0,
    bullet="• ",
    escape=_simple_words,
    disarm=disarm,
    code_span=_simple_span,
    fence=_simple_fence,
)
