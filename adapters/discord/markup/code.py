"""Code as Discord shows it byte by byte: in fences of three backticks, spans of one or two."""

import re
from collections.abc import Iterator

from adapters.markdown.visible import without_controls
from core.markdown.code import code_in, outside_code
from core.markdown.writing import language_of

_GAP = "\u200b"
_MARKS = ("`", "``")
_RUN = re.compile("`+")
_OPENS_LABEL = re.compile(r"(?<!\\)\[(?![^\[\]]*\]\(<)")
"""A bracket that begins no link of our own."""
_ENDS_LABEL = "]("


def code_span(code: str) -> str:
    """Return code within a line.

    Two backticks in a row are set apart where single ones stand in it, too: no marks are left.
    """
    code = without_controls(code).replace("\n", " ")
    runs = {len(run) for run in _RUN.findall(code)}
    if runs >= {1, 2}:
        code = _RUN.sub(lambda run: _set_apart(run.group()), code)
        runs = {1}
    marks = next(marks for marks in _MARKS if len(marks) not in runs)
    room = " " if len(marks) > 1 or code.startswith("`") or code.endswith("`") else ""
    return f"{marks}{room}{code or ' '}{room}{marks}"


def fence(code: str, info: str = "") -> str:
    """Return a block of code; one that holds a fence itself as a span for each line."""
    code = without_controls(code).strip("\n")
    if "```" in code:
        return "\n".join(_lines(code))
    return f"```{language_of(info)}\n{code if code.strip() else ' '}\n```"


def guarded(*texts: str) -> tuple[str, ...]:
    """Return texts of one message in which no label of a link ends inside of code.

    Discord looks for links first: a bracket that prose leaves open would meet its end there.
    """
    if not any(_ENDS_LABEL in code.content for text in texts for code in code_in(text)):
        return texts
    return tuple(
        outside_code(text, lambda prose: _OPENS_LABEL.sub(r"\\[", prose)) for text in texts
    )


def _lines(code: str) -> Iterator[str]:
    for line in code.split("\n"):
        yield code_span(line) if line.strip() else ""


def _set_apart(run: str) -> str:
    return _GAP.join(run) if len(run) == len(_MARKS[-1]) else run
