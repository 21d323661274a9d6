"""Reads formulas of LaTeX aloud in Unicode, as far as one line of characters can show them."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from core.domain.links import code_span
from core.domain.markdown import FORMULA, outside_code


def _pairs(table: str) -> Mapping[str, str]:
    words = table.split()
    return MappingProxyType(dict(zip(words[::2], words[1::2], strict=True)))


LETTERS: Final = _pairs(
    """
    alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ
    iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ
    varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ
    Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ hbar ℏ
    ell ℓ Re ℜ Im ℑ aleph ℵ emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬
    top ⊤ bot ⊥ angle ∠ degree ° prime ′ dots … ldots … cdots ⋯ vdots ⋮ ddots ⋱ therefore ∴
    because ∵ square □ blacksquare ■ qed ∎ imath ı jmath ȷ wp ℘ dagger † checkmark ✓ S § euro €
    pounds £ surd √ flat ♭ sharp ♯ triangle △ star ⋆ bullet • diamond ⋄ N ℕ R ℝ Z ℤ Q ℚ
    | ‖ Vert ‖ lVert ‖ rVert ‖ vert | lvert | rvert | backslash \\
    $ $ % % # # & & _ _
    """
)
OPENERS: Final = _pairs("{ { lbrace { langle ⟨ lfloor ⌊ lceil ⌈ lbrack [")
CLOSERS: Final = _pairs("} } rbrace } rangle ⟩ rfloor ⌋ rceil ⌉ rbrack ]")
BINARY: Final = _pairs(
    """
    times × cdot · div ÷ pm ± mp ∓ ast ∗ circ ∘ cup ∪ cap ∩ setminus ∖ oplus ⊕ otimes ⊗
    ominus ⊖ odot ⊙ wedge ∧ land ∧ vee ∨ lor ∨ sqcup ⊔ sqcap ⊓ uplus ⊎ bmod mod
    """
)
RELATIONS: Final = _pairs(
    """
    leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ equiv ≡ approx ≈ sim ∼ simeq ≃ cong ≅ propto ∝ ll ≪ gg ≫
    lt < gt > leqslant ⩽ geqslant ⩾ prec ≺ succ ≻ preceq ⪯ succeq ⪰ in ∈ notin ∉ ni ∋
    subset ⊂ subseteq ⊆ subsetneq ⊊ supset ⊃ supseteq ⊇ to → rightarrow → longrightarrow ⟶
    leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ implies ⟹ Longrightarrow ⟹ Leftarrow ⇐
    iff ⟺ Leftrightarrow ⇔ Longleftrightarrow ⟺ mapsto ↦ hookrightarrow ↪ uparrow ↑ downarrow ↓
    rightleftharpoons ⇌ perp ⟂ parallel ∥ vdash ⊢ models ⊨ asymp ≍ doteq ≐ mid |
    triangleq ≜ coloneqq ≔
    """
)
BIG: Final = _pairs(
    "sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂"
    " bigvee ⋁ bigwedge ⋀"
)
FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp lim limsup"
    " liminf max min sup inf arg argmax argmin det dim ker deg gcd lcm hom Pr mod".split()
)
ACCENTS: Final = MappingProxyType(
    {
        "bar": "\u0304",
        "overline": "\u0305",
        "underline": "\u0332",
        "hat": "\u0302",
        "widehat": "\u0302",
        "tilde": "\u0303",
        "widetilde": "\u0303",
        "vec": "\u20d7",
        "dot": "\u0307",
        "ddot": "\u0308",
        "check": "\u030c",
        "breve": "\u0306",
        "acute": "\u0301",
        "grave": "\u0300",
        "mathring": "\u030a",
    }
)
ALPHABETS: Final = MappingProxyType(
    {
        "mathbb": ("DOUBLE-STRUCK", "DOUBLE-STRUCK"),
        "mathcal": ("SCRIPT", "SCRIPT"),
        "mathscr": ("SCRIPT", "SCRIPT"),
        "mathfrak": ("BLACK-LETTER", "FRAKTUR"),
    }
)
"""How Unicode names an alphabet's oldest letters, and all its others."""
SPACES: Final = MappingProxyType(
    dict.fromkeys(("!", ">", "displaystyle", "textstyle", "limits"), "")
    | dict.fromkeys(("nolimits", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl"), "")
    | dict.fromkeys(("Bigr", "biggl", "biggr", "Biggl", "Biggr", "nonumber", "scriptstyle"), "")
    | dict.fromkeys((" ", ",", ":", ";", "quad", "qquad", "enspace", "thinspace", "\n"), " ")
)
SUPERSCRIPTS: Final = str.maketrans(
    "0123456789+−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδθφχ′⊤∗",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᶿᵠᵡ′ᵀ*",
)
SUBSCRIPTS: Final = str.maketrans(
    "0123456789+−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ"
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


_FORMULA_IMAGES_LONGEST = 500
_FORMULA_IMAGES_DEEPEST = 6
_FONT_SIZE = 24
_SCALE = 2
_MARGIN = 6.0
_WIDEST, _HIGHEST = 800.0, 500.0
STUMBLES: tuple[type[Exception], ...] = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError),
    *(StopIteration, SyntaxError, TypeError, ValueError),
)
"""What the typesetter raises for LaTeX that is wrong, besides its own errors."""
_CHAIN = re.compile(r"(?:\\[A-Za-z]++\s*+(?:[^\\{}\s]\s*+)?+){13}")
"""Commands that may nest without braces; typesetting time doubles with every level."""


def render_png(latex: str) -> bytes | None:
    """Return a picture of a formula, black on white; None where none can be drawn.

    That is so for LaTeX that is wrong or unknown, and for more than 500 characters, 6 levels
    of nesting or 1,600 x 1,000 pixels. Takes hundredths of a second of computing, a second at
    worst: call it in a thread. The LaTeX is the picture's alternative text.
    """
    if (
        len(latex) > _FORMULA_IMAGES_LONGEST
        or _CHAIN.search(latex)
        or _depth(latex) > _FORMULA_IMAGES_DEEPEST
    ):
        return None
    drawing = _typeset(latex)
    if drawing is None:
        return None
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=drawing, zoom=_SCALE, background="white"))


def _depth(latex: str) -> int:
    depth = deepest = 0
    for mark in re.findall(r"(?<!\\)[{}]|\\left\b|\\right\b|\\begin\b|\\end\b", latex):
        depth += 1 if mark in {"{", "\\left", "\\begin"} else -1
        deepest = max(depth, deepest)
    return deepest


def _typeset(latex: str) -> str | None:
    """Return the formula as SVG with a margin, of outlines in place that need no font."""
    from xml.etree import ElementTree

    from latex2mathml import exceptions
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False  # outlines in place, instead of references to symbols
    known = [kind for kind in vars(exceptions).values() if isinstance(kind, type)]
    refusals = (*STUMBLES, *(kind for kind in known if issubclass(kind, Exception)))
    try:
        drawing = Latex(latex, size=_FONT_SIZE).svgxml()
    except refusals:
        return None
    left, top, width, height = map(float, drawing.attrib["viewBox"].split())
    if not (0 < width <= _WIDEST and 0 < height <= _HIGHEST):
        return None
    wide, high = width + 2 * _MARGIN, height + 2 * _MARGIN
    drawing.set("viewBox", f"{left - _MARGIN} {top - _MARGIN} {wide} {high}")
    drawing.set("width", str(wide))
    drawing.set("height", str(high))
    return ElementTree.tostring(drawing, encoding="unicode")


_FORMULA = re.compile(FORMULA, re.DOTALL)
_KINDS = ("display", "bracketed", "parenthesised", "inline")
_SPECIAL = re.compile(r"[\\`*_\[\]<>~|#]")
_QUOTE_MARK = re.compile(r"\n[ \t>]*")
_LATEX_ONLY = re.compile(r"[\\^_{}=]")
_WORD = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True)
class ReadableText:
    """Markdown whose formulas can be read, and those that still need a picture."""

    text: str
    unreadable: tuple[str, ...]
    """LaTeX that stands in the text as code, in order, each once."""


def with_readable_formulas(markdown: str) -> ReadableText:
    r"""Return the text with its formulas in Unicode, or as code where Unicode cannot show them.

    Formulas stand between `$`, `$$`, `\(` and `\)` or `\[` and `\]`. Code stays as it is, and
    so do prices: "$5 and $10" is no formula.
    """
    unreadable: dict[str, None] = {}

    def replaced(match: re.Match[str]) -> str:
        latex = _latex_of(match)
        if latex is None:
            return match.group()
        if (shown := readable(latex)) is not None:
            return _SPECIAL.sub(r"\\\g<0>", shown)
        unreadable[latex] = None
        return code_span(latex)

    text = outside_code(markdown, lambda prose: _FORMULA.sub(replaced, prose))
    return ReadableText(text, tuple(unreadable))


def plain_formulas(text: str) -> str:
    r"""Return one line of a title with its formulas in Unicode, or as bare LaTeX, without signs.

    >>> plain_formulas("Choosing $k$ by $R^2$, for $5")
    'Choosing k by R², for $5'
    """

    def replaced(match: re.Match[str]) -> str:
        latex = _latex_of(match)
        return match.group() if latex is None else readable(latex) or latex

    return _FORMULA.sub(replaced, text)


def _latex_of(match: re.Match[str]) -> str | None:
    """Return the content of a formula in one line; None for what is none."""
    latex = next(match[kind] for kind in _KINDS if match[kind] is not None)
    latex = _QUOTE_MARK.sub(" ", latex).strip()
    if not latex or (match["inline"] is not None and not _is_formula(latex)):
        return None
    return latex


def _is_formula(content: str) -> bool:
    """Return whether what stands between two dollar signs is mathematics, not prices."""
    if _LATEX_ONLY.search(content):
        return True
    words = [word for word in _WORD.findall(content) if word not in FUNCTIONS]
    return not words or (not content[0].isdigit() and all(len(word) < 3 for word in words))
