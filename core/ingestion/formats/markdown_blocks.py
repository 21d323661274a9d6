"""Turns the tokens of markdown-it into blocks."""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.container import container_plugin
from selectolax.lexbor import LexborHTMLParser

from core.ingestion.document import Block, BlockKind, BlockRole, Entries, fenced, pipe_table
from core.ingestion.formats.html_blocks import html_blocks
from core.ingestion.formats.html_elements import TAG, OpenElements, attribute
from core.ingestion.formats.includes import Includes, MarkdownFlavour, SourceLine, shown_code
from core.ingestion.formats.markdown_inline import (
    EMBEDDED,
    InlineText,
    anchor_slugs,
    is_image,
    linked_share,
)

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


_LANGUAGE = re.compile(r"\s*(?:\{\s*\.?)?([^\s,{}:=\"']+)(?![\w-]*=)")
_TITLE = re.compile(r"""\btitle\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_HIGHLIGHT_COMMENT = re.compile(
    r"\s*(?:\W{1,4}\s*)highlight-(?:next-line|start|end)\s*(?:\*/\}?|-->)?\s*"
)


class FenceInfo(NamedTuple):
    """The language of a fence and the title shown above it; either may be empty."""

    language: str
    title: str


def fence_info(info: str) -> FenceInfo:
    """Return what an info string says: `rust,ignore`, `js title="a.js"`, `{ .yaml }`."""
    language = _LANGUAGE.match(info)
    title = _TITLE.search(info)
    return FenceInfo(language[1] if language else "", (title[1] or title[2] or "") if title else "")


def shown_lines(code: str, language: str, dialect: MarkdownFlavour) -> str:
    """Return the code as the dialect's publisher shows it."""
    if dialect is MarkdownFlavour.MDBOOK and language.lower() in {"rust", "rs"}:
        return shown_code(code)
    if dialect is MarkdownFlavour.DOCUSAURUS and "highlight-" in code:
        lines = code.split("\n")
        return "\n".join(line for line in lines if not _HIGHLIGHT_COMMENT.fullmatch(line))
    return code


class ListPlace(NamedTuple):
    """What stands before an item, with its space, and how deep its list is; 0 outside."""

    marker: str
    level: int


@dataclass(slots=True)
class _OpenList:
    number: int | None
    mark: str
    marker: str = ""


class ListMarkers:
    """Hands each item's marker to the first block of the item."""

    def __init__(self) -> None:
        self._open: list[_OpenList] = []

    def follow(self, token: Token) -> None:
        """Note where lists and items begin and end."""
        match token.type:
            case "bullet_list_open":
                self._open.append(_OpenList(None, "-"))
            case "ordered_list_open":
                self._open.append(_OpenList(int(token.attrs.get("start", 1)), token.markup))
            case "bullet_list_close" | "ordered_list_close":
                self._open.pop()
            case "list_item_open":
                self._begin_item(self._open[-1])

    @property
    def depth(self) -> int:
        """How many lists lie around what stands here."""
        return len(self._open)

    def take(self) -> ListPlace | None:
        """Return the place of an item whose first block this is, once; else none."""
        if not self._open or not self._open[-1].marker:
            return None
        place = ListPlace(self._open[-1].marker, len(self._open))
        self._open[-1].marker = ""
        return place

    @staticmethod
    def _begin_item(open_list: _OpenList) -> None:
        if open_list.number is None:
            open_list.marker = "- "
            return
        open_list.marker = f"{open_list.number}{open_list.mark} "
        open_list.number += 1


_HEADING_ATTRIBUTES = re.compile(r"\s*\{:?\s*((?:[#.]|[\w-]+\s*=)[^{}]*)\}\s*\Z")
_NO_WORDS = frozenset(
    {
        *("fence", "code_block", "formula_block", "html_block", "table_open", "text_table"),
        *("bullet_list_open", "ordered_list_open"),
    }
)
"""What a definition may begin with that its term is not put in front of."""
_HEADING_ID = re.compile(r"#([^\s.#{}]+)")


def markdown_blocks(
    md: MarkdownIt,
    tokens: Sequence[Token],
    lines: Sequence[SourceLine],
    dialect: MarkdownFlavour,
    includes: Includes,
) -> Iterator[Block]:
    """Yield the visible blocks of a page; what of it is not read is noted in `includes`.

    Args:
        md: the parser that made `tokens`, for the titles of boxes.
        lines: what it parsed; their numbers become the locators.
    """
    return _BlockWriter(md, tokens, lines, dialect, includes).blocks()


class _BlockWriter:
    """One pass over the tokens of a page."""

    def __init__(
        self,
        md: MarkdownIt,
        tokens: Sequence[Token],
        lines: Sequence[SourceLine],
        dialect: MarkdownFlavour,
        includes: Includes,
    ) -> None:
        self._includes = includes
        self._md, self._tokens, self._lines, self._dialect = md, tokens, lines, dialect
        self._elements = OpenElements()
        self._inline = InlineText(dialect, self._elements, includes)
        self._anchors = anchor_slugs(dialect)
        self._lists = ListMarkers()
        self._terms = ""
        self._entries = Entries()
        self._writers: Mapping[str, Callable[[int], Iterator[Block]]] = {
            "heading_open": self._heading,
            "paragraph_open": self._paragraph,
            "dt_open": self._term,
            "dl_close": self._last_entry,
            "fence": self._fence,
            "code_block": self._fence,
            "formula_block": self._formula,
            "html_block": self._html,
            "table_open": self._table,
            "text_table": self._text_table,
            "container_directive_open": self._directive,
            "admonition_open": self._admonition,
        }

    def blocks(self) -> Iterator[Block]:
        for index, token in enumerate(self._tokens):
            if self._terms and token.type in _NO_WORDS:
                yield self._lone_terms(index)
            self._lists.follow(token)
            if token.map:
                self._inline.line = self._lines[min(token.map[0], len(self._lines) - 1)].number
            writer = self._writers.get(token.type)
            if writer is not None:
                yield from writer(index)

    def _heading(self, index: int) -> Iterator[Block]:
        children = self._tokens[index + 1].children or []
        text = self._inline.words(children)
        before = len(self._includes.omissions)
        slug_text = self._inline.words(children, code_marks=False)
        del self._includes.omissions[before:]  # they are noted already
        explicit = None
        if attributes := _HEADING_ATTRIBUTES.search(text):
            text = text[: attributes.start()]
            slug_text = _HEADING_ATTRIBUTES.sub("", slug_text)
            named = _HEADING_ID.search(attributes[1])
            explicit = named[1] if named else None
        if text:
            anchor = self._anchors.anchor(slug_text, explicit)
            level = int(self._tokens[index].tag[1:])
            text = text.replace("\n", " ")
            yield self._block(index, BlockKind.HEADING, text, level, anchor or None)

    def _term(self, index: int) -> Iterator[Block]:
        """Keep a defined term for its definition; several terms share one."""
        words = self._inline.words(self._tokens[index + 1].children or [])
        if not self._terms:
            self._entries.begin()
        self._terms = f"{self._terms}, {words}" if self._terms else words
        yield from ()

    def _lone_terms(self, index: int) -> Block:
        """Return the terms as a block above a definition that begins with no words."""
        text, self._terms = f"{self._terms}:", ""
        return self._block(index, BlockKind.PARAGRAPH, text, self._lists.depth)

    def _last_entry(self, index: int) -> Iterator[Block]:
        self._entries.end()
        yield from ()

    def _paragraph(self, index: int) -> Iterator[Block]:
        children = self._tokens[index + 1].children or []
        if title := self._alert_title(index, children):
            yield self._block(index, BlockKind.PARAGRAPH, title)
            children = children[2:]
        text = self._inline.words(children)
        if self._terms and text:
            text, self._terms = f"{self._terms}: {text}", ""
        place = self._lists.take() if text else None
        if _is_formula(children):
            block = self._block(index, BlockKind.FORMULA, text)
        elif place:
            block = self._block(index, BlockKind.LIST_ITEM, place.marker + text, place.level)
        else:
            block = self._block(index, BlockKind.PARAGRAPH, text, self._lists.depth)
        role = BlockRole.CAPTION if is_image(children) else BlockRole.TEXT
        if self._dialect is MarkdownFlavour.QUARTO and block.text.startswith(": "):
            block, role = replace(block, text=block.text[2:]), BlockRole.CAPTION  # of a table
        yield replace(block, role=role, linked=linked_share(children))

    def _alert_title(self, index: int, children: Sequence[Token]) -> str | None:
        if index == 0 or self._tokens[index - 1].type != "blockquote_open" or not children:
            return None
        return alert_title(children[0].content) if children[0].type == "text" else None

    def _fence(self, index: int) -> Iterator[Block]:
        token = self._tokens[index]
        if self._elements.hidden:
            kind = self._elements.last_hidden
            self._includes.left_out(kind, self._inline.line, token.content)
            return
        language, title = fence_info(html.unescape(token.info))
        if title:
            yield self._block(index, BlockKind.PARAGRAPH, title)
        code = shown_lines(token.content, language, self._dialect)
        yield self._block(index, BlockKind.CODE, fenced(code, language))

    def _formula(self, index: int) -> Iterator[Block]:
        if not self._elements.hidden:
            yield self._block(index, BlockKind.FORMULA, self._tokens[index].content)

    def _html(self, index: int) -> Iterator[Block]:
        markup = self._tokens[index].content
        hidden = self._elements.hidden
        self._elements.read(markup)
        self._elements.close_paragraph()
        for tag in TAG.finditer(markup):
            if tag[0].startswith("<!--"):
                self._includes.left_out("comment", self._inline.line, tag[0][4:-3])
            elif (tag["name"] or "").lower() == "img":
                self._includes.left_out("picture", self._inline.line)
            elif (tag["name"] or "").lower() in EMBEDDED and not tag["closing"]:
                self._includes.left_out(f"{tag['name'].lower()} element", self._inline.line)
        body = None if hidden else LexborHTMLParser(TAG.sub(_image_as_text, markup)).body
        for block in html_blocks(body) if body is not None else ():
            anchor = block.anchor
            if block.kind is BlockKind.HEADING and (
                anchor or self._dialect is MarkdownFlavour.MDBOOK
            ):
                anchor = self._anchors.anchor(block.text.replace("`", ""), anchor)
            entry = block.entry or self._entries.take()
            yield replace(block, anchor=anchor, locator=self._locator(index), entry=entry)

    def _table(self, index: int) -> Iterator[Block]:
        rows: list[list[str]] = []
        for position in range(index, len(self._tokens)):
            token = self._tokens[position]
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type in {"th_open", "td_open"}:
                rows[-1].append(self._inline.words(self._tokens[position + 1].children or []))
        yield self._block(index, BlockKind.TABLE, pipe_table(rows))

    def _text_table(self, index: int) -> Iterator[Block]:
        rows = [
            [self._inline.words(self._md.parseInline(cell)[0].children or []) for cell in row]
            for row in self._tokens[index].meta["rows"]
        ]
        yield self._block(index, BlockKind.TABLE, pipe_table(rows))

    def _directive(self, index: int) -> Iterator[Block]:
        yield from self._box_title(index, directive_title(self._tokens[index].info))

    def _admonition(self, index: int) -> Iterator[Block]:
        yield from self._box_title(index, admonition_title(self._tokens[index].info))

    def _box_title(self, index: int, title: str) -> Iterator[Block]:
        inline = self._md.parseInline(title)[0] if title else None
        text = self._inline.words(inline.children or []) if inline else ""
        line = self._locator(index)["line_start"]
        locator = {"line_start": line, "line_end": line}
        yield Block(BlockKind.PARAGRAPH, text, locator=locator)

    def _block(
        self, index: int, kind: BlockKind, text: str, level: int = 0, anchor: str | None = None
    ) -> Block:
        entry = self._entries.take() if text else None
        return Block(kind, text, level, anchor, self._locator(index), entry=entry)

    def _locator(self, index: int) -> dict[str, int]:
        start, end = self._tokens[index].map or (0, 1)
        end = max(end, start + 1)
        while end > start + 1 and not self._lines[min(end, len(self._lines)) - 1].text.strip():
            end -= 1
        last = self._lines[min(end, len(self._lines)) - 1].number
        return {"line_start": self._lines[start].number, "line_end": last}


def _is_formula(children: Sequence[Token]) -> bool:
    shown = [token for token in children if token.content.strip()]
    return len(shown) == 1 and shown[0].type == "formula" and bool(shown[0].meta["display"])


def _image_as_text(tag: re.Match[str]) -> str:
    """Return a tag as it is, but an image as the words that stand for it."""
    if (tag["name"] or "").lower() != "img":
        return tag[0]
    words = attribute(tag["attributes"], "alt")
    return f"<span {tag['attributes'].rstrip('/ ')}>{html.escape(words)}</span>"
