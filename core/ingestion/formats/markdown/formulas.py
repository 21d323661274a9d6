r"""Teaches markdown-it the formulas `$x$`, `\(x\)`, `$$x$$` and `\[x\]`."""

import re
from collections.abc import Mapping

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_DOLLARS = re.compile(
    r"(?P<display>\$\$(?!\$)(?:[^$\\]|\\.)+\$\$)"
    r"|\$(?![\s$])(?:[^$\\]|\\.)*?(?<![\s\\])\$(?!\d)",
    re.DOTALL,
)
_BRACKETS = re.compile(
    r"\\?\\\((?P<inline>(?:[^\\]|\\(?!\\?[()\[\]])){1,2000}+)\\?\\\)"
    r"|\\?\\\[(?P<display>(?:[^\\]|\\(?!\\?[()\[\]])){1,4000}+)\\?\\\]"
)
_MATHEMATICAL = re.compile(r"\\[A-Za-z]|[_^=<>+*/|]|\A\W*[A-Za-z]\W*\Z")
_CLOSERS: Mapping[str, str] = {"$$": "$$", "\\[": "\\]", "\\\\[": "\\\\]"}
_OPENER = re.compile(
    r"\$\$|\\{1,2}\[|\\begin\{(equation|align|gather|multline|eqnarray|alignat|flalign)\*?\}"
)
_MAX_LINES = 200


def formulas_plugin(md: MarkdownIt) -> None:
    """Add the tokens `formula` (inline) and `formula_block`; `content` is verbatim."""
    md.inline.ruler.before("escape", "formula", _inline_formula)
    md.block.ruler.before(
        "fence",
        "formula_block",
        _block_formula,
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )


def _inline_formula(state: StateInline, silent: bool) -> bool:
    opening = state.src[state.pos]
    if opening == "$":
        match = _DOLLARS.match(state.src, state.pos)
        is_price = state.src[max(0, state.pos - 1)].isdigit() and match and match[0][1] not in "^_"
        if match and not match["display"] and is_price:
            return False
    elif opening == "\\":
        match = _BRACKETS.match(state.src, state.pos)
        if match and not _MATHEMATICAL.search(match["inline"] or match["display"]):
            return False
    else:
        return False
    if match is None:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = match[0].replace("\n", " ").replace("\\\\(", "\\(").replace("\\\\)", "\\)")
        token.meta = {"display": bool(match["display"])}
    state.pos = match.end()
    return True


def _block_formula(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if state.is_code_block(start_line):
        return False
    opener = _OPENER.match(state.src, state.bMarks[start_line] + state.tShift[start_line])
    if opener is None or opener.end() > state.eMarks[start_line]:
        return False
    last = _last_line(state, start_line, end_line, opener)
    if last is None:
        return False
    if not silent:
        token = state.push("formula_block", "", 0)
        content = state.getLines(start_line, last + 1, state.blkIndent, False).strip()
        token.content = f"$$\n{content}\n$$" if opener[1] else content
        token.map = [start_line, last + 1]
        state.line = last + 1
    return True


def _last_line(
    state: StateBlock, start_line: int, end_line: int, opener: re.Match[str]
) -> int | None:
    """Return the line that ends with the closing mark, before any blank line."""
    closer = _CLOSERS.get(opener[0]) or opener[0].replace("begin", "end")
    for line in range(start_line, min(end_line, start_line + _MAX_LINES)):
        if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return None
        begin = opener.end() if line == start_line else state.bMarks[line] + state.tShift[line]
        text = state.src[begin : state.eMarks[line]]
        if closer in text:
            return line if text.rstrip().endswith(closer) else None
    return None
