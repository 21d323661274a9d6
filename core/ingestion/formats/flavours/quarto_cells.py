"""Code cells of Quarto and R Markdown: what of a cell and its options a reader sees."""

import re
from collections.abc import Iterator, Mapping

from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.flavours.source_lines import SourceLine

FENCE = re.compile(r"(?P<indent>[ \t>]*)(?P<marks>`{3,}(?=[^`]*\Z)|~{3,})[ \t]*(?P<info>.*)")
_CELL = re.compile(r"\{\s*([A-Za-z][\w+#-]*)\s*[,\s]?(.*)\}")
_RAW = re.compile(r"\{\s*=\s*([\w-]+)\s*\}")
_OPTION_LINE = re.compile(r"[ \t>]*(?:#|//|--|%%?|;;)\|\s?(.*)")
_YAML_OPTION = re.compile(r"([\w.-]+)\s*:\s*(.*)")
_R_OPTION = re.compile(r"([\w.-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[\w.+-]+)")
_CAPTIONS = ("fig-cap", "tbl-cap", "lst-cap", "fig.cap", "tbl.cap")
_NO = frozenset({"false", "f", "no"})


class FenceWriter:
    """Takes the lines of one fence, and gives back those that are shown."""

    def __init__(self, opening: re.Match[str], line: SourceLine, includes: Includes) -> None:
        self.is_closed = False
        self._opening, self._line, self._includes = opening, line, includes
        self._closing = re.compile(
            rf"[ \t>]*{opening['marks'][0]}{{{len(opening['marks'])},}}[ \t]*"
        )
        self._body: list[SourceLine] = []

    def take(self, line: SourceLine) -> Iterator[SourceLine]:
        """Yield the whole fence once `line` closes it."""
        if self._closing.fullmatch(line.text):
            self.is_closed = True
            yield from self._shown(line)
        else:
            self._body.append(line)

    def end(self) -> Iterator[SourceLine]:
        """Yield a fence that nothing closes."""
        yield from self._shown(None)

    def _shown(self, closing: SourceLine | None) -> Iterator[SourceLine]:
        info = self._opening["info"].strip()
        if raw := _RAW.fullmatch(info):
            yield from self._raw(raw[1])
            return
        cell = _CELL.fullmatch(info)
        opening = self._line
        if cell:
            options, self._body = _options(cell[2], self._body)
            if options.get("include", "").lower() in _NO:
                self._omit("cell that is not published")
                return
            yield from self._captions(options)
            if options.get("echo", "").lower() in _NO:
                self._omit("code that is not published")
                return
            marks = self._opening["indent"] + self._opening["marks"]
            opening = SourceLine(marks + cell[1], opening.number)
        yield opening
        yield from self._body
        if closing is not None:
            yield closing

    def _omit(self, kind: str) -> None:
        text = "\n".join(line.text for line in self._body)
        self._includes.left_out(kind, self._line.number, text)

    def _raw(self, kind: str) -> Iterator[SourceLine]:
        """Yield the content of a raw block where it is HTML; pages show no other."""
        if kind.startswith("html"):
            yield from self._body
        else:
            self._omit(f"raw {kind}")

    def _captions(self, options: Mapping[str, str]) -> Iterator[SourceLine]:
        for name in _CAPTIONS:
            if caption := options.get(name):
                shown = (self._opening["indent"] + text for text in ("", caption, ""))
                yield from (SourceLine(text, self._line.number) for text in shown)


def _options(written: str, body: list[SourceLine]) -> tuple[dict[str, str], list[SourceLine]]:
    """Return the options of a cell, and its lines without those that set options."""
    options = {name: value.strip("\"'") for name, value in _R_OPTION.findall(written)}
    start = 0
    for line in body:
        option_line = _OPTION_LINE.fullmatch(line.text)
        if option_line is None:
            break
        start += 1
        if option := _YAML_OPTION.fullmatch(option_line[1].strip()):
            options[option[1]] = option[2].strip().strip("\"'")
    return options, body[start:]
