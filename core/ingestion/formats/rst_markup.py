"""The directives of Sphinx and its commonest extensions, and includes that stay in the course."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives, states
from docutils.parsers.rst.directives import tables
from docutils.statemachine import StringList

from core.ingestion.formats.includes import Includes, SourceLine, included_lines, resolved

_INCLUDE = re.compile(r"(?P<indent>[ ]*)\.\.[ ]+include::[ ]+(?P<path>\S.*?)[ ]*")
_OPTION = re.compile(r"[ ]+:([\w-]+):[ ]*(.*?)[ ]*")
_CODE = re.compile(r"[ ]*\.\.[ ]+(?:code(?:-block)?|sourcecode|parsed-literal|highlight)::.*")
_AS_CODE = frozenset({"literal", "code"})


def with_includes(
    lines: Sequence[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> Iterator[SourceLine]:
    """Yield the lines with those of each included file, which stand for the line that names it.

    One that is to be shown as code stays, and so does an include that code itself shows.
    """
    position = 0
    while position < len(lines):
        line = lines[position]
        include = _INCLUDE.fullmatch(line.text) if "include::" in line.text else None
        end = position + 1
        options: dict[str, str] = {}
        while include and end < len(lines) and (option := _OPTION.fullmatch(lines[end].text)):
            options[option[1]] = option[2]
            end += 1
        if include is None or _AS_CODE & options.keys() or _in_code(lines, position):
            yield from lines[position:end]
        else:
            path = resolved(include["path"], chain)
            text = includes.text(path, chain)
            inner = included_lines(chosen(text, options), line.number) if text is not None else []
            yield SourceLine("", line.number)
            for one in with_includes(inner, includes, (*chain, path)):
                yield SourceLine(include["indent"] + one.text if one.text else "", line.number)
            yield SourceLine("", line.number)
        position = end


def _in_code(lines: Sequence[SourceLine], position: int) -> bool:
    """Return whether a line lies in a block of code, by the line that it is indented under."""
    depth = _depth(lines[position].text)
    above = (line.text for line in reversed(lines[max(0, position - 500) : position]))
    under = next((text for text in above if text.strip() and _depth(text) < depth), "")
    if not depth or not under:
        return False
    is_markup = under.lstrip().startswith("..")
    return _CODE.fullmatch(under) is not None or (not is_markup and under.rstrip().endswith("::"))


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def chosen(text: str, options: Mapping[str, str]) -> str:
    """Return the part of an included file that the options of the directive ask for."""
    after, before = options.get("start-after"), options.get("end-before")
    if after and after in text:
        text = text[text.index(after) + len(after) :]
    if before and before in text:
        text = text[: text.index(before)]
    lines = text.split("\n")
    if numbers := re.fullmatch(r"(\d{1,6})-(\d{1,6})?", options.get("lines") or ""):
        lines = lines[max(int(numbers[1]), 1) - 1 : int(numbers[2] or len(lines))]
    start, end = (options.get(name) or "" for name in ("start-line", "end-line"))
    last = int(end) if re.fullmatch(r"-?\d{1,6}", end) else None
    return "\n".join(lines[int(start) if re.fullmatch(r"\d{1,6}", start) else 0 : last])


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


_ROLES_CODE = frozenset(
    {
        *("func", "meth", "class", "mod", "attr", "data", "exc", "obj", "const", "any", "file"),
        *("command", "program", "option", "envvar", "kbd", "makevar", "regexp", "samp", "token"),
        *("keyword", "macro", "type", "member", "var", "enum", "struct", "union", "function"),
        *("method", "module", "attribute", "exception", "confval", "setting", "js", "rst", "dir"),
    }
)
_WORDS = frozenset(
    {
        *("ref", "doc", "numref", "term", "abbr", "guilabel", "menuselection", "eq", "download"),
        *(
            "cite",
            "cite:t",
            "cite:p",
            "cite:ps",
            "cite:ts",
            "index",
            "dfn",
            "mailheader",
            "newsgroup",
        ),
        *("pep", "rfc", "keyword", "manpage", "mimetype", "footcite", "issue"),
    }
)
_DOCUTILS = frozenset({"math", "code", "sub", "sup", "subscript", "superscript", "title-reference"})
_TITLED = re.compile(r"(.+?)\s*<([^<>]*)>\s*", re.DOTALL)
_PLACE = re.compile(r"%s|\{(?:number|name)\}")
"""Where the number of a chapter or figure is put in, which is known when a book is built."""
_Role = Callable[..., tuple[list[nodes.Node], list[nodes.system_message]]]


def role_for(name: str) -> _Role | None:
    """Return what reads a role of Sphinx, with or without its domain; none for docutils' own."""
    plain = name.lower()
    short = plain.rpartition(":")[2]
    if plain in _WORDS or short in _WORDS:
        return _reference if short in {"ref", "numref", "doc", "eq"} else _words
    return _code if short in _ROLES_CODE and short not in _DOCUTILS else None


def _parts(text: str) -> tuple[str, str, bool]:
    """Return title and target of `title <target>`, and whether the title is given."""
    plain = nodes.unescape(text)
    titled = _TITLED.fullmatch(plain)
    return (titled[1], titled[2], True) if titled else (plain, plain, False)


def _reference(
    _name: str,
    raw: str,
    text: str,
    _line: int,
    _inliner: Any,
    _options: Mapping[str, Any] | None = None,
    _content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """A link within the course; one without a title waits for that of its target."""
    title, target, is_given = _parts(text)
    is_given = is_given and not _PLACE.search(title)
    node = nodes.inline(raw, target if _PLACE.search(title) else title)
    if not is_given:
        node["glossator_title"] = title if _PLACE.search(title) else "%s"
        node["glossator_target"] = nodes.fully_normalize_name(target)
    return [node], []


def placed(title: str, name: str) -> str:
    """Return the title of a link with the name of its target in place."""
    return name if title == "%s" else _PLACE.sub(lambda _: f"“{name}”", title)


def _words(
    name: str,
    raw: str,
    text: str,
    _line: int,
    _inliner: Any,
    _options: Mapping[str, Any] | None = None,
    _content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    shown = _parts(text)[0].lstrip("!")
    if name.endswith(("guilabel", "menuselection")):  # `&` marks the letter of a key
        shown = re.sub(r"&(.)", r"\1", shown)
    return [nodes.inline(raw, shown)], []


def _code(
    _name: str,
    raw: str,
    text: str,
    _line: int,
    _inliner: Any,
    _options: Mapping[str, Any] | None = None,
    _content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    title, _, is_given = _parts(text)
    title = title.lstrip("!")
    if not is_given and title.startswith("~"):
        title = title[1:].rpartition(".")[2]
    return [nodes.literal(raw, title)], []
