"""Reads the claims of an answer in plain lines, `text [3][7]`, for models that know no JSON."""

import re
from collections.abc import Iterator

from core.generation.claims.schema import (
    NOT_COVERED,
    PARTLY_COVERED,
    PREFIXES,
    Missing,
    WrittenClaim,
)
from core.markdown.fences import Fence, fence_opened_by, is_closing
from core.markdown.spans import code_spans

_NUMBERS = re.compile(
    r"(?:^|(?<=[\s.!?…:,;\"'”’»)|*_`]))(?:\[\d{1,6}(?:[,;] ?\d{1,6})*\][,;]?\s?)+"
)
_LAST_NUMBERS = re.compile(_NUMBERS.pattern + "$")
_NUMBER = re.compile(r"\d+")
_CLOSERS = ".!?…,;:)\"'”’»*_"
_LONGEST = 4_000
"""Characters of a block or a line; what is longer is taken as it is."""
_REFUSALS = {NOT_COVERED: Missing.ALL, PARTLY_COVERED: Missing.PART}


class LineReader:
    """Gives each claim with the line that ends it; no text is an error."""

    def __init__(self) -> None:
        self._line = ""
        self._block: list[str] = []
        """Lines of code or rows of a table, which the line below may give their numbers."""
        self._fence: Fence | None = None
        self._begins_paragraph = False

    def feed(self, text: str) -> Iterator[WrittenClaim | Missing]:
        """Yield what the lines say that end in `text`; a line that is too long ends earlier."""
        *ended, self._line = (self._line + text).split("\n")
        for line in ended:
            for start in range(0, max(len(line), 1), _LONGEST):
                yield from self._read(line[start : start + _LONGEST])

    def close(self) -> Iterator[WrittenClaim | Missing]:
        """Yield what the last line says."""
        yield from self.feed("\n")
        yield from self._end_block()

    def _read(self, line: str) -> Iterator[WrittenClaim | Missing]:
        if self._fence is not None:
            self._block.append(line)
            is_too_long = sum(map(len, self._block)) > _LONGEST
            if is_closing(line, self._fence) or is_too_long:
                self._fence = None
            return
        bare = line.strip()
        is_row = bare.startswith("|")
        if self._block and is_row and self._block[-1].lstrip().startswith("|"):
            self._block.append(line)
        elif self._block and not bare:
            return
        elif self._block and (numbers := _NUMBERS.fullmatch(bare)) is not None:
            yield from self._end_block(numbers.group())
        else:
            yield from self._end_block()
            self._fence = fence_opened_by(line)
            if self._fence is not None or is_row:
                self._block = [line]
            elif bare:
                yield from self._said(line)
            self._begins_paragraph = self._begins_paragraph or not bare

    def _said(self, line: str) -> Iterator[WrittenClaim | Missing]:
        if (missing := _REFUSALS.get(line.strip().strip("*_.").upper())) is not None:
            yield missing
            return
        kind, bare = None, line.lstrip()
        for prefix, named in PREFIXES.items():
            if bare.upper().startswith(prefix):
                kind, line = named, bare[len(prefix) :].lstrip()
        for text, numbers in _cut(line):
            before = "\n\n" if self._begins_paragraph else ""
            yield WrittenClaim(before + text, numbers, kind)
            self._begins_paragraph = False

    def _end_block(self, numbers: str = "") -> Iterator[WrittenClaim]:
        text, self._block = "\n".join(self._block), []
        if text:
            if not numbers and (cited := _LAST_NUMBERS.search(text)) is not None:
                text, numbers = text[: cited.start()].rstrip(), cited.group()
            yield WrittenClaim(f"\n\n{text}", _read_numbers(numbers))
            self._begins_paragraph = True


def _cut(line: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the parts of a line, each with the numbers that stand after it."""
    code = list(code_spans(line, 0, len(line)))
    start = 0
    for found in _NUMBERS.finditer(line):
        if any(begin < found.end() and found.start() < end for begin, end in code):
            continue
        text, end = line[start : found.start()].rstrip(), found.end()
        while end < len(line) and line[end] in _CLOSERS and not found.group()[-1].isspace():
            text += line[end]
            end += 1
        start = end
        if text.strip():
            yield text, _read_numbers(found.group())
    if rest := line[start:].rstrip():
        yield rest, ()


def _read_numbers(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(number) for number in _NUMBER.findall(text)))
