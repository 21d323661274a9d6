r"""Decides the conditionals of LaTeX, and takes out of a text what they and comments hide."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from core.ingestion.formats.includes import Edit

LeaveOut = Callable[[str, int, str], None]
"""Takes the kind of what is hidden, where it begins (-1: in an own command), and its text."""

_TOKEN = re.compile(
    r"\\verb\*?([^A-Za-z*\s])[^\n]*?\1|\\([A-Za-z@]+)\*?|\\.|(?P<comment>%[^\n]*)", re.DOTALL
)
_DEFINITION = re.compile(
    r"\s*\*?\s*(?:\{\s*\\([A-Za-z@]+)\s*\}|\\([A-Za-z@]+))\s*(?:\[[^\]]*\]\s*){0,2}(?:#\d\s*)*(?:(?=\{)|=?\s*\\([A-Za-z@]+))?"
)
_DEFINES = frozenset(
    {
        *("newcommand", "renewcommand", "providecommand", "def", "gdef", "edef", "xdef", "let"),
        *("DeclareRobustCommand", "NewDocumentCommand", "RenewDocumentCommand"),
    }
)
_BODIES_LATER = frozenset({"newenvironment", "renewenvironment", "NewDocumentEnvironment"})
_KNOWN: Mapping[str, bool] = {
    "iffalse": False,
    "iftrue": True,
    "ifmmode": False,
    "ifpdf": True,
    "ifPDFTeX": True,
    "ifxetex": False,
    "ifluatex": False,
    "ifXeTeX": False,
    "ifLuaTeX": False,
    "iftutex": False,
}
_OF_TEX = frozenset(
    {
        *("if", "ifcat", "ifcase", "ifdim", "ifodd", "ifhmode", "ifvmode", "ifinner", "ifvoid"),
        *("ifhbox", "ifvbox", "ifeof", "ifx", "ifnum", "ifdefined", "ifcsname", "ifpdftex"),
    }
)
_FLAGS = re.compile(r"(new|provide|set)(boolean|toggle|bool)|(toggle|bool)(true|false)")
_NEGATED = {"notbool": "ifbool", "nottoggle": "iftoggle", "ifundef": "ifdef"}
_IN_BRACES = frozenset(
    {
        *("ifthenelse", "ifbool", "iftoggle", "ifdef", "ifdefempty", "ifstrequal", "ifdefstring"),
        *("ifblank", "ifstrempty", "ifcsdef", "mode", *_NEGATED),
    }
)
_UNDEFINED = frozenset({"undefined", "relax", "@undefined", "@empty", "empty"})
_TWO_ARGUMENTS = frozenset({"ifstrequal", "ifdefstring"})
_HIDING = re.compile(
    r"\\excludecomment\s*\{([^{}]+)\}|\\NewEnviron\s*\{([^{}]+)\}(?=\s*(?:\[[^\]]*\]\s*)*\{(?:(?!\\BODY)[^{}])*\})"
    r"|\\newenvironment\s*\{([^{}]+)\}\s*(?:\[[^\]]*\]\s*)*\{[^{}]*\\comment\b"
)
_EXAM = re.compile(r"\\documentclass\s*(?:\[([^\]]*)\])?\s*\{exam\}")


class _Open(NamedTuple):
    """A conditional that is open: its value, and whether what surrounds it is shown."""

    value: bool | None
    is_shown: bool
    cases: int = 0
    """How many `\\or` come before the branch of an `\\ifcase` that is shown."""


def without_line(text: str, edit: Edit) -> Edit:
    """Return an edit that leaves no blank line, which would end a paragraph, where it takes one."""
    before = text[text.rfind("\n", 0, edit.start) + 1 : edit.start]
    if edit.text.strip() or before.strip():
        return edit
    return edit._replace(text="%") if _REST_IS_BLANK.match(text, edit.end) else edit


class Conditions:
    """What the switches of a document stand at, and the names that it defines."""

    def __init__(self, text: str, leave_out: LeaveOut) -> None:
        self._flags: dict[str, bool] = {}
        self._cases = 0
        self._defined: dict[str, str] = {}
        self._is_in_text = True
        self._unclosed = 0
        self._note = leave_out
        self._hiding = {
            "comment",
            *(name for found in _HIDING.finditer(text) for name in found.groups() if name),
        }
        exam = _EXAM.search(text)
        if exam and "answers" not in (exam[1] or "") and "\\printanswers" not in text:
            self._hiding |= {
                "solution",
                "solutionorbox",
                "solutionorlines",
                "solutionordottedlines",
            }
        self._hiding -= set(re.findall(r"\\includecomment\s*\{([^{}]+)\}", text))

    def _leave_out(self, kind: str, position: int, text: str) -> None:
        self._note(kind, position if self._is_in_text else -1, text)

    def apply(self, text: str) -> str:
        """Return the text of an own command without what is hidden in it."""
        if "\\if" not in text and "\\not" not in text:
            return text
        pieces, position = list[str](), 0
        self._is_in_text = False
        for edit in list(self.edits(text)):
            pieces += [text[position : edit.start], edit.text]
            position = edit.end
        self._is_in_text = True
        return "".join([*pieces, text[position:]])

    def edits(self, text: str, start: int = 0, end: int | None = None) -> Iterator[Edit]:
        """Yield what takes conditionals and hidden text out of a text, in order.

        Conditionals within definitions wait until what is defined is used.
        """
        end = len(text) if end is None else end
        yield from (without_line(text, edit) for edit in self._scanned(text, start, end))

    def _scanned(self, text: str, start: int, end: int) -> Iterator[Edit]:
        position, stack, hidden_from = start, list[_Open](), None
        while token := _TOKEN.search(text, position, end):
            position, name = token.end(), token[2]
            is_shown = hidden_from is None
            if name is None:
                if token["comment"] and is_shown:
                    self._leave_out("comment", token.start(), token[0].strip("% -=*#"))
                continue
            flag = name[2:] if name.startswith("if") else ""
            if name == "fi" and stack:
                top = stack.pop()
                if top.is_shown and hidden_from is not None:
                    yield self._hidden(text, hidden_from, token)
                    hidden_from = None
                elif top.is_shown:
                    yield Edit(token.start(), position, "")
            elif name in {"else", "or"} and stack:
                top = stack[-1]
                if name == "or" and top.cases > 1:
                    stack[-1] = top._replace(cases=top.cases - 1)
                elif top.is_shown and top.value is False and hidden_from is not None:
                    yield self._hidden(text, hidden_from, token)
                    hidden_from = None
                    stack[-1] = _Open(True, True)
                elif top.is_shown and top.value is True:
                    hidden_from = token.start() if hidden_from is None else hidden_from
                elif top.is_shown:
                    yield Edit(token.start(), position, " ")
            elif name == "unless":
                if is_shown:
                    yield Edit(token.start(), position, "")
            elif flag and name not in _IN_BRACES and self._is_conditional(name, text, position):
                value, after = self._value(name, text, position)
                if text.endswith("\\unless", 0, token.start()):
                    value = None if value is None else not value
                stack.append(_Open(value, is_shown, self._cases if name == "ifcase" else 0))
                if is_shown and value is False:
                    hidden_from = token.start()
                elif is_shown:
                    if value is None:
                        self._leave_out("undecided condition", token.start(), "")
                    yield Edit(token.start(), after, "")
                position = after
            elif not is_shown:
                continue
            elif name in _IN_BRACES:
                edits, position = self._in_braces(name, text, token.start(), position)
                yield from edits
            elif name in _DEFINES or name in _BODIES_LATER or name == "newif":
                position = self._define(name, text, position)
            elif name == "begin":
                hidden = self._hidden_environment(text, token.start(), position)
                if hidden is not None:
                    yield hidden
                    position = hidden.end
            elif (switched := self._switch(name, text, position)) is not None:
                yield Edit(token.start(), switched, "")
                position = switched

    def _is_conditional(self, name: str, text: str, position: int) -> bool:
        """Return whether a command ends with `\\fi`; one with its branches in braces does not."""
        is_known = name[2:] in self._flags or name in _KNOWN or name in _OF_TEX
        return is_known or text[position : position + 1] not in {"{", "["}

    def _hidden(self, text: str, start: int, token: re.Match[str]) -> Edit:
        self._leave_out("hidden text", start, text[start : token.start()])
        return Edit(start, token.end(), "")

    def _hidden_environment(self, text: str, start: int, position: int) -> Edit | None:
        name = re.compile(r"\s*\{([^{}\n]+)\}").match(text, position)
        if name is None or name[1] not in self._hiding:
            return None
        closing = f"\\end{{{name[1]}}}"
        end = text.find(closing, name.end())
        if end < 0:
            return None
        kind = "comment" if name[1] == "comment" else "hidden text"
        self._leave_out(kind, start, text[name.end() : end])
        return Edit(start, end + len(closing), "")

    def _define(self, name: str, text: str, position: int) -> int:
        """Note a definition, and return where what it stands for ends."""
        found = _DEFINITION.match(text, position)
        if found is None:
            end = position
            while name in _BODIES_LATER and (body := group(text, end)) is not None:
                end = body[1]
            return end
        defined = found[1] or found[2]
        if name == "newif":
            self._flags.setdefault(defined.removeprefix("if"), False)
            return found.start(2) + len(defined) if found[2] else found.end()
        if name == "let" and found[3]:
            if found[3] in {"iftrue", "iffalse"} and defined.startswith("if"):
                self._flags[defined[2:]] = found[3] == "iftrue"
            self._defined[defined] = self._defined.get(found[3], f"\\{found[3]}")
            return found.end()
        end = found.start(3) - 1 if found[3] else found.end()
        body = group(text, end) if self._unclosed < _PATIENCE else None
        self._unclosed += body is None
        if body is not None and "Document" in name:  # its first group is that of its arguments
            body = group(text, body[1])
        self._defined[defined] = body[0] if body else ""
        return body[1] if body else end

    def _switch(self, name: str, text: str, position: int) -> int | None:
        """Set what a command switches, and return where it ends; none for other commands."""
        for value in (True, False):
            own = name.removesuffix(str(value).lower())
            if own != name and own in self._flags:
                self._flags[own] = value
                return position
        switch = _FLAGS.fullmatch(name)
        flag = group(text, position) if switch else None
        if switch is None or flag is None:
            return None
        named, end = flag
        if switch[1] == "set":
            given = group(text, end)
            self._flags[named] = given is not None and given[0].strip() == "true"
            return given[1] if given else end
        if switch[3]:
            self._flags[named] = switch[4] == "true"
        else:
            self._flags.setdefault(named, False)
        return end

    def _value(self, name: str, text: str, position: int) -> tuple[bool | None, int]:
        """Return what a conditional of TeX is, if that can be said, and where its test ends."""
        if name in _KNOWN:
            return _KNOWN[name], position
        if name[2:] in self._flags:
            return self._flags[name[2:]], position
        if name == "ifdefined" and (one := _NAME.match(text, position)):
            return one[1] in self._defined, one.end()
        if name == "ifcsname" and (
            one := re.compile(r"\s*([\w@:-]+)\s*\\endcsname").match(text, position)
        ):
            return one[1] in self._defined, one.end()
        if name == "ifx" and (two := _TWO_NAMES.match(text, position)):
            first, second = (self._defined.get(name) for name in two.groups())
            if first is None and second is None and not _UNDEFINED & set(two.groups()):
                return two[1] == two[2], two.end()
            return first == second, two.end()
        if name == "ifnum" and (test := _NUMBERS.match(text, position)):
            left, right = self._number(test[1]), self._number(test[3])
            if left is not None and right is not None:
                return {"<": left < right, ">": left > right, "=": left == right}[
                    test[2]
                ], test.end()
            return None, test.end()
        if name == "ifcase" and (case := _CASE.match(text, position)):
            self._cases = self._number(case[1]) or 0
            self._cases = self._cases if self._cases >= 0 else len(text)
            return (None if self._number(case[1]) is None else self._cases == 0), case.end()
        if name == "if" and (two := re.compile(r"\s*(\w)\s?(\w)").match(text, position)):
            return two[1] == two[2], two.end()
        return None, position

    def _number(self, written: str) -> int | None:
        text = self._defined.get(written[1:], "") if written.startswith("\\") else written
        return int(text) if re.fullmatch(r"\s*-?\d{1,9}\s*", text) else None

    def _in_braces(self, name: str, text: str, start: int, position: int) -> tuple[list[Edit], int]:
        """Return what leaves one of the branches `{...}{...}`, and where they end."""
        if name == "mode":
            mode = re.compile(r"\s*<([^<>]*)>").match(text, position)
            branch = group(text, mode.end()) if mode else None
            if mode is None or branch is None:
                return [], position
            names = set(re.findall("[a-z]+", mode[1]))
            value: bool | None = not names or bool(names & {"beamer", "presentation", "all"})
            return self._chosen(text, start, value, [(branch[0], mode.end(), branch[1])])
        groups = list[tuple[str, int, int]]()
        while (
            self._unclosed < _PATIENCE
            and len(groups) < 4
            and (one := group(text, position)) is not None
        ):
            groups.append((one[0], position, one[1]))
            position = one[1]
        tests = 2 if name in _TWO_ARGUMENTS else 1
        self._unclosed += text.startswith("{", position) and len(groups) < 4
        if len(groups) <= tests:
            return [], position
        value = self._test(name, [one[0] for one in groups[:tests]])
        return self._chosen(text, start, value, groups[tests : tests + 2])

    def _chosen(
        self, text: str, start: int, value: bool | None, branches: list[tuple[str, int, int]]
    ) -> tuple[list[Edit], int]:
        if value is None:
            self._leave_out("undecided condition", start, "")
        edits, position = list[Edit](), start
        for at, (body, begins, ends) in enumerate(branches):
            inner = text.index("{", begins) + 1
            if value is None or value is (at == 0):
                edits += [Edit(position, inner, ""), *self.edits(text, inner, ends - 1)]
                position = ends - 1
            else:
                self._leave_out("hidden text", begins, body)
        end = branches[-1][2]
        return [*edits, Edit(position, end, "")], end

    def _test(self, name: str, given: list[str]) -> bool | None:
        if name in _NEGATED:
            value = self._test(_NEGATED[name], given)
            return None if value is None else not value
        first = given[0].strip()
        match name:
            case "ifbool" | "iftoggle":
                return self._flags.get(first)
            case "ifdef" | "ifcsdef":
                return first.lstrip("\\") in self._defined
            case "ifblank" | "ifstrempty":
                return not first
            case "ifdefempty":
                return not self._defined.get(first.lstrip("\\"), "").strip()
            case "ifstrequal" | "ifdefstring":
                return self._expanded(first) == self._expanded(given[1])
        if equal := re.fullmatch(r"(\\not\s*)?\\equal\s*\{([^{}]*)\}\s*\{([^{}]*)\}", first, re.I):
            return (self._expanded(equal[2]) == self._expanded(equal[3])) is not bool(equal[1])
        if boolean := re.fullmatch(r"(\\not\s*)?\\boolean\s*\{([^{}]*)\}", first, re.I):
            value = self._flags.get(boolean[2])
            return None if value is None else value is not bool(boolean[1])
        return None

    def _expanded(self, text: str) -> str:
        text = text.strip()
        return self._defined.get(text[1:], text).strip() if text.startswith("\\") else text


_REST_IS_BLANK = re.compile(r"[ \t]*(?:\n|\Z)")
_NAME = re.compile(r"\s*\\([A-Za-z@]+)")
_TWO_NAMES = re.compile(r"\s*\\([A-Za-z@]+)\s*\\([A-Za-z@]+)")
_CASE = re.compile(r"\s*(-?\d+|\\[A-Za-z@]+)(?:\\relax)?\s?")
_NUMBERS = re.compile(r"\s*(-?\d+|\\[A-Za-z@]+)\s*([<>=])\s*(-?\d+|\\[A-Za-z@]+)(?:\\relax)?")
_LONGEST_GROUP = 200_000
_PATIENCE = 200
"""How many branches that nothing closes are looked for."""


def group(text: str, start: int) -> tuple[str, int] | None:
    """Return what stands in the braces after blanks at `start`, and where they end, if there."""
    opening = _BLANKS.match(text, start)
    at = opening.end() if opening else start
    if text[at : at + 1] != "{":
        return None
    depth = 0
    for found in _BRACE.finditer(text, at, at + _LONGEST_GROUP):
        if found[0][0] == "\\":
            continue
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return text[at + 1 : found.start()], found.end()
    return None


_BLANKS = re.compile(r"[ \t]*(?:%[^\n]*)?\n?[ \t]*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
