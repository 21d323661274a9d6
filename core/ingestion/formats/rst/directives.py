"""The directives of Sphinx and its commonest extensions, and includes that stay in the course."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives, states
from docutils.parsers.rst.directives import tables
from docutils.statemachine import StringList

from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.rst.includes import chosen

_KINDS: Mapping[str, str] = {
    "seealso": "See also",
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "exercise": "Exercise",
    "solution": "Solution",
    "theorem": "Theorem",
    "lemma": "Lemma",
    "proof": "Proof",
    "definition": "Definition",
    "example": "Example",
    "remark": "Remark",
}
_WITH_TITLE = ("tab", "tab-item", "dropdown", "details", "collapse", "card", "centered")
_WITHOUT_TEXT = (
    *("toctree", "contents", "sectnum", "section-numbering", "highlight", "index", "meta", "date"),
    *("currentmodule", "py:currentmodule", "default-domain", "tabularcolumns", "bibliography"),
    *("tableofcontents", "title", "codeauthor", "sectionauthor", "moduleauthor", "jupyter-kernel"),
)
_MADE_ELSEWHERE = (
    *("automodule", "autoclass", "autofunction", "automethod", "autodata", "autosummary"),
    *("autoexception", "graphviz", "plot", "inheritance-diagram", "raw", "argparse", "click"),
)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


class _Options(dict[str, Any]):
    """Takes any option as it is written."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class Unknown(Directive):
    """A directive that nothing here knows: what it holds is read as text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _Options(name=directives.unchanged)
    shows_argument = True

    def run(self) -> list[nodes.Node]:
        """Return the argument as a paragraph, then the content."""
        shown = self._title() if self.shows_argument else ""
        return [*self._paragraph(shown), *self._inside()]

    def _title(self) -> str:
        return " ".join(self.arguments)

    def _paragraph(self, text: str) -> list[nodes.Node]:
        if not text:
            return []
        words, messages = self.state.inline_text(text, self.lineno)
        paragraph = nodes.paragraph(text, "", *words)
        paragraph.line = self.lineno
        return [paragraph, *messages]

    def _inside(self) -> list[nodes.Node]:
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder, match_titles=True)
        return holder.children

    def _omit(self, kind: str) -> None:
        lines = self.state.document.settings.glossator_lines
        line = lines[min(self.lineno, len(lines)) - 1].number
        self._includes.left_out(kind, line, "\n".join(self.content))

    @property
    def _includes(self) -> Includes:
        includes: Includes = self.state.document.settings.glossator_includes
        return includes


class _Inside(Unknown):
    """Only what it holds is shown: `only`, `tabs`, `hlist`."""

    shows_argument = False


class _Only(_Inside):
    """What only some forms of the site show."""

    def run(self) -> list[nodes.Node]:
        """Return what it holds, if the published pages show it or that cannot be said."""
        known = {**_BUILDERS, **self.state.document.settings.glossator_settings}
        if _holds(" ".join(self.arguments), known, is_tag=self.name == "only") is False:
            self._omit("hidden text")
            return []
        return super().run()


class _ToDo(Unknown):
    """A note of the author, which Sphinx shows only where it is told to."""

    def run(self) -> list[nodes.Node]:
        """Return the note, if it is shown."""
        settings = self.state.document.settings.glossator_settings
        if settings and settings.get("todo_include_todos") is not True:
            self._omit("note of the author")
            return []
        return [*self._paragraph(" ".join(("To do", *self.arguments))), *self._inside()]


_BUILDERS: Mapping[str, bool] = {
    **dict.fromkeys(("html", "format_html", "builder_html", "builder_dirhtml"), True),
    **dict.fromkeys(
        ("latex", "latexpdf", "pdf", "epub", "man", "text", "texinfo", "gettext"), False
    ),
    **dict.fromkeys(("format_latex", "builder_latex", "builder_epub", "confluence"), False),
}


def _holds(expression: str, known: Mapping[str, Any], *, is_tag: bool) -> bool | None:
    """Return whether a condition holds, if that can be said; a tag that nothing sets does not."""
    try:
        value = _decided(ast.parse(expression, mode="eval").body, known, is_tag)
        return None if value is None else bool(value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _decided(node: ast.expr, known: Mapping[str, Any], is_tag: bool) -> Any:
    match node:
        case ast.BoolOp(op=operator, values=values):
            parts = [_decided(value, known, is_tag) for value in values]
            is_and = isinstance(operator, ast.And)
            if any(part is not None and bool(part) is not is_and for part in parts):
                return not is_and
            return None if None in parts else is_and
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            value = _decided(inner, known, is_tag)
            return None if value is None else not value
        case ast.Name(id=name):
            return known.get(name, False if is_tag else None)
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [_decided(part, known, is_tag) for part in parts]
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            one, other = (_decided(part, known, is_tag) for part in (left, right))
            if one is None or other is None:
                return None
            is_negated = isinstance(operator, ast.NotEq | ast.NotIn)
            if isinstance(operator, ast.Eq | ast.NotEq):
                return (one == other) is not is_negated
            if isinstance(operator, ast.In | ast.NotIn) and isinstance(other, str | list):
                return (one in other) is not is_negated
    return None


class _CsvTable(tables.CSVTable):
    """A table of comma-separated values, also of a file of the course."""

    def run(self) -> Sequence[nodes.table | nodes.system_message]:
        """Return the table; docutils opens no file for it."""
        path = self.options.pop("file", None)
        if path is not None:
            includes: Includes = self.state.document.settings.glossator_includes
            lines = (includes.text(path, ()) or "").split("\n")
            self.content = StringList(lines, source=path)
        if "url" in self.options or not any(map(str.strip, self.content)):
            return []
        return super().run()


class _Box(Unknown):
    """A box that is called after its kind, and after its title if it has one."""

    def _title(self) -> str:
        kind = _KINDS.get(self.name.lower().rpartition(":")[2], "")
        return " ".join(filter(None, (kind, *self.arguments)))


class _Nothing(Unknown):
    """Makes no text of the page."""

    def run(self) -> list[nodes.Node]:
        """Return nothing."""
        return []


class _Elsewhere(Unknown):
    """Stands for what a program makes of other files when the site is built."""

    def run(self) -> list[nodes.Node]:
        """Return nothing, and note it; in the place of a name, it stands for a gap."""
        if isinstance(self.state, states.SubstitutionDef):
            return [nodes.raw("", " ", format="html")]
        self._omit(f"directive {self.name.lower()}")
        return []


class _Described(Unknown):
    """A function, class, option or setting: an entry whose terms are its signatures as code."""

    def run(self) -> list[nodes.Node]:
        """Return the signatures with the description."""
        lines = (line.strip().rstrip("\\") for line in "\n".join(self.arguments).split("\n"))
        terms = [nodes.term(line, "", nodes.literal(line, line)) for line in filter(None, lines)]
        body = nodes.definition("", *self._inside())
        entry = nodes.definition_list_item("", *terms, body)
        entry.line = self.lineno
        return [entry]


class _Code(Unknown):
    """Code, with its language and caption."""

    def run(self) -> list[nodes.Node]:
        """Return the caption and the code."""
        return self._block("\n".join(self.content), self._title()) if self.content else []

    def _block(self, code: str, language: str) -> list[nodes.Node]:
        classes = ["code", language] if _LANGUAGE.fullmatch(language) else ["code"]
        block = nodes.literal_block(code, code, classes=classes)
        block.line = self.lineno
        return [*self._paragraph(self.options.get("caption") or ""), block]


class _Include(_Code):
    """Another file of the course as a block of code; other includes are in place already."""

    def run(self) -> list[nodes.Node]:
        """Return the block, or nothing where the file is missing."""
        text = self._includes.text(self._title(), ())
        language = self.options.get("language") or self.options.get("code") or ""
        return [] if text is None else self._block(chosen(text, self.options), language)


class _Math(Unknown):
    """A formula, with or without a label."""

    def run(self) -> list[nodes.Node]:
        """Return the formula."""
        parts = (*self.arguments, "\n".join(self.content))
        formula = "\n".join(part for part in parts if part.strip())
        return [nodes.math_block(formula, formula)] if formula else []


_DESCRIBED = (
    *("function", "class", "method", "attribute", "data", "exception", "module", "property"),
    *("classmethod", "staticmethod", "decorator", "macro", "type", "member", "var", "enum"),
    *("struct", "describe", "object", "envvar", "program", "option", "cmdoption", "confval"),
)
DIRECTIVES: Mapping[str, type[Directive]] = {
    **dict.fromkeys(_KINDS, _Box),
    **dict.fromkeys(_WITH_TITLE, Unknown),
    **dict.fromkeys(_WITHOUT_TEXT, _Nothing),
    **dict.fromkeys(_MADE_ELSEWHERE, _Elsewhere),
    **dict.fromkeys(_DESCRIBED, _Described),
    **dict.fromkeys(("code-block", "sourcecode", "code", "code-cell", "ipython"), _Code),
    **dict.fromkeys(("include", "literalinclude"), _Include),
    "math": _Math,
    **dict.fromkeys(("only", "ifconfig"), _Only),
    "todo": _ToDo,
    "csv-table": _CsvTable,
    **dict.fromkeys(("tabs", "tab-set", "hlist", "glossary", "grid"), _Inside),
}
