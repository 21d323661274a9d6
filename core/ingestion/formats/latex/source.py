"""Prepares LaTeX for its parser: included files in place, code and hidden text out of its way."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.ingestion.document import Omission
from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.flavours.source_lines import (
    Edit,
    SourceLine,
    edited,
    included_lines,
    joined,
    line_finder,
)
from core.ingestion.formats.latex.conditions import Conditions
from core.ingestion.formats.latex.macros import (
    Definitions,
    definitions,
    with_environments,
    without_definitions,
)

CODE_MACRO = "glossatorcode"
"""Stands for a block of code, with its number."""
EXACT_MACRO = "glossatorexact"
"""Stands for a text that is taken as it is written, with its number."""
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
_CAPTION = re.compile(r"\bcaption\s*=\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|([^,{}\]]+))")
_LANGUAGE = re.compile(r"\blanguage\s*=\s*\{?(?:\[[^\]]*\])?([\w+#.-]+)")
_EXACT = re.compile(
    r"\\(?:url|nolinkurl|path)\*?\s*(?:\{(?P<url>(?:[^{}\n]|\{[^{}\n]*\})*)\}|(?P<mark>[|!+/])(?P<marked>[^\n]*?)(?P=mark))"
    r"|\\href\s*(?:\[[^\]\n]*\])?\s*(?P<link>\{(?:[^{}\n]|\{[^{}\n]*\})*\})"
    r"|\\(?P<listing>lstinputlisting|verbatiminput|VerbatimInput|inputminted)\*?\s*(?:\[(?P<options>[^\]]*)\])?\s*"
    r"(?:\{(?P<language>[^{}\n]*)\}(?=\s*\{)\s*)?\{(?P<file>[^{}\n]+)\}"
    r"|(?<!\\)(?:\\\\)*(?P<comment>%[^\n]*)"
)
_EXACT_NAMES = (
    "\\url",
    "\\href",
    "\\nolinkurl",
    "\\path",
    "inputlisting",
    "atimInput",
    "atiminput",
    "inputminted",
)
_OVERLAY = re.compile(
    r"(\\(?:begin\s*\{[^{}\n]{1,40}\}(?:\{[^{}\n]{0,200}\})?|[A-Za-z]++\*?)"
    r"(?:\[[^\]\n]{0,100}\])?)"
    r"<(?:[\d+.,|()\- ]+"
    r"|(?:(?:beamer|handout|presentation|article|trans|second|all)(?::[\d+.,\- ]++)?+[| ]*+)++"
    r"|alert@[^<>\n]*|[\d+.\-]+\|[a-z]+@[^<>\n]*)>"
)
_IS_BEAMER = re.compile(r"\\documentclass[^\n{]*\{(?:beamer|ltxtalk)\}|\\begin\{frame\}|\\frame\b")
_INCLUDE_ONLY = re.compile(r"^[^%\n]*\\includeonly\s*\{([^{}]*)\}", re.MULTILINE)


class CodeListing(NamedTuple):
    """A block of code as it is written."""

    text: str
    language: str


@dataclass
class LatexSource:
    """A document ready for its parser."""

    lines: Sequence[SourceLine]
    codes: list[CodeListing] = field(default_factory=list)
    exact: list[str] = field(default_factory=list)
    """Texts in which no character is one of LaTeX's own."""
    defined: Definitions = field(default_factory=Definitions)
    decide: Callable[[str], str] = str
    """Takes out of the text of an own command what its conditions hide."""

    @property
    def text(self) -> str:
        """What is parsed."""
        return joined(self.lines)


def latex_source(lines: Sequence[SourceLine], includes: Includes) -> LatexSource:
    """Return a document with its files put in, its code and what it hides taken out, and all that
    it defines known.
    """
    only = (
        _INCLUDE_ONLY.search(joined(lines))
        if any("\\includeonly" in one.text for one in lines)
        else None
    )
    chosen = {name.strip() for name in only[1].split(",")} if only else None
    source = LatexSource(list(_with_inputs(lines, includes, (), chosen)))
    source.lines = edited(source.lines, list(_without_code(source.text, source.codes)))
    source.lines = edited(source.lines, list(_without_exact(source, includes)))
    source.lines = edited(source.lines, list(_parts_of_questions(source.text)))
    text = source.text
    if "\\if" in text or "%" in text or "{comment}" in text or _MAY_HIDE.search(text):
        hidden = _Hidden(source.lines, includes)
        conditions = Conditions(text, hidden.leave_out)
        source.lines = edited(source.lines, conditions.edits(text))
        source.decide = conditions.apply
    text = source.text
    source.defined = definitions(text)
    source.lines = edited(source.lines, without_definitions(text, source.defined.places))
    if source.defined.environments or source.defined.macros:
        edits = with_environments(source.text, source.defined, source.decide)
        source.lines = edited(source.lines, list(edits))
    if _IS_BEAMER.search(text):
        source.lines = [
            SourceLine(_OVERLAY.sub(_without_overlay, line.text), line.number)
            if "<" in line.text
            else line
            for line in source.lines
        ]
    return source


def _parts_of_questions(text: str) -> Iterator[Edit]:
    """Yield what keeps the parts of a question of an exam apart from parts of a book."""
    for parts in _PARTS.finditer(text) if "{parts}" in text else ():
        for part in re.finditer(r"\\part\b", parts[0]):
            start = parts.start() + part.start()
            yield Edit(start, start + len(part[0]), "\\subpart")


_PARTS = re.compile(r"\\begin\{parts\}.*?\\end\{parts\}", re.DOTALL)


def _without_overlay(found: re.Match[str]) -> str:
    """Return a command without the slides that it is for, apart from the one before it."""
    gap = " " if found.string[found.start() - 1 : found.start()] == "}" else ""
    return gap + found[1]


_MAY_HIDE = re.compile(r"\\(?:excludecomment|NewEnviron|mode|notbool|nottoggle)\b|\{exam\}")


class _Hidden:
    """Notes what conditionals and comments hide; comments on lines that follow are one."""

    def __init__(self, lines: Sequence[SourceLine], includes: Includes) -> None:
        self._line_of, self._includes = line_finder(lines), includes
        self._last_comment = -1

    def leave_out(self, kind: str, position: int, text: str) -> None:
        if not text and (position < 0 or kind == "comment"):
            return
        line = self._line_of(position) if position >= 0 else 0
        last = self._includes.omissions[-1] if self._includes.omissions else None
        if kind == "comment" and last and last.kind == kind and self._last_comment + 1 >= line:
            words = last.words + len(text.split())
            self._includes.omissions[-1] = Omission(kind, last.where, words)
        else:
            self._includes.left_out(kind, line, text)
        self._last_comment = line + text.count("\n")


def _without_exact(source: LatexSource, includes: Includes) -> Iterator[Edit]:
    """Yield what keeps `%` and `_` of addresses from the parser, and puts in listings of files."""
    text = source.text
    for found in _EXACT.finditer(text) if any(name in text for name in _EXACT_NAMES) else ():
        if found["comment"]:
            continue
        if found["link"]:
            yield Edit(found.start("link"), found.end("link"), "{}")
            continue
        if name := found["file"]:
            language = _LANGUAGE.search(found["options"] or "")
            label = found["language"] or (language[1] if language else "")
            code = includes.text(name.strip().removeprefix("./"), ())
            source.codes.append(CodeListing(code or "", label))
            shown = f"\n\n\\{CODE_MACRO}{{{len(source.codes) - 1}}}\n\n"
            yield Edit(found.start(), found.end(), shown)
            continue
        address = found["url"] if found["url"] is not None else found["marked"]
        source.exact.append(re.sub(r"\\([%#&_~])", r"\1", address))
        yield Edit(found.start(), found.end(), f"\\{EXACT_MACRO}{{{len(source.exact) - 1}}}")


def _with_inputs(
    lines: Sequence[SourceLine],
    includes: Includes,
    chain: tuple[str, ...],
    only: Collection[str] | None,
) -> Iterator[SourceLine]:
    r"""Yield the lines with `\input` and `\include` replaced; their paths count from the page.

    Of those with `\include`, only those that `\includeonly` names, if it is there.
    """
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
        name = name.strip()
        if only is not None and found[0].startswith("\\include") and name not in only:
            includes.left_out("file that \\includeonly switches off", line.number)
        else:
            yield from _file(f"{folder}{name}", line.number, includes, chain, only)
        if rest := line.text[found.end() :]:
            yield from _with_inputs([SourceLine(rest, line.number)], includes, chain, only)


def _file(
    path: str,
    number: int,
    includes: Includes,
    chain: tuple[str, ...],
    only: Collection[str] | None,
) -> Iterator[SourceLine]:
    path = path.removeprefix("./")
    if not re.search(r"\.\w{1,5}\Z", path):
        path = f"{path}.tex"
    text = includes.text(path, chain)
    if text is not None:
        yield from _with_inputs(included_lines(text, number), includes, (*chain, path), only)


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
        caption = _CAPTION.search(options[1]) if options else None
        title = f"\\caption{{{caption[1] or caption[2]}}}" if caption else ""
        shown = f"\n\n{title}\\{CODE_MACRO}{{{len(codes) - 1}}}\n\n"
        yield Edit(found.start(), found.end(), shown)
