"""Prepares LaTeX for its parser: included files in place, code and hidden text out of its way."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.ingestion.document import Omission
from core.ingestion.formats.includes import (
    Edit,
    Includes,
    SourceLine,
    edited,
    included_lines,
    joined,
    line_finder,
)
from core.ingestion.formats.latex_conditions import Conditions, group, without_line

_NOT_GIVEN = "-NoValue-"
_NEW = re.compile(
    r"\\(?:(?:re|provide)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*+"
    r"(?:\{\s*+\\([A-Za-z@]+)\s*+\}|\\([A-Za-z@]+))\s*+(?:\[([0-9])\])?\s*+(?:\[((?:[^\[\]{}]|\{[^{}]*\})*)\])?\s*+(?=\{)"
    r"|\\[gex]?def\s*+\\([A-Za-z@]+)\s*+((?:#[1-9])*)\s*+(?=\{)"
)
_XPARSE = re.compile(
    r"\\(?:New|Renew|Provide|Declare)(?:Expandable)?Document(Command|Environment)\s*+\{?\s*+\\?([\w@*:+.-]+)\s*+\}?\s*+(?=\{)"
)
_ENVIRONMENT = re.compile(
    r"\\(?:re)?newenvironment\*?\s*+\{([\w@*:+.-]+)\}\s*+(?:\[([0-9])\])?\s*+(?:\[((?:[^\[\]{}]|\{[^{}]*\})*)\])?\s*+(?=\{)"
)
_BOX = re.compile(
    r"\\(?:re)?new(?:tcolorbox|mdenv)\s*+(?:\[[^\]]*\])?\s*+\{([\w@*:+.-]+)\}\s*+(?:\[([0-9])\])?\s*+(?:\[([^\[\]]*)\])?\s*+(?=\{)"
    r"|\\newtcbtheorem\s*+(?:\[[^\]]*\])?\s*+\{([\w@*:+.-]+)\}\s*+\{([^{}]*)\}"
)
_LET = re.compile(r"\\let\s*\\([A-Za-z@]+)\s*=?\s*\\([A-Za-z@]+)")
_THEOREM = re.compile(
    r"\\newtheorem\*?\s*+\{([\w@*:+.-]+)\}\s*+(?:\[[^\]]*\])?\s*+\{([^{}]{1,100})\}"
)
_UNIT = re.compile(r"\\DeclareSIUnit\s*(?:\[[^\]]*\])?\s*\{?\\([A-Za-z]+)\}?\s*(?=\{)")
_TERM = re.compile(
    r"\\(newacronym|newabbreviation|acro|acrodef|newglossaryentry|longnewglossaryentry|DeclareAcronym)"
    r"\s*(?:\[[^\]]*\])?\s*\{([^{}]{1,100})\}\s*(?:\[([^\[\]]*)\])?\s*(?=\{)"
)
_KEY = re.compile(r"([a-z-]+)\s*=\s*")
_SPEC = re.compile(r"[+!\s]|>\{[^{}]*\}|([mov])|O\{((?:[^{}]|\{[^{}]*\})*)\}|(s)|([tdDrReEgG])")
_SPEC_REST = re.compile(r"(?:[^\w\s{}]{0,2}|\{[^{}]*\}){0,3}")
_TITLE = re.compile(r"(?:^|[,{\[])\s*(?:frame)?title\s*=\s*")
_CHOICE = re.compile(r"\\If(NoValue|Value|Boolean|Blank)(TF|T|F)\s*(?=\{)")
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z@]+\Z")
_PARAMETER = re.compile(r"#([1-9])")
_OPTION = re.compile(r"\s*\[((?:[^\[\]{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\]")
_MOST_MACROS = 2_000
_LONGEST_BODY = 5_000
_MOST_UNCLOSED = 200
_DEEPEST = 6
_MOST_CHARACTERS = 2_000_000


class Macro(NamedTuple):
    """An own command or environment: its arguments, what those left out are, and its texts."""

    arguments: str
    """As pylatexenc writes them: `{` one that must be there, `[` one that may, `*` a star; a
    blank for one that is never found."""
    defaults: Sequence[str]
    body: str
    end: str = ""
    """For an environment: what stands after it."""

    def filled(self, given: Sequence[str | None], text: str) -> str:
        """Return a text of the macro with its arguments, where they are needed, in place."""
        values = [
            default if value is None else value
            for value, default in zip(given, self.defaults, strict=False)
        ]

        def value(found: re.Match[str]) -> str:
            number = int(found[1])
            text_of = values[number - 1] if number <= len(values) else ""
            return _apart(found.string[: found.start()], text_of)

        return _with_choices(_PARAMETER.sub(value, text)).replace(_NOT_GIVEN, "")


def _apart(before: str, text: str) -> str:
    """Return `text` so that the name of a command right before it ends there."""
    return f" {text}" if text[:1].isalpha() and _ENDS_IN_COMMAND.search(before[-40:]) else text


class Term(NamedTuple):
    """An acronym or an entry of a glossary."""

    short: str
    long: str
    plural: str = ""
    is_acronym: bool = True
    """Whether its first use prints both."""


@dataclass
class Definitions:
    """All that a document defines."""

    macros: dict[str, Macro] = field(default_factory=dict)
    environments: dict[str, Macro] = field(default_factory=dict)
    theorems: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, Term] = field(default_factory=dict)
    places: list[tuple[int, int]] = field(default_factory=list)
    """Where commands and environments are defined in the text."""


def definitions(text: str) -> Definitions:
    """Return what a document defines; what defines without end is cut off."""
    found = Definitions(
        theorems={one[1]: one[2].strip() for one in _THEOREM.finditer(text)},
        units={one[1]: body[0] for one in _UNIT.finditer(text) if (body := group(text, one.end()))},
        terms=dict(_terms(text)),
    )
    unclosed = 0
    for count, new in enumerate(_NEW.finditer(text)):
        body = group(text, new.end()) if unclosed < _MOST_UNCLOSED else None
        unclosed += body is None
        if body is not None:
            found.places.append((new.start(), body[1]))
        if count < _MOST_MACROS and body is not None and len(body[0]) <= _LONGEST_BODY:
            number = int(new[3] or 0) or (new[6] or "").count("#")
            found.macros[new[1] or new[2] or new[5]] = _macro(number, new[4], body[0])
    for new in _XPARSE.finditer(text):
        spec = group(text, new.end())
        body = group(text, spec[1]) if spec else None
        if spec and body:
            end = group(text, body[1]) if new[1] == "Environment" else None
            kinds, defaults = _xparse(spec[0])
            found.places.append((new.start(), (end or body)[1]))
            made = Macro(kinds, defaults, body[0], end[0] if end else "")
            (found.environments if new[1] == "Environment" else found.macros)[new[2]] = made
    for new in _ENVIRONMENT.finditer(text):
        body = group(text, new.end())
        end = group(text, body[1]) if body else None
        if body and end:
            found.places.append((new.start(), end[1]))
            made = _macro(int(new[2] or 0), new[3], body[0])
            found.environments[new[1]] = made._replace(end=end[0])
    for new in _BOX.finditer(text):
        if new[4]:
            title = rf"\par\textbf{{{new[5]}: #2}}\par "
            found.environments[new[4]] = Macro("[{{", ("", "", ""), title, r"\par ")
        elif body := group(text, new.end()):
            title = box_title(body[0])
            made = _macro(int(new[2] or 0), new[3], rf"\par {title}\par " if title else r"\par ")
            found.environments[new[1]] = made._replace(end=r"\par ")
    for alias in _LET.finditer(text):
        if alias[2] in found.macros:
            found.macros.setdefault(alias[1], found.macros[alias[2]])
    return found


def _macro(arguments: int, default: str | None, body: str) -> Macro:
    first = "[" if default is not None else "{"
    kinds = (first + "{" * (arguments - 1)) if arguments else ""
    return Macro(kinds, (default or "", *[""] * (arguments - 1)), body)


def _xparse(spec: str) -> tuple[str, Sequence[str]]:
    kinds, defaults, position = "", list[str](), 0
    while position < len(spec):
        found = _SPEC.match(spec, position)
        if found is None:
            break
        position = found.end()
        if found[1] or found[2] is not None or found[3]:
            kinds += "*" if found[3] else "{" if found[1] in {"m", "v"} else "["
            plain = _NOT_GIVEN if found[1] == "o" else ""
            defaults.append(found[2] if found[2] is not None else plain)
        elif found[4]:
            rest = _SPEC_REST.match(spec, position)
            position = rest.end() if rest else position
            kinds += " "
            defaults.append(_NOT_GIVEN)
    return kinds, defaults


def _with_choices(text: str) -> str:
    """Return a text with the branches chosen that xparse chooses by what is given."""
    for _ in range(50):
        choice = _CHOICE.search(text)
        test = group(text, choice.end()) if choice else None
        if choice is None or test is None:
            return text
        value, end = test
        is_given = value != _NOT_GIVEN
        holds = {
            "NoValue": not is_given,
            "Value": is_given,
            "Boolean": value == "*",
            "Blank": not value.strip(),
        }[choice[1]]
        shown = ""
        for branch in choice[2]:
            body = group(text, end)
            if body is None:
                break
            end = body[1]
            shown = body[0] if holds is (branch == "T") else shown
        text = text[: choice.start()] + shown + text[end:]
    return text


def box_title(options: str) -> str:
    """Return the title among the options of a box, or an empty text."""
    found = _TITLE.search(options)
    if found is None:
        return ""
    braced = group(options, found.end())
    plain = re.compile(r"[^,\]]*").match(options, found.end())
    return braced[0] if braced else plain[0].strip() if plain else ""


def _terms(text: str) -> Iterator[tuple[str, Term]]:
    for found in _TERM.finditer(text):
        first = group(text, found.end())
        second = group(text, first[1]) if first else None
        if first is None:
            continue
        if found[1] in {"acro", "acrodef"}:
            yield found[2], Term(found[3] or found[2], first[0])
        elif found[1] in {"newacronym", "newabbreviation"}:
            yield found[2], Term(first[0], second[0] if second else "")
        else:
            keys = dict(_keys(first[0]))
            if second is not None and found[1].startswith("long"):
                keys["description"] = second[0]
            short = keys.get("short") or keys.get("name") or found[2]
            long = keys.get("long") or keys.get("description", "")
            is_acronym = found[1] == "DeclareAcronym"
            yield found[2], Term(short, long, keys.get("plural", ""), is_acronym)


def _keys(options: str) -> Iterator[tuple[str, str]]:
    position = 0
    while key := _KEY.search(options, position):
        braced = group(options, key.end())
        end = options.find(",", key.end())
        plain_end = len(options) if end < 0 else end
        yield key[1], braced[0] if braced else options[key.end() : plain_end].strip()
        position = braced[1] if braced else plain_end


def without_definitions(text: str, places: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    """Yield what takes definitions out of a text: a `\\begin` in one would never end."""
    last = 0
    for start, end in sorted(places):
        if start >= last:
            yield without_line(text, Edit(start, end, ""))
            last = end


def with_environments(
    text: str, defined: Definitions, decide: Callable[[str], str]
) -> Iterator[Edit]:
    """Yield what puts the texts of own environments in the place of their edges.

    So it does those of own commands that only begin or only end an environment.
    """
    edges = [name for name, macro in defined.macros.items() if _is_edge(macro.body)]
    names = "|".join(re.escape(name) for name in defined.environments) or r"\A\Z"
    commands = "|".join(map(re.escape, edges)) or r"\A\Z"
    edge = re.compile(rf"\\(begin|end)\s*\{{({names})\}}|\\({commands})(?![A-Za-z@])")
    position, left = 0, _MOST_CHARACTERS
    while left > 0 and (found := edge.search(text, position)):
        shown, position = _edge(text, found, defined, decide)
        for _ in range(_DEEPEST):  # environments that stand on others
            inner = edge.search(shown)
            if inner is None or len(shown) > _LONGEST_BODY:
                break
            replaced, end = _edge(shown, inner, defined, decide)
            shown = shown[: inner.start()] + replaced + shown[end:]
        gap = " " if _apart(shown, text[position : position + 1]).startswith(" ") else ""
        left -= len(shown)
        yield Edit(found.start(), position, shown + gap)


def _is_edge(body: str) -> bool:
    return body.count("\\begin{") != body.count("\\end{")


def _edge(
    text: str,
    found: re.Match[str],
    defined: Definitions,
    decide: Callable[[str], str],
) -> tuple[str, int]:
    macro = defined.macros[found[3]] if found[3] else defined.environments[found[2]]
    if found[1] == "end":
        return decide(_PARAMETER.sub("", macro.end)), found.end()
    given, position = list[str | None](), found.end()
    for kind in macro.arguments:
        option = _OPTION.match(text, position) if kind == "[" else None
        braced = group(text, position) if kind == "{" else None
        given.append(option[1] if option else braced[0] if braced else None)
        position = option.end() if option else braced[1] if braced else position
    return decide(macro.filled(given, macro.body)), position


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
