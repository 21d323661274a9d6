"""Turns the tree that pandoc makes of a text into blocks, and counts what they lack."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from core.ingestion.document import (
    Block,
    BlockKind,
    BlockRole,
    Entries,
    Omission,
    fenced,
    inline_code,
    lowered,
    pipe_table,
    raised,
)

_DEEPEST_HEADING = 6
_LARGEST_SPAN = 200
_WORD = re.compile(r"\w+")
_STRUCK = frozenset({"line-through", "strike", "strikethrough", "deletion"})
_UNSHOWN = {
    **dict.fromkeys(("comment", "comment-start", "comment-end"), "comment"),
    "indexterm": "index entry",
    "tag": "tag",
}
"""Classes of spans and boxes that no reader of the page sees, or that are no part of its text."""
_STRIKES = re.compile(r"<(/?)(?:s|strike|del)\b[^>]*>", re.IGNORECASE)
_BRACES = re.compile(r"\{[A-Za-z][\w-]*\}|\{\{\{.{1,200}?\}\}\}")
_NUMERALS = ((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_NO_WORDS = frozenset({"", "image"})
"""What pandoc says of a picture of which the text says nothing."""
_QUOTES = {"SingleQuote": ("‘", "’"), "DoubleQuote": ("“", "”")}
_MARKS = {"Period": "{}.", "OneParen": "{})", "TwoParens": "({})"}
_TEXTS = frozenset({"Para", "Plain"})
Node = dict[str, Any]


class Tree:
    """Walks the tree once, in reading order."""

    def __init__(self, has_braces: bool) -> None:
        self.left_out: list[Omission] = []
        self._has_braces = has_braces
        """Whether `{name}` stands for a value, and where it still stands, for one not known."""
        self._section = ""
        self._notes: list[list[Node]] = []
        self._marker, self._term, self._lists = "", "", 0
        self._entries = Entries()
        self._linked = 0
        self._link = 0
        self._struck: list[str] | None = None
        self._writers: dict[str, Callable[[Any], Iterator[Block]]] = {
            "Para": self._paragraph,
            "Plain": self._paragraph,
            "LineBlock": self._verse,
            "Header": self._heading,
            "CodeBlock": self._code,
            "BulletList": lambda items: self._list(items, lambda number: "- "),
            "OrderedList": self._ordered,
            "DefinitionList": self._definitions,
            "BlockQuote": self.blocks,
            "Table": self._table,
            "Figure": self._figure,
            "Div": self._box,
            "RawBlock": self._raw_block,
        }

    def blocks(self, nodes: Sequence[Node]) -> Iterator[Block]:
        """Yield the blocks of nodes; a footnote follows the block that refers to it."""
        for node in nodes:
            writer = self._writers.get(node["t"])
            if writer is not None:
                yield from writer(node["c"])
            elif node["t"] not in {"HorizontalRule", "Null"}:
                self._omit(f"{node['t']} of pandoc's", node)
            while self._notes:
                yield from self.blocks(self._notes.pop(0))

    def title(self, meta: Any) -> str:
        """Return the words of a value of the document's metadata."""
        if not isinstance(meta, dict):
            return ""
        if meta["t"] == "MetaBlocks":
            return " ".join(block.text for block in self.blocks(meta["c"]))
        return self.words(meta["c"]) if meta["t"] == "MetaInlines" else str(meta["c"])

    def words(self, inlines: Sequence[Node]) -> str:
        """Return the words of inlines on one line, their hard breaks kept."""
        lines = self._text(inlines).split("\n")
        text = "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
        if self._struck is not None:  # what was opened here ends here
            text, self._struck = f"{text} {''.join(self._struck)}".strip(), None
        if self._has_braces:
            for left in _BRACES.findall(text):
                self._omit("placeholder without a value", {}, left)
        return text

    def _paragraph(self, inlines: Sequence[Node]) -> Iterator[Block]:
        if len(inlines) == 1 and inlines[0]["t"] == "Math":
            kind, formula = inlines[0]["c"]
            if kind["t"] == "DisplayMath":
                yield self._block(BlockKind.FORMULA, f"$$\n{formula.strip()}\n$$")
                return
        is_picture = [one["t"] for one in inlines] == ["Image"]
        text = self._counted(inlines)
        if text or not is_picture:
            yield self._block(
                BlockKind.PARAGRAPH, text, BlockRole.CAPTION if is_picture else BlockRole.TEXT
            )

    def _counted(self, inlines: Sequence[Node]) -> str:
        """Return the words of inlines, and note how many of their letters stand in links."""
        self._linked = 0
        return self.words(inlines)

    def _verse(self, lines: Sequence[Sequence[Node]]) -> Iterator[Block]:
        yield self._block(BlockKind.PARAGRAPH, "\n".join(filter(None, map(self.words, lines))))

    def _heading(self, content: Any) -> Iterator[Block]:
        level, (anchor, _, _), inlines = content
        self._entries.end()
        self._section = " ".join(self.words(inlines).split())
        level = min(max(level, 1), _DEEPEST_HEADING)
        yield Block(BlockKind.HEADING, self._section, level, anchor or None)

    def _code(self, content: Any) -> Iterator[Block]:
        (_, classes, _), code = content
        yield self._block(BlockKind.CODE, fenced(code, next(iter(classes), "")))

    def _ordered(self, content: Any) -> Iterator[Block]:
        (start, style, mark), items = content
        shape = _MARKS.get(mark["t"], "{}.")
        number = _NUMBERS.get(style["t"], str)
        return self._list(items, lambda n: f"{shape.format(number(start + n))} ")

    def _list(
        self, items: Sequence[Sequence[Node]], marker: Callable[[int], str]
    ) -> Iterator[Block]:
        self._lists += 1
        for number, item in enumerate(items):
            self._marker = marker(number)
            yield from self.blocks(item)
        self._marker = ""
        self._lists -= 1

    def _definitions(self, entries: Any) -> Iterator[Block]:
        for term, definitions in entries:
            self._term = self.words(term)
            self._entries.begin()
            for definition in definitions:
                if definition and definition[0]["t"] not in _TEXTS:
                    yield from self._lone_term()
                yield from self.blocks(definition)
            yield from self._lone_term()
            self._entries.end()

    def _lone_term(self) -> Iterator[Block]:
        """Write the term by itself where no words of its definition are to follow it."""
        if self._term:
            yield self._block(BlockKind.PARAGRAPH, "")

    def _table(self, content: Any) -> Iterator[Block]:
        _, caption, _, (_, head), bodies, (_, foot) = content
        yield from self._caption(caption)
        rows = [*head, *(row for _, _, *parts in bodies for part in parts for row in part), *foot]
        hanging: dict[int, tuple[int, str]] = {}
        table = pipe_table([self._row(cells, hanging) for _, cells in rows])
        if table:
            yield self._block(BlockKind.TABLE, table)

    def _row(self, cells: Any, hanging: dict[int, tuple[int, str]]) -> list[str]:
        """Return the texts of a row; a cell that spans rows is repeated in each of them."""
        row: list[str] = []
        for _, _, height, width, blocks in cells:
            _hang(row, hanging)
            inner = Tree(self._has_braces)
            text = " ".join(block.text for block in inner.blocks(blocks))
            self.left_out += inner.left_out
            for offset in range(min(width, _LARGEST_SPAN)):
                shown = "" if offset else text
                if height > 1:
                    hanging[len(row)] = (min(height, _LARGEST_SPAN) - 1, shown)
                row.append(shown)
        _hang(row, hanging)
        return row

    def _caption(self, caption: Any) -> Iterator[Block]:
        for node in caption[1]:
            if node["t"] in _TEXTS and (text := self.words(node["c"])):
                yield Block(BlockKind.PARAGRAPH, text, role=BlockRole.CAPTION)

    def _figure(self, content: Any) -> Iterator[Block]:
        _, caption, blocks = content
        yield from self.blocks(blocks)
        yield from self._caption(caption)

    def _box(self, content: Any) -> Iterator[Block]:
        (_, classes, _), blocks = content
        if unshown := _unshown(classes):
            self._omit(unshown, blocks)
        else:
            yield from self.blocks(blocks)

    def _raw_block(self, content: Any) -> Iterator[Block]:
        self._raw(*content)
        yield from ()

    def _block(self, kind: BlockKind, text: str, role: BlockRole = BlockRole.TEXT) -> Block:
        if self._term and kind is BlockKind.PARAGRAPH:
            text, self._term = f"{self._term}: {text}".strip(), ""
        level = self._lists
        if self._marker:
            if kind is BlockKind.PARAGRAPH and text:
                kind, text = BlockKind.LIST_ITEM, self._marker + text
            self._marker = ""
        letters = len("".join(text.split()))
        share = min(self._linked / letters, 1.0) if letters else 0.0
        self._linked = 0
        return Block(kind, text, level, role=role, linked=share, entry=self._entries.take())

    def _text(self, inlines: Sequence[Node]) -> str:
        pieces: list[str] = []
        for inline in inlines:
            if inline["t"] == "Note" and pieces and pieces[-1] == " ":
                pieces.pop()  # what separates the number of the note
            piece = self._piece(inline["t"], inline.get("c"))
            if self._struck is None:
                pieces.append(piece)
            else:
                self._struck.append(piece)
        return "".join(pieces)

    def _piece(self, kind: str, content: Any) -> str:
        match kind:
            case "Str":
                self._linked += self._link * len(content)
                return str(content)
            case "Space" | "SoftBreak":
                return " "
            case "LineBreak":
                return "\n"
            case "Emph" | "Strong" | "Underline" | "SmallCaps":
                return self._text(content)
            case "Superscript" | "Subscript":
                text = self._text(content)
                return (raised if kind == "Superscript" else lowered)(text) if text else ""
            case "Strikeout":
                self._omit("struck text", content)
            case "Quoted":
                opened, closed = _QUOTES[content[0]["t"]]
                return f"{opened}{self._text(content[1])}{closed}"
            case "Cite":
                return self._text(content[1])
            case "Code":
                return inline_code(content[1])
            case "Math":
                return f"${content[1].strip()}$"
            case "Link" | "Span":
                return self._span(kind, content)
            case "Image":
                alt = self._text(content[1])
                if alt in _NO_WORDS:
                    self._omit("picture without words", {})
                return "" if alt in _NO_WORDS else alt
            case "Note":
                self._notes.append(content)
            case "RawInline":
                self._raw(*content)
            case _:
                self._omit(f"{kind} of pandoc's", content)
        return ""

    def _span(self, kind: str, content: Any) -> str:
        (_, classes, _), inlines = content[:2]
        if unshown := _unshown(classes):
            self._omit(unshown, inlines)
            return ""
        if kind == "Link" and content[2][0].lower().startswith("category:"):
            self._omit("category", {})
            return ""
        self._link += kind == "Link"
        text = self._text(inlines)
        self._link -= kind == "Link"
        return text

    def _raw(self, language: str, text: str) -> None:
        """Leave out markup that has no meaning here; words between tags that strike go, too."""
        strike = _STRIKES.fullmatch(text.strip())
        if strike is None:
            self._omit(f"passage in {language}", {}, text)
        elif not strike[1]:
            self._struck = self._struck or []
        elif self._struck is not None:
            self._omit("struck text", {}, "".join(self._struck))
            self._struck = None

    def _omit(self, kind: str, content: Any, text: str = "") -> None:
        words = len(_WORD.findall(text or " ".join(_strings(content))))
        where = f"section “{self._section[:80]}”" if self._section else ""
        self.left_out.append(Omission(kind, where, words))


def _unshown(classes: Sequence[str]) -> str:
    """Return the kind of what is of these classes and not shown; empty where it is."""
    if _STRUCK.intersection(classes):
        return "struck text"
    return next((_UNSHOWN[name] for name in classes if name in _UNSHOWN), "")


def _strings(content: Any) -> Iterator[str]:
    """Yield the words below a node, whatever it is."""
    if isinstance(content, list):
        for one in content:
            yield from _strings(one)
    elif isinstance(content, dict):
        inner: Any = content.get("c")
        if content.get("t") in {"Str", "Code", "CodeBlock", "Math"}:
            yield inner if isinstance(inner, str) else str(inner[1])
        else:
            yield from _strings(inner)


def _hang(row: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Fill the next columns of a row from cells above that reach down."""
    while len(row) in hanging:
        left, text = hanging.pop(len(row))
        if left > 1:
            hanging[len(row)] = (left - 1, text)
        row.append(text)


def _letters(number: int) -> str:
    """Return the letter of an item: `a` to `z`, then `aa`."""
    number, last = divmod(max(number, 1) - 1, 26)
    return (_letters(number) if number else "") + chr(ord("a") + last)


def _roman(number: int) -> str:
    """Return a number below 90 in Roman numerals."""
    written = ""
    for value, sign in _NUMERALS:
        while 0 < value <= number < 90:
            written, number = written + sign, number - value
    return written or str(number)


_NUMBERS: dict[str, Callable[[int], str]] = {
    "LowerAlpha": _letters,
    "UpperAlpha": lambda number: _letters(number).upper(),
    "LowerRoman": _roman,
    "UpperRoman": lambda number: _roman(number).upper(),
}
