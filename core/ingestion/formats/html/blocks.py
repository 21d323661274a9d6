"""Walks the main content of a web page and writes down its blocks in reading order."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from selectolax.lexbor import LexborNode

from core.ingestion.document import Block, BlockKind, BlockRole
from core.ingestion.formats.html.code import code_language, code_text
from core.ingestion.formats.html.math import Formula, formula_of
from core.ingestion.formats.html.tables import is_layout, table_rows
from core.ingestion.formats.html.visibility import is_hidden
from core.ingestion.formats.markup import Entries, fenced, inline_code, pipe_table

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS = frozenset(
    {
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "caption",
            "center",
            "dd",
            "details",
        ),
        *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header"),
        *("hgroup", "hr", "legend", "li", "main", "p", "search", "section", "summary", "tbody"),
        *("td", "tfoot", "th", "thead", "tr"),
    }
)
_ROLES = {
    "figcaption": BlockRole.CAPTION,
    "caption": BlockRole.CAPTION,
    "footer": BlockRole.BOILERPLATE,
}
_PERMALINKS = frozenset({"", "#", "¶", "§", "🔗"})
_TEX = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_DISPLAY_FORMULA = re.compile(r"\$\$[^$]+\$\$")
_ORDINAL = frozenset({"st", "nd", "rd", "th", "®", "™", "tm"})


def html_blocks(
    root: LexborNode, *, tex_in_text: bool = False, left_out: frozenset[int] = frozenset()
) -> list[Block]:
    r"""Return the visible blocks below `root`.

    Args:
        tex_in_text: `\(x\)` and `\[x\]` in the text are formulas, because the page loads a
            script that draws them.
        left_out: `mem_id` of the elements to skip.
    """
    walk = _Walk(tex_in_text, left_out)
    walk.children(root)
    walk.flush()
    return walk.blocks


class _Walk:
    """The blocks so far and the inline text that waits for its block to end."""

    def __init__(self, tex_in_text: bool, left_out: frozenset[int]) -> None:
        self.blocks: list[Block] = []
        self._tex_in_text = tex_in_text
        self._left_out = left_out
        self._inline: list[str] = []
        self._counters: list[int | None] = []
        self._marker = ""
        self._terms = ""
        self._entries = Entries()
        self._empty_anchor: str | None = None
        self._role = BlockRole.TEXT
        self._linked = 0

    def children(self, node: LexborNode) -> None:
        for child in _children(node):
            self._visit(child)

    def flush(self) -> None:
        """End the block under way, if it has any text."""
        lines = "".join(self._inline).split("\n")
        text = "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
        self._inline.clear()
        if not text:
            return
        if self._terms:
            text, self._terms = f"{self._terms}: {text}", ""
        if _DISPLAY_FORMULA.fullmatch(text):
            self._add(BlockKind.FORMULA, text)
        elif self._marker:
            self._add(BlockKind.LIST_ITEM, self._marker + text, len(self._counters))
            self._marker = ""
        else:
            self._add(BlockKind.PARAGRAPH, text, len(self._counters))

    def _add(self, kind: BlockKind, text: str, level: int = 0, anchor: str | None = None) -> None:
        linked = min(1.0, self._linked / max(len(text), 1))
        if not text:
            return
        self._lone_terms()
        entry = self._entries.take()
        block = Block(kind, text, level, anchor, role=self._role, linked=linked, entry=entry)
        self.blocks.append(block)
        self._empty_anchor, self._linked = None, 0

    @contextmanager
    def _as(self, role: BlockRole) -> Iterator[None]:
        before, self._role = self._role, role
        yield
        self._role = before

    def _visit(self, node: LexborNode) -> None:
        if node.tag == "-text":
            self._text(node.text_content or "")
        elif (formula := formula_of(node)) is not None:
            self._formula(formula)
        elif node.mem_id not in self._left_out and not is_hidden(node):
            self._element(node, node.tag or "")

    def _element(self, node: LexborNode, tag: str) -> None:
        match tag:
            case "pre":
                self.flush()
                self._add(BlockKind.CODE, fenced(code_text(node), code_language(node)))
            case "table" if not is_layout(node):
                self._table(node)
            case "ul" | "ol" | "menu":
                self._list(node)
            case "li":
                self._item(node)
            case "dl":
                self._entry_list(node)
            case "dt":
                self._term(node)
            case "code" | "tt" | "samp":
                self._inline.append(inline_code(code_text(node)))
            case "br":
                self._inline.append("\n")
            case "a":
                self._link(node)
            case "sup":
                self._superscript(node)
            case "rt" | "rp":
                pass
            case _ if tag in _HEADINGS:
                self._heading(node, _HEADINGS[tag])
            case _ if tag in _BLOCK_TAGS or tag == "table":
                self.flush()
                with self._as(_ROLES.get(tag, self._role)):
                    self.children(node)
                    self.flush()
            case _:
                self.children(node)

    def _text(self, text: str) -> None:
        if self._tex_in_text:
            text = _TEX.sub(lambda tex: str(Formula((tex[1] or tex[2]).strip(), not tex[1])), text)
        self._inline.append(text.replace("\n", " "))

    def _formula(self, formula: Formula) -> None:
        if formula.display and formula.tex:
            self.flush()
            self._add(BlockKind.FORMULA, str(formula))
        else:
            self._inline.append(str(formula))

    def _inner_text(self, node: LexborNode) -> str:
        """Return the text of an element whose own blocks do not count, as one line."""
        blocks = html_blocks(node, tex_in_text=self._tex_in_text)
        return " ".join(" ".join(block.text for block in blocks).split())

    def _heading(self, node: LexborNode, level: int) -> None:
        self.flush()
        if text := self._inner_text(node):
            anchor = _own_anchor(node) or self._empty_anchor or _parent_anchor(node)
            self._add(BlockKind.HEADING, text, level, anchor)

    def _table(self, table: LexborNode) -> None:
        self.flush()
        if (caption := table.css_first("caption")) is not None and not is_hidden(caption):
            with self._as(BlockRole.CAPTION):
                self._add(BlockKind.PARAGRAPH, self._inner_text(caption))
        self._add(BlockKind.TABLE, pipe_table(table_rows(table, self._inner_text)))

    def _list(self, node: LexborNode) -> None:
        self.flush()
        self._lone_terms()
        start = node.attributes.get("start") or "1"
        first = int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1
        self._counters.append(first if node.tag == "ol" else None)
        self.children(node)
        self.flush()
        self._counters.pop()

    def _entry_list(self, node: LexborNode) -> None:
        self.flush()
        self.children(node)
        self.flush()
        self._lone_terms()
        self._entries.end()

    def _lone_terms(self) -> None:
        """Write the terms above a definition that begins with no words."""
        if self._terms:
            text, self._terms = f"{self._terms}:", ""
            self._add(BlockKind.PARAGRAPH, text, len(self._counters))

    def _term(self, node: LexborNode) -> None:
        """Keep a defined term for its definition; several terms share one."""
        self.flush()
        if not self._terms:
            self._entries.begin()
        before, self._inline = self._inline, []
        self.children(node)
        words = " ".join("".join(self._inline).split())
        self._inline = before
        self._terms = f"{self._terms}, {words}" if self._terms else words

    def _item(self, node: LexborNode) -> None:
        self.flush()
        number = self._counters[-1] if self._counters else None
        self._marker = "- " if number is None else f"{number}. "
        if number is not None:
            self._counters[-1] = number + 1
        self.children(node)
        self.flush()
        self._marker = ""

    def _link(self, node: LexborNode) -> None:
        if node.text().strip() not in _PERMALINKS:
            self._linked += len(" ".join(node.text().split()))
            self.children(node)
        elif node.css_first("img") is None:
            self._empty_anchor = _own_anchor(node) or self._empty_anchor

    def _superscript(self, node: LexborNode) -> None:
        """Write an exponent as such; 10 to the 6th must not become 106."""
        if node.css_first("a") is not None:
            return
        text = self._inner_text(node)
        after_word = bool(self._inline) and self._inline[-1][-1:].strip() != ""
        exponent = after_word and text.lower() not in _ORDINAL and len(text) <= 12
        self._inline.append(f"^{text}" if exponent and text else text)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _own_anchor(node: LexborNode) -> str | None:
    if own := node.attributes.get("id") or node.attributes.get("name"):
        return own
    inner = node.css_first("a[id],a[name],span[id]")
    return (inner.attributes.get("id") or inner.attributes.get("name")) if inner else None


def _parent_anchor(heading: LexborNode) -> str | None:
    """Return the id of the section that this heading opens."""
    parent = heading.parent
    first = heading
    while parent is not None and parent.tag in {"section", "div", "article", "header"}:
        if any(child.is_element_node for child in _before(first)):
            return None
        if anchor := parent.attributes.get("id"):
            return anchor
        first, parent = parent, parent.parent
    return None


def _before(node: LexborNode) -> Iterator[LexborNode]:
    sibling = node.prev
    while sibling is not None:
        yield sibling
        sibling = sibling.prev
