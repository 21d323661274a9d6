"""Walks the main content of a web page and writes down its blocks in reading order."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from core.ingestion.document import Block, BlockKind, BlockRole, Omission
from core.ingestion.formats.html.code import code_language, code_text
from core.ingestion.formats.html.math import Formula, formula_of
from core.ingestion.formats.html.panels import PagePanels, unfolded
from core.ingestion.formats.html.tables import is_layout, table_rows
from core.ingestion.formats.html.visibility import (
    declarations,
    is_hidden,
    is_struck,
    shift_of,
    unread_as,
)
from core.ingestion.formats.list_labels import counted
from core.ingestion.formats.markup import (
    Entries,
    fenced,
    inline_code,
    lowered,
    pipe_table,
    raised,
)

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
        *(
            "button",
            "div",
            "dl",
            "dt",
            "fieldset",
            "figcaption",
            "figure",
            "footer",
            "form",
            "header",
        ),
        *("hgroup", "hr", "legend", "li", "main", "p", "search", "section", "summary", "tbody"),
        *("td", "tfoot", "th", "thead", "tr"),
    }
)
_ROLES = {
    "figcaption": BlockRole.CAPTION,
    "caption": BlockRole.CAPTION,
    "footer": BlockRole.BOILERPLATE,
}
_PERMALINKS = frozenset({"", "#", "¶", "§", "🔗", "↩", "↩︎", "↵", "⏎", "↑"})
_TEX = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_DISPLAY_FORMULA = re.compile(r"\$\$[^$]+\$\$")
_NOTE_LINKS = frozenset({"noteref", "doc-noteref", "footnote-ref", "footnote-reference"})
_LIST_SHAPES = {
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
    "lower-alpha": "lowerLetter",
    "upper-alpha": "upperLetter",
    "lower-latin": "lowerLetter",
    "upper-latin": "upperLetter",
    "lower-roman": "lowerRoman",
    "upper-roman": "upperRoman",
    "decimal-leading-zero": "decimalZero",
}
"""The formats of numbers by what `type` and the style of a list call them."""
_EPUB_ROLES = {
    **dict.fromkeys(("toc", "landmarks", "page-list", "loi", "lot", "index"), BlockRole.NAVIGATION),
    **dict.fromkeys(
        ("titlepage", "halftitlepage", "copyright-page", "dedication", "cover", "imprint"),
        BlockRole.FRONT_MATTER,
    ),
    **dict.fromkeys(("practices", "assessment", "assessments", "qna"), BlockRole.EXERCISE),
}
"""What the parts of an e-book are for, by the names that EPUB gives them."""
_MOST_NAMED = 60
_LONGEST_MARK = 12
_ANCESTORS = 4


def html_blocks(
    root: LexborNode,
    *,
    tex_in_text: bool = False,
    left_out: frozenset[int] = frozenset(),
    missing: list[Omission] | None = None,
) -> list[Block]:
    r"""Return the visible blocks below `root`, and what a click unfolds.

    Args:
        tex_in_text: `\(x\)` and `\[x\]` in the text are formulas, because the page loads a
            script that draws them.
        left_out: `mem_id` of the elements to skip.
        missing: takes up what is not read below `root`.
    """
    found: list[Omission] = [] if missing is None else missing
    walk = _Walk(tex_in_text, left_out, unfolded(root), _notes(root), found)
    walk.children(root)
    walk.flush()
    return walk.blocks


@dataclass(slots=True)
class _List:
    """A list that is being read: the number of its next item, none for a bullet."""

    number: int | None = None
    step: int = 1
    shape: str = "decimal"

    def marker(self, value: str) -> str:
        """Return what stands before the next item; `value` is its own number, if it has one."""
        if self.number is None:
            return "- "
        if value.isascii() and value.isdigit() and len(value) < 6:
            self.number = int(value)
        label = counted(self.number, self.shape)
        self.number += self.step
        return f"{label}. "


class _Walk:
    """The blocks so far and the inline text that waits for its block to end."""

    def __init__(
        self,
        tex_in_text: bool,
        left_out: frozenset[int],
        panels: PagePanels,
        notes: "_Notes",
        missing: list[Omission],
    ) -> None:
        self.blocks: list[Block] = []
        self._tex_in_text = tex_in_text
        self._left_out = left_out
        self._panels = panels
        self._notes = notes
        self._missing = missing
        self._under = ""
        self._note = ""
        """The mark of the note whose first words come next."""
        self._inline: list[str] = []
        self._counters: list[_List] = []
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
        if self._note:
            own = re.match(rf"(?:[\[(]?{re.escape(self._note)}(?!\w))?[\s.):\]]*", text)
            text = f"[{self._note}] {text[own.end() if own else 0 :]}"
            self._note = ""
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
        elif node.mem_id in self._left_out or node.mem_id in self._panels.tabs:
            pass
        elif is_hidden(node):
            self._miss(unread_as(node), node)
        elif is_struck(node):
            self._miss("struck text", node)
        else:
            if title := self._panels.titles.get(node.mem_id):
                self.flush()
                self._add(BlockKind.PARAGRAPH, title, len(self._counters))
            self._element(node, node.tag or "")

    def _miss(self, kind: str, node: LexborNode | None = None) -> None:
        """Count an element that is not read."""
        if kind:
            words = len(node.text(separator=" ").split()) if node is not None else 0
            where = f'under "{self._under}"' if self._under else ""
            self._missing.append(Omission(kind, where, words))

    def _element(self, node: LexborNode, tag: str) -> None:
        match tag:
            case "pre":
                self.flush()
                self._miss_struck(node)
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
                self._miss_struck(node)
                self._inline.append(inline_code(code_text(node)))
            case "br":
                self._inline.append("\n")
            case "a":
                self._link(node)
            case _ if tag == "sup" or shift_of(node) == "super":
                self._superscript(node)
            case _ if tag == "sub" or shift_of(node) == "sub":
                if text := self._inner_text(node):
                    self._inline.append(lowered(text))
            case "q":
                self._inline.append("“")
                self.children(node)
                self._inline.append("”")
            case "img":
                self._picture(node)
            case "rt" | "rp" | "epub:case":
                pass  # how it is spoken; another form of what stands in `epub:default`
            case _ if tag in _HEADINGS:
                self._heading(node, _HEADINGS[tag])
            case _ if tag in _BLOCK_TAGS or tag == "table":
                self.flush()
                self._note = self._notes.marks.get(node.attributes.get("id") or "", self._note)
                role = _ROLES.get(tag) or role_of(_kinds(node)) or self._role
                with self._as(role):
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
        walk = _Walk(self._tex_in_text, self._left_out, self._panels, self._notes, self._missing)
        walk._under = self._under
        walk.children(node)
        walk.flush()
        return " ".join(" ".join(block.text for block in walk.blocks).split())

    def _heading(self, node: LexborNode, level: int) -> None:
        self.flush()
        if text := self._inner_text(node):
            short = text[:_MOST_NAMED].rstrip()
            self._under = short if len(short) == len(text) else f"{short}…"
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
        self._counters.append(_numbering(node) if node.tag == "ol" else _List())
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
        counter = self._counters[-1] if self._counters else _List()
        self._marker = counter.marker(node.attributes.get("value") or "")
        self.children(node)
        self.flush()
        self._marker = ""

    def _link(self, node: LexborNode) -> None:
        if mark := self._notes.references.get(node.mem_id):
            self._inline.append(f"[{mark}]")
        elif node.mem_id in self._notes.returns:
            self._note = self._note or self._notes.returns[node.mem_id]
        elif node.text().strip() not in _PERMALINKS:
            self._linked += len(" ".join(node.text().split()))
            self.children(node)
        elif node.css_first("img") is None:
            self._empty_anchor = _own_anchor(node) or self._empty_anchor
        else:
            self.children(node)

    def _superscript(self, node: LexborNode) -> None:
        """Write an exponent as such; a link to a source, as of an encyclopedia, is left out."""
        if (link := node.css_first("a")) is not None:
            if link.mem_id in self._notes:
                self._link(link)
        elif text := self._inner_text(node):
            self._inline.append(raised(text))

    def _picture(self, node: LexborNode) -> None:
        attributes = node.attributes
        if "emoji" in (attributes.get("class") or "").split():
            self._inline.append(attributes.get("alt") or "")
        elif attributes.get("alt") != "" and attributes.get("role") not in {"presentation", "none"}:
            self._miss("picture")

    def _miss_struck(self, code: LexborNode) -> None:
        for struck in code.css("del,s,strike"):
            self._miss("struck text", struck)


def _numbering(node: LexborNode) -> _List:
    """Return how an ordered list counts."""
    attributes = node.attributes
    style = declarations(attributes.get("style"))
    named = style.get("list-style-type") or style.get("list-style") or ""
    shape = _LIST_SHAPES.get(named) or _LIST_SHAPES.get(attributes.get("type") or "", "decimal")
    backwards = "reversed" in attributes
    start = attributes.get("start") or ""
    if start.isascii() and start.isdigit() and len(start) < 6:
        first = int(start)
    else:
        first = sum(child.tag == "li" for child in _children(node)) if backwards else 1
    return _List(first, -1 if backwards else 1, shape)


@dataclass(frozen=True, slots=True)
class _Notes:
    """The links between a text and its notes."""

    marks: Mapping[str, str]
    """The mark of each note that says of itself that it is one, by its id."""
    references: Mapping[int, str]
    """The mark of a note, by the `mem_id` of the link that leads to it."""
    returns: Mapping[int, str]
    """The same for the links that lead back; empty for one that is an arrow."""

    def __contains__(self, link: object) -> bool:
        return link in self.references or link in self.returns


def _notes(root: LexborNode) -> _Notes:
    """Find the notes below an element: a link that is called one, or two that lead to each other.

    The references of an encyclopedia to its sources are none.
    """
    marks: dict[str, str] = {}
    references: dict[int, str] = {}
    returns: dict[int, str] = {}
    links = {link.mem_id: link for link in root.css("a[href*='#']") if not _leads_away(link)}
    targets = {
        one: (link.attributes.get("href") or "").partition("#")[2] for one, link in links.items()
    }
    by_target: dict[str, int] = {}
    for one, target in targets.items():
        by_target.setdefault(target, one)
    for one, link in links.items():
        mark = " ".join(link.text().split()).strip("[]()")[:_LONGEST_MARK]
        kinds = _kinds(link)
        if not _NOTE_LINKS.isdisjoint((*kinds, *(link.attributes.get("class") or "").split())):
            marks.setdefault(targets[one], mark)
            references[one] = mark
        elif "doc-backlink" in kinds or "backlink" in kinds:
            returns.setdefault(one, "")
        elif one not in returns and len(mark) < _LONGEST_MARK:
            back = next((by_target[name] for name in _names(link) if name in by_target), None)
            if back is None or back == one or targets[one] not in _names(links[back]):
                continue
            if "reference" not in _classes_around(link):
                references[one] = mark
                label = " ".join(links[back].text().split()).strip("[]().")
                returns[back] = mark if label == mark else ""
    return _Notes(marks, references, returns)


def _leads_away(link: LexborNode) -> bool:
    """Return whether a link leads to another site; in an e-book, notes may have their own page."""
    return "://" in (link.attributes.get("href") or "")


def _names(link: LexborNode) -> set[str]:
    """Return the ids and names by which a link or what it stands in can be reached."""
    names: set[str] = set()
    node: LexborNode | None = link
    for _ in range(_ANCESTORS):
        if node is None:
            break
        names |= {node.attributes.get(key) or "" for key in ("id", "name")}
        node = node.parent
    return names - {""}


def _classes_around(link: LexborNode) -> list[str]:
    parent = link.parent
    return (parent.attributes.get("class") or "").split() if parent is not None else []


def role_of(kinds: Iterable[str]) -> BlockRole | None:
    """Return what a part of an e-book is for, by what EPUB calls it; none for its text."""
    return next(filter(None, map(_EPUB_ROLES.get, kinds)), None)


def _kinds(node: LexborNode) -> list[str]:
    """Return what an element of an e-book is, in the words of EPUB and of ARIA."""
    attributes = node.attributes
    return f"{attributes.get('epub:type') or ''} {attributes.get('role') or ''}".split()


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
