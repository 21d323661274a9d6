"""The words of LaTeX's inline nodes: accents and symbols as characters, own macros replaced."""

import re
from collections.abc import Iterator, Mapping, Sequence
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

from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.latex.source import CODE_MACRO, Macro
from core.ingestion.formats.markup import inline_code

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
_SIGNS = {"textless": "<", "textgreater": ">", "textbar": "|", "textquotesingle": "'"}
_BLANKS = frozenset({"\\", ",", ";", ":", " ", "quad", "qquad", "enspace", "newline", "space", "/"})
_REFERENCES = frozenset({"ref", "autoref", "cref", "Cref", "eqref", "pageref", "nameref", "vref"})
_CODE = frozenset({"texttt", "verb", "lstinline", "code", "mintinline"})
_SHOWS_LAST = frozenset({"href", "textcolor", "multicolumn", "multirow", "colorbox", "raisebox"})
_HIDDEN: Mapping[str, str] = {
    **dict.fromkeys(("label", "index", "input", "include", "bibliography", "pagestyle"), "{"),
    **dict.fromkeys(
        ("thispagestyle", "hypersetup", "graphicspath", "cline", "vspace", "hspace"), "{"
    ),
    **dict.fromkeys(("bibliographystyle", "pagenumbering", "color", "phantom", "nocite"), "{"),
    **dict.fromkeys(("usepackage", "documentclass", "includegraphics", "cmidrule"), "[{"),
    **dict.fromkeys(("cite", "citep", "citet", "parencite", "textcite", "footcite"), "*[[{"),
    **dict.fromkeys(("setcounter", "addtocounter", "setlength", "addtolength", "rule"), "[{{"),
    **dict.fromkeys(("newtheorem",), "*{[{["),
    **dict.fromkeys(("newcommand", "renewcommand", "providecommand"), "*{[[{"),
    **dict.fromkeys(("DeclareMathOperator",), "*{{"),
    **dict.fromkeys(("newenvironment", "renewenvironment"), "*{[[{{"),
    **dict.fromkeys(("addcontentsline", "definecolor"), "{{{"),
    "bibitem": "[{",
    **dict.fromkeys(("title", "author", "date", "maketitle", "tableofcontents"), ""),
}
_SHOWN: Mapping[str, str] = {
    "href": "{{",
    "url": "{",
    "footnote": "[{",
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
        macros: the document's own.
        includes: where what is left out is noted.
    """

    def __init__(self, macros: Mapping[str, Macro], includes: Includes) -> None:
        own = {name: macro for name, macro in macros.items() if name not in {*_SHOWN, *_HIDDEN}}
        self.macros, self._includes = own, includes
        self.notes: list[str] = []
        """Footnotes since the last paragraph."""
        self.titles: dict[str, str] = {}
        """What the sections with a label are called."""
        self._left, self._depth = _MOST_CHARACTERS, 0
        self._symbols = get_default_latex_context_db()
        self._accents = LatexNodes2Text()
        self._context = walker_context()
        specs = [macrospec.std_macro(name, spec) for name, spec in {**_HIDDEN, **_SHOWN}.items()]
        specs += [macrospec.std_macro(name, _spec(macro)) for name, macro in own.items()]
        self._context.add_context_category("glossator", macros=specs, prepend=True)

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
            return f"${' '.join(body.split())}$"
        if isinstance(node, LatexSpecialsNode):
            return _SPECIALS.get(node.specials_chars, " ")
        if isinstance(node, LatexMacroNode):
            return self._macro(node)
        if isinstance(node, LatexEnvironmentNode):
            return f" {self._raw(node.nodelist)} "
        assert isinstance(node, LatexCommentNode)
        return ""

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
        if name == "footnote":
            self.notes.append(self.of(given[-1:]))
            return ""
        if name in _HIDDEN or name == CODE_MACRO:
            return ""
        if given:
            return self._raw(given[-1:] if name in _SHOWS_LAST else given)
        if name in _SIGNS:
            return _SIGNS[name]
        symbol = self._symbols.get_macro_spec(name)
        shown = symbol.simplify_repl if symbol is not None else ""
        return shown if isinstance(shown, str) and "%" not in shown else ""

    @contextmanager
    def expanded(self, node: LatexMacroNode) -> Iterator[Sequence[LatexNode]]:
        """Give the nodes that an own macro stands for, none where there is no end to them."""
        macro = self.macros[node.macroname]
        text = macro.body
        for number, argument in enumerate(arguments(node), start=1):
            written = argument.latex_verbatim() if argument is not None else macro.default or ""
            is_grouped = argument is not None and written[:1] in {"{", "["}
            text = text.replace(f"#{number}", written[1:-1] if is_grouped else written)
        self._left -= len(text) + 1
        ends = self._left >= 0 and self._depth < _DEEPEST
        if not ends:
            self._includes.warn(_ENDLESS)
        self._depth += 1
        try:
            yield self.parsed(text) if ends else ()
        finally:
            self._depth -= 1


def _spec(macro: Macro) -> str:
    first = "[" if macro.default is not None else "{"
    return (first + "{" * (macro.arguments - 1)) if macro.arguments else ""


def arguments(node: LatexMacroNode | LatexEnvironmentNode) -> Sequence[LatexNode | None]:
    """Return the arguments of a macro or environment, in order, none for one left out."""
    found = node.nodeargd.argnlist if node.nodeargd is not None else None
    return list(found or ())
