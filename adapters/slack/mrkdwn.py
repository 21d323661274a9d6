"""What a person wrote in Slack, as plain text: without entities, marks and anybody's name."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markdown_it.tree import SyntaxTreeNode

from adapters.chat.incoming_message import apart_from_quotes
from adapters.chat.markdown import dialects
from adapters.chat.markdown.dialects import Dialect, alignments_of, cells, rendered
from adapters.chat.markdown.footnotes import Footnote
from adapters.chat.markdown.layout import shortened, utf16_length, visible, without_controls
from core.domain.links import code_span, fenced, one_line, without_links
from core.domain.markdown import Code, CodeKind, code_in, lines_of, outside_code, parser

Json = Mapping[str, Any]

_ENTITY = re.compile(r"<((?:[@#!]|\w+://|mailto:|tel:)[^<>\n]+)>")
"""What a command holds comes as it was typed: `Vec<T>` is none."""
_OPENS = re.compile(r"(?<![\w`])([*_~])(?!\1)(?=\S)")
_CLOSES = re.compile(r"(?<=\S)([*_~])(?![\w`])")
_CODE = re.compile(r"`[^`\n]+`")
_BORDER = re.compile(r"[\n`]")
"""What no marked words go on beyond."""
_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_MENTIONED = re.compile(r"<(@[UW]\w+|!subteam\^\w+|!here|!channel|!everyone)[^<>\n]*>")
_QUOTES = frozenset({"rich_text_quote", "rich_text_preformatted"})
_READ_ALREADY = frozenset({"rich_text", "table", "data_table", "context"})
"""Blocks whose texts `said_in` returns, and small print."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a message says."""

    text: str
    """Without what it quotes, and without mentions of the bot."""
    quote: str | None = None


def said_in(message: Json, me: str | None = None) -> Said:
    """Return what a message says.

    Lines that begin with `>`, quotes, code blocks, tables and shared messages are its quote.

    Args:
        me: The bot's user id; mentions of it are left out.
    """
    own = _from_blocks(message.get("blocks") or (), me)
    if own is None:
        own = from_mrkdwn(str(message.get("text") or ""), me)
    if tables := [*_tables(message.get("blocks")), *_pasted(message)]:
        own = Said(own.text, "\n\n".join(filter(None, [own.quote, *tables])))
    shared = _messages_in(message)
    if not shared:
        return own
    text = own.text
    for attachment in shared:
        text = _without(text, attachment.get("from_url"), attachment.get("original_url"))
    return Said(text, own.quote or "\n".join(filter(None, map(_shared, shared))) or None)


def from_mrkdwn(text: str, me: str | None = None) -> Said:
    """Return what a text in Slack's own markup says."""
    code = [unescaped(match[1]) for match in _FENCE.finditer(text)]
    said, quoted = apart_from_quotes(unescaped(_plain(_FENCE.sub("\n", text), me)))
    return Said(_tidy(said), "\n".join(filter(None, [quoted, *code])) or None)


def all_of(message: Json) -> str:
    """Return everything that a message says, what it quotes included."""
    own, blocks = said_in({**message, "attachments": ()}), message.get("blocks") or ()
    said: list[str | None] = [own.quote, own.text]
    shown = [_shown(block) for block in blocks if block.get("type") != "context"]
    if any(block.get("type") == "rich_text" for block in blocks):
        said += [_shown(one) for one in blocks if one.get("type") not in _READ_ALREADY]
    elif any(shown):  # an app's: its text is what notifications tell in place of the blocks
        said = [*shown]
    elif not any(said):
        said = [_shown(block) for block in blocks]
    shared = map(_shared, _messages_in(message))
    return "\n".join(filter(None, [*said, *shared, *map(_attached, _embeds_in(message))]))


def mentioned(text: str) -> set[str]:
    """Return who is mentioned: ids of users, and a word for every group."""
    return {match[1].removeprefix("@").partition("|")[0] for match in _MENTIONED.finditer(text)}


def unescaped(text: str) -> str:
    """Return a text with the three characters that Slack escapes."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def escaped(text: str) -> str:
    """Return a text that Slack shows letter by letter, except for its formatting."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(text: str, me: str | None) -> str:
    """Return mrkdwn without entities and marks, still escaped."""
    text = _ENTITY.sub(lambda match: _entity(match[1], me), text)
    return _without_marks(_without_marks(text))  # bold words may be in italics


def _without_marks(text: str) -> str:
    """Return mrkdwn without the marks around words, in time that grows as the text does."""
    prose = _CODE.sub(lambda code: "`" * len(code[0]), text)
    closings: dict[str, list[int]] = {mark: [] for mark in "*_~"}
    for closing in _CLOSES.finditer(prose):
        closings[closing[1]].append(closing.start())
    borders = [border.start() for border in _BORDER.finditer(prose)]
    pieces, position = list[str](), 0
    for opening in _OPENS.finditer(prose):
        start, ends = opening.start(), closings[opening[1]]
        end = _next(ends, start + 2)
        border = _next(borders, start)
        if start < position or end is None or (border is not None and border < end):
            continue
        pieces += [text[position:start], text[start + 1 : end]]
        position = end + 1
    return "".join([*pieces, text[position:]])


def _next(places: Sequence[int], start: int) -> int | None:
    """Return the first of these places, in order, that is not before a start."""
    index = bisect_left(places, start)
    return places[index] if index < len(places) else None


def _entity(inner: str, me: str | None) -> str:
    """Return what stands for an entity; no user's name is in it."""
    target, _, label = inner.partition("|")
    if target.startswith("@"):
        return " " if target[1:] == me else "@someone"
    if target.startswith("#"):
        return "#channel"
    if target.startswith("!subteam"):
        return "@some-group"
    if target.startswith("!date"):
        return label
    if target.startswith("!"):
        return f"@{target[1:]}"
    return label or target.removeprefix("mailto:")


def _from_blocks(blocks: Iterable[Json], me: str | None) -> Said | None:
    """Return what rich text says; None: there is none, and the text is to be read."""
    rich = [block for block in blocks if block.get("type") == "rich_text"]
    if not rich:
        return None
    said, quoted = list[str](), list[str]()
    for element in (e for block in rich for e in block.get("elements") or ()):
        (quoted if element.get("type") in _QUOTES else said).append(_element(element, me))
    text, typed = apart_from_quotes("\n".join(said))
    quote = "\n".join(filter(None, [*quoted, typed])).strip()
    return Said(_tidy(text), quote or None)


def _element(element: Json, me: str | None) -> str:
    if element.get("type") == "rich_text_list":
        return "\n".join(_items(element, me))
    return "".join(_inline(part, me) for part in element.get("elements") or ())


def _items(element: Json, me: str | None) -> Iterator[str]:
    indent = "  " * int(element.get("indent") or 0)
    first = 1 + int(element.get("offset") or 0)
    for number, item in enumerate(element.get("elements") or (), start=first):
        mark = f"{number}." if element.get("style") == "ordered" else "-"
        yield f"{indent}{mark} {_element(item, me)}"


def _inline(part: Json, me: str | None) -> str:
    match part.get("type"):
        case "user":
            return " " if part.get("user_id") == me else "@someone"
        case "usergroup":
            return "@some-group"
        case "channel":
            return "#channel"
        case "broadcast":
            return f"@{part.get('range', 'channel')}"
        case "emoji":
            return f":{part.get('name', '')}:"
        case "date":
            return str(part.get("fallback") or "")
        case "link":
            return str(part.get("text") or part.get("url") or "")
        case _:
            return str(part.get("text") or part.get("value") or "")


def _messages_in(message: Json) -> list[Json]:
    """Return the attachments that are messages themselves, shared or linked to."""
    attachments = message.get("attachments") or ()
    return [a for a in attachments if a.get("is_msg_unfurl") or a.get("is_share")]


def _embeds_in(message: Json) -> list[Json]:
    """Return the attachments that are an app's own, which may be all that it says."""
    attachments = message.get("attachments") or ()
    return [a for a in attachments if not (a.get("is_msg_unfurl") or a.get("is_share"))]


def _attached(attachment: Json) -> str:
    """Return what an app's attachment says, or the table that a person pasted."""
    shown = [attachment.get(name) for name in ("pretext", "title", "text")]
    said = [from_mrkdwn(str(one)).text for one in shown if one]
    for field in attachment.get("fields") or ():
        named = filter(None, (field.get("title"), field.get("value")))
        said.append(from_mrkdwn(": ".join(map(str, named))).text)
    said += [_shown(block) for block in attachment.get("blocks") or ()]
    if not any(said):
        said = [from_mrkdwn(str(attachment.get("fallback") or "")).text]
    return "\n".join(filter(None, said))


def _shown(block: Json) -> str:
    """Return the text of a block: of a table its rows, else its text, its fields and elements."""
    if block.get("rows"):
        return _table(block)
    if block.get("type") == "rich_text":
        rich = _from_blocks([block], None)
        return "\n".join(filter(None, [rich.quote, rich.text] if rich is not None else []))
    texts = [block.get(name) for name in ("title", "text", "subtitle", "body", "description")]
    texts += block.get("fields") or ()
    if block.get("type") == "context":
        texts += [one.get("text") for one in block.get("elements") or ()]
    return "\n".join(filter(None, map(_text_of, texts)))


def _text_of(value: object) -> str:
    """Return what a text object says, or the text of a block of Markdown."""
    if not isinstance(value, Mapping):
        return unescaped(value) if isinstance(value, str) else ""
    written = str(value.get("text") or "")
    if value.get("type") != "mrkdwn":
        return unescaped(written)
    said = from_mrkdwn(written)
    return "\n".join(filter(None, [said.quote, said.text]))


def _tables(blocks: object) -> Iterator[str]:
    """Yield the tables among some blocks, as Markdown."""
    for block in blocks if isinstance(blocks, Sequence) else ():
        if block.get("rows") and (table := _table(block)):
            yield table


def _pasted(message: Json) -> Iterator[str]:
    """Yield the tables that a person pasted: they lie in an attachment, and nowhere else."""
    for attachment in _embeds_in(message):
        yield from _tables(attachment.get("blocks"))


def _table(block: Json) -> str:
    """Return a table as Markdown; its first row is its header."""
    rows = [[_cell(cell) for cell in row] for row in block.get("rows") or ()]
    width = max(map(len, rows), default=0)
    if not any(any(row) for row in rows):
        return ""
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _cell(cell: Json) -> str:
    if cell.get("type") == "rich_text":
        said = _shown(cell)
    else:
        value = cell.get("text") if cell.get("text") is not None else cell.get("value")
        said = _text_of(value) if isinstance(value, str | Mapping) else str(value or "")
    return " ".join(said.split()).replace("|", "\\|")


def _shared(attachment: Json) -> str:
    """Return what a shared message says."""
    quoted = [m.get("message") or {} for m in attachment.get("message_blocks") or ()]
    blocks = [block for one in quoted for block in one.get("blocks") or ()]
    more = [embed for one in (attachment, *quoted) for embed in one.get("attachments") or ()]
    if not blocks:
        blocks = list(attachment.get("blocks") or ())
    inner = {"text": attachment.get("text") or "", "blocks": blocks, "attachments": more}
    return all_of(inner).strip()


def _without(text: str, *links: object) -> str:
    for link in links:
        if link:
            text = text.replace(str(link), " ")
    return _tidy(text)


def _tidy(text: str) -> str:
    """Return a text without the gaps that left-out mentions make."""
    return "\n".join(re.sub(r"[ \t]{2,}", " ", line).strip() for line in text.splitlines()).strip()


_GAP = "\u200b"
"""Invisible: what it stands in is shown as it is, and means nothing to Slack."""
_EVERYBODY = re.compile(r"@(?=here|channel|everyone|group)", re.IGNORECASE)
_EMOJI = re.compile(r":(?=[\w+'-]+:)")
_HOST = re.compile(r"(?<=[^\W_])\.(?=[^\W\d_]{2})")
"""Slack makes links of bare names of hosts, and takes `main.py` for one."""
_FORMATTING = re.compile(r"[\\*~|`]|(?<!\w)_|_(?!\w)|(?<=\])[(:]")
_LINE_START = re.compile(r"^([ \t]*)(#{1,6}(?=\s)|[-+](?=\s))", re.MULTILINE)
_NUMBERED = re.compile(r"^([ \t]*\d+)(?=[.)]\s)", re.MULTILINE)
_TEXT_QUOTES = re.compile(r"^(?=[ \t]*>)", re.MULTILINE)
_CONTROL = re.compile(r"^[ \t]*(?:>[ \t]?)+|[&<>]", re.MULTILINE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LONGEST_URL = 2_000
_LONGEST_LABEL = 120


def unlinked(text: str) -> str:
    """Return words without an address, as a block shows them that formats nothing."""
    return without_links(visible(text)).replace("://", f":{_GAP}//")


def disarm(text: str) -> str:
    """Return words that notify no one and link nowhere; `controls_escaped` has to follow."""
    text = _EVERYBODY.sub(f"@{_GAP}", _HOST.sub(f".{_GAP}", unlinked(text)))
    return _TEXT_QUOTES.sub(_GAP, _EMOJI.sub(f":{_GAP}", text))


def escape(text: str) -> str:
    """Return words that a block of Markdown shows as they are, once controls are escaped."""
    text = _FORMATTING.sub(r"\\\g<0>", disarm(text))
    return _NUMBERED.sub(r"\1\\", _LINE_START.sub(r"\1\\\2", text))


def markdown_escaped(markdown: str, *, escape_code: bool) -> str:
    """Return Markdown without the controls of its prose, and of its code where asked for.

    Code in it must have nothing that acts if Slack should read it as prose; see `divided`.
    """
    return controls_escaped(markdown) if escape_code else outside_code(markdown, controls_escaped)


def controls_escaped(text: str) -> str:
    """Return a text without the three characters that begin and end what Slack acts on.

    Only the marks of quotes, at the beginning of a line, stay: alone they mean nothing else.
    """
    return _CONTROL.sub(lambda found: _ENTITIES.get(found.group(), found.group()), text)


def escaped_length(text: str) -> int:
    """Return how many UTF-16 units a text has at most when its controls are escaped."""
    longer = (text.count(sign) * (len(entity) - 1) for sign, entity in _ENTITIES.items())
    return utf16_length(text) + sum(longer)


def link(label: str, url: str) -> str:
    """Return a link of our own in mrkdwn, its controls escaped."""
    label = words(shortened(one_line(label), _LONGEST_LABEL)).replace("|", "¦")
    if len(url) > _LONGEST_URL:
        return label
    address = re.sub(r"[<>|\s]", _percent, url).replace("&", "&amp;")
    return f"<{address}|{label}>"


def words(text: str) -> str:
    """Return words for mrkdwn, their controls escaped, with code in them as it is."""
    shown, position = "", 0
    for code in code_in(text):
        if code.kind is CodeKind.SPAN and "`" not in code.content:
            shown += f"{disarm(text[position : code.start])}`{without_controls(code.content)}`"
            position = code.end
    shown += disarm(text[position:])
    return "".join(_ENTITIES.get(character, character) for character in shown)


def _percent(character: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in character.group().encode())


_TICK = "ˋ"
"""Looks like a backtick, and ends no code."""


def to_slack(markdown: str) -> str:
    """Return the text for a `markdown` block: no one is notified, nothing is a link.

    The characters `&`, `<` and `>` are still to be escaped, by `controls_escaped`: that is done
    last, so that no cut tears an escape.
    """
    return rendered(markdown, MARKDOWN)


def to_mrkdwn(markdown: str) -> str:
    """Return the text in Slack's older dialect, for notifications; escaped as `to_slack`."""
    return rendered(markdown, _MRKDWN)


def as_written(text: str) -> str:
    """Return words of a book or a reader as they are, but for their code, as `to_slack` does."""
    return dialects.as_written(text, MARKDOWN)


def footnote_lines(notes: Sequence[Footnote], lead_in: str = "") -> list[str]:
    """Return footnotes in mrkdwn, each linking into the book, their controls escaped.

    Args:
        lead_in: The bot's word in front of them, such as `From`.
    """
    lines = [_footnote(note) for note in notes]
    return [f"{lead_in} {lines[0]}", *lines[1:]] if lead_in and lines else lines


def _footnote(note: Footnote) -> str:
    title = link(note.title, note.url) if note.url else words(note.title)
    return f"{note.numbers} {' · '.join(filter(None, [title, words(note.locator)]))}"


def _simple_words(text: str) -> str:
    """Return words in which nothing begins or ends code; mrkdwn knows no escape for a backtick."""
    return disarm(text).replace("`", _TICK)


def _simple_span(code: str) -> str:
    return f"`{without_controls(code).replace('`', _TICK).replace(chr(10), ' ')}`"


def _simple_fence(code: str, info: str) -> str:
    """Return a block of code; mrkdwn would show the name of its language as code."""
    code = without_controls(code).strip("\n").replace("```", _TICK * 3)
    return f"```\n{code if code.strip() else ' '}\n```"


def _span(code: str) -> str:
    return code_span(without_controls(code).replace("\n", " "))


def _fence(code: str, info: str) -> str:
    code = without_controls(code).removesuffix("\n")
    return fenced(code if code.strip() else " ", info)


MARKDOWN = Dialect(
    marks={"em": "*", "strong": "**", "s": "~~"},
    deepest_heading=3,
    bullet="- ",
    escape=escape,
    disarm=disarm,
    code_span=_span,
    fence=_fence,
)
_MRKDWN = Dialect(
    marks={"em": "_", "strong": "*", "s": "~"},
    deepest_heading=0,
    bullet="• ",
    escape=_simple_words,
    disarm=disarm,
    code_span=_simple_span,
    fence=_simple_fence,
)


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
    return {"type": _SECTION, "elements": [*_rich_text_inline(node, styles)] or [_text(" ")]}


def _rich_text_inline(node: SyntaxTreeNode, styles: tuple[str, ...]) -> Iterator[Element]:
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
                yield from _rich_text_inline(child, (*styles, *own))


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


Row = tuple[dict[str, Any], ...]

LONGEST = 5_000
"""Characters of a table, so that a message has room for the text around it."""
_MOST_ROWS = 100
_MOST_COLUMNS = 20
_EMPTY = "\u00a0"


@dataclass(frozen=True, slots=True)
class Table:
    """A table, or a part of one with its header, that fits a message."""

    rows: tuple[Row, ...]
    """Rows of cells, the header first."""
    alignments: tuple[str, ...]
    length: int
    """Characters of all cells."""

    @property
    def block(self) -> dict[str, Any]:
        """The block that shows it."""
        settings = [{"align": one or "left", "is_wrapped": True} for one in self.alignments]
        rows = [list(row) for row in self.rows]
        return {"type": "table", "rows": rows, "column_settings": settings}


class Around(NamedTuple):
    """A text, divided by its first table that Slack can show as one."""

    before: str
    tables: tuple[Table, ...]
    """The table in as many parts as it needs; none where there is no such table."""
    after: str


def around_table(markdown: str) -> Around:
    """Return an answer's text in front of its first table, the table, and the text after it."""
    markdown = without_controls(markdown)
    tree = SyntaxTreeNode(parser().parse(markdown))
    found = next((node for node in tree.children if node.type == "table" and node.map), None)
    if found is None or found.map is None:
        return Around(markdown, (), "")
    rows = cells(found, MARKDOWN)
    if len(rows[0]) > _MOST_COLUMNS or any(2 * _length(row) > LONGEST for row in rows):
        return Around(markdown, (), "")
    lines, (first, end) = lines_of(markdown), found.map
    tables = tuple(_parts(rows, alignments_of(found)))
    return Around("".join(lines[:first]), tables, "".join(lines[end:]))


def _parts(rows: Sequence[Sequence[str]], alignments: tuple[str, ...]) -> Iterator[Table]:
    """Yield a table in parts that Slack takes, each with the header."""
    header, *body = rows
    part = [header]
    for row in body:
        if len(part) == _MOST_ROWS or sum(map(_length, [*part, row])) > LONGEST:
            yield _tables_table(part, alignments)
            part = [header]
        part.append(row)
    yield _tables_table(part, alignments)


def _tables_table(rows: Sequence[Sequence[str]], alignments: tuple[str, ...]) -> Table:
    shown = tuple(tuple(_tables_cell(cell) for cell in row) for row in rows)
    return Table(shown, alignments, sum(map(_length, rows)))


def _length(row: Sequence[str]) -> int:
    return sum(map(len, row))


def _tables_cell(markdown: str) -> dict[str, Any]:
    shown = rich_text(markdown) if markdown.strip() else []
    nothing = {"type": "rich_text_section", "elements": [{"type": "text", "text": _EMPTY}]}
    return {"type": "rich_text", "elements": shown or [nothing]}
