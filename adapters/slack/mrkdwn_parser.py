"""What a person wrote in Slack, as plain text: without entities, marks and anybody's name."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.intake.incoming_message import apart_from_quotes

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
