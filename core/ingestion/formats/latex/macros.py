"""What a LaTeX document defines: commands, environments, acronyms, units and theorems."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.ingestion.formats.flavours.source_lines import Edit
from core.ingestion.formats.latex.conditions import group, without_line

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
