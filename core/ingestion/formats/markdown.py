"""Reads a Markdown page the way its publisher does, and hands on its text and structure."""

import re
from collections.abc import Callable, Mapping, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import ParsedDocument, document_of
from core.ingestion.formats import includes as mdbook
from core.ingestion.formats.decoding import visible_document
from core.ingestion.formats.includes import (
    Includes,
    MarkdownFlavour,
    SourceLine,
    front_matter,
    joined,
    source_lines,
    with_markdown_in_html,
    with_snippets,
)
from core.ingestion.formats.markdown_blocks import admonitions_plugin, markdown_blocks
from core.ingestion.formats.mdx import (
    plain_markdown,
    with_template,
    without_liquid,
    without_shortcodes,
)
from core.ingestion.formats.myst import has_directives, with_directives
from core.ingestion.formats.obsidian import without_obsidian
from core.ingestion.formats.quarto import with_shown_text
from core.ingestion.formats.values import Values

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


_SHIFT = re.compile(
    r"\^(?![\^\s\[])((?:[^\s^\\]|\\.){1,60})\^(?!\^)|~(?![~\s])((?:[^\s~\\]|\\.){1,60})~(?!~)"
)
_STRUCK = re.compile(r"~(?![~\s])((?:[^~\n\\]|\\.){1,500}?)(?<!\s)~(?![~\w])")
_CRITIC = re.compile(
    r"\{(?:--(?P<deleted>[^{}]*?)--|\+\+(?P<added>[^{}]*?)\+\+|==(?P<marked>[^{}]*?)=="
    r"|~~(?P<old>(?:(?!~>)[^{}])*)~>(?P<new>[^{}]*?)~~|>>(?P<comment>[^{}]*?)<<)\}"
)
_MARKED = re.compile(
    r"==(?![=\s])((?:(?!==)[^\n]){1,500}?)(?<!\s)==(?!=)|\^\^(?![\^\s])([^\^\n]{1,500}?)(?<!\s)\^\^(?!\^)"
)
_KEYS = re.compile(r"\+\+((?:[\w.-]+|\"[^\"\n]+\")(?:\+(?:[\w.-]+|\"[^\"\n]+\"))*)\+\+")
_NOTE = re.compile(r"\^\[((?:[^\[\]\n]|\[[^\[\]\n]{0,500}+\](?:\([^()\n]{0,500}+\))?+){1,2000}+)\]")
_LONGEST = 2_000


def marks_plugin(md: MarkdownIt, *, pandoc: bool, critic: bool) -> None:
    """Add pairs of tokens `sup`, `sub`, `s` and `comment`, each with `_open` and `_close`.

    Args:
        pandoc: whether `^x^` and `~x~` are part of the language; elsewhere they are read so only
            where they cannot mean anything else, and one tilde around words strikes them.
        critic: whether `{--x--}`, `{++x++}`, `++key++` are.
    """

    def shifted(state: StateInline, silent: bool) -> bool:
        mark = state.src[state.pos]
        if mark not in "^~":
            return False
        if note := _NOTE.match(state.src, state.pos) if mark == "^" else None:
            return _pushed(state, "", f" ({note[1].strip()})", note.end(), silent)
        found = _SHIFT.match(state.src, state.pos, min(state.posMax, state.pos + _LONGEST))
        before = state.src[state.pos - 1 : state.pos]
        after = state.src[found.end() : found.end() + 1] if found else ""
        is_certain = pandoc or (before.isalnum() and not after.isalnum()) or before in {")", "]"}
        if found and mark == "~" and not pandoc:  # one tilde strikes on GitHub
            is_certain = before.isalnum() or before in {")", "]"}
        if found and is_certain:
            inner = re.sub(r"\\(.)", r"\1", found[1] or found[2])
            return _pushed(state, "sup" if mark == "^" else "sub", inner, found.end(), silent)
        if mark == "~" and not pandoc and before != "~" and not before.isalnum():
            struck = _STRUCK.match(state.src, state.pos, min(state.posMax, state.pos + _LONGEST))
            return struck is not None and _pushed(state, "s", struck[1], struck.end(), silent)
        return False

    def criticised(state: StateInline, silent: bool) -> bool:
        opening = state.src[state.pos]
        if opening == "+":
            keys = _KEYS.match(state.src, state.pos)
            names = (keys[1].replace('"', "").split("+")) if keys else []
            shown = "+".join(name[:1].upper() + name[1:] for name in names)
            return keys is not None and _pushed(state, "", shown, keys.end(), silent)
        end = min(state.posMax, state.pos + _LONGEST)
        found = _CRITIC.match(state.src, state.pos, end) if opening == "{" else None
        if found is None:
            return False
        if not silent:
            struck = found["deleted"] if found["deleted"] is not None else found["old"]
            if struck:
                _pushed(state, "s", struck, found.end(), silent)
            if found["comment"]:
                _pushed(state, "comment", found["comment"], found.end(), silent)
            shown = found["added"] or found["new"] or found["marked"]
            if shown:
                _pushed(state, "", shown, found.end(), silent)
        state.pos = found.end()
        return True

    def marked(state: StateInline, silent: bool) -> bool:
        found = _MARKED.match(state.src, state.pos) if state.src[state.pos] in "=^" else None
        shown = (found[1] or found[2]) if found else ""
        return found is not None and _pushed(state, "", shown, found.end(), silent)

    md.inline.ruler.before("strikethrough", "shifted", shifted)
    md.inline.ruler.before("strikethrough", "marked", marked)
    if critic:
        md.inline.ruler.before("strikethrough", "criticised", criticised)


def _pushed(state: StateInline, kind: str, inner: str, end: int, silent: bool) -> bool:
    """Put a pair of tokens, and what the words between them are, in the place of a mark."""
    if not silent:
        if kind:
            state.push(f"{kind}_open", "", 1)
        tokens = state.md.parseInline(inner, state.env)[0].children or []
        if state.pending:
            state.pushPending()
        state.tokens.extend(tokens)
        state.tokens_meta.extend([None] * len(tokens))
        if kind:
            state.push(f"{kind}_close", "", -1)
    state.pos = end
    return True


_GRID = re.compile(r"\+(?:[:=-]+\+)+\s*")
_GRID_ROW = re.compile(r"[|+].*[|+]\s*")
_DASHES = re.compile(r" *-{2,}(?: +-{2,})+ *")
_RULE = re.compile(r" {0,3}-{5,} *")
_LINE = re.compile(r"\|(?: (.*))?")
_LIST_MARK = re.compile(r"\s*[-*+] +(?=\S)")
_MOST_LINES = 2_000

Rows = list[list[str]]


def text_tables_plugin(md: MarkdownIt, *, simple: bool, verse: bool) -> None:
    """Add the token `text_table`, with rows of Markdown in `meta["rows"]`; the first is the head.

    Args:
        simple: whether tables without a frame are read; grids always are.
        verse: whether lines after a bar are verse.
    """
    md.block.ruler.before(
        "table",
        "grid_table",
        _grid_table,
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    if simple:
        md.block.ruler.before("table", "simple_table", _simple_table)
    if verse:
        md.block.ruler.before("table", "line_block", _line_block)


def _text(state: StateBlock, line: int) -> str:
    start = state.bMarks[line] + min(state.tShift[line], state.blkIndent)
    return state.src[start : state.eMarks[line]]


def _grid_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]][:2] not in {
        "+-",
        "+=",
        "+:",
    }:
        return False
    lines = list[str]()
    for line in range(start, min(end, start + _MOST_LINES)):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
        if not _GRID_ROW.fullmatch(text):
            break
        lines.append(text)
    while lines and not _GRID.fullmatch(lines[-1]):
        lines.pop()
    rows = _grid_rows(lines) if len(lines) > 2 and _GRID.fullmatch(lines[0]) else None
    return rows is not None and _text_tables_pushed(state, start, start + len(lines), rows, silent)


def _grid_rows(lines: Sequence[str]) -> Rows | None:
    """Return the rows of a grid; a cell that spans rows is repeated in each of them."""
    from docutils.parsers.rst.tableparser import GridTableParser, TableMarkupError
    from docutils.statemachine import StringList

    drawn = [line.replace(":", "=") if set(line) <= set("+:=") else line for line in lines]
    drawn = [line.replace(":", "-") if set(line) <= set("+:-") else line for line in drawn]
    drawn[0] = drawn[0].replace("=", "-")
    width = max(map(len, drawn))
    try:
        _, head, body = GridTableParser().parse(StringList([line.ljust(width) for line in drawn]))
    except (TableMarkupError, AssertionError, IndexError, ValueError):
        return None
    rows: Rows = []
    for number, row in enumerate([*head, *body]):
        rows += [[] for _ in range(len(rows), number + 1)]
        for column, cell in enumerate(row):
            if cell is None:
                continue
            more_rows, more_columns, _, content = cell
            for below in range(number, min(number + more_rows, len(head) + len(body) - 1) + 1):
                rows += [[] for _ in range(len(rows), below + 1)]
                rows[below] += [""] * (column + more_columns + 1 - len(rows[below]))
                rows[below][column] = _cell(content)
    return rows


def _cell(lines: Sequence[str]) -> str:
    """Return the lines of a cell as one; the items of a list in it are set apart."""
    text = ""
    for line in lines:
        mark = _LIST_MARK.match(line)
        if mark and text:
            text += "; " + line[mark.end() :].strip()
        elif line.strip():
            text += (" " if text else "") + (line[mark.end() :] if mark else line).strip()
    return text


def _simple_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a table whose columns are those of the dashes under its head, or above its rows."""
    last = min(end, start + _MOST_LINES)
    first = _text(state, start)
    is_multiline = _RULE.fullmatch(first) is not None and start + 2 < last
    at = start + 1 if is_multiline else start
    while is_multiline and at < last and not _DASHES.fullmatch(_text(state, at)):
        if state.isEmpty(at):
            return False
        at += 1
    if not is_multiline and not _DASHES.fullmatch(first):
        at = start + 1
    if at >= last or not _DASHES.fullmatch(_text(state, at)) or state.isEmpty(start):
        return False
    columns = [found.start() for found in re.finditer("-+", _text(state, at))]
    edges = [*columns[1:], None]
    head = [_text(state, line) for line in range(start + is_multiline, at)]
    if not is_multiline and at + 1 < last and state.isEmpty(at + 1):
        return False
    groups, line = [head] if head else [], at + 1
    closed = False
    group = list[str]()
    while line < last:
        text = _text(state, line)
        if _RULE.fullmatch(text) or _DASHES.fullmatch(text):
            closed, line = True, line + 1
            break
        if state.isEmpty(line) and not is_multiline and head:
            break
        if state.isEmpty(line) or not (is_multiline or not group):
            groups.append(group)
            group = []
        if not state.isEmpty(line):
            group.append(text)
        line += 1
    groups += [group] if group else []
    if (is_multiline or not head) and not closed:
        return False
    rows = [
        [
            _cell([text[(left if left != columns[0] else 0) : right] for text in group])
            for left, right in zip(columns, edges, strict=True)
        ]
        for group in groups
        if group
    ]
    if not head:
        rows.insert(0, [""] * len(columns))
    return len(rows) > 1 and _text_tables_pushed(state, start, line, rows, silent)


def _line_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read lines of verse, each after a bar, as a paragraph that keeps them."""
    lines, line = list[str](), start
    while line < end and (found := _LINE.fullmatch(_text(state, line))):
        lines.append(found[1] or "")
        line += 1
    if not lines or (
        start + 1 < end and re.fullmatch(r"[\s|:-]*-[\s|:-]*", _text(state, start + 1))
    ):
        return False
    if not silent:
        state.push("paragraph_open", "p", 1).map = [start, line]
        inline = state.push("inline", "", 0)
        inline.content, inline.map = "\\\n".join(one.strip() for one in lines), [start, line]
        inline.children = []
        state.push("paragraph_close", "p", -1)
        state.line = line
    return True


def _text_tables_pushed(state: StateBlock, start: int, end: int, rows: Rows, silent: bool) -> bool:
    if not silent:
        token = state.push("text_table", "", 0)
        token.map, token.meta = [start, end], {"rows": rows}
        state.line = end
    return True


_MAX_NESTING = 40
_INDENTED = frozenset(
    {
        MarkdownFlavour.MKDOCS,
        MarkdownFlavour.MARKDOWN,
        MarkdownFlavour.HUGO,
        MarkdownFlavour.JEKYLL,
    }
)
"""Where a box is an indented block after `!!!`."""


def parse_markdown(
    text: str, *, dialect: str, read_include: Callable[[str], str | None]
) -> ParsedDocument:
    """Return a page as blocks, without hidden text and markup.

    Args:
        text: the page, with its front matter.
        dialect: a value of `Dialect`.
        read_include: gives the text of a file that the page includes, or none if it is missing.
            Paths have forward slashes and count from the page's folder; those of MkDocs
            snippets, and those beginning with `@site/`, from the folder of the site.

    Raises:
        UnsupportedDocument: the page is nested too deeply.
    """
    kind = MarkdownFlavour(dialect)
    lines = source_lines(text)
    head = front_matter(lines)
    includes = Includes(read_include)
    written = lines[head.height :]
    title = head.metadata.get("title") or mdbook.page_title(written)
    body = _prepared(written, kind, includes, Values(kind, head.values, includes.value))
    try:
        md = _parser(kind)
        blocks = list(markdown_blocks(md, md.parse(joined(body)), body, kind, includes))
    except RecursionError as error:
        raise UnsupportedDocument("is nested too deeply") from error
    warnings = (*head.warnings, *includes.warnings)
    return visible_document(
        document_of(
            title,
            blocks,
            metadata=head.metadata,
            warnings=warnings,
            left_out=includes.omissions,
        )
    )


def _prepared(
    lines: Sequence[SourceLine], dialect: MarkdownFlavour, includes: Includes, values: Values
) -> Sequence[SourceLine]:
    """Return the lines after what the dialect does before Markdown is read."""
    match dialect:
        case MarkdownFlavour.MDBOOK:
            return mdbook.with_captions(mdbook.with_includes(lines, includes))
        case MarkdownFlavour.MKDOCS:
            whole = with_snippets(with_template(lines, values, includes), includes)
            return with_markdown_in_html(whole)
        case MarkdownFlavour.DOCUSAURUS:
            return plain_markdown(lines, includes, values)
        case MarkdownFlavour.QUARTO:
            return with_shown_text(lines, includes, values)
        case MarkdownFlavour.MYST:
            return with_directives(lines, includes, values)
        case MarkdownFlavour.HUGO:
            return without_shortcodes(lines, values, includes)
        case MarkdownFlavour.JEKYLL:
            return with_markdown_in_html(without_liquid(lines, values, includes))
        case MarkdownFlavour.MARKDOWN:
            if has_directives(lines):
                lines = with_directives(lines, includes, values)
            return without_obsidian(lines, includes)


def _parser(dialect: MarkdownFlavour) -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_NESTING})
    md.enable(["table", "strikethrough"])
    md.use(footnote_plugin, inline=False, move_to_end=False)
    md.use(deflist_plugin).use(formulas_plugin)
    is_pandoc = dialect is MarkdownFlavour.QUARTO
    has_marks = is_pandoc or dialect is MarkdownFlavour.MKDOCS
    is_loose = dialect in {MarkdownFlavour.MKDOCS, MarkdownFlavour.MARKDOWN}
    md.use(marks_plugin, pandoc=has_marks, critic=is_loose)
    is_plain = dialect is MarkdownFlavour.MARKDOWN
    md.use(text_tables_plugin, simple=is_pandoc or is_plain, verse=is_pandoc)
    if dialect is MarkdownFlavour.DOCUSAURUS:
        md.disable("code")
    md.use(
        admonitions_plugin,
        directives=dialect
        not in {MarkdownFlavour.MKDOCS, MarkdownFlavour.QUARTO, MarkdownFlavour.MYST},
        indented=dialect in _INDENTED,
    )
    return md
