"""What MkDocs sites add to Markdown: files spliced in by the snippets extension."""

import re
from collections.abc import Iterable, Iterator, Sequence

from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.flavours.source_lines import SourceLine

_SNIPPET = re.compile(r"""([ \t]*)(;*)-{1,8}8<-{1,8}(?:[ \t]+["'](.+)["'])?[ \t]*""")
_SECTION = re.compile(r"-8<-{1,8}[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*([\w-]+)[ \t]*\]")
_HOLDS_MARKDOWN = re.compile(r"<(\w+)\b[^<>]{0,500}\smarkdown\b[^<>]{0,500}>[ \t]*$")
_CLOSING = re.compile(r"[ \t]*</(\w+)>")
_ABBREVIATION = re.compile(r"\A\*\[([^\[\]\n]{1,100})\]:[ \t]*")
_NAMED_PART = re.compile(r"(.+?):((?:\d{0,9}:)?\d{1,9}:?|[A-Za-z][\w-]*)")


def with_markdown_in_html(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return the lines with blank ones where an element of HTML says that it holds Markdown.

    A definition of an abbreviation, which a reader unfolds, becomes words.
    Source: Python-Markdown, "Markdown in HTML", "Abbreviations".
    """
    names = {found[1] for line in lines for found in _HOLDS_MARKDOWN.finditer(line.text)}
    shown = list[SourceLine]()
    for text, number in lines:
        closing = _CLOSING.match(text) if names else None
        if closing and closing[1] in names:
            shown.append(SourceLine("", number))
        shown.append(SourceLine(_ABBREVIATION.sub(r"\1: ", text), number))
        if names and _HOLDS_MARKDOWN.search(text):
            shown.append(SourceLine("", number))
    return shown


def with_snippets(
    lines: Iterable[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return the lines with each snippet's file in its place, as deep as its mark stands.

    Paths count from the folder of the site, not from the page.
    Source: pymdownx.snippets.
    """
    return list(_spliced(lines, includes, chain))


def _spliced(
    lines: Iterable[SourceLine], includes: Includes, chain: tuple[str, ...]
) -> Iterator[SourceLine]:
    in_block = False
    for line in lines:
        mark = _SNIPPET.fullmatch(line.text) if "8<" in line.text else None
        if mark and mark[2]:
            yield SourceLine(line.text.replace(";", "", 1), line.number)
        elif mark and not mark[3]:
            in_block = not in_block
        elif mark:
            yield from _content(mark[3], mark[1], line.number, includes, chain)
        elif not in_block:
            yield line
        elif (name := line.text.strip()) and not name.startswith(";"):
            yield from _content(name, "", line.number, includes, chain)


def _content(
    name: str, indent: str, number: int, includes: Includes, chain: tuple[str, ...]
) -> Iterator[SourceLine]:
    named = _NAMED_PART.fullmatch(name)
    path, part = (named[1], named[2]) if named else (name, "")
    text = includes.text(path, chain)
    if text is None:
        return
    chosen = _selected(text.split("\n"), part)
    if chosen is None:
        includes.warn(f"The included file {path} has no section called {part}.")
        return
    inner = [SourceLine(line, number) for line in chosen if not _SECTION.search(line)]
    for line in _spliced(inner, includes, (*chain, path)):
        yield SourceLine(indent + line.text if line.text else "", number)


def _selected(lines: Sequence[str], part: str) -> Sequence[str] | None:
    """Return the lines from `first:last` or of the section, or none for an unknown one."""
    if not part:
        return lines
    if part[-1] in "0123456789:":
        first, _, last = part.partition(":")
        end = int(last.rstrip(":")) if last.rstrip(":") else len(lines)
        return lines[max(int(first or 1), 1) - 1 : end]
    start = None
    for index, line in enumerate(lines):
        section = _SECTION.search(line)
        if section and section[2] == part:
            if section[1] == "end":
                return lines[start or 0 : index]
            start = index + 1
    return None if start is None else lines[start:]
