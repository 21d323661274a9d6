"""Prepares LaTeX for its parser: included files in place, code out of its way, own macros noted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.flavours.source_lines import (
    Edit,
    SourceLine,
    edited,
    included_lines,
    joined,
)

CODE_MACRO = "glossatorcode"
"""Stands for a block of code, with its number."""
_INPUT = re.compile(
    r"\\(?:input|include|subfile)[ \t]*\{(?P<path>[^{}\n]{1,300})\}"
    r"|\\input[ \t]+(?P<bare>[^\s{}\\]+)"
    r"|\\(?:sub)?import\*?\{(?P<folder>[^{}\n]{0,300})\}\{(?P<file>[^{}\n]{1,300})\}"
)
_INLINE_CODE = re.compile(
    r"\\(?:lstinline(?:\[[^\]\n]{0,200}\])?|mintinline\{\w{1,30}\})([|!+/@])(.{0,500}?)\1"
)
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%")
_CODE_NAMES = (
    r"verbatim\*?|Verbatim\*?|BVerbatim|lstlisting|minted|alltt|code|pyglist|filecontents\*?"
)
_CODE = re.compile(rf"\\begin\{{({_CODE_NAMES})\}}(.*?)\\end\{{\1\}}", re.DOTALL)
_CODE_EDGE = re.compile(rf"\\(begin|end)\{{(?:{_CODE_NAMES})\}}")
_OPTIONS = re.compile(r"[ \t]*\[([^\]]*)\]")
_ARGUMENT = re.compile(r"[ \t]*\{([^{}\n]*)\}")
_LANGUAGE = re.compile(r"\blanguage\s*=\s*\{?(?:\[[^\]]*\])?([\w+#.-]+)")
_NEW = re.compile(
    r"\\(?:(?:re|provide)?newcommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*+"
    r"(?:\{\s*+\\([A-Za-z@]+)\s*+\}|\\([A-Za-z@]+))\s*+(?:\[([0-9])\])?\s*+(?:\[([^\[\]{}]*)\])?\s*+(?=\{)"
    r"|\\[gex]?def\s*+\\([A-Za-z@]+)\s*+((?:#[1-9])*)\s*+(?=\{)"
)
_THEOREM = re.compile(
    r"\\newtheorem\*?\s*+\{([A-Za-z*]+)\}\s*+(?:\[[^\]]*\])?\s*+\{([^{}]{1,100})\}"
)
_MOST_MACROS = 2_000
_LONGEST_BODY = 5_000


class Macro(NamedTuple):
    """An own macro: how many arguments, that of the first if it may be left out, and its text."""

    arguments: int
    default: str | None
    body: str


class CodeListing(NamedTuple):
    """A block of code as it is written."""

    text: str
    language: str


@dataclass
class LatexSource:
    """A document ready for its parser."""

    lines: Sequence[SourceLine]
    codes: list[CodeListing] = field(default_factory=list)
    macros: Mapping[str, Macro] = field(default_factory=dict)
    theorems: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What is parsed."""
        return joined(self.lines)


def latex_source(lines: Sequence[SourceLine], includes: Includes) -> LatexSource:
    """Return a document with its files put in, its code taken out, and its macros known."""
    source = LatexSource(list(_with_inputs(lines, includes, ())))
    source.lines = edited(source.lines, list(_without_code(source.text, source.codes)))
    source.macros = dict(_macros(source.text))
    source.theorems = {found[1]: found[2].strip() for found in _THEOREM.finditer(source.text)}
    return source


def _with_inputs(
    lines: Sequence[SourceLine], includes: Includes, chain: tuple[str, ...]
) -> Iterator[SourceLine]:
    r"""Yield the lines with `\input` and `\include` replaced; their paths count from the page."""
    in_code = False
    for line in lines:
        if not in_code and "inline" in line.text:
            line = SourceLine(_INLINE_CODE.sub(r"\\verb\1\2\1", line.text), line.number)
        for edge in _CODE_EDGE.finditer(line.text):
            in_code = edge[1] == "begin"
        comment = _COMMENT.search(line.text)
        written = line.text[: comment.start()] if comment else line.text
        if in_code or "\\" not in written or not (found := _INPUT.search(written)):
            yield line
            continue
        if before := written[: found.start()]:
            yield SourceLine(before, line.number)
        folder, name = found["folder"] or "", found["path"] or found["bare"] or found["file"]
        yield from _file(f"{folder}{name.strip()}", line.number, includes, chain)
        if rest := line.text[found.end() :]:
            yield from _with_inputs([SourceLine(rest, line.number)], includes, chain)


def _file(
    path: str, number: int, includes: Includes, chain: tuple[str, ...]
) -> Iterator[SourceLine]:
    path = path.removeprefix("./")
    if not re.search(r"\.\w{1,5}\Z", path):
        path = f"{path}.tex"
    text = includes.text(path, chain)
    if text is not None:
        yield from _with_inputs(included_lines(text, number), includes, (*chain, path))


def _without_code(text: str, codes: list[CodeListing]) -> Iterator[Edit]:
    for found in _CODE.finditer(text):
        name, body = found[1], found[2]
        options = _OPTIONS.match(body)
        body = body[options.end() :] if options else body
        language = _LANGUAGE.search(options[1]) if options else None
        label = language[1] if language else ""
        if name in {"minted", "filecontents", "filecontents*"} and (named := _ARGUMENT.match(body)):
            body, label = body[named.end() :], named[1] if name == "minted" else ""
        codes.append(CodeListing(body, label))
        yield Edit(found.start(), found.end(), f"\n\n\\{CODE_MACRO}{{{len(codes) - 1}}}\n\n")


def _macros(text: str) -> Iterator[tuple[str, Macro]]:
    for count, found in enumerate(_NEW.finditer(text)):
        if count >= _MOST_MACROS:
            return
        body = _group(text, found.end())
        if body is not None and len(body) <= _LONGEST_BODY:
            arguments = int(found[3] or 0) or (found[6] or "").count("#")
            yield found[1] or found[2] or found[5], Macro(arguments, found[4], body)


def _group(text: str, start: int) -> str | None:
    """Return what stands between the braces at `start`, if they close within bounds."""
    depth = 0
    for at in range(start, min(len(text), start + _LONGEST_BODY + 2)):
        if text[at] in "{}" and text[at - 1] != "\\":
            depth += 1 if text[at] == "{" else -1
            if not depth:
                return text[start + 1 : at]
    return None
