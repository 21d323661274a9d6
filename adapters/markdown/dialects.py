"""Turns an answer's Markdown into a platform's dialect of it, built again from what it means."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markdown_it.tree import SyntaxTreeNode

from adapters.markdown.tables import drawn, is_wide
from adapters.markdown.visible import visible, without_controls
from core.markdown.code import code_in
from core.markdown.locating import CodeKind
from core.markdown.parser import parser
from core.markdown.writing import one_line

_RULE = "─" * 20
_GAP = "\u200b"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one platform writes what Markdown means."""

    marks: Mapping[str, str]
    """What stands around `em`, `strong` and `s`."""
    deepest_heading: int
    """The level up to which headings are headings; deeper ones are bold."""
    bullet: str
    escape: Callable[[str], str]
    """Returns words that are shown as they are, notify no one and link nowhere."""
    disarm: Callable[[str], str]
    """The same where no Markdown is shown."""
    code_span: Callable[[str], str]
    fence: Callable[[str, str], str]
    """Returns a block of code with its language."""


@dataclass(frozen=True, slots=True)
class _Place:
    """What surrounds a part of the text."""

    dialect: Dialect
    marks: frozenset[str] = frozenset()
    nested: bool = False
    """Inside a list or a quote, where platforms know no quotes and headings."""

    @property
    def bold(self) -> "_Place":
        """The same place in bold."""
        return replace(self, marks=self.marks | {self.dialect.marks["strong"]})


def rendered(markdown: str, dialect: Dialect) -> str:
    """Return the text in a dialect: no one is notified, nothing is a link.

    Links become their labels, images their descriptions, HTML is shown as it is written.
    Tables become aligned characters, or lists where they are too wide.
    """
    tree = SyntaxTreeNode(parser().parse(without_controls(markdown)))
    return _blocks(tree.children, _Place(dialect))


def as_written(text: str, dialect: Dialect) -> str:
    """Return words of a book or a reader in a dialect: their code is code, all else is literal."""
    shown, position = "", 0
    for code in code_in(text):
        shown += dialect.escape(text[position : code.start])
        if code.kind is CodeKind.SPAN:
            shown += dialect.code_span(code.content)
        else:
            feed = "\n" if shown and not shown.endswith("\n") else ""
            shown += f"{feed}{dialect.fence(code.content, code.info)}"
        position = code.end
    return shown + dialect.escape(text[position:])


def cells(table: SyntaxTreeNode, dialect: Dialect) -> list[list[str]]:
    """Return the rows of a table, the header first, each cell as a line in a dialect."""
    place = _Place(dialect)
    rows = [row.children for part in table.children for row in part.children]
    return [[_blocks_of_line(cell, place) for cell in row] for row in rows]


@dataclass(frozen=True, slots=True)
class WideTable:
    """A table that is too wide for a phone as characters, and where it stands in its text."""

    first: int
    end: int
    """Its lines in the text."""
    rows: tuple[tuple[str, ...], ...]
    """What its cells say, the header first."""
    alignments: tuple[str, ...]
    """`left`, `right` or `center`, or nothing, for each column."""


def wide_tables(markdown: str) -> list[WideTable]:
    """Return the tables that are to be pictures where a platform has no tables."""
    tree = SyntaxTreeNode(parser().parse(without_controls(markdown)))
    tables = (node for node in tree.children if node.type == "table" and node.map)
    return [found for node in tables if (found := _wide_table(node)) is not None]


def _wide_table(node: SyntaxTreeNode) -> WideTable | None:
    rows = tuple(
        tuple(visible(_plain(cell)).strip() for cell in row.children)
        for part in node.children
        for row in part.children
    )
    if not is_wide(rows):
        return None
    assert node.map is not None
    return WideTable(*node.map, rows, alignments_of(node))


def alignments_of(table: SyntaxTreeNode) -> tuple[str, ...]:
    """Return how the columns of a table are aligned, as `WideTable.alignments`."""
    header = table.children[0].children[0]
    return tuple(str(cell.attrs.get("style", "")).rpartition(":")[2] for cell in header.children)


def plain_text(
    markdown: str, words: Callable[[str], str] = str, code: Callable[[str], str] = str
) -> str:
    """Return what Markdown says, on one line, for where none is shown.

    Args:
        words: Changes its prose.
        code: Changes its code.
    """
    line = one_line(without_controls(markdown))
    return _plain(SyntaxTreeNode(parser().parseInline(line)), words, code)


def plain_blocks(markdown: str) -> str:
    """Return what Markdown of several blocks says, on one line; a dot follows each title."""
    tree = SyntaxTreeNode(parser().parse(without_controls(markdown)))
    return " ".join(" ".join(_said_in(tree)).split())


def _said_in(node: SyntaxTreeNode) -> Iterator[str]:
    if node.type in {"fence", "code_block"}:
        yield without_controls(node.content)
    elif node.type == "inline":
        yield _plain(node)
    else:
        for child in node.children:
            yield from _said_in(child)
        if node.type == "heading" and node.next_sibling is not None:
            yield "·"


def _blocks(nodes: Sequence[SyntaxTreeNode], place: _Place) -> str:
    gap = "\n" if place.nested else "\n\n"
    text = ""
    for node in nodes:
        block = _block(node, place)
        if text and block:
            text += gap if not text.rpartition("\n")[2].startswith("#") else "\n"
        text += block
    return text


def _block(node: SyntaxTreeNode, place: _Place) -> str:
    match node.type:
        case "heading":
            return _heading(node, place)
        case "fence" | "code_block":
            return place.dialect.fence(node.content, node.info if node.type == "fence" else "")
        case "hr":
            return _RULE
        case "blockquote":
            return _quote(node, place)
        case "bullet_list" | "ordered_list":
            return _list(node, place)
        case "table":
            return _table(node, place)
        case _:
            return "".join(_inline(child, place) for child in node.children)


def _heading(node: SyntaxTreeNode, place: _Place) -> str:
    level = int(node.tag[1])
    if level <= place.dialect.deepest_heading and not place.nested:
        title = _blocks_of_line(node, place)
        return f"{'#' * level} {title}" if title else ""
    title, mark = _blocks_of_line(node, place.bold), place.dialect.marks["strong"]
    return f"{mark}{title}{mark}" if title else ""


def _blocks_of_line(node: SyntaxTreeNode, place: _Place) -> str:
    return "".join(_inline(child, place) for child in node.children).replace("\n", " ").strip()


def _quote(node: SyntaxTreeNode, place: _Place) -> str:
    text = _blocks(node.children, replace(place, nested=True))
    if place.nested or not text:
        return text
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _list(node: SyntaxTreeNode, place: _Place) -> str:
    first = int(node.attrs.get("start", 1))
    items = []
    for number, item in enumerate(node.children, first):
        mark = place.dialect.bullet if node.type == "bullet_list" else f"{number}. "
        text = _blocks(item.children, replace(place, nested=True))
        items.append(mark + text.replace("\n", "\n" + " " * len(mark)))
    return "\n".join(items)


def _table(node: SyntaxTreeNode, place: _Place) -> str:
    dialect = place.dialect
    rows = [row.children for part in node.children for row in part.children]
    plain = [[_plain(cell, dialect.disarm).strip() for cell in row] for row in rows]
    if lines := drawn(plain, alignments_of(node)):
        return dialect.fence("\n".join(lines), "")
    header, *body = [[_blocks_of_line(cell, place) for cell in row] for row in rows]
    bold = [_blocks_of_line(cell, place.bold) for cell in rows[0]]
    records = [_record(bold, row, dialect) for row in body]
    return "\n".join(records or (f"{dialect.bullet}{name}" for name in header))


def _record(header: Sequence[str], row: Sequence[str], dialect: Dialect) -> str:
    """Return a row of a table as a list item, with an item for each further column."""
    mark, bullet = dialect.marks["strong"], dialect.bullet
    lines = [
        f"{mark}{name}:{mark} {cell}" if name else cell
        for name, cell in zip(header, row, strict=True)
    ]
    return bullet + f"\n  {bullet}".join(lines)


def _plain(
    node: SyntaxTreeNode, words: Callable[[str], str] = str, code: Callable[[str], str] = str
) -> str:
    """Return what a node says without markup, as `plain_text` does."""
    if node.type == "text":
        return words(node.content)
    if node.type == "code_inline":
        return code(without_controls(node.content))
    if node.type in {"softbreak", "hardbreak"}:
        return " "
    return "".join(_plain(child, words, code) for child in node.children)


def _inline(node: SyntaxTreeNode, place: _Place) -> str:
    """Return a run of text; neighbouring words are joined first, so no trap closes late."""
    text, words = "", ""
    for is_markup, part in [*_parts(node, place), (True, "")]:
        if not is_markup:
            words += part
            continue
        for piece in (place.dialect.escape(words), part):
            joins_ticks = text.endswith("`") and piece.startswith("`")
            text += _GAP + piece if joins_ticks else piece
        words = ""
    return text


def _parts(node: SyntaxTreeNode, place: _Place) -> Iterator[tuple[bool, str]]:
    """Yield what a run consists of: words to be escaped, and markup to be kept."""
    dialect, marks = place.dialect, place.marks
    match node.type:
        case "text":
            yield False, node.content
        case "softbreak":
            yield False, " "
        case "hardbreak":
            yield False, "\n"
        case "code_inline":
            yield True, dialect.code_span(node.content)
        case "image":
            yield False, _plain(node)
        case "em" | "strong" | "s" if (mark := dialect.marks[node.type]) not in marks:
            within = replace(place, marks=marks | {mark})
            inner = [part for child in node.children for part in _parts(child, within)]
            shown = any(visible(part).strip() for _, part in inner)
            yield from [(True, mark), *inner, (True, mark)] if shown else inner
        case _:
            for child in node.children:
                yield from _parts(child, place)
