"""Walks the nodes that pylatexenc makes of a document, and writes down its blocks."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from pylatexenc.latexwalker import (
    LatexCharsNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexMathNode,
    LatexNode,
    LatexSpecialsNode,
)

from core.ingestion.document import (
    Block,
    BlockKind,
    BlockRole,
    Entries,
    ParsedDocument,
    document_of,
    fenced,
    pipe_table,
)
from core.ingestion.formats.includes import Includes, source_lines
from core.ingestion.formats.latex_conditions import group
from core.ingestion.formats.latex_source import CODE_MACRO, LatexSource, box_title, latex_source
from core.ingestion.formats.latex_words import LatexWords, arguments

_COLUMNS = re.compile(r"\A\s*(?:\[[^\]]*\]\s*)?(?:\{(?:[^{}]|\{[^{}]*\})*\}\s*){1,2}")
_PARTIAL_RULES = re.compile(
    r"\\c(?:mid)?(?:rule|line)\*?\s*(?:\[[^\]]*\])?(?:\([^)]*\))?\s*\{[^{}]*\}"
)
_AGAIN = re.compile(r"\\endfirsthead.*?\\endhead|\\endfoot.*?\\endlastfoot", re.DOTALL)
"""The header and foot of the other pages that a long table takes."""
_MOST_COLUMNS = 60
_RULES = frozenset(
    {
        *("hline", "toprule", "midrule", "bottomrule", "endhead", "endfirsthead", "endfoot"),
        "endlastfoot",
    }
)


def table_rows(body: str, words: LatexWords) -> list[list[str]]:
    """Return the words of each cell of what stands between `\\begin` and `\\end` of a table.

    A cell over several columns is followed by empty ones, one over several rows is repeated.
    """
    plain = _AGAIN.sub("", _PARTIAL_RULES.sub("", _COLUMNS.sub("", body, count=1)))
    rows: list[list[str]] = []
    tall: dict[int, tuple[int, str]] = {}
    for cells in _rows(words.parsed(plain)):
        rows.append([])
        for cell in cells:
            column, text = len(rows[-1]), words.of(cell)
            left, above = tall.pop(column, (0, ""))
            if not text and left:
                text = above
                tall[column] = left - 1, above
            elif (height := _number(cell, "multirow")) > 1:
                tall[column] = height - 1, text
            rows[-1] += [text, *[""] * (_number(cell, "multicolumn") - 1)]
    return rows


def _number(cell: Sequence[LatexNode], name: str) -> int:
    """Return how many columns or rows a cell stands in."""
    for one in (one for one in cell if getattr(one, "macroname", "") == name):
        number = "".join(part.latex_verbatim() for part in arguments(one)[:1] if part).strip("{}")
        return min(int(number), _MOST_COLUMNS) if number.isdecimal() else 1
    return 1


def _rows(nodes: Sequence[LatexNode]) -> Iterator[list[list[LatexNode]]]:
    row: list[list[LatexNode]] = [[]]
    for node in nodes:
        if isinstance(node, LatexMacroNode) and node.macroname in {"\\", "tabularnewline"}:
            yield row
            row = [[]]
        elif isinstance(node, LatexSpecialsNode) and node.specials_chars == "&":
            row.append([])
        elif not (isinstance(node, LatexMacroNode) and node.macroname in _RULES):
            row[-1].append(node)
    yield row


_SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_FRAME = "frametitle"
_FORMULAS = frozenset(
    {
        *("equation", "displaymath", "align", "gather", "multline", "eqnarray", "alignat", "math"),
        *("flalign", "dmath"),
    }
)
_ONE_LINE = frozenset({"equation", "displaymath", "math", "dmath"})
_ORDERED = frozenset({"enumerate", "compactenum"})
_LISTS = _ORDERED | {"itemize", "description", "compactitem", "inparaenum", "asparaenum"}
_TABLES = frozenset({"tabular", "tabularx", "tabulary", "longtable", "supertabular", "array"})
_DRAWINGS = frozenset({"tikzpicture", "picture", "pspicture", "axis", "pgfpicture", "forest"})
_ITEMS = frozenset({"item", "question", "choice", "CorrectChoice", "subpart", "subsubpart"})
_EXAM_LISTS = {
    "questions": "1.",
    "parts": "(a)",
    "subparts": "i.",
    "choices": "A.",
    "checkboxes": "",
}
_NESTED = ("1.", "(a)", "i.", "A.")
"""How LaTeX numbers lists in lists."""
_COUNTER = re.compile(r"\\(arabic|alph|Alph|roman|Roman)\s*\*")
_LABELLED = re.compile(r"label\s*=\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|([^,\]]*))")
_COUNTERS = frozenset({"setcounter", "addtocounter"})
_START = re.compile(r"start\s*=\s*(\d+)")
_GLOSSARIES = frozenset(
    {
        *("printglossary", "printglossaries", "printacronyms", "printnoidxglossary"),
        "printnoidxglossaries",
    }
)
_TITLES = {
    **{name: name.capitalize() for name in ("theorem", "lemma", "corollary", "proposition")},
    **{name: name.capitalize() for name in ("definition", "example", "exercise", "remark")},
    **{name: name.capitalize() for name in ("proof", "problem", "solution", "abstract", "note")},
}
_BLOCKS = frozenset({"block", "alertblock", "exampleblock"})
_OPTION = re.compile(r"\s*\[([^\]]{0,200})\]")
_LABEL = re.compile(r"\\label\s*\{[^{}]*\}")
_NEXT_LABEL = re.compile(r"\s{0,9}\\label\s?\{([^{}]{1,200})\}")
_BREAK = re.compile(r"\n[ \t]*\n")


def latex_blocks(source: LatexSource, includes: Includes) -> tuple[str | None, list[Block]]:
    """Return the title and the visible blocks of a document."""
    walk = _Walk(source, includes)
    walk.run()
    return walk.title, walk.blocks


class _Walk:
    """One pass over the nodes of a document."""

    def __init__(self, source: LatexSource, includes: Includes) -> None:
        self.title: str | None = None
        self.blocks: list[Block] = []
        self._source, self._includes = source, includes
        self._words = LatexWords(source, includes)
        self._words.line = lambda: self._place(self._at, self._at)["line_start"]
        self._text = source.text
        self._ends = [found.start() for found in re.finditer("\n", self._text)]
        self._buffer: list[tuple[LatexNode, int]] = []
        self._lists, self._ordered, self._marker = 0, 0, ""
        self._last_numbers: dict[int, int] = {}
        """Of the ordered lists that ended, by how deep they stood."""
        self._entries = Entries()
        self._at = 0
        used = [name for name in (*_SECTIONS, _FRAME) if f"\\{name}" in self._text]
        self._levels = {name: min(level, 6) for level, name in enumerate(used, start=1)}

    def run(self) -> None:
        nodes = self._words.parsed(self._text)
        before = len(self._includes.omissions)
        for node in nodes:
            if isinstance(node, LatexMacroNode) and node.macroname == "title":
                self.title = self._words.of(arguments(node)[-1:]) or None
        self._note_labels(nodes)
        del self._includes.omissions[before:]  # those of headings, which are read again
        bodies = [node for node in nodes if _name(node) == "document"]
        self._nodes(bodies[0].nodelist if bodies else nodes)
        self._flush()

    def _note_labels(self, nodes: Sequence[LatexNode]) -> None:
        """Note what the sections with a label are called, for references to them."""
        title = ""
        for node in _flattened(nodes):
            if _name(node) in self._levels:
                title = self._words.of(arguments(node)[-1:])
            elif _name(node) == "label" and title:
                label = self._words.of(arguments(node))
                self._words.titles.setdefault(label, title)
                title = ""
            elif not (isinstance(node, LatexCharsNode) and node.chars.isspace()):
                title = ""
        self._words.notes.clear()
        self._words.forget_terms()

    def _nodes(self, nodes: Sequence[LatexNode | None]) -> None:
        for node in filter(None, nodes):
            if not self._words.is_expanding:
                self._at = node.pos
            if isinstance(node, LatexMacroNode):
                self._macro(node)
            elif isinstance(node, LatexEnvironmentNode):
                self._environment(node)
            elif isinstance(node, LatexMathNode) and node.displaytype == "display":
                self._add(BlockKind.FORMULA, _formula(_inside(node)))
            elif isinstance(node, LatexGroupNode) and _holds_blocks(node):
                self._nodes(node.nodelist)
            elif isinstance(node, LatexSpecialsNode) and "\n" in node.specials_chars:
                self._flush()
            elif isinstance(node, LatexCharsNode):
                self._characters(node)
            else:
                self._keep(node)

    def _characters(self, node: LatexCharsNode) -> None:
        start = 0
        for gap in [*_BREAK.finditer(node.chars), None]:
            end = gap.start() if gap else len(node.chars)
            if piece := node.chars[start:end]:
                self._keep(_characters(node, piece, start))
            if gap:
                self._flush()
                start = gap.end()

    def _macro(self, node: LatexMacroNode) -> None:
        name, given = node.macroname, arguments(node)
        if name in self._levels and name not in self._words.macros:
            self._heading(node, self._levels[name])
        elif name in {"par", "column", "newpage", "clearpage"}:
            self._flush()
        elif name in {"framesubtitle", "acro"} and name not in self._words.macros:
            shown = self._words.of(given[-1:])
            if name == "acro":
                label = self._words.of([next((one for one in given[1:] if one), given[0])])
                shown = f"{self._words.of(_bracketed(given)) or label}: {shown}"
            self._add(BlockKind.PARAGRAPH, shown)
        elif name in _GLOSSARIES:
            self._flush()
            for entry in self._words.terms():
                self._entries.begin()
                self._add(BlockKind.PARAGRAPH, entry)
            self._entries.end()
        elif name == CODE_MACRO:
            number = self._words.of(given)
            code = self._source.codes[int(number)] if number.isdecimal() else None
            self._add(BlockKind.CODE, fenced(code.text, code.language) if code else "")
        elif name == "caption":
            self._add(BlockKind.PARAGRAPH, self._words.of(given[-1:]), BlockRole.CAPTION)
        elif name == "bibitem":
            self._flush()
        elif name in self._words.macros:
            with self._words.expanded(node) as nodes:
                self._nodes(nodes)
        else:
            self._keep(node)

    def _heading(self, node: LatexMacroNode, level: int) -> None:
        self._flush()
        text = self._words.of(arguments(node)[-1:])
        end = node.pos + node.len
        place = self._place(self._at, self._at if self._words.is_expanding else end)
        label = None if self._words.is_expanding else _NEXT_LABEL.match(self._text, end)
        anchor = label[1] if label else None
        self.blocks.append(Block(BlockKind.HEADING, text, level, anchor, place))

    def _environment(self, node: LatexEnvironmentNode) -> None:
        name = node.environmentname.removesuffix("*")
        if name in _FORMULAS:
            inner = _LABEL.sub("", _inside(node)).strip()
            whole = inner if name in _ONE_LINE else f"\\begin{{{name}}}\n{inner}\n\\end{{{name}}}"
            self._add(BlockKind.FORMULA, _formula(whole))
        elif name in _LISTS or name in _EXAM_LISTS:
            self._list(node, name)
        elif name in _TABLES:
            body = _inside(node)
            if (at := body.find("\\caption{")) >= 0 and (title := group(body, at + 8)):
                words = self._words.of(self._words.parsed(title[0]))
                self._add(BlockKind.PARAGRAPH, words, BlockRole.CAPTION)
                body = body[:at] + body[title[1] :].lstrip().removeprefix("\\\\")
            self._add(BlockKind.TABLE, pipe_table(table_rows(body, self._words)))
        elif name in _DRAWINGS:
            self._includes.left_out("drawing", self._words.line(), self._words.drawn(node))
        elif name == "thebibliography":
            self._nodes(node.nodelist[1:])  # after the width of its numbers
        else:
            self._flush()
            self._box(node, name)
            self._flush()

    def _box(self, node: LatexEnvironmentNode, name: str) -> None:
        """Write an environment with its title, where it is of a kind that shows one."""
        body = list(node.nodelist)
        title = self._source.defined.theorems.get(name) or _TITLES.get(name)
        given = [one for one in arguments(node) if one is not None]
        option = self._words.of(_bracketed(given))
        if name in _BLOCKS and given:
            self._add(BlockKind.PARAGRAPH, self._words.of(given[-1:]))
        if not title and (named := box_title(_option_of(node))):
            self._add(BlockKind.PARAGRAPH, self._words.of(self._words.parsed(named)))
        first = body[0] if body else None
        if isinstance(first, LatexCharsNode) and (found := _OPTION.match(first.chars)):
            option = option or self._words.of(self._words.parsed(found[1]))
            if not title and (named := box_title(found[1])):
                self._add(BlockKind.PARAGRAPH, self._words.of(self._words.parsed(named)))
            body[0] = _characters(first, first.chars[found.end() :], found.end())
            first = body[1] if len(body) > 1 and not body[0].chars.strip() else body[0]
        if name == "frame" and isinstance(first, LatexGroupNode):
            level = min(max(self._levels.values(), default=0) + 1, 6)
            text, place = self._words.of([first]), self._place(self._at, self._at)
            self.blocks.append(Block(BlockKind.HEADING, text, level, None, place))
            body.remove(first)
            after = next((one for one in body if getattr(one, "chars", "x").strip()), None)
            if isinstance(after, LatexGroupNode):  # its subtitle
                self._add(BlockKind.PARAGRAPH, self._words.of([after]))
                body.remove(after)
        if title:
            self._add(BlockKind.PARAGRAPH, f"{title} ({option})" if option else title)
        self._nodes(body)

    def _list(self, node: LatexEnvironmentNode, kind: str) -> None:
        self._flush()
        self._lone_term(self._at)
        self._lists += 1
        option = _option_of(node)
        is_ordered = kind in _ORDERED
        self._ordered += is_ordered
        pattern = _EXAM_LISTS.get(kind) or (
            _NESTED[min(self._ordered, 4) - 1] if is_ordered else ""
        )
        label = _label_pattern(option) if is_ordered else ""
        start = _START.search(option)
        number = int(start[1]) - 1 if start else 0
        if is_ordered and "resume" in option:
            number = self._last_numbers.get(self._ordered, 0)
        for one in node.nodelist:
            name = _name(one)
            if name in _ITEMS:
                self._flush()
                self._lone_term(self._at)
                number += not (is_ordered and _bracketed(arguments(one)))
                self._marker = self._item(one, label or pattern, number, is_ordered)
                if kind == "description":
                    self._entries.begin()
            elif name in _COUNTERS and (given := self._words.of(arguments(one)[-1:])).isdecimal():
                number = int(given) + (number if name == "addtocounter" else 0)
            else:
                self._nodes([one])
        self._flush()
        self._lone_term(self._at)
        self._marker = ""
        if kind == "description":
            self._entries.end()
        self._lists -= 1
        if is_ordered:
            self._last_numbers[self._ordered] = number
            self._ordered -= 1

    def _item(self, node: LatexNode, pattern: str, number: int, is_ordered: bool) -> str:
        """Return what stands before an item: its number, its bullet, or what it says itself."""
        given = [one for one in arguments(node) if one is not None]
        named = self._words.of(_bracketed(given)) or self._words.of(given[:1])
        if not is_ordered or not pattern:
            if pattern:
                points = f"({named} points) " if named.isdecimal() else ""
                return f"{_numbered(pattern, number)} {points}"
            return f"- {named.rstrip(':')}: " if named else "- "
        return f"{named or self._words.of(self._words.parsed(_numbered(pattern, number)))} "

    def _keep(self, node: LatexNode) -> None:
        """Put inline text aside until its paragraph ends, with the place where it stands."""
        blanks = len(node.chars) - len(node.chars.lstrip()) if hasattr(node, "chars") else 0
        self._buffer.append((node, self._at if self._words.is_expanding else node.pos + blanks))

    def _flush(self) -> None:
        kept, self._buffer = self._buffer, []
        before, self._at = self._at, kept[0][1] if kept else self._at
        if kept and (text := self._words.of([node for node, _ in kept])):
            shown = (at for node, at in kept if not getattr(node, "chars", "x").isspace())
            self._write(BlockKind.PARAGRAPH, text, next(shown), kept[-1][1])
        self._at = before
        notes, self._words.notes = self._words.notes, []
        for note in notes:
            self._write(BlockKind.PARAGRAPH, note, self._at, self._at)

    def _add(self, kind: BlockKind, text: str, role: BlockRole = BlockRole.TEXT) -> None:
        self._flush()
        if text:
            self._write(kind, text, self._at, self._at, role)

    def _write(
        self, kind: BlockKind, text: str, start: int, end: int, role: BlockRole = BlockRole.TEXT
    ) -> None:
        if kind is not BlockKind.PARAGRAPH:
            self._lone_term(start)
        level = self._lists if kind is BlockKind.PARAGRAPH else 0
        if self._marker and kind is BlockKind.PARAGRAPH:
            kind, text, self._marker = BlockKind.LIST_ITEM, (self._marker + text).rstrip(), ""
        if self._words.is_expanding:
            start = end = self._at
        place, entry = self._place(start, end), self._entries.take()
        self.blocks.append(Block(kind, text, level, None, place, role, entry=entry))

    def _lone_term(self, start: int) -> None:
        """Write the term of an item by itself where no words of the item are to follow it."""
        if self._marker.endswith(": "):
            self._write(BlockKind.PARAGRAPH, "", start, start)

    def _place(self, start: int, end: int) -> dict[str, int]:
        lines = self._source.lines
        first, last = (bisect_right(self._ends, at - 1) for at in (start, max(start, end)))
        numbers = lines[first].number, lines[last].number
        return {"line_start": numbers[0], "line_end": max(numbers)}


def _label_pattern(option: str) -> str:
    """Return how the items of a list are numbered where its options say so."""
    if found := _LABELLED.search(option):
        label = (found[1] or found[2] or "").strip()
        return _COUNTER.sub(lambda counter: _SHAPES[counter[1]], label)
    shape = re.fullmatch(r"([^\w\\=,<]*(?:[A-Za-z]{2,} )?)([1aAiI])([^\w\\=,>]*)", option.strip())
    return option.strip() if shape else ""


_SHAPES = {"arabic": "1", "alph": "a", "Alph": "A", "roman": "i", "Roman": "I"}


def _numbered(pattern: str, number: int) -> str:
    """Return a number as a pattern such as `(a)` or `Step 1:` writes it."""
    shapes = {
        "1": str(number),
        "a": chr(ord("a") + (number - 1) % 26),
        "A": chr(ord("A") + (number - 1) % 26),
        "i": _roman(number).lower(),
        "I": _roman(number),
    }
    return re.sub(
        r"(?<![A-Za-z\\{])[1aAiI](?![A-Za-z])", lambda shape: shapes[shape[0]], pattern, count=1
    )


def _roman(number: int) -> str:
    parts = (("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1))
    text = ""
    for sign, value in parts:
        text, number = text + sign * (number // value), number % value
    return text


def _option_of(node: LatexEnvironmentNode) -> str:
    """Return the source of what stands in brackets after the name of an environment."""
    for one in arguments(node):
        if isinstance(one, LatexGroupNode) and one.delimiters[0] == "[":
            return _inside(one)
    first = node.nodelist[0] if node.nodelist else None
    found = _OPTION.match(first.chars) if isinstance(first, LatexCharsNode) else None
    return found[1] if found else ""


def _name(node: LatexNode | None) -> str:
    if isinstance(node, LatexMacroNode):
        return str(node.macroname)
    return str(node.environmentname) if isinstance(node, LatexEnvironmentNode) else ""


def _flattened(nodes: Sequence[LatexNode]) -> Iterator[LatexNode]:
    """Yield the nodes and those in environments, in order."""
    for node in nodes:
        yield node
        if isinstance(node, LatexEnvironmentNode):
            yield from _flattened(node.nodelist)


def _inside(node: LatexNode) -> str:
    return "".join(part.latex_verbatim() for part in node.nodelist)


def _formula(body: str) -> str:
    return f"$$\n{_LABEL.sub('', body).strip()}\n$$" if body.strip() else ""


def _holds_blocks(node: LatexGroupNode) -> bool:
    return any(
        isinstance(one, LatexEnvironmentNode | LatexSpecialsNode)
        or "\n\n" in getattr(one, "chars", "")
        for one in node.nodelist
    )


def _characters(node: LatexCharsNode, piece: str, start: int) -> LatexCharsNode:
    """Return a part of a run of characters."""
    return LatexCharsNode(parsing_state=node.parsing_state, chars=piece, pos=node.pos + start)


def _bracketed(given: Sequence[LatexNode | None]) -> Sequence[LatexNode]:
    """Return what stands in the brackets of an item."""
    groups = (one for one in given if isinstance(one, LatexGroupNode))
    return [part for one in groups if one.delimiters[0] == "[" for part in one.nodelist]


def parse_latex(text: str, *, read_include: Callable[[str], str | None]) -> ParsedDocument:
    r"""Return a document as blocks, with the files that it includes.

    Own macros are replaced in the text, and stay in formulas. Nothing is run: no `\write`, no
    `\catcode`, no package. Commands that nothing here knows keep the words of their arguments.

    Args:
        text: a document, or a part of one without its preamble.
        read_include: gives the text of a file by its path relative to the document, or none.
    """
    includes = Includes(read_include)
    source = latex_source(source_lines(text), includes)
    title, blocks = latex_blocks(source, includes)
    return document_of(title, blocks, warnings=includes.warnings, left_out=includes.omissions)
