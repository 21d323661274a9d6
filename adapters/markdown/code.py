"""Code in Markdown, letter for letter, so that nothing in it ends it early."""

import re

from adapters.markdown.visible import without_controls

_GAP = "\u200b"
_LANGUAGE = re.compile(r"[A-Za-z0-9_+.#-]+")
_TICKS = re.compile(r"`(?=`)")
_FENCE = re.compile(r"`{3,}")
_LABEL_END = re.compile(r"\]\((?=\s*<?\w+:)")


def code_span(code: str) -> str:
    """Return code within a line; neighbouring backticks in it are set apart.

    So is what would end a link's label: a bracket left open before the code begins one.
    """
    code = _LABEL_END.sub(f"]{_GAP}(", without_controls(code).replace("\n", " "))
    if "`" not in code:
        return f"`{code}`"
    return f"`` {_TICKS.sub(f'`{_GAP}', code)} ``"


def fence(code: str, info: str = "") -> str:
    """Return a block of code, letter for letter but for three backticks in a row, set apart."""
    language = _LANGUAGE.match(info.strip())
    code = without_controls(code).strip("\n")
    code = _FENCE.sub(lambda ticks: _GAP.join(ticks.group()), code)
    return f"```{language.group() if language else ''}\n{code if code.strip() else ' '}\n```"
