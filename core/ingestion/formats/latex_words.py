"""The words of LaTeX's inline nodes: accents and symbols as characters, own macros replaced."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pylatexenc import macrospec
from pylatexenc.latex2text import LatexNodes2Text, get_default_latex_context_db
from pylatexenc.latexwalker import (
    LatexCharsNode,
    LatexCommentNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexMathNode,
    LatexNode,
    LatexSpecialsNode,
    LatexToken,
    LatexWalker,
)
from pylatexenc.latexwalker import get_default_latex_context_db as walker_context

from core.ingestion.document import inline_code, lowered, raised, shifted_formula
from core.ingestion.formats.includes import Includes
from core.ingestion.formats.latex_source import CODE_MACRO, EXACT_MACRO, LatexSource


def _symbols(written: str) -> Mapping[str, str]:
    """Return names and what they stand for, written `name=sign`."""
    return dict(pair.split("=") for pair in written.split())


_PREFIXES = _symbols(
    "quecto=q ronto=r yocto=y zepto=z atto=a femto=f pico=p nano=n micro=µ milli=m centi=c "
    "deci=d deca=da deka=da hecto=h kilo=k mega=M giga=G tera=T peta=P exa=E zetta=Z yotta=Y "
    "ronna=R quetta=Q kibi=Ki mebi=Mi gibi=Gi tebi=Ti "
)
_UNITS = _symbols(
    "metre=m meter=m second=s gram=g kilogram=kg ampere=A kelvin=K mole=mol candela=cd "
    "hertz=Hz newton=N pascal=Pa joule=J watt=W coulomb=C volt=V farad=F ohm=Ω siemens=S "
    "weber=Wb tesla=T henry=H lumen=lm lux=lx becquerel=Bq gray=Gy sievert=Sv katal=kat "
    "celsius=°C degreeCelsius=°C degree=° arcminute=′ arcsecond=″ percent=% minute=min hour=h "
    "day=d litre=l liter=L hectare=ha tonne=t bar=bar mmHg=mmHg astronomicalunit=au dalton=Da "
    "electronvolt=eV decibel=dB bel=B neper=Np radian=rad steradian=sr bit=bit byte=B "
    "angstrom=Å atomicmassunit=u nauticalmile=M knot=kn barn=b permille=‰ gauss=G are=a "
)
_SHORT_FORM = re.compile(
    r"(k|M|G|T|m|u|n|p|f|c|d|h)?(g|m|s|A|K|mol|Hz|N|Pa|J|W|C|V|F|ohm|S|Wb|T|H|eV|bar|l|L|B)"
)
_UNIT = re.compile(r"\\([A-Za-z]+)\s*(?:\{([^{}]*)\})?|([^\\\s]+)")
_POWERS_AFTER = {"squared": "2", "cubed": "3"}
_POWERS_BEFORE = {"square": "2", "cubic": "3"}
_NUMBER = re.compile(r"([^eEdD]*)[eEdD]([-+]?[\d.]+)")
_UNITS_SIGNS: Mapping[str, str] = {
    r"\pm": " ± ",
    "+-": " ± ",
    r"\times": " × ",
    r"\cdot": " · ",
    r"\approx": "≈ ",
    r"\sim": "~",
    r"\leq": "≤ ",
    r"\le": "≤ ",
    r"\geq": "≥ ",
    r"\ge": "≥ ",
    r"\ll": "≪ ",
    r"\gg": "≫ ",
    "<=": "≤ ",
    ">=": "≥ ",
}
_SIGN = re.compile(
    "|".join(re.escape(sign) for sign in sorted(_UNITS_SIGNS, key=len, reverse=True))
)
_EXPONENT = re.compile(r"([\^_])(?:\{([^{}]*)\}|(\\?\w|[-+]\d*))")
_CHEMICAL = re.compile(r"(?<=[A-Za-z)\]}])(\d+)")
_ARROWS = (("<=>", "⇌"), ("<->", "↔"), ("->", "→"), ("<-", "←"))
_TO_A_UNIT = frozenset("°′″")

UNIT_MACROS: Mapping[str, str] = {
    **dict.fromkeys(("num", "ang", "numlist", "numproduct", "si", "unit", "ce", "tablenum"), "[{"),
    **dict.fromkeys(("qty", "numrange", "qtylist", "SIlist", "qtyproduct"), "[{{"),
    **dict.fromkeys(("qtyrange", "SIrange"), "[{{{"),
    "SI": "[{[{",
}
"""The commands that `quantity` reads, with their arguments as pylatexenc writes them."""


def quantity(name: str, given: Sequence[str | None], own: Mapping[str, str]) -> str:
    r"""Return what a command prints: `\qty{5}{\kilo\gram}`, `5 kg`; `\numlist{1;2}`, `1 and 2`.

    Args:
        name: one of `UNIT_MACROS`.
        given: its arguments without braces, none for one that is left out.
        own: what the document declares its own units to be.
    """
    option, *parts = (part or "" for part in given)
    first = parts[0] if parts else ""
    match name:
        case "num" | "tablenum":
            return number(first)
        case "ang":
            return "".join(f"{n}{s}" for n, s in zip(first.split(";"), "°′″", strict=False) if n)
        case "numlist":
            return _listed([number(one) for one in first.split(";")])
        case "numproduct":
            return " × ".join(number(one.strip()) for one in first.split("x"))
        case "numrange":
            return f"{number(first)} to {number(parts[1])}"
        case "si" | "unit":  # the package units writes the number as an option
            is_number = re.fullmatch(r"[-+\d.,]+", option)
            return _measured(option, unit(first, own)) if is_number else unit(first, own)
        case "ce":
            return chemical(first)
        case "SI":
            return parts[1] + _measured(number(first), unit(parts[2], own))
        case "qtyrange" | "SIrange":
            return _measured(f"{number(first)} to {number(parts[1])}", unit(parts[2], own))
        case "qtylist" | "SIlist":
            symbol = unit(parts[1], own)
            return _listed([_measured(number(one), symbol) for one in first.split(";")])
        case "qtyproduct":
            symbol = unit(parts[1], own)
            return " × ".join(_measured(number(one), symbol) for one in first.split("x"))
    return _measured(number(first), unit(parts[1], own))


def _measured(value: str, symbol: str) -> str:
    gap = "" if symbol[:1] in _TO_A_UNIT and symbol != "°C" else " "
    return f"{value}{gap}{symbol}".strip()


def _listed(values: Sequence[str]) -> str:
    *others, last = values
    return f"{', '.join(others)} and {last}" if others else last


def number(written: str) -> str:
    """Return a number as it is printed: `3e8`, `3 × 10⁸`."""
    text = _SIGN.sub(lambda sign: _UNITS_SIGNS[sign[0]], written.strip())
    if power := _NUMBER.fullmatch(text):
        factor = power[1].strip()
        return (f"{factor} × " if factor else "") + "10" + raised(power[2].lstrip("+"))
    return " ".join(_raised_signs(text).split())


def unit(written: str, own: Mapping[str, str], depth: int = 0) -> str:
    """Return the symbol of a unit: `\\metre\\per\\second\\squared`, `m/s²`."""
    above, below = list[str](), list[str]()
    prefix, power, side = "", "", above
    after = above
    for found in _UNIT.finditer(written):
        name, argument, literal = found.groups()
        if literal is not None:
            text = _raised_signs(re.sub(r"[.~]", " ", literal.replace("{", "").replace("}", "")))
            side.append(prefix + text.strip())
            prefix, after, side = "", side, above
        elif name in _PREFIXES and not argument:
            prefix += _PREFIXES[name]
        elif name == "per":
            side = below
        elif name in _POWERS_BEFORE or name == "raiseto":
            power = _POWERS_BEFORE.get(name) or argument or ""
        elif (name in _POWERS_AFTER or name == "tothe") and after:
            after[-1] += raised(_POWERS_AFTER.get(name) or argument or "")
        elif name == "of" and after:
            after[-1] += f" ({argument})" if argument else ""
        elif name not in {"highlight", "cancel", "!", "text", "mathrm"}:
            symbol = _symbol(name, own, depth)
            side.append(prefix + symbol + raised(power))
            prefix, power, after, side = "", "", side, above
        elif argument:
            side.append(argument)
    if below and not above:
        return " ".join(_inverse(one) for one in below)
    under = " ".join(below)
    return " ".join(above) + (f"/({under})" if len(below) > 1 else f"/{under}" if under else "")


def _symbol(name: str, own: Mapping[str, str], depth: int) -> str:
    if name in own:
        return unit(own[name], own, depth + 1) if "\\" in own[name] and depth < 4 else own[name]
    if name in _UNITS:
        return _UNITS[name]
    short = _SHORT_FORM.fullmatch(name)
    return name.replace("u", "µ", 1).replace("ohm", "Ω") if short and short[1] else name


def _inverse(symbol: str) -> str:
    power = re.search("[²³⁴⁵⁶⁷⁸⁹]+$", symbol)
    return symbol[: power.start()] + "⁻" + power[0] if power else symbol + "⁻¹"


def _raised_signs(text: str) -> str:
    """Return text with what `^` and `_` mark written so that it keeps its meaning."""

    def shifted(found: re.Match[str]) -> str:
        shift = raised if found[1] == "^" else lowered
        return shift(found[2] if found[2] is not None else found[3])

    return _EXPONENT.sub(shifted, text)


def chemical(written: str) -> str:
    """Return a formula of mhchem: `2H2O`, `2H₂O`; `SO4^2-`, `SO₄²⁻`."""
    text = re.sub(r"\^(\d*[-+])", r"^{\1}", written)
    pieces = re.split(r"([\^_]\{[^{}]*\})", text)
    plain = [
        piece if at % 2 else _CHEMICAL.sub(lambda digits: lowered(digits[1]), piece)
        for at, piece in enumerate(pieces)
    ]
    joined = re.sub(r"(?<=[A-Za-z\d₀-₉)\]])([-+])(?=\s|\Z)", lambda s: raised(s[1]), "".join(plain))
    for sign, arrow in _ARROWS:
        joined = joined.replace(sign, arrow)
    return " ".join(_raised_signs(joined).split())


_ENDLESS = "Own macros that grow without end were left out."
_ESCAPES = re.compile(r"\\([$%&#_{}])")
_PLAIN = re.compile(r"[A-Za-z0-9,.;:()/\"]+(?:[ \n][A-Za-z0-9,.;:()/\"]+)*")
_BEFORE_STOP = re.compile(r" (?=[,.](?: |\Z))")
"""A blank that stood before a citation."""
_MOST_CHARACTERS = 200_000
_DEEPEST = 20
_SPECIALS = {"~": " ", "``": "“", "''": "”", "--": "–", "---": "—", "&": " ", "!`": "¡", "?`": "¿"}
_ACCENTS = frozenset("`'^\"~=.ckuvHrdbt")
_ESCAPED = frozenset("$%&#_{}")
_LOGOS = {name: name for name in ("LaTeX", "TeX", "BibTeX", "XeTeX", "LuaTeX", "MATLAB")}
_SYMBOLS = {
    **dict.fromkeys(("EUR", "euro", "texteuro"), "€"),
    "degree": "°",
    "celsius": "°C",
    "micro": "µ",
    "ohm": "Ω",
    "perthousand": "‰",
    "textmu": "µ",
    "textohm": "Ω",
    "textcelsius": "°C",
    "checkmark": "✓",
    "pounds": "£",
}
_SIGNS = {
    **_LOGOS,
    **_SYMBOLS,
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textquotesingle": "'",
}
_BLANKS = frozenset({"\\", ",", ";", ":", " ", "quad", "qquad", "enspace", "newline", "space", "/"})
_REFERENCES = frozenset({"ref", "autoref", "cref", "Cref", "eqref", "pageref", "nameref", "vref"})
_CODE = frozenset({"texttt", "verb", "lstinline", "code", "mintinline"})
_SHOWS_LAST = frozenset(
    {
        *("href", "textcolor", "multicolumn", "multirow", "colorbox", "raisebox", "added", "todo"),
        *("highlight", "parbox", "makebox", "framebox", "scalebox", "resizebox", "rotatebox"),
        *("foreignlanguage", "fcolorbox", "hyperref", "hyperlink", "hypertarget", "adjustbox"),
        *("structure"),
    }
)
_SHOWS_FIRST = frozenset({"replaced", "texorpdfstring"})
_NOTES = frozenset(
    {
        *(
            "footnote",
            "footnotetext",
            "endnote",
            "marginpar",
            "marginnote",
            "sidenote",
            "thanks",
            "note",
        ),
        "todo",
    }
)
"""What is read after the paragraph that it stands in."""
_RAISED = frozenset({"textsuperscript", "ap"})
_LOWERED = frozenset({"textsubscript", "textinferior"})
_STRUCK = frozenset({"sout", "st", "xout", "deleted", "strike", "stkout", "cancel", "xcancel"})
_TERMS = re.compile(
    r"(?P<stem>glsxtr|Glsxtr|glsentry|Glsentry|gls|Gls|GLS|acr|Acr|ac|Ac)"
    r"(?P<what>short|long|full|desc|text|first|name|[slf])?(?P<plural>plural|pl|p)?"
)
_QUANTITY = re.compile(r"\\(?:" + "|".join(UNIT_MACROS) + r")\b")
_DRAWN = re.compile(r"\{([^{}\\]*[A-Za-z][^{}\\]*)\}\s*;")
_LAYOUT = frozenset(
    "newpage clearpage cleardoublepage vfill hfill centering raggedright raggedleft par "
    "bigskip medskip smallskip noindent indent and linebreak nolinebreak pagebreak "
    "nopagebreak protect relax xspace bfseries mdseries itshape slshape scshape upshape "
    "ttfamily sffamily rmfamily normalfont tiny scriptsize footnotesize small normalsize "
    "large Large LARGE huge Huge appendix frontmatter mainmatter backmatter addlinespace "
    "hline toprule midrule bottomrule endhead endfirsthead endfoot endlastfoot "
    "tabularnewline titlepage insertframenumber parindent parskip textwidth linewidth "
    "columnwidth textheight baselineskip dotfill hrulefill selectfont unskip ignorespaces "
    "leavevmode null strut break allowbreak nobreak sloppy fussy doublespacing "
    "onehalfspacing singlespacing bf it em tt sf sc rm sl boldmath begingroup endgroup "
    "listoffigures listoftables lstlistoflistings makeglossaries printindex makeindex "
    "printanswers footnotemark arraybackslash columnbreak newline displaystyle textstyle "
    "global long outer makeatletter makeatother bgroup egroup fill stretch onslide document "
    "enddocument item allowdisplaybreaks setcounter phantomsection cr crcr hss vss hfil "
    "vfil hrule vrule quad qquad thinspace negthinspace medspace thickspace slash "
    "flushbottom raggedbottom twocolumn onecolumn printacronyms printnoidxglossaries "
    "printnoidxglossary insertsection insertsubsection inserttitle insertauthor usebox "
    "savebox sbox addtobeamertemplate alert structure hl ul uline uwave uuline fbox mbox "
    "textnormal MakeUppercase MakeLowercase uppercase lowercase intertext centerline "
    "leftline rightline text up mode subparagraph normalcolor everymath everypar tabularx "
    "endtabularx oddsidemargin topmargin headheight".split()
)
"""Commands that print nothing by themselves, or only the words of their arguments."""
_NEVER_OWN = frozenset(
    f"{CODE_MACRO} {EXACT_MACRO} "
    "part chapter section subsection subsubsection paragraph subparagraph title footnote "
    "caption item frametitle label input include usepackage documentclass newcommand "
    "renewcommand providecommand newenvironment renewenvironment newtheorem "
    "includegraphics bibitem begin end".split()
)
"""What is read as LaTeX has it, also where a document changes its looks."""
_HIDDEN: Mapping[str, str] = {
    **dict.fromkeys(("label", "index", "input", "include", "bibliography", "pagestyle"), "{"),
    **dict.fromkeys(("thispagestyle", "hypersetup", "graphicspath", "cline"), "{"),
    **dict.fromkeys(("bibliographystyle", "pagenumbering", "color", "nocite"), "{"),
    **dict.fromkeys(("usepackage", "documentclass", "cmidrule"), "[{"),
    **dict.fromkeys(("cite", "citep", "citet", "parencite", "textcite", "footcite"), "*[[{"),
    **dict.fromkeys(("setcounter", "addtocounter", "setlength", "addtolength", "rule"), "[{{"),
    **dict.fromkeys(("newtheorem",), "*{[{["),
    **dict.fromkeys(("newcommand", "renewcommand", "providecommand"), "*{[[{"),
    **dict.fromkeys(("DeclareMathOperator",), "*{{"),
    **dict.fromkeys(("newenvironment", "renewenvironment"), "*{[[{{"),
    **dict.fromkeys(("addcontentsline", "definecolor"), "{{{"),
    "bibitem": "[{",
    **dict.fromkeys(("title", "author", "date", "maketitle", "tableofcontents"), ""),
    **dict.fromkeys(("hphantom", "vphantom", "pdfcomment", "invisible"), "{"),
    **dict.fromkeys(("usetheme", "usecolortheme", "usefonttheme", "usebeamerfont"), "[{"),
    **dict.fromkeys(("setbeamertemplate", "setbeamercolor", "setbeamerfont"), "*{[{"),
    **dict.fromkeys(("setbeamersize", "AtBeginSection", "AtBeginSubsection", "column"), "[{"),
    **dict.fromkeys(("newacronym", "newabbreviation"), "[{{{"),
    **dict.fromkeys(("newglossaryentry", "DeclareAcronym", "DeclareSIUnit"), "{{"),
    **dict.fromkeys(("longnewglossaryentry", "NewDocumentCommand", "RenewDocumentCommand"), "{{{"),
    **dict.fromkeys(("NewDocumentEnvironment",), "{{{{"),
    **dict.fromkeys(("newtcolorbox", "newmdenv", "renewtcolorbox"), "[{[[{"),
    **dict.fromkeys(("newtcbtheorem",), "[{{{{"),
    **dict.fromkeys(("acrodef",), "{[{"),
    **dict.fromkeys(("newif", "let", "includeonly", "excludecomment", "includecomment"), "{"),
    **dict.fromkeys(("sisetup", "captionsetup", "geometry", "lstset", "tcbset", "setlist"), "[{"),
    **dict.fromkeys(("printbibliography", "printglossary", "printglossaries", "pause"), "["),
    **dict.fromkeys(("selectlanguage", "stepcounter", "refstepcounter", "fontfamily"), "{"),
    **dict.fromkeys(("fontsize",), "{{"),
    **dict.fromkeys(("addbibresource", "usetikzlibrary", "tikzset", "pgfplotsset"), "{"),
    **dict.fromkeys(("theoremstyle", "newcounter", "value", "hspace", "vspace"), "*{"),
    **dict.fromkeys(("markboth", "numberwithin", "counterwithin", "setmainfont"), "{{"),
    **dict.fromkeys(("vskip", "hskip", "markright", "linespread", "enlargethispage"), "{"),
    **dict.fromkeys(("cellcolor", "rowcolor", "columncolor"), "[{"),
    **dict.fromkeys(("fvset", "hyphenation", "titlegraphic", "logo", "setstretch"), "{"),
    **dict.fromkeys(("lhead", "rhead", "chead", "lfoot", "rfoot", "cfoot"), "[{"),
    **dict.fromkeys(("fancyhead", "fancyfoot", "fancyhf", "newlength", "dedicatory"), "[{"),
    **dict.fromkeys(("citeauthor", "citeyear", "autocite", "footfullcite", "fullcite"), "*[[{"),
}
_SHOWN: Mapping[str, str] = {
    "href": "{{",
    "url": "{",
    **dict.fromkeys(("footnote", "endnote"), "[{"),
    "caption": "*[{",
    "frametitle": "[{",
    "textcolor": "[{{",
    "multicolumn": "{{{",
    "multirow": "{[{{",
    "colorbox": "{{",
    **dict.fromkeys(_REFERENCES, "*{"),
    **dict.fromkeys(("title", "author", "date"), "[{"),
    **dict.fromkeys(
        ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph"),
        "*[{",
    ),
    CODE_MACRO: "{",
    "lstinline": "[{",
    "mintinline": "[{{",
    EXACT_MACRO: "{",
    "includegraphics": "*[[{",
    **UNIT_MACROS,
    **dict.fromkeys((*_RAISED, *_LOWERED, "nth", "only", "uncover", "visible", "onslide"), "{"),
    **dict.fromkeys(_STRUCK, "[{"),
    **dict.fromkeys(("footnotetext", "marginpar", "todo", "added", "framesubtitle"), "[{"),
    **dict.fromkeys(("marginnote", "sidenote", "hyperref", "note"), "[{"),
    **dict.fromkeys(("replaced", "highlight", "fcolorbox"), "[{{"),
    **dict.fromkeys(("alt", "hyperlink", "hypertarget", "scalebox", "texorpdfstring"), "{{"),
    **dict.fromkeys(("nicefrac", "sfrac", "unitfrac", "foreignlanguage", "rotatebox"), "[{{"),
    **dict.fromkeys(("framebox", "makebox"), "[[{"),
    **dict.fromkeys(("thanks", "ensuremath", "phantom"), "{"),
    "enquote": "*{",
    "parbox": "[[[{{",
    "raisebox": "{[[{",
    "resizebox": "*{{{",
    "temporal": "{{{",
    "acro": "{[{",
    **dict.fromkeys(("item", "question", "subpart", "subsubpart", "choice", "CorrectChoice"), "["),
}
_ENVIRONMENTS: Mapping[str, str] = {
    **dict.fromkeys(("column", "adjustbox", "spacing", "onlyenv", "subfigure", "wraptable"), "[{"),
    **dict.fromkeys(("minipage", "overlayarea"), "[[[{"),
    **dict.fromkeys(("multicols", "multicols*"), "{["),
    **dict.fromkeys(
        ("columns", "figure", "table", "figure*", "table*", "itemize", "enumerate"), "["
    ),
    **dict.fromkeys(("overprint", "tcolorbox", "mdframed", "questions", "description"), "["),
    **dict.fromkeys(("wrapfigure", "wraptable"), "[{[{"),
    **dict.fromkeys(("adjustwidth", "adjustwidth*", "list"), "{{"),
    **dict.fromkeys(("acronym", "compactenum", "compactitem", "inparaenum"), "["),
    **dict.fromkeys(("block", "alertblock", "exampleblock"), "{"),
    "subfigure": "[[{",
}


class _Walker(LatexWalker):  # type: ignore[misc]
    """Takes a run of plain words as one token: books are mostly words, and it takes each letter."""

    def get_token(self, pos: int, *args: Any, **named: Any) -> LatexToken:
        """Return the next token; only where a run of words may stand, it is such a run."""
        is_list = named.get("environments", True) and not named.get("include_brace_chars")
        if is_list and not args and (run := _PLAIN.match(self.s, pos)):
            return LatexToken(tok="char", arg=run[0], pos=pos, len=len(run[0]), pre_space="")
        return super().get_token(pos, *args, **named)


class LatexWords:
    """Reads inline nodes of one document.

    Args:
        source: the document.
        includes: where what is left out is noted.
    """

    def __init__(self, source: LatexSource, includes: Includes) -> None:
        macros = source.defined.macros
        own = {name: macro for name, macro in macros.items() if name not in _NEVER_OWN}
        self.macros, self._includes, self._source = own, includes, source
        self.line: Callable[[], int] = int
        """Returns where what is read now stands."""
        self._terms_used: set[str] = set()
        used = re.findall(r"\\([A-Za-z]+)", source.text) if source.defined.terms else ()
        self._term_names = {name for name in used if _TERMS.fullmatch(name)} - own.keys()
        self._unknown: set[str] = set()
        self.notes: list[str] = []
        """Footnotes since the last paragraph."""
        self.titles: dict[str, str] = {}
        """What the sections with a label are called."""
        self._left, self._depth = _MOST_CHARACTERS, 0
        self._symbols = get_default_latex_context_db()
        self._accents = LatexNodes2Text()
        self._context = walker_context()
        specs = [macrospec.std_macro(name, spec) for name, spec in {**_HIDDEN, **_SHOWN}.items()]
        specs += [
            macrospec.std_macro(name, macro.arguments.replace(" ", ""))
            for name, macro in own.items()
        ]
        specs += [macrospec.std_macro(name, "*[{[") for name in self._term_names]
        boxes = [macrospec.std_environment(*one) for one in _ENVIRONMENTS.items()]
        self._context.add_context_category(
            "glossator", macros=specs, environments=boxes, prepend=True
        )
        self._known = {*_names(self._context), *_LAYOUT} - own.keys()
        # An option of a command that nothing knows is none of its words.
        parser = macrospec.MacroStandardArgsParser("*[", optional_arg_no_space=True)
        self._context.set_unknown_macro_spec(macrospec.MacroSpec("", args_parser=parser))

    @property
    def is_expanding(self) -> bool:
        """Whether the nodes at hand are those of an own macro, and have no place in the text."""
        return self._depth > 0

    def parsed(self, text: str) -> Sequence[LatexNode]:
        """Return the nodes of a text; what is not closed is closed at its end."""
        nodes, position = list[LatexNode](), 0
        while position < len(text):
            walker = _Walker(text, latex_context=self._context, tolerant_parsing=True)
            found, start, length = walker.get_latex_nodes(pos=position)
            nodes += found
            position = start + length + 1  # after a brace that nothing opened, or the end
        return nodes

    def of(self, nodes: Sequence[LatexNode | None]) -> str:
        """Return the words of nodes on one line."""
        return _BEFORE_STOP.sub("", " ".join(self._raw(nodes).split()))

    def _raw(self, nodes: Sequence[LatexNode | None]) -> str:
        return "".join(self._word(node) for node in nodes if node is not None)

    def _word(self, node: LatexNode) -> str:
        if isinstance(node, LatexCharsNode):
            return str(node.chars)
        if isinstance(node, LatexGroupNode):
            return "" if node.delimiters[0] == "[" else self._raw(node.nodelist)
        if isinstance(node, LatexMathNode):
            body = "".join(part.latex_verbatim() for part in node.nodelist)
            shifted = shifted_formula(body)
            return f"${' '.join(self.formula(body).split())}$" if shifted is None else shifted
        if isinstance(node, LatexSpecialsNode):
            return _SPECIALS.get(node.specials_chars, " ")
        if isinstance(node, LatexMacroNode):
            return self._macro(node)
        if isinstance(node, LatexEnvironmentNode):
            return f" {self._raw(node.nodelist)} "
        assert isinstance(node, LatexCommentNode)
        return ""

    def formula(self, body: str) -> str:
        """Return a formula in which numbers and units are what a page prints."""
        if "\\" not in body or not _QUANTITY.search(body):
            return body
        nodes = self.parsed(body)
        return "".join(
            f"\\text{{{self._macro(node)}}}"
            if isinstance(node, LatexMacroNode) and node.macroname in UNIT_MACROS
            else node.latex_verbatim()
            for node in nodes
        )

    def _macro(self, node: LatexMacroNode) -> str:
        name = node.macroname
        given = [argument for argument in arguments(node) if argument is not None]
        if name in self.macros:
            with self.expanded(node) as nodes:
                return self._raw(nodes)
        if name in _ACCENTS or name in {"i", "j"}:
            return str(self._accents.node_to_text(node)) if given else ""
        if name in _ESCAPED or name in _BLANKS:
            return name if name in _ESCAPED else " "
        if name in _REFERENCES:
            label = self._raw(given[-1:]).strip()
            return self.titles.get(label) or re.sub(r"[-_:]+", " ", label.rpartition(":")[2])
        if name in _CODE:
            raw = "".join(one.latex_verbatim() for one in given[-1:])
            is_read = name != "verb" and raw.startswith("{")
            return inline_code(_ESCAPES.sub(r"\1", raw[1:-1]) if is_read else raw)
        if name == EXACT_MACRO:
            number = self._raw(given)
            return self._source.exact[int(number)] if number.isdecimal() else ""
        if name in UNIT_MACROS and given:
            texts = [argument and _written(argument) for argument in arguments(node)]
            return quantity(name, texts, self._source.defined.units)
        if name in _RAISED or name in _LOWERED:
            return (raised if name in _RAISED else lowered)(self.of(given))
        if name in _STRUCK:
            return self._leave_out("struck text", given)
        if name in _NOTES:
            self.notes.append(self.of(given[-1:]))
            return ""
        if name == "enquote":
            return f"“{self._raw(given)}”"
        if name == "today":
            return self._leave_out("date of the day", ())
        if name == "includegraphics":
            return self._leave_out("picture", ())
        if name == "textcolor" and self.of(given[-2:-1]).lower() == "white":
            return self._leave_out("hidden text", given[-1:])
        if name == "phantom":
            return self._leave_out("hidden text", given)
        if name == "ensuremath":
            return f"${_written(given[-1])}$" if given else ""
        if name in {"nicefrac", "sfrac", "unitfrac"}:
            return "/".join(self.of([one]) for one in given[-2:])
        if name in {"alt", "temporal"}:
            return " ".join(self.of([one]) for one in given)
        if name == "nth":
            return self.of(given)
        if name in _HIDDEN or name == CODE_MACRO:
            return ""
        if name in self._term_names and given:
            return self._term(name, self._raw(given[-1:]).strip())
        if name not in self._known and name not in _SIGNS:
            given = given[:0]  # a star or an option
        if given:
            first = given[-2:-1] if name in _SHOWS_FIRST else given[-1:]
            return self._raw(first if name in {*_SHOWS_LAST, *_SHOWS_FIRST} else given)
        if name in _SIGNS:
            return _SIGNS[name]
        symbol = self._symbols.get_macro_spec(name)
        if symbol is None and name not in self._known and name not in self._unknown:
            self._unknown.add(name)
            self._includes.left_out(f"unknown command \\{name}", self.line())
        shown = symbol.simplify_repl if symbol is not None else ""
        return shown if isinstance(shown, str) and "%" not in shown else ""

    def _leave_out(self, kind: str, nodes: Sequence[LatexNode | None]) -> str:
        self._includes.left_out(kind, self.line(), self.of(nodes))
        return ""

    def _term(self, name: str, label: str) -> str:
        """Return what a use of an acronym or glossary entry prints."""
        found = _TERMS.fullmatch(name)
        term = self._source.defined.terms.get(label)
        if found is None or term is None:
            self._includes.left_out("acronym that is not defined", self.line())
            return label
        ends = "s" if found["plural"] else ""
        short, long = (self.of(self.parsed(one)) for one in (term.short, term.long))
        is_first = label not in self._terms_used
        is_acronym = term.is_acronym
        short = self.of(self.parsed(term.plural)) if ends and term.plural else short + ends
        match found["what"]:
            case "short" | "s" | "name" | "text":
                shown = short
            case "long" | "l":
                shown = long + ends
            case "desc":
                shown = long
            case _ if is_acronym and (found["what"] or is_first) and long:
                self._terms_used.add(label)
                shown = f"{long}{ends} ({short})"
            case _:
                shown = short
        return shown[:1].upper() + shown[1:] if found["stem"][0] in "GA" else shown

    def terms(self) -> Iterator[str]:
        """Yield the entries of the glossary, as the page prints them."""
        for term in self._source.defined.terms.values():
            if term.long:
                yield f"{self.of(self.parsed(term.short))}: {self.of(self.parsed(term.long))}"

    def drawn(self, node: LatexNode) -> str:
        """Return the words of the labels of a drawing."""
        return " ".join(_DRAWN.findall(str(node.latex_verbatim())))

    def forget_terms(self) -> None:
        """Take no term to be used yet."""
        self._terms_used.clear()
        self._unknown.clear()

    @contextmanager
    def expanded(self, node: LatexMacroNode) -> Iterator[Sequence[LatexNode]]:
        """Give the nodes that an own macro stands for, none where there is no end to them."""
        macro = self.macros[node.macroname]
        found = iter(arguments(node))
        given = [None if kind == " " else next(found, None) for kind in macro.arguments]
        for number, argument in enumerate(given, start=1):
            is_shown = f"#{number}" in macro.body or self._depth > 0
            words = _written(argument).strip("* ") if argument is not None else ""
            if words and not is_shown:
                self._includes.left_out("text that a command hides", self.line(), words)
        texts = [None if one is None else _written(one) for one in given]
        text = self._source.decide(macro.filled(texts, macro.body))
        self._left -= len(text) + 1
        ends = self._left >= 0 and self._depth < _DEEPEST
        if not ends:
            self._includes.warn(_ENDLESS)
        self._depth += 1
        try:
            yield self.parsed(text) if ends else ()
        finally:
            self._depth -= 1


def _written(node: LatexNode) -> str:
    """Return the source of an argument without its braces."""
    text = str(node.latex_verbatim())
    return text[1:-1] if text[:1] in {"{", "["} else text


def _names(context: Any) -> Iterator[str]:
    for category in context.categories():
        yield from (spec.macroname for spec in context.iter_macro_specs([category]))


def arguments(node: LatexMacroNode | LatexEnvironmentNode) -> Sequence[LatexNode | None]:
    """Return the arguments of a macro or environment, in order, none for one left out."""
    found = node.nodeargd.argnlist if node.nodeargd is not None else None
    return list(found or ())
