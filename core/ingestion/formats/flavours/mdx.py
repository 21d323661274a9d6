"""Turns MDX into Markdown with plain HTML tags: code and formulas stay as they are."""

import re
from collections.abc import Iterator, Sequence

from core.ingestion.formats.flavours.includes import Includes, resolved
from core.ingestion.formats.flavours.jsx import JsxTag, expression_end, jsx_tag, string_literal
from core.ingestion.formats.flavours.jsx_html import (
    escaped,
    is_block,
    is_component,
    label,
    tag_html,
)
from core.ingestion.formats.flavours.source_lines import (
    Edit,
    SourceLine,
    edited,
    included_lines,
    joined,
    source_lines,
)
from core.ingestion.formats.markdown.front_matter import front_matter

_SPECIAL = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"|^(?P<module>import\s+(?:[\"'{*]|[\w$]+\s*(?:,|from\b))"
    r"|export\s+(?:const|let|var|function|default|class|async|[{*]))"
    r"|(?P<escape>\\.)"
    r"|(?P<code>`+)"
    r"|(?P<formula>\$\$[^$]+\$\$|\$(?![\s$])[^$\n]*?[^\s$\\]\$(?!\d))"
    r"|(?P<comment><!--)"
    r"|(?P<expression>\{)"
    r"|(?P<tag><(?=[A-Za-z/>]))",
    re.MULTILINE,
)
_HEADING_ID = re.compile(r"\{(?:/\*\s*)?(#[\w.:-]+)(?:\s*\*/)?\}(?=[ \t]*$)", re.MULTILINE)
_PARTIAL_IMPORT = re.compile(
    r"^import\s+([\w$]+)\s+from\s+[\"']([^\"'\n]+\.mdx?)[\"']", re.MULTILINE
)
_PATIENCE = 2_000_000
_MAX_INDENT = 100


def plain_markdown(
    lines: Sequence[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return the lines without imports, exports, expressions and components.

    The children of components stay, `label` and `title` become words, and an imported page
    that stands as `<Part />` is put in its place. Component tags are left as `<x-name>` on
    lines of their own, so that what hides its content can still be recognised.
    """
    return edited(lines, _Scan(joined(lines), includes, chain).edits())


class _Scan:
    """One pass over the text of a page."""

    def __init__(self, text: str, includes: Includes, chain: tuple[str, ...]) -> None:
        self._text, self._includes, self._chain = text, includes, chain
        self._partials: dict[str, str] = {}
        self._block_starts = {len(text) - len(text.lstrip())}
        self._patience = _PATIENCE  # characters to look at in vain

    def edits(self) -> Iterator[Edit]:
        position = 0
        while special := _SPECIAL.search(self._text, position):
            edit = self._edit(special, special.lastgroup or "")
            position = max(edit.end, special.start() + 1)
            if self._text[edit.start : edit.end] != edit.text:
                yield edit

    def _edit(self, special: re.Match[str], kind: str) -> Edit:
        start, text = special.start(), self._text
        match kind:
            case "fence":
                return self._kept(start, self._fence_end(special))
            case "module":
                return self._module(start)
            case "code":
                return self._kept(start, self._code_end(special))
            case "comment":
                end = text.find("-->", start)
                return Edit(start, len(text) if end < 0 else end + 3, "")
            case "expression" if self._patience > 0:
                return self._expression(start)
            case "tag" if self._patience > 0:
                return self._tag(start)
            case _:
                return self._kept(start, special.end())

    def _kept(self, start: int, end: int) -> Edit:
        return Edit(start, end, self._text[start:end])

    def _fence_end(self, opening: re.Match[str]) -> int:
        fence = opening["fence"]
        closing = re.compile(rf"^[ \t>]*{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        match = closing.search(self._text, opening.end())
        return match.end() if match else len(self._text)

    def _code_end(self, opening: re.Match[str]) -> int:
        paragraph_end = self._text.find("\n\n", opening.end())
        closing = re.compile(rf"(?<!`){opening['code']}(?!`)")
        limit = len(self._text) if paragraph_end < 0 else paragraph_end
        match = closing.search(self._text, opening.end(), limit)
        return match.end() if match else opening.end()

    def _module(self, start: int) -> Edit:
        """Drop an import or export at the start of a block, up to where its braces close."""
        text = self._text
        begins_block = text[start - 2 : start] == "\n\n" or start in self._block_starts
        if not begins_block:
            return self._kept(start, start + 1)
        depth, position = 0, start
        while position < len(text):
            end = text.find("\n\n", position)
            end = len(text) if end < 0 else end
            depth += text.count("{", position, end) - text.count("}", position, end)
            position = end + 1
            if depth <= 0:
                break
        end = min(position, len(text))
        for name, path in _PARTIAL_IMPORT.findall(text, start, end):
            self._partials[name] = path
        self._block_starts.add(end)
        return Edit(start, end, "")

    def _expression(self, start: int) -> Edit:
        if heading_id := _HEADING_ID.match(self._text, start):
            return Edit(start, heading_id.end(), f"{{{heading_id[1]}}}")
        end = expression_end(self._text, start)
        if end is None:
            self._patience -= len(self._text) - start
            return self._kept(start, start + 1)
        literal = string_literal(self._text[start:end])
        return Edit(start, end, escaped(literal) if literal else "")

    def _tag(self, start: int) -> Edit:
        tag = jsx_tag(self._text, start)
        if tag is None:
            self._patience -= len(self._text) - start
            return self._kept(start, start + 1)
        if tag.name in self._partials and not tag.closing:
            return Edit(start, tag.end, self._partial(self._partials[tag.name]))
        return Edit(start, tag.end, self._placed(tag, start))

    def _partial(self, path: str) -> str:
        path = resolved(path, self._chain).removeprefix("./")
        text = self._includes.text(path, self._chain)
        if text is None:
            return ""
        lines = source_lines(text)
        body = lines[front_matter(lines).height :]
        content = plain_markdown(
            included_lines(joined(body), 1), self._includes, (*self._chain, path)
        )
        return f"\n\n{joined(content)}\n\n"

    def _placed(self, tag: JsxTag, start: int) -> str:
        """Return the HTML for a tag, on lines of its own where it is a block."""
        before = self._text[max(0, start - _MAX_INDENT) : start].rpartition("\n")[2]
        after = self._text[tag.end : tag.end + _MAX_INDENT].partition("\n")[0]
        begins, ends = not before.strip(), not after.strip()
        markup = tag_html(tag)
        if not is_block(tag) and not (is_component(tag) and (begins or ends)):
            return markup
        margin = "\n\n" + (before if begins else "")
        words = label(tag)
        return f"{margin}{markup}{margin}" + (f"{words}{margin}" if words else "")
