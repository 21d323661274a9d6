"""Turns an answer's Markdown into Discord's dialect of it, built anew from what it means."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markdown_it.tree import SyntaxTreeNode

from adapters.markdown.blocks import parser
from adapters.markdown.discord_text import code_span, disarm, escape, fence, masked_link
from adapters.markdown.footnotes import Footnote
from adapters.markdown.tables import drawn
from adapters.markdown.visible import visible, without_controls

_DEEPEST_HEADING = 3
_RULE = "─" * 20
_GAP = "\u200b"
_MARKS = {"em": "*", "strong": "**", "s": "~~"}


@dataclass(frozen=True, slots=True)
class _Place:
    """What surrounds a part of the text."""

    marks: frozenset[str] = frozenset()
    nested: bool = False
    """Inside a list or a quote, where Discord knows no quotes and headings."""


def to_discord(markdown: str) -> str:
    """Return the text in Discord's dialect: no one is notified, nothing is a link.

    Links become their labels, images their descriptions, HTML is shown as it is written.
    Tables become aligned characters, or lists where they are too wide. Give it the whole text
    so far while an answer grows: what is cut off anywhere holds to the same.
    """
    tree = SyntaxTreeNode(parser().parse(without_controls(markdown)))
    return _blocks(tree.children, _Place())


def footnote_lines(notes: Sequence[Footnote]) -> str:
    """Return footnotes in small print, a line each, linking into the book."""
    return "\n".join(f"-# {line}" for note in notes for line in _footnote(note))


def _footnote(note: Footnote) -> Iterator[str]:
    title = masked_link(note.title, note.url) if note.url else escape(note.title)
    where = [title, escape(note.locator), "" if note.url else escape(note.file)]
    yield f"{note.numbers} {' · '.join(part for part in where if part)}"
    if note.quote:
        yield f"“{escape(note.quote)}”"


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
            return fence(node.content, node.info if node.type == "fence" else "")
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
    if level <= _DEEPEST_HEADING and not place.nested:
        title = _blocks_of_line(node, place)
        return f"{'#' * level} {title}" if title else ""
    title = _blocks_of_line(node, replace(place, marks=place.marks | {"**"}))
    return f"**{title}**" if title else ""


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
        mark = "- " if node.type == "bullet_list" else f"{number}. "
        text = _blocks(item.children, replace(place, nested=True))
        items.append(mark + text.replace("\n", "\n" + " " * len(mark)))
    return "\n".join(items)


def _table(node: SyntaxTreeNode, place: _Place) -> str:
    rows = [row.children for part in node.children for row in part.children]
    plain = [[disarm(_plain(cell)).strip() for cell in row] for row in rows]
    alignments = [str(cell.attrs.get("style", "")).rpartition(":")[2] for cell in rows[0]]
    if lines := drawn(plain, alignments):
        return fence("\n".join(lines))
    header, *body = [[_blocks_of_line(cell, place) for cell in row] for row in rows]
    bold = [_blocks_of_line(cell, replace(place, marks=place.marks | {"**"})) for cell in rows[0]]
    return "\n".join(_record(bold, row) for row in body) or "\n".join(f"- {h}" for h in header)


def _record(header: Sequence[str], row: Sequence[str]) -> str:
    """Return a row of a table as a list item, with an item for each further column."""
    lines = [
        f"**{name}:** {cell}" if name else cell for name, cell in zip(header, row, strict=True)
    ]
    return "- " + "\n  - ".join(lines)


def _plain(node: SyntaxTreeNode) -> str:
    if node.type in {"text", "code_inline"}:
        return node.content
    if node.type in {"softbreak", "hardbreak"}:
        return " "
    return "".join(map(_plain, node.children))


def _inline(node: SyntaxTreeNode, place: _Place) -> str:
    """Return a run of text; neighbouring words are joined first, so no trap closes late."""
    text, words = "", ""
    for is_markup, part in [*_parts(node, place.marks), (True, "")]:
        if not is_markup:
            words += part
            continue
        for piece in (escape(words), part):
            joins_ticks = text.endswith("`") and piece.startswith("`")
            text += _GAP + piece if joins_ticks else piece
        words = ""
    return text


def _parts(node: SyntaxTreeNode, marks: frozenset[str]) -> Iterator[tuple[bool, str]]:
    """Yield what a run consists of: words to be escaped, and markup to be kept."""
    match node.type:
        case "text":
            yield False, node.content
        case "softbreak":
            yield False, " "
        case "hardbreak":
            yield False, "\n"
        case "code_inline":
            yield True, code_span(node.content)
        case "image":
            yield False, _plain(node)
        case "em" | "strong" | "s" if (mark := _MARKS[node.type]) not in marks:
            inner = [part for child in node.children for part in _parts(child, marks | {mark})]
            shown = any(visible(part).strip() for _, part in inner)
            yield from [(True, mark), *inner, (True, mark)] if shown else inner
        case _:
            for child in node.children:
                yield from _parts(child, marks)
