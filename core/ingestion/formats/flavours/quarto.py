"""What Quarto and R Markdown add to Markdown: code cells, callouts, shortcodes, included files."""

import re
from collections.abc import Iterator, Sequence

from core.ingestion.formats.flavours.includes import Includes, resolved
from core.ingestion.formats.flavours.quarto_cells import FENCE, FenceWriter
from core.ingestion.formats.flavours.quarto_inline import shown_prose
from core.ingestion.formats.flavours.source_lines import SourceLine, included_lines

_DIV = re.compile(r"[ \t]*+:{3,}+[ \t]*+(?P<what>\{[^{}]*+\}|[\w.-]++)?+[ \t]*+:*+[ \t]*+")
_CALLOUT = re.compile(r"\.?callout-([\w-]+)")
_TITLED = re.compile(r"#(?:thm|lem|cor|prp|cnj|def|exm|exr|sol|rem|alg)-")
_TITLE = re.compile(r"""\b(?:title|name)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+(.*?)[ \t]*(?:\{[^{}]*\}[ \t]*)?")
_SHORTCODE = re.compile(r"(?<!\{)\{\{<\s*([\w-]+)([^<>{}]*)>\}\}(?!\})")
_WITHOUT_TEXT = frozenset({"pagebreak", "fa", "bi", "iconify"})


def with_shown_text(
    lines: Sequence[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return the lines as plain Markdown: what a reader of the published page sees.

    Source: the Quarto guide, "Markdown Basics", "Callouts", "Execution Options", "Includes".
    """
    return list(_Page(includes, chain).read(lines))


class _Page:
    """One pass over the lines of a page or of a file that it includes."""

    def __init__(self, includes: Includes, chain: tuple[str, ...]) -> None:
        self._includes, self._chain = includes, chain
        self._box: str | None = None
        """What an open callout is called unless its first line is a heading; none: no new one."""

    def read(self, lines: Sequence[SourceLine]) -> Iterator[SourceLine]:
        self._shown = shown_prose(lines)
        fence: FenceWriter | None = None
        for line in lines:
            if fence is not None:
                yield from fence.take(line)
                fence = None if fence.is_closed else fence
            elif opening := FENCE.fullmatch(line.text):
                yield from self._title(line)
                fence = FenceWriter(opening, line, self._includes)
            else:
                yield from self._prose(line)
        if fence is not None:
            yield from fence.end()

    def _prose(self, line: SourceLine) -> Iterator[SourceLine]:
        if div := _DIV.fullmatch(line.text):
            yield from self._title(line)
            self._box = _box_title(div["what"]) if div["what"] else None
            yield SourceLine("", line.number)
        elif self._box is not None and (heading := _HEADING.fullmatch(line.text)):
            self._box = heading[1]
            yield from self._title(line)
        else:
            if line.text.strip():
                yield from self._title(line)
            yield from self._without_shortcodes(line)

    def _title(self, line: SourceLine) -> Iterator[SourceLine]:
        if self._box:
            yield from (SourceLine(text, line.number) for text in ("", self._box, ""))
        self._box = None

    def _without_shortcodes(self, line: SourceLine) -> Iterator[SourceLine]:
        whole = _SHORTCODE.fullmatch(line.text.strip()) if "{{<" in line.text else None
        if whole and whole[1] == "include":
            yield from self._included(whole[2].strip().strip("\"'"), line.number)
        else:
            shown = self._shown(_SHORTCODE.sub(self._words, line.text))
            yield SourceLine(shown, line.number)

    def _words(self, shortcode: re.Match[str]) -> str:
        name = shortcode[1]
        if name == "kbd":
            return str(shortcode[2].strip())
        if name not in _WITHOUT_TEXT:
            self._includes.warn(f"What the shortcode {name} stands for was left out.")
        return ""

    def _included(self, path: str, number: int) -> Iterator[SourceLine]:
        path = resolved(path, self._chain)
        text = self._includes.text(path, self._chain)
        if text is not None:
            inner = _Page(self._includes, (*self._chain, path))
            yield from (
                SourceLine(line.text, number) for line in inner.read(included_lines(text, number))
            )


def _box_title(what: str) -> str | None:
    """Return what stands above a box unless it says so itself; none for what is no box."""
    title = _TITLE.search(what)
    if callout := _CALLOUT.search(what):
        return (title[1] or title[2]) if title else callout[1].capitalize()
    return ((title[1] or title[2]) if title else "") if _TITLED.search(what) else None
