"""Puts the files that a reStructuredText page includes in their place, within the course."""

import re
from collections.abc import Iterator, Mapping, Sequence

from core.ingestion.formats.flavours.includes import Includes, resolved
from core.ingestion.formats.flavours.source_lines import SourceLine, included_lines

_INCLUDE = re.compile(r"(?P<indent>[ ]*)\.\.[ ]+include::[ ]+(?P<path>\S.*?)[ ]*")
_OPTION = re.compile(r"[ ]+:([\w-]+):[ ]*(.*?)[ ]*")
_CODE = re.compile(r"[ ]*\.\.[ ]+(?:code(?:-block)?|sourcecode|parsed-literal|highlight)::.*")
_AS_CODE = frozenset({"literal", "code"})


def with_includes(
    lines: Sequence[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> Iterator[SourceLine]:
    """Yield the lines with those of each included file, which stand for the line that names it.

    One that is to be shown as code stays, and so does an include that code itself shows.
    """
    position = 0
    while position < len(lines):
        line = lines[position]
        include = _INCLUDE.fullmatch(line.text) if "include::" in line.text else None
        end = position + 1
        options: dict[str, str] = {}
        while include and end < len(lines) and (option := _OPTION.fullmatch(lines[end].text)):
            options[option[1]] = option[2]
            end += 1
        if include is None or _AS_CODE & options.keys() or _in_code(lines, position):
            yield from lines[position:end]
        else:
            path = resolved(include["path"], chain)
            text = includes.text(path, chain)
            inner = included_lines(chosen(text, options), line.number) if text is not None else []
            yield SourceLine("", line.number)
            for one in with_includes(inner, includes, (*chain, path)):
                yield SourceLine(include["indent"] + one.text if one.text else "", line.number)
            yield SourceLine("", line.number)
        position = end


def _in_code(lines: Sequence[SourceLine], position: int) -> bool:
    """Return whether a line lies in a block of code, by the line that it is indented under."""
    depth = _depth(lines[position].text)
    above = (line.text for line in reversed(lines[max(0, position - 500) : position]))
    under = next((text for text in above if text.strip() and _depth(text) < depth), "")
    if not depth or not under:
        return False
    is_markup = under.lstrip().startswith("..")
    return _CODE.fullmatch(under) is not None or (not is_markup and under.rstrip().endswith("::"))


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def chosen(text: str, options: Mapping[str, str]) -> str:
    """Return the part of an included file that the options of the directive ask for."""
    after, before = options.get("start-after"), options.get("end-before")
    if after and after in text:
        text = text[text.index(after) + len(after) :]
    if before and before in text:
        text = text[: text.index(before)]
    lines = text.split("\n")
    if numbers := re.fullmatch(r"(\d{1,6})-(\d{1,6})?", options.get("lines") or ""):
        lines = lines[max(int(numbers[1]), 1) - 1 : int(numbers[2] or len(lines))]
    start, end = (options.get(name) or "" for name in ("start-line", "end-line"))
    last = int(end) if re.fullmatch(r"-?\d{1,6}", end) else None
    return "\n".join(lines[int(start) if re.fullmatch(r"\d{1,6}", start) else 0 : last])
