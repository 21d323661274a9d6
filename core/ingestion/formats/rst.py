"""Walks the tree that docutils makes of a page, and writes down its blocks."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Parser, directives, roles, states

from core.ingestion.document import (
    Block,
    BlockKind,
    BlockRole,
    Entries,
    ParsedDocument,
    counted,
    document_of,
    fenced,
    inline_code,
    lowered,
    pipe_table,
    raised,
)
from core.ingestion.formats.includes import (
    Includes,
    MarkdownFlavour,
    SourceLine,
    included_lines,
    joined,
    source_lines,
)
from core.ingestion.formats.rst_markup import DIRECTIVES, Unknown, placed, role_for, with_includes
from core.ingestion.formats.values import Values

_DEEPEST_HEADING = 6
_HIDDEN = (
    *(nodes.target, nodes.substitution_definition, nodes.pending, nodes.meta),
    *(nodes.raw, nodes.decoration, nodes.label, nodes.transition),
)
_STRUCK = frozenset({"strike", "del", "strikethrough", "struck", "line-through", "s"})
"""Roles by which pages of Sphinx strike words; a style sheet draws the line."""
_UNREADABLE = "Markup that could not be read was kept as it is written: line {line}."


def rst_blocks(
    tree: nodes.document, lines: Sequence[SourceLine], includes: Includes
) -> Iterator[Block]:
    """Yield the visible blocks of a page; what could not be read is noted in `includes`.

    Args:
        lines: what `tree` was made from; their numbers become the locators.
    """
    return _Walk(tree, lines, includes).blocks()


_SHAPES = {
    "loweralpha": "lowerLetter",
    "upperalpha": "upperLetter",
    "lowerroman": "lowerRoman",
    "upperroman": "upperRoman",
}
"""What Word calls the ways to count that reStructuredText has besides the decimal one."""


def _label(items: nodes.Element, number: int) -> str:
    """Return the number of an item as the page writes it: `(b)`, `iv.`."""
    shown = counted(number, _SHAPES.get(items.get("enumtype", ""), "decimal"))
    return f"{items.get('prefix', '')}{shown}{items.get('suffix', '.')}"


class _Walk:
    """One pass over the tree of a page."""

    def __init__(
        self, tree: nodes.document, lines: Sequence[SourceLine], includes: Includes
    ) -> None:
        self._tree, self._lines, self._includes = tree, lines, includes
        self._depth = 0
        """Of sections."""
        self._lists = 0
        self._marker = ""
        """Of the list item whose first paragraph is still to come."""
        self._term = ""
        self._entries = Entries()
        self._line = 1
        self._writers: Mapping[type[nodes.Node], Callable[..., Iterator[Block]]] = {
            nodes.section: self._section,
            nodes.bullet_list: self._list,
            nodes.enumerated_list: self._list,
            nodes.definition_list_item: self._named,
            nodes.field: self._named,
            nodes.option_list_item: self._named,
            nodes.literal_block: self._code,
            nodes.doctest_block: self._code,
            nodes.math_block: self._formula,
            nodes.table: self._table,
            nodes.image: self._image,
            nodes.caption: self._caption,
            nodes.line_block: self._verse,
            nodes.system_message: self._message,
        }

    def blocks(self) -> Iterator[Block]:
        hidden = (nodes.comment, *_HIDDEN)
        children = list(self._tree.children)
        first = next((at for at, one in enumerate(children) if not isinstance(one, hidden)), 0)
        if children and isinstance(children[first], nodes.field_list):
            del children[first]  # what Sphinx is to know of the page
        for child in children:
            yield from self._visit(child)

    def _visit(self, node: nodes.Node) -> Iterator[Block]:
        if isinstance(node, nodes.comment):
            self._leave_out("comment", node)
            return
        if isinstance(node, _HIDDEN):
            return
        if node.line:
            self._line = node.line
        writer = self._writers.get(type(node))
        if writer is not None:
            yield from writer(node)
        elif isinstance(node, nodes.Admonition):
            yield from self._box(node)
        elif isinstance(node, nodes.TextElement):
            yield from self._paragraph(node)
        elif isinstance(node, nodes.topic) and "contents" in node["classes"]:
            return
        else:
            yield from self._children(node)

    def _children(self, node: nodes.Node) -> Iterator[Block]:
        for child in node.children:
            yield from self._visit(child)

    def _section(self, node: nodes.section) -> Iterator[Block]:
        if "system-messages" in node["classes"]:
            return
        self._depth += 1
        title, *rest = node.children
        level = min(self._depth, _DEEPEST_HEADING)
        anchor = node["ids"][0] if node["ids"] else None
        self._line = title.line or node.line or self._line  # that of the rule under the title
        place = self._locator(self._line - 1, self._line)
        yield Block(BlockKind.HEADING, self._words(title), level, anchor, place)
        for child in rest:
            yield from self._visit(child)
        self._depth -= 1

    def _list(self, node: nodes.Element) -> Iterator[Block]:
        self._lists += 1
        number = int(node.get("start", 1))
        for item in node.children:
            is_ordered = isinstance(node, nodes.enumerated_list)
            self._marker = f"{_label(node, number)} " if is_ordered else "- "
            number += 1
            yield from self._children(item)
        self._marker = ""
        self._lists -= 1

    def _named(self, node: nodes.Element) -> Iterator[Block]:
        """Write a term, field or option and what is said of it."""
        names = [child for child in node.children if not _is_body(child)]
        self._term = ", ".join(filter(None, map(self._words, names)))
        self._entries.begin()
        for body in filter(_is_body, node.children):
            if body.children and not isinstance(body.children[0], nodes.paragraph):
                yield from self._lone_term(node)
            yield from self._children(body)
        yield from self._lone_term(node)
        self._entries.end()

    def _lone_term(self, node: nodes.Element) -> Iterator[Block]:
        """Write the term by itself where no words of its definition are to follow it."""
        if self._term:
            yield self._block(BlockKind.PARAGRAPH, "", node, self._lists)

    def _paragraph(self, node: nodes.TextElement) -> Iterator[Block]:
        text = self._words(node)
        if not text:
            return
        if self._marker:
            yield self._block(BlockKind.LIST_ITEM, text, node, self._lists)
        else:
            yield self._block(BlockKind.PARAGRAPH, text, node, self._lists)

    def _verse(self, node: nodes.line_block) -> Iterator[Block]:
        lines = (self._words(line) for line in node.findall(nodes.line))
        yield self._block(BlockKind.PARAGRAPH, "\n".join(filter(None, lines)), node, self._lists)

    def _box(self, node: nodes.Node) -> Iterator[Block]:
        if not isinstance(node, nodes.admonition):
            yield self._block(BlockKind.PARAGRAPH, type(node).__name__.capitalize(), None)
        yield from self._children(node)

    def _code(self, node: nodes.Element) -> Iterator[Block]:
        languages = [name for name in node["classes"] if name not in {"code", "highlight"}]
        language = "python" if isinstance(node, nodes.doctest_block) else "".join(languages[:1])
        yield self._block(BlockKind.CODE, fenced(node.astext(), language), node)

    def _formula(self, node: nodes.Element) -> Iterator[Block]:
        yield self._block(BlockKind.FORMULA, f"$$\n{node.astext().strip()}\n$$", node)

    def _leave_out(self, kind: str, node: nodes.Node) -> None:
        line = self._locator(node.line or self._line, 0)["line_start"]
        self._includes.left_out(kind, line, node.astext())

    def _image(self, node: nodes.Element) -> Iterator[Block]:
        self._includes.left_out("picture", self._locator(self._line, 0)["line_start"])
        block = self._block(BlockKind.PARAGRAPH, str(node.get("alt") or ""), None)
        yield replace(block, role=BlockRole.CAPTION)

    def _caption(self, node: nodes.Element) -> Iterator[Block]:
        block = self._block(BlockKind.PARAGRAPH, self._words(node), node)
        yield replace(block, role=BlockRole.CAPTION)

    def _table(self, node: nodes.Element) -> Iterator[Block]:
        for title in node.children:
            if isinstance(title, nodes.title):
                yield from self._caption(title)
        rows: list[list[str]] = []
        hanging: dict[tuple[int, int], str] = {}
        for number, row in enumerate(node.findall(nodes.row)):
            rows.append([])
            for entry in row.findall(nodes.entry):
                self._hang(rows[-1], number, hanging)
                text = " ".join(map(self._words, _texts_of(entry)))
                column, width = len(rows[-1]), int(entry.get("morecols", 0)) + 1
                for below in range(1, int(entry.get("morerows", 0)) + 1):
                    for offset in range(width):
                        hanging[number + below, column + offset] = "" if offset else text
                rows[-1] += [text, *[""] * (width - 1)]
            self._hang(rows[-1], number, hanging)
        yield self._block(BlockKind.TABLE, pipe_table(rows), None)

    @staticmethod
    def _hang(row: list[str], number: int, hanging: Mapping[tuple[int, int], str]) -> None:
        """Fill the next columns of a row with the cells above that reach down to it."""
        while (text := hanging.get((number, len(row)))) is not None:
            row.append(text)

    def _message(self, node: nodes.system_message) -> Iterator[Block]:
        """Keep what docutils could not read; the complaint about it goes to the notes."""
        line = int(node.get("line") or self._line)
        for kept in node.findall(nodes.literal_block):
            place = self._locator(line, line)
            self._includes.warn(_UNREADABLE.format(line=place["line_start"]))
            yield self._block(BlockKind.CODE, fenced(kept.astext()), None)

    def _block(self, kind: BlockKind, text: str, node: nodes.Node | None, level: int = 0) -> Block:
        if self._term and kind is BlockKind.PARAGRAPH:
            text, self._term = f"{self._term}: {text}".strip(), ""
        if self._marker and kind is not BlockKind.HEADING:
            if kind in {BlockKind.PARAGRAPH, BlockKind.LIST_ITEM} and text:
                kind, level, text = BlockKind.LIST_ITEM, self._lists, self._marker + text
            self._marker = ""
        height = getattr(node, "rawsource", "").count("\n") if node is not None else 0
        place = self._locator(self._line, self._line + height)
        return Block(kind, text, level, locator=place, entry=self._entries.take())

    def _locator(self, start: int, end: int) -> dict[str, int]:
        first, last = (min(max(line, 1), len(self._lines)) - 1 for line in (start, end))
        numbers = self._lines[first].number, self._lines[last].number
        return {"line_start": numbers[0], "line_end": max(numbers)}

    def _words(self, node: nodes.Node) -> str:
        """Return the words of inline nodes; code keeps backticks, formulas dollar signs."""
        return " ".join(self._inline(node).split())

    def _inline(self, node: nodes.Node) -> str:
        match node:
            case nodes.Text():
                return node.astext()
            case nodes.literal():
                return inline_code(node.astext())
            case nodes.option_group():
                return inline_code(", ".join(map(self._inline, node.children)))
            case nodes.option_argument():
                return node.astext()  # with the blank or sign before it
            case nodes.math():
                return f"${node.astext()}$"
            case nodes.superscript() | nodes.subscript():
                shift = raised if isinstance(node, nodes.superscript) else lowered
                return shift("".join(map(self._inline, node.children)))
            case nodes.inline() if _STRUCK & {*node["classes"]}:
                self._leave_out("struck text", node)
                return ""
            case nodes.substitution_reference() | nodes.problematic():
                self._leave_out("value that is not known", nodes.Text(""))
                return node.rawsource or node.astext()
            case nodes.image():
                self._includes.left_out("picture", self._locator(self._line, 0)["line_start"])
                return str(node.get("alt") or "")
            case nodes.footnote_reference() | nodes.citation_reference():
                return ""
            case nodes.inline() if "glossator_target" in node:
                name = self._titled(node["glossator_target"]) or _plain(node.astext())
                return placed(node["glossator_title"], name)
            case nodes.raw():
                return " "
            case nodes.system_message() | nodes.target() | nodes.comment():
                return node.astext() if isinstance(node, nodes.target) else ""
        return "".join(map(self._inline, node.children))

    def _titled(self, name: str) -> str | None:
        """Return the title of the section of this page that has a label, if it is one."""
        section = self._tree.ids.get(self._tree.nameids.get(name) or "")
        is_section = isinstance(section, nodes.section) and section.children
        return section.children[0].astext() if is_section and section is not None else None


def _plain(label: str) -> str:
    """Return a label or the path of a page as words."""
    return re.sub(r"[-_:/]+", " ", label).strip() if " " not in label else label


def _is_body(node: nodes.Node) -> bool:
    return isinstance(node, nodes.definition | nodes.field_body | nodes.description)


def _texts_of(entry: nodes.Node) -> Iterator[nodes.Node]:
    """Yield the elements of a cell that hold its words."""
    return entry.findall(lambda node: isinstance(node, nodes.TextElement) and _is_outer(node))


def _is_outer(node: nodes.Node) -> bool:
    return not isinstance(node, nodes.Inline)


_SETTINGS: dict[str, Any] = {
    "_disable_config": True,
    "auto_id_prefix": "id",  # Sphinx numbers what has no name of its own so
    "docinfo_xform": False,
    "doctitle_xform": False,
    "file_insertion_enabled": False,
    "halt_level": 5,
    "line_length_limit": 100_000,
    "raw_enabled": False,
    "report_level": 3,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "traceback": True,
    "warning_stream": False,
}


def parse_rst(text: str, *, read_include: Callable[[str], str | None]) -> ParsedDocument:
    """Return a page as blocks; directives and roles of Sphinx are known, others keep their text.

    Nothing is opened, run or taken over raw: included files come from `read_include` alone.

    Args:
        text: the page.
        read_include: gives the text of a file by its path relative to the page, or none.
    """
    includes = Includes(read_include)
    values = Values(MarkdownFlavour.MYST, {}, read_include)
    lines = list(with_includes(source_lines(text.expandtabs(8)), includes))
    lines = [*_from_settings(values, text, "rst_prolog"), *lines]
    lines += _from_settings(values, text, "rst_epilog")
    ours = {
        "glossator_includes": includes,
        "glossator_lines": lines,
        "glossator_settings": values.program,
    }
    with _ours():
        tree = publish_doctree(
            joined(lines),
            parser=Parser(inliner=_Inliner()),
            settings_overrides={**_SETTINGS, **ours},
        )
    return document_of(
        None,
        list(rst_blocks(tree, lines, includes)),
        warnings=includes.warnings,
        left_out=includes.omissions,
    )


class _End:
    """Finds the end of a kind of markup, and looks no further where the rest of a text has none."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.without = 0
        """So many characters at the end of the text that is parsed have none."""

    def search(self, rest: str) -> re.Match[str] | None:
        if len(rest) <= self.without:
            return None
        found = self._pattern.search(rest)
        self.without = len(rest) if found is None else 0
        return found


class _Inliner(states.Inliner):
    """Parses a paragraph in time that grows with its length.

    docutils looks through the rest of a paragraph at each start of a markup that has no end.
    """

    _KINDS = (
        *("emphasis", "strong", "literal", "target", "substitution_ref"),
        "interpreted_or_phrase_ref",
    )

    def init_customizations(self, settings: Any) -> None:
        super().init_customizations(settings)
        self._ends = {name: _End(getattr(self.patterns, name)) for name in self._KINDS}
        for name, end in self._ends.items():
            setattr(self.patterns, name, end)

    def parse(self, text: str, lineno: int, memo: Any, parent: nodes.Element) -> Any:
        before = {name: end.without for name, end in self._ends.items()}
        for end in self._ends.values():
            end.without = 0
        try:
            return super().parse(text, lineno, memo, parent)
        finally:
            for name, end in self._ends.items():
                end.without = before[name]


for _name, _part in vars(states.Inliner).items():
    if isinstance(_part, str) and not _name.startswith("__"):
        setattr(_Inliner, _name, _part)  # docutils looks for parts of its patterns in the class


def _from_settings(values: Values, text: str, name: str) -> list[SourceLine]:
    """Return what `conf.py` puts before or after each page; with the names that Sphinx knows."""
    written = values.program.get(name) if "|" in text or ":" in text else None
    added = written if isinstance(written, str) else ""
    known = ("release", "version", "project", "author", "copyright")
    for named in known if name == "rst_epilog" else ():
        value = values.program.get(named)
        if named == "version" and value is None:
            value = values.program.get("release")
        if value and f"|{named}|" in text and f".. |{named}|" not in f"{text}{added}":
            added += f"\n\n.. |{named}| replace:: {value}\n"
    number = 1 if name == "rst_prolog" else text.count("\n") + 1
    return included_lines(f"\n\n{added}\n\n", number) if added.strip() else []


@contextmanager
def _ours() -> Iterator[None]:
    """Let docutils find our directives and roles before its own, as Sphinx does."""
    of_docutils = directives.directive, roles.role

    def directive(name: str, language: Any, document: nodes.document) -> tuple[Any, list[Any]]:
        plain = name.lower().rpartition(":")[2]
        if ours := DIRECTIVES.get(name.lower()) or DIRECTIVES.get(plain):
            return ours, []
        found, _ = of_docutils[0](name, language, document)
        return found or Unknown, []

    def role(name: str, language: Any, line: int, reporter: Any) -> tuple[Any, list[Any]]:
        if ours := role_for(name):
            return ours, []
        found, _ = of_docutils[1](name, language, line, reporter)
        return found or role_for("any"), []

    directives.directive, roles.role = directive, role  # type: ignore[assignment]
    try:
        yield
    finally:
        directives.directive, roles.role = of_docutils
