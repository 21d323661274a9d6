"""What mdBook adds to Markdown: included files, captions of listings, hidden lines of code."""

import re
from collections.abc import Iterable, Iterator, Sequence

from core.ingestion.formats.flavours.includes import Includes, resolved
from core.ingestion.formats.flavours.source_lines import (
    Edit,
    SourceLine,
    edited,
    included_lines,
    joined,
)
from core.ingestion.formats.html.nesting import TAG, attribute

_LINK = re.compile(
    r"(\\?)\{\{\s{0,20}#(include|rustdoc_include|playground|playpen|title)\s([^{}]+)\}\}"
)
_ANCHOR = re.compile(r"ANCHOR(_END)?:\s*([\w-]+)")
_LINES = re.compile(r"(\d{1,9})?(:)?(\d{1,9})?")
_HIDDEN_LINE = re.compile(r"\s*#(?: .*)?")
_ESCAPED_LINE = re.compile(r"(\s*)##")


def page_title(lines: Iterable[SourceLine]) -> str | None:
    """Return what `{{#title ...}}` calls the page, if anything."""
    links = (match for line in lines for match in _LINK.finditer(line.text))
    return next((match[3].strip() for match in links if match[2] == "title"), None)


def with_includes(
    lines: Iterable[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return the lines with each included file in place of its link.

    Source: the `links` preprocessor of mdBook.
    """
    return [spliced for line in lines for spliced in _spliced(line, includes, chain)]


def _spliced(line: SourceLine, includes: Includes, chain: tuple[str, ...]) -> list[SourceLine]:
    if "{{" not in line.text:
        return [line]

    def content(link: re.Match[str]) -> str:
        if link[1]:
            return link[0][1:]
        return "" if link[2] == "title" else _content(link[2], link[3], includes, chain)

    return included_lines(_LINK.sub(content, line.text), line.number)


def _content(kind: str, argument: str, includes: Includes, chain: tuple[str, ...]) -> str:
    path, _, part = next(iter(argument.split()), "").partition(":")
    path = resolved(path, chain)
    text = includes.text(path, chain)
    if text is None:
        return ""
    chosen = _selected(text, part)
    if chosen is None:
        includes.warn(f"The included file {path} has no part called {part}.")
        return ""
    lines = [line for line in chosen if not _ANCHOR.search(line)]
    whole = "\n".join(lines)
    nested = joined(with_includes(included_lines(whole, 1), includes, (*chain, path)))
    return f"```rust\n{nested}\n```" if kind in {"playground", "playpen"} else nested


def _selected(text: str, part: str) -> Sequence[str] | None:
    """Return the lines that `part` names: a number, `first:last` or an anchor; else none."""
    lines = text.split("\n")
    if not part:
        return lines
    if span := _LINES.fullmatch(part):
        first = int(span[1] or 1)
        last = int(span[3] or len(lines)) if span[2] else first
        return lines[max(first, 1) - 1 : last]
    return _anchored(lines, part)


def _anchored(lines: Sequence[str], name: str) -> Sequence[str] | None:
    start = None
    for index, line in enumerate(lines):
        anchor = _ANCHOR.search(line)
        if anchor is None or anchor[2] != name:
            continue
        if anchor[1] and start is not None:
            return lines[start:index]
        if not anchor[1]:
            start = index + 1
    return None if start is None else lines[start:]


def with_captions(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return the lines with the words of each `<Listing>` tag in place of the tag."""
    text = joined(lines)
    return edited(lines, _caption_edits(text)) if "<Listing" in text else list(lines)


def _caption_edits(text: str) -> Iterator[Edit]:
    caption = ""
    for tag in TAG.finditer(text):
        if tag["name"] != "Listing":
            continue
        if tag["closing"]:
            yield Edit(tag.start(), tag.end(), f"\n\n{caption}\n\n")
            continue
        number, words = (attribute(tag["attributes"], name) for name in ("number", "caption"))
        caption = ": ".join(filter(None, (f"Listing {number}" if number else "", words)))
        file_name = attribute(tag["attributes"], "file-name")
        shown = f"Filename: {file_name}" if file_name else ""
        yield Edit(tag.start(), tag.end(), f"\n\n{shown}\n\n")


def shown_code(code: str) -> str:
    """Return Rust code without the lines that a reader does not see, `# use std::fs;`."""
    shown = (line for line in code.split("\n") if not _HIDDEN_LINE.fullmatch(line))
    return "\n".join(_ESCAPED_LINE.sub(r"\1#", line, count=1) for line in shown)
