"""Walks the main content of a web page and writes down its blocks in reading order."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from core.ingestion.document import (
    Block,
    BlockKind,
    BlockRole,
    Entries,
    Omission,
    counted,
    fenced,
    inline_code,
    lowered,
    pipe_table,
    raised,
)
from core.ingestion.formats.html_elements import (
    UNFOLDABLE_CLASSES,
    UNFOLDED,
    declarations,
    is_hidden,
    is_struck,
    opens_something,
    shift_of,
    unread_as,
)

_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*)([\w+#.-]+)"
)
_SECOND_CLASS = re.compile(r"(?:^|\s)(?:sourceCode|hljs|prettyprint|src)\s+(?:src-)?([\w+#.-]+)")
_NO_LANGUAGE = frozenset(
    {"default", "none", "plaintext", "text", "highlighter-rouge", "notranslate"}
)
_LINE_CLASSES = frozenset({"line", "token-line", "code-line", "view-line"})
_CODE_ANCESTORS = 3


def code_text(node: LexborNode) -> str:
    """Return the text of an element with its line breaks, hidden and struck parts left out."""
    parts: list[str] = []
    _collect(node, parts)
    return "".join(parts)


def code_language(pre: LexborNode) -> str:
    """Return the language that the element, its `<code>` or a wrapper names, or ""."""
    candidates = [pre, *pre.css("code")[:1]]
    ancestor = pre.parent
    for _ in range(_CODE_ANCESTORS):
        if ancestor is None or ancestor.tag == "body":
            break
        candidates.append(ancestor)
        ancestor = ancestor.parent
    return next(filter(None, map(_named_language, candidates)), "")


def _named_language(node: LexborNode) -> str:
    attributes = node.attributes
    classes = attributes.get("class") or ""
    match = _LANGUAGE_CLASS.search(classes) or _SECOND_CLASS.search(classes)
    name = attributes.get("data-lang") or attributes.get("data-language") or (match and match[1])
    return name if name and name not in _NO_LANGUAGE else ""


def _collect(node: LexborNode, parts: list[str]) -> None:
    child = node.first_child
    while child is not None:
        if child.tag == "-text":
            parts.append(child.text_content or "")
        elif child.tag == "br":
            parts.append("\n")
        elif not is_hidden(child) and not is_struck(child):
            _collect(child, parts)
            if _is_line(child) and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
        child = child.next


def _is_line(node: LexborNode) -> bool:
    """Return whether the element is shown as a line of its own."""
    if node.tag in {"div", "li", "p"}:
        return True
    followed = node.next is not None and node.next.tag != "-text"
    classes = (node.attributes.get("class") or "").split()
    return followed and not _LINE_CLASSES.isdisjoint(classes)


_RENDERED = frozenset(
    {
        *("mathjax", "mathjax_display", "mathjax_svg", "mathjax_svg_display", "mathjax_chtml"),
        *("mathjax_preview", "mjx-chtml", "katex-html"),
    }
)
_WRAPPERS = frozenset({"katex", "katex-display", "mwe-math-element"})
_PICTURES = frozenset({"math", "tex", "latex", "mwe-math-fallback-image-inline"})
_DISPLAY_STYLE = re.compile(r"^\{\\(?:display|text)style\s+(.*)\}$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Formula:
    """TeX without its dollar signs; empty for a second rendering of the same formula."""

    tex: str
    display: bool

    def __str__(self) -> str:
        mark = "$$" if self.display else "$"
        return f"{mark}{self.tex}{mark}" if self.tex else ""


def formula_of(node: LexborNode) -> Formula | None:
    """Return the formula that this element shows, or none when it is no formula."""
    tag, attributes = node.tag, node.attributes
    classes = set((attributes.get("class") or "").lower().split())
    if tag == "script":
        kind = (attributes.get("type") or "").lower()
        if not kind.startswith("math/tex"):
            return None
        return Formula(_tidy(node.text()), "mode=display" in kind)
    if tag == "math":
        return Formula(_tidy(_mathml_tex(node)), attributes.get("display") == "block")
    if tag == "mjx-container" or classes & _WRAPPERS:
        return _wrapped(node, classes)
    if classes & _RENDERED:
        return Formula("", False)
    if tag == "img" and classes & _PICTURES:
        return Formula(_tidy(attributes.get("alt") or ""), False)
    return None


def _wrapped(node: LexborNode, classes: set[str]) -> Formula:
    math = node.css_first("math")
    tex = _tidy(_mathml_tex(math)) if math is not None else ""
    inside = node.attributes.get("display") in {"true", "block"}
    display = inside or "katex-display" in classes or "mwe-math-element-block" in classes
    return Formula(tex, display or (math is not None and math.attributes.get("display") == "block"))


def _tidy(tex: str) -> str:
    tex = re.sub(r"\s+", " ", tex).strip().strip("$").strip()
    styled = _DISPLAY_STYLE.match(tex)
    return styled[1].strip() if styled else tex


def _mathml_tex(math: LexborNode) -> str:
    """Return the TeX that a converter left next to its MathML, else the MathML as TeX."""
    for annotation in math.css("annotation"):
        if "tex" in (annotation.attributes.get("encoding") or "").lower():
            return annotation.text()
    return math.attributes.get("alttext") or _linear(math)


def _linear(node: LexborNode) -> str:
    parts = [_linear(child) for child in _elements(node)]
    match node.tag, parts:
        case "mfrac", [top, bottom]:
            return f"\\frac{{{top}}}{{{bottom}}}"
        case "msup" | "mover", [base, above]:
            return f"{base}^{{{above}}}"
        case "msub" | "munder", [base, below]:
            return f"{base}_{{{below}}}"
        case "msubsup" | "munderover", [base, below, above]:
            return f"{base}_{{{below}}}^{{{above}}}"
        case "mroot", [radicand, index]:
            return f"\\sqrt[{index}]{{{radicand}}}"
        case "msqrt", _:
            return f"\\sqrt{{{''.join(parts)}}}"
        case "semantics", [first, *_]:
            return first
        case "mtr", _:
            return " & ".join(parts)
        case "mtable", _:
            return " \\\\ ".join(parts)
        case (("annotation" | "annotation-xml" | "mphantom"), _):
            return ""
    return "".join(parts) if parts else " ".join(node.text().split())


def _elements(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next


_TITLES = (
    "[role=tab],[aria-controls],[aria-expanded],[data-target],[data-bs-target],[data-tab],"
    "[data-toggle],[data-bs-toggle],button[onclick],a[onclick],li[onclick],label[for]"
)
_TAB_LISTS = "[role=tablist],.tabbed-labels"
_TABS = "[role=tab],label"
_LINKS = ("aria-controls", "data-target", "data-bs-target", "data-tab", "href", "for")
_QUOTED = re.compile(r"""['"]#?([\w-]{1,80})['"]""")
_PANELS_ANCESTORS = 4
_MOST_TITLES = 2_000
_MOST_TAB_LISTS = 200


@dataclass(frozen=True, slots=True)
class PagePanels:
    """What belongs together, by the `mem_id` of the elements."""

    titles: Mapping[int, str]
    """The title of each panel that stands elsewhere than right before it."""
    tabs: frozenset[int]
    """The tabs whose titles these are."""


NO_PANELS = PagePanels({}, frozenset())


def unfolded(root: LexborNode) -> PagePanels:
    """Mark what titles and tabs below `root` unfold as seen, and return what they call it."""
    titles: dict[int, str] = {}
    tabs: set[int] = set()
    found = root.css(_TITLES)[:_MOST_TITLES]
    panels = _by_id(root) if found else {}
    for title in found:
        is_tab = title.attributes.get("role") == "tab"
        for name in _named(title):
            panel = panels.get(name)
            if panel is None or panel.mem_id == title.mem_id:
                continue
            _unfold(panel)
            if is_tab or (title.tag == "button" and not opens_something(title)):
                titles.setdefault(panel.mem_id, _text(title))
                tabs.add(title.mem_id)
        if "aria-expanded" in title.attributes and (after := _following(title)) is not None:
            _unfold(after)
    for tab_list in root.css(_TAB_LISTS)[:_MOST_TAB_LISTS]:
        found = [
            tab
            for tab in {tab.mem_id: tab for tab in tab_list.css(_TABS)}.values()
            if tab.mem_id not in tabs
        ]
        for tab, panel in zip(found, _panels_of(tab_list, len(found)), strict=False):
            titles[panel.mem_id] = _text(tab)
            tabs.add(tab.mem_id)
    return PagePanels(titles, frozenset(tabs))


def _by_id(root: LexborNode) -> Mapping[str, LexborNode]:
    return {node.attributes.get("id") or "": node for node in root.css("[id]")}


def _named(title: LexborNode) -> Iterator[str]:
    """Yield the ids that a title may unfold."""
    attributes = title.attributes
    for link in _LINKS:
        value = attributes.get(link) or ""
        if link == "href" and not value.startswith("#"):
            continue
        yield from (name.removeprefix("#") for name in value.split()[:5])
    for match in _QUOTED.finditer((attributes.get("onclick") or "")[:500]):
        yield match[1]


def _following(title: LexborNode) -> LexborNode | None:
    """Return the element after a title, or after the heading that is nothing but the title."""
    node: LexborNode | None = title
    for _ in range(_PANELS_ANCESTORS):
        if node is None:
            return None
        after = node.next
        while after is not None and not after.is_element_node:
            after = after.next
        if after is not None:
            return after
        node = node.parent
    return None


def _panels_of(tab_list: LexborNode, number: int) -> list[LexborNode]:
    """Return the panels beside a list of as many tabs; none where they do not match."""
    around = tab_list.parent
    for _ in range(_PANELS_ANCESTORS):
        if around is None or not number:
            break
        candidates = around.css("[role=tabpanel],[class]")  # one that matches both comes twice
        panels = {node.mem_id: node for node in candidates if _is_panel(node)}
        outermost = [node for node in panels.values() if not _is_inside(node, panels, around)]
        if len(outermost) >= number:
            return outermost if len(outermost) == number else []
        around = around.parent
    return []


def _is_panel(node: LexborNode) -> bool:
    if node.attributes.get("role") == "tabpanel":
        return True
    classes = (node.attributes.get("class") or "").lower().split()
    return "tab-content" not in classes and not UNFOLDABLE_CLASSES.isdisjoint(classes)


def _is_inside(node: LexborNode, panels: Container[int], around: LexborNode) -> bool:
    """Return whether a panel is within another one."""
    parent = node.parent
    while parent is not None and parent.mem_id != around.mem_id:
        if parent.mem_id in panels:
            return True
        parent = parent.parent
    return False


def _unfold(panel: LexborNode) -> None:
    panel.attrs[UNFOLDED] = ""


def _text(node: LexborNode) -> str:
    return " ".join(node.text().split())


_MAX_COLUMNS = 60
_MAX_ROW_SPAN = 200


def is_layout(table: LexborNode) -> bool:
    """Return whether a table only arranges the page: its cells hold headings, code, tables."""
    if table.attributes.get("role") in {"presentation", "none"}:
        return True
    return any(inner.mem_id != table.mem_id for inner in table.css("table,pre,h1,h2,h3,h4,h5,h6"))


def table_rows(table: LexborNode, cell_text: Callable[[LexborNode], str]) -> list[list[str]]:
    """Return the text of the cells; a cell that spans rows is repeated in each of them."""
    rows: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for tr in table.css("tr"):
        if not is_hidden(tr):
            rows.append(_row(tr, hanging, cell_text))
    return rows


def _row(
    tr: LexborNode,
    hanging: dict[int, tuple[int, str]],
    cell_text: Callable[[LexborNode], str],
) -> list[str]:
    row: list[str] = []
    for cell in _cells(tr):
        _hang(row, hanging)
        text = cell_text(cell)
        width = min(_span(cell, "colspan"), _MAX_COLUMNS - len(row))
        height = min(_span(cell, "rowspan"), _MAX_ROW_SPAN)
        for offset in range(width):
            if height > 1:
                hanging[len(row)] = (height - 1, text if offset == 0 else "")
            row.append(text if offset == 0 else "")
    _hang(row, hanging)
    return row


def _hang(row: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Fill the next columns of `row` from cells above that reach down."""
    while len(row) in hanging:
        left, text = hanging.pop(len(row))
        if left > 1:
            hanging[len(row)] = (left - 1, text)
        row.append(text)


def _cells(tr: LexborNode) -> Iterator[LexborNode]:
    child = tr.first_child
    while child is not None:
        if child.tag in {"td", "th"} and not is_hidden(child):
            yield child
        child = child.next


def _span(cell: LexborNode, name: str) -> int:
    value = (cell.attributes.get(name) or "").strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 6 else 1


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
