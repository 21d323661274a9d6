"""Reads an answer in plain lines, `text [3][7]`, for models that know no JSON."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.generation.claims.schema import EXAMPLE, NOT_COVERED, PARTLY_COVERED, Missing
from core.markdown.fences import Fence, fence_opened_by, is_closing
from core.markdown.spans import code_spans

_NUMBERS = re.compile(
    r"(?:^|(?<=[\s.!?…:,;\"'”’»)|*_`]))(?:\[\d{1,6}(?:[,;] ?\d{1,6})*\][,;]?\s?)+"
)
_NUMBER = re.compile(r"\d+")
_CLOSERS = ".!?…,;:)\"'”’»*_"
_LONGEST = 4_000
"""Characters of a block or a line; what is longer is taken as it is."""


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """What one claim says in plain lines."""

    text: str
    numbers: tuple[int, ...] = ()
    example: bool = False
    breaks: int = 0
    """Line feeds before it: 0 to 2."""


class LineReader:
    """Gives each claim with the line that ends it; no text is an error."""

    def __init__(self) -> None:
        self._line = ""
        self._block: list[str] = []
        self._fence: Fence | None = None
        self._breaks = 0

    def feed(self, text: str) -> Iterator[ClaimLine | Missing]:
        """Yield what the lines say that end in `text`; a line that is too long ends earlier."""
        *ended, self._line = (self._line + text).split("\n")
        for line in ended:
            for start in range(0, max(len(line), 1), _LONGEST):
                yield from self._read(line[start : start + _LONGEST])

    def close(self) -> Iterator[ClaimLine | Missing]:
        """Yield what the last line says."""
        yield from self.feed("\n")
        yield from self._give_block()

    def _read(self, line: str) -> Iterator[ClaimLine | Missing]:
        if self._fence is not None:
            self._block.append(line)
            if is_closing(line, self._fence):
                self._fence = None
            elif sum(map(len, self._block)) > _LONGEST:
                self._fence = None
                yield from self._give_block()
            return
        bare = line.strip()
        if self._block and (numbers := _NUMBERS.fullmatch(bare)) is not None:
            yield from self._give_block(numbers.group())
            return
        is_row = bare.startswith("|")
        if self._block and (not bare or (is_row and self._block[-1].lstrip().startswith("|"))):
            if is_row:
                self._block.append(line)
            return
        yield from self._give_block()
        if (fence := fence_opened_by(line)) is not None or is_row:
            self._fence = fence
            self._block = [line]
            return
        if not bare:
            self._breaks = 2
            return
        yield from self._said(line)
        self._breaks = max(self._breaks, 1)

    def _said(self, line: str) -> Iterator[ClaimLine | Missing]:
        bare = line.strip().strip("*_.")
        if bare.upper() in {NOT_COVERED, PARTLY_COVERED}:
            yield Missing.ALL if bare.upper() == NOT_COVERED else Missing.PART
            return
        is_example = line.lstrip().upper().startswith(EXAMPLE)
        if is_example:
            line = line.lstrip()[len(EXAMPLE) :].lstrip()
        for text, numbers in _cut(line):
            yield ClaimLine(text, numbers, is_example, self._breaks)
            self._breaks = 0

    def _give_block(self, numbers: str = "") -> Iterator[ClaimLine]:
        if self._block:
            rows, self._block = self._block, []
            *head, last = rows
            if not numbers and (cited := re.search(_NUMBERS.pattern + "$", last)) is not None:
                last, numbers = last[: cited.start()].rstrip(), cited.group()
            yield ClaimLine("\n".join([*head, last]), _read_numbers(numbers), breaks=2)
            self._breaks = 2


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
