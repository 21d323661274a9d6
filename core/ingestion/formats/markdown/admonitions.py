"""Teaches markdown-it the boxes and tabs of course pages: `:::note`, `!!! note`, `=== "Tab"`."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from mdit_py_plugins.container import container_plugin

_INDENTED = re.compile(
    r"""(?:!!!|\?\?\?\+?)[ ]+(?P<kind>[\w-]+)[^"\n]*(?P<title>".*")?[ ]*"""
    r"""|===[!+]?[ ]+(?P<tab>".*"|'.*')[ ]*"""
)
_DIRECTIVE = re.compile(r"\s*(?:\{\s*\.)?(?P<kind>[A-Za-z][\w-]*)\s*(?P<rest>.*)", re.DOTALL)
_ATTRIBUTES = re.compile(r"\{[^{}]*\}")
_TITLE_ATTRIBUTE = re.compile(r"""title\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_ALERT = re.compile(r"\[!([A-Za-z]+)\][+-]?[ \t]*(.*)")
_INDENT = 4
_SHOWN_KINDS = frozenset(
    {
        *("abstract", "attention", "bug", "caution", "check", "danger", "definition", "error"),
        *("example", "exercise", "failure", "faq", "hint", "important", "info", "note"),
        *("question", "quote", "secondary", "seealso", "solution", "success", "summary"),
        *("theorem", "tip", "todo", "warning"),
    }
)


def admonitions_plugin(md: MarkdownIt, *, directives: bool, indented: bool) -> None:
    """Add containers, tokens `container_directive_open` and `admonition_open`.

    The `info` of a token is its source, for `directive_title` and `admonition_title`.
    """
    if directives:
        container_plugin(md, "directive", marker=":", validate=_is_directive)
    if indented:
        md.block.ruler.before(
            "fence",
            "admonition",
            _indented_container,
            {"alt": ["paragraph", "reference", "blockquote", "list"]},
        )


def directive_title(info: str) -> str:
    """Return the title of `note Title`, `note[Title]` or `{.note title="Title"}`."""
    directive = _DIRECTIVE.match(info)
    if directive is None:
        return ""
    kind, rest = directive["kind"].removeprefix("callout-"), directive["rest"].strip()
    if attribute := _TITLE_ATTRIBUTE.search(rest):
        return attribute[1] or attribute[2] or ""
    rest = _ATTRIBUTES.sub("", rest).rstrip("}").strip()
    title = rest[1:-1] if rest.startswith("[") and rest.endswith("]") else rest
    return title if title and not title.startswith(".") else _kind_title(kind)


def admonition_title(info: str) -> str:
    """Return the title of `!!! note "Title"` or `=== "Tab"`; `""` asks for none."""
    box = _INDENTED.fullmatch(info)
    if box is None:
        return ""
    if box["tab"]:
        return box["tab"][1:-1]
    return box["title"][1:-1] if box["title"] else _kind_title(box["kind"])


def alert_title(line: str) -> str | None:
    """Return the title of a quotation whose first line is `[!NOTE]`, if it is one."""
    match = _ALERT.fullmatch(line)
    return (match[2] or match[1].capitalize()) if match else None


def _kind_title(kind: str) -> str:
    return kind.capitalize() if kind.lower() in _SHOWN_KINDS else ""


def _is_directive(info: str, _markup: str) -> bool:
    return _DIRECTIVE.match(info) is not None


def _indented_container(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Open a box whose content is indented by four columns, as Python-Markdown does."""
    if state.is_code_block(start_line):
        return False
    start = state.bMarks[start_line] + state.tShift[start_line]
    if state.src[start : start + 3] not in {"!!!", "???", "==="}:
        return False
    info = state.src[start : state.eMarks[start_line]]
    if not _INDENTED.fullmatch(info):
        return False
    if not silent:
        _tokenize_content(state, info, start_line, _content_end(state, start_line, end_line))
    return True


def _content_end(state: StateBlock, start_line: int, end_line: int) -> int:
    indent = state.sCount[start_line] + _INDENT
    for line in range(start_line + 1, end_line):
        if not state.isEmpty(line) and state.sCount[line] < indent:
            return line
    return end_line


def _tokenize_content(state: StateBlock, info: str, start_line: int, end_line: int) -> None:
    token = state.push("admonition_open", "", 1)
    token.info, token.map = info, [start_line, end_line]
    before = state.parentType, state.lineMax, state.blkIndent
    state.parentType, state.lineMax = "admonition", end_line
    state.blkIndent = state.sCount[start_line] + _INDENT
    state.md.block.tokenize(state, start_line + 1, end_line)
    state.parentType, state.lineMax, state.blkIndent = before
    state.push("admonition_close", "", -1)
    state.line = end_line
