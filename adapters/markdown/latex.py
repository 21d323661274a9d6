"""Reads formulas of LaTeX aloud in Unicode, as far as one line of characters can show them."""

import re
import unicodedata
from typing import NamedTuple

from adapters.markdown.latex_symbols import (
    ACCENTS,
    ALPHABETS,
    BIG,
    BINARY,
    CLOSERS,
    FUNCTIONS,
    LETTERS,
    OPENERS,
    RELATIONS,
    SPACES,
    SUBSCRIPTS,
    SUPERSCRIPTS,
)

_TOKEN = re.compile(
    rf"\\(?:[A-Za-z]+\*?|.)|(?<![A-Za-z\\])(?:{'|'.join(sorted(FUNCTIONS))})(?![A-Za-z])|\s+|.",
    re.DOTALL,
)
_TEXT = {"text", "textrm", "textbf", "textit", "mbox", "mathrm", "operatorname", "operatorname*"}
_STYLES = {"mathbf", "mathit", "mathsf", "boldsymbol", "bm", "mathop", "mathbin", "mathrel"}
_FRACTIONS = {"frac", "dfrac", "tfrac", "cfrac"}
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_PLAIN_ROLES = {"=": "rel", "<": "rel", ">": "rel", "+": "bin", "-": "bin", "*": "bin"} | {
    ",": "punct",
    ";": "punct",
    ":": "punct",
    "(": "open",
    "[": "open",
    ")": "close",
    "]": "close",
}
_SIMPLE = re.compile(
    r"\d+(?:[.,]\d+)*|[^\W\d_][\u0300-\u036f\u20d7′⁰-₟ᵃ-ᵿᴬ-ᵪ²³¹ʰ-ˣⱼⱽ]*(?:\([^()]*\))?"
)
_BRACKETS = re.compile(r"\([^()]*\)")
_LONGEST = 1_000
_DEEPEST = 24


class _Unreadable(Exception):
    """What one line of characters cannot show."""


class _Atom(NamedTuple):
    text: str
    role: str = "ord"


def readable(latex: str) -> str | None:
    r"""Return a formula in Unicode; None when only a picture of it could be read.

    That is so for matrices, aligned lines, fractions inside fractions and unknown commands.

    >>> readable(r"\frac{1}{2} m v^2 \leq E_0")
    '(1/2)mv² ≤ E₀'
    """
    if len(latex) > _LONGEST:
        return None
    try:
        return _joined(_Reader(latex).sequence(None)) or None
    except _Unreadable:
        return None


class _Reader:
    """Reads one formula from left to right."""

    def __init__(self, latex: str) -> None:
        self._tokens: list[str] = _TOKEN.findall(latex)
        self._position = 0
        self._depth = 0
        self._in_fraction = False

    def sequence(self, end: str | None) -> list[_Atom]:
        """Return the atoms up to the token `end`, which is read too."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Unreadable
        atoms: list[_Atom] = []
        while (token := self._next()) != end:
            if token is None:
                raise _Unreadable
            if token in {"^", "_", "'"}:
                base = atoms.pop() if atoms else _Atom("")
                atoms.append(self._scripted(base, token))
            elif token.strip():
                atoms += self._atoms(token)
        self._depth -= 1
        return atoms

    def _next(self) -> str | None:
        if self._position >= len(self._tokens):
            return None
        self._position += 1
        return self._tokens[self._position - 1]

    def _atoms(self, token: str) -> list[_Atom]:
        if token == "{":
            group = self.sequence("}")
            kept = len(group) == 1 and group[0].role in _TERMS
            return group if kept else [_Atom(_joined(group), "group" if len(group) > 1 else "ord")]
        if token in {"}", "&", "\\\\"}:
            raise _Unreadable
        if token in FUNCTIONS:
            return [_Atom(token, "op")]
        if token.startswith("\\"):
            return self._command(token[1:])
        return [
            _Atom({"-": "−", "*": "∗", "~": " "}.get(token, token), _PLAIN_ROLES.get(token, "ord"))
        ]

    def _command(self, name: str) -> list[_Atom]:
        tables = ((LETTERS, "ord"), (BINARY, "bin"), (RELATIONS, "rel"), (BIG, "op"))
        for table, role in (*tables, (OPENERS, "open"), (CLOSERS, "close")):
            if name in table:
                return [_Atom(table[name], role)]
        if name in SPACES:
            return [_Atom(" ", "space")] if SPACES[name] else []
        if name in FUNCTIONS:
            return [_Atom(name, "op")]
        return [self._structure(name)]

    def _structure(self, name: str) -> _Atom:
        """Return a command that takes arguments."""
        if name in _TEXT:
            return _Atom(self._words(), "op" if name.startswith("operatorname") else "text")
        if name in _STYLES:
            return _Atom(self._argument())
        if name in ALPHABETS:
            return _Atom("".join(_letter(name, char) for char in self._argument()))
        if name in ACCENTS:
            return _accented(self._argument(), ACCENTS[name], every=name.endswith("line"))
        if name in _FRACTIONS:
            return self._fraction()
        return self._rare_structure(name)

    def _rare_structure(self, name: str) -> _Atom:
        if name == "sqrt":
            return self._root()
        if name in {"left", "right", "middle"}:
            return self._delimiter(name)
        if name in {"binom", "dbinom", "tbinom"}:
            return _Atom(f"({self._argument()} choose {self._argument()})")
        if name == "pmod":
            return _Atom(f" (mod {self._argument()})")
        if name == "not":
            return _Atom(unicodedata.normalize("NFC", self._argument() + "\u0338"), "rel")
        raise _Unreadable

    def _argument(self) -> str:
        token = self._next()
        while token is not None and not token.strip():
            token = self._next()
        if token is None or token in {"^", "_"}:
            raise _Unreadable
        return _joined(self._atoms(token)).strip()

    def _words(self) -> str:
        if self._next() != "{":
            raise _Unreadable
        words = ""
        while (token := self._next()) != "}":
            if token is None or token in {"{", "$"} or re.match(r"\\\w", token):
                raise _Unreadable
            words += " " if not token.strip() else token.removeprefix("\\")
        return words

    def _fraction(self) -> _Atom:
        if self._in_fraction:
            raise _Unreadable
        self._in_fraction = True
        above, below = self._argument(), self._argument()
        self._in_fraction = False
        is_product = not re.search(r"[ +−±/,]", _BRACKETS.sub("", above))
        return _Atom(f"{above if is_product else _bracketed(above)}/{_bracketed(below)}", "frac")

    def _root(self) -> _Atom:
        degree = ""
        if self._tokens[self._position : self._position + 1] == ["["]:
            self._position += 1
            degree = _joined(self.sequence("]"))
        sign = _ROOTS.get(degree) or _as_script(degree, SUPERSCRIPTS) + "√"
        return _Atom(sign + _bracketed(self._argument()))

    def _delimiter(self, name: str) -> _Atom:
        mark = self._argument()
        role = {"left": "open", "right": "close"}.get(name, "ord")
        return _Atom("" if mark == "." else mark, role)

    def _scripted(self, base: _Atom, token: str) -> _Atom:
        text, role = base
        if role in {"frac", "group"}:
            text, role = _bracketed(text), "ord"
        if token == "'":
            return _Atom(f"{text}′", role)
        script = self._argument()
        table = SUPERSCRIPTS if token == "^" else SUBSCRIPTS
        try:
            return _Atom(text + _as_script(script, table), role)
        except _Unreadable:
            short = len(script) == 1 and script != "∘"
            degree = "°" if script == "∘" else f"{token}{script if short else f'({script})'}"
            return _Atom(text + degree, role)


def _letter(alphabet: str, character: str) -> str:
    """Return a letter of a mathematical alphabet."""
    old, new = ALPHABETS[alphabet]
    case = "CAPITAL" if character.isupper() else "SMALL"
    for name in (
        f"{old} {case} {character.upper()}",
        f"MATHEMATICAL {new} {case} {character.upper()}",
    ):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    raise _Unreadable


def _accented(text: str, accent: str, *, every: bool) -> _Atom:
    if len(text) != 1 and not (every and text.isalnum()):
        raise _Unreadable
    plain = text.replace("ı", "i").replace("ȷ", "j")
    return _Atom(unicodedata.normalize("NFC", "".join(char + accent for char in plain)))


def _as_script(text: str, table: dict[int, int]) -> str:
    """Return small raised or lowered characters; without one for each it is unreadable."""
    text = text.replace(" ", "")
    if any(ord(character) not in table for character in text):
        raise _Unreadable
    return text.translate(table)


def _bracketed(text: str) -> str:
    """Return a term that nothing next to it can be mistaken for a part of."""
    wrapped = text.startswith("(") and text.endswith(")") and text.count("(") == 1
    return text if wrapped or _SIMPLE.fullmatch(text) or len(text) == 1 else f"({text})"


def _joined(atoms: list[_Atom]) -> str:
    """Return the atoms in a line, with the spaces that readers expect."""
    text = ""
    for index, (part, role) in enumerate(atoms):
        before = atoms[index - 1].role if index else "open"
        behind = atoms[index + 1].role if index + 1 < len(atoms) else "close"
        if role == "frac" and (before in _TERMS or behind in _TERMS):
            part = f"({part})"
        text += _spaced(part, role, before, behind)
    return re.sub(r" {2,}", " ", text).strip()


_TERMS = {"ord", "group", "frac", "op", "text"}


def _spaced(part: str, role: str, before: str, behind: str) -> str:
    if role == "rel":
        return f" {part} "
    if role == "bin":
        sign = before in {"open", "rel", "bin", "punct"} or behind == "close"
        return part if sign else f" {part} "
    if role == "punct":
        return f"{part} " if behind != "close" else part
    if role == "op":
        lead = " " if before in {*_TERMS, "close"} else ""
        return lead + part + (" " if behind in _TERMS else "")
    return part
