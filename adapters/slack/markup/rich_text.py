"""Markdown as Slack's rich text, in which every character of code is only itself."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from markdown_it.tree import SyntaxTreeNode

from adapters.markdown.visible import without_controls
from adapters.slack.markup.text import unlinked
from core.markdown.blocks import lines_of
from core.markdown.code import code_in
from core.markdown.locating import Code, CodeKind
from core.markdown.parser import parser

Element = dict[str, Any]

CONTROLS = re.compile(r"[&<>]")
_ACTS = re.compile(r"<[@!#]|<[A-Za-z][\w+.-]*:(?!:)[^<>\n]*>|\]\(\s*<?\w+:")
"""What calls people, names a channel or leads somewhere if Slack should read code as prose."""
_DEEPEST = 8
"""Levels of lists below the first."""
_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_SECTION, _QUOTE, _LIST = "rich_text_section", "rich_text_quote", "rich_text_list"


class DividedText(NamedTuple):
    """A text, divided by what code of it a block of Markdown cannot be trusted with."""

    before: str
    rich: str
    """The blocks from the first such code to the last; empty where there is none."""
    after: str


def divided(markdown: str, risky: re.Pattern[str] = _ACTS) -> DividedText:
    """Return the text in front of, around and after code that is to be shown as rich text.

    Args:
        risky: What makes code such; backticks in it do always.
    """
    if not any(_is_risky(code, risky) for code in code_in(markdown)):
        return DividedText(markdown, "", "")
    lines = lines_of(markdown)
    found = [
        node.map
        for node in SyntaxTreeNode(parser().parse(markdown)).children
        if node.map and any(_is_risky(c, risky) for c in code_in(_lines(lines, *node.map)))
    ]
    if not found:  # code that is such in its surroundings alone
        return DividedText("", markdown, "")
    first, last = found[0][0], found[-1][1]
    return DividedText(
        _lines(lines, 0, first), _lines(lines, first, last), _lines(lines, last, len(lines))
    )


def rich_text(markdown: str) -> list[Element]:
    """Return the elements of a block of rich text that show Markdown made by `to_slack`."""
    elements = list[Element]()
    for node in SyntaxTreeNode(parser().parse(markdown)).children:
        for element in _block(node):
            before = elements[-1] if elements else {}
            if _goes_on(before, element):
                before["elements"] += element["elements"]
            else:
                elements.append(element)
            if before.get("type") == element["type"] == _SECTION:
                before["elements"].append(_text("\n"))
    return elements


def _is_risky(code: Code, risky: re.Pattern[str]) -> bool:
    ticks = "`" if code.kind is CodeKind.SPAN else "```"
    return ticks in code.content or risky.search(code.content) is not None


def _lines(lines: Sequence[str], first: int, end: int) -> str:
    return "".join(lines[first:end])


def words_in(prose: str, styles: tuple[str, ...] = ()) -> list[Element]:
    """Return words of a book as they are, none of them a link."""
    words = unlinked(prose)
    return [_text(words, styles)] if words else []


def quote(inline: list[Element]) -> list[Element]:
    """Return words and code of a line as a quote; nothing where all is blank."""
    shown = any(one["text"].strip() for one in inline)
    return [{"type": _QUOTE, "elements": inline}] if shown else []


def _goes_on(before: Element, element: Element) -> bool:
    """Return whether an item is the next one of the list before it."""
    if before.get("type") != _LIST or element["type"] != _LIST:
        return False
    if any(before[name] != element[name] for name in ("style", "indent")):
        return False
    number: int = before.get("offset", 0) + len(before["elements"])
    return bool(element["style"] == "bullet" or element.get("offset", 0) == number)


def _block(node: SyntaxTreeNode, indent: int = 0) -> Iterator[Element]:
    match node.type:
        case "fence" | "code_block":
            yield preformatted(node.content)
        case "bullet_list" | "ordered_list":
            yield from _list(node, indent)
        case "blockquote":
            for child in node.children:
                for element in _block(child):
                    is_prose = element["type"] == _SECTION
                    yield {**element, "type": _QUOTE} if is_prose else element
        case "heading":
            yield _section(node, ("bold",))
        case "hr":
            yield {"type": _SECTION, "elements": [_text("─" * 20)]}
        case _:
            yield _section(node)


def _list(node: SyntaxTreeNode, indent: int) -> Iterator[Element]:
    """Yield a list for each item, and what stands below it: lists hold no code and no lists."""
    style = "bullet" if node.type == "bullet_list" else "ordered"
    first = int(node.attrs.get("start", 1))
    for number, item in enumerate(node.children, first - 1):
        marked = False
        for child in item.children:
            if child.type != "paragraph" or marked:
                yield from _block(child, indent + 1)
                continue
            marked = True
            offset = {"offset": number} if style == "ordered" and number > 0 else {}
            shown = {"type": _LIST, "style": style, "indent": min(indent, _DEEPEST), **offset}
            yield {**shown, "elements": [_section(child)]}


def _section(node: SyntaxTreeNode, styles: tuple[str, ...] = ()) -> Element:
    return {"type": _SECTION, "elements": [*_inline(node, styles)] or [_text(" ")]}


def _inline(node: SyntaxTreeNode, styles: tuple[str, ...]) -> Iterator[Element]:
    match node.type:
        case "text" if node.content:
            yield _text(node.content, styles)
        case "softbreak" | "hardbreak":
            yield _text(" " if node.type == "softbreak" else "\n", styles)
        case "code_inline":
            yield inline_code(node.content, styles)
        case _:
            own = (_STYLES[node.type],) if node.type in _STYLES else ()
            for child in node.children:
                yield from _inline(child, (*styles, *own))


def preformatted(code: str) -> Element:
    """Return a block of code."""
    code = without_controls(code).removesuffix("\n")
    return {"type": "rich_text_preformatted", "elements": [_text(code if code.strip() else " ")]}


def inline_code(code: str, styles: tuple[str, ...] = ()) -> Element:
    """Return code in a line."""
    return _text(without_controls(code) or " ", (*styles, "code"))


def _text(text: str, styles: tuple[str, ...] = ()) -> Element:
    styled = {"style": dict.fromkeys(styles, True)} if styles else {}
    return {"type": "text", "text": text, **styled}
