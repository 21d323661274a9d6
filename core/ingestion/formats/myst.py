"""What MyST adds to Markdown for Jupyter Book and Sphinx: directives, roles, labels, comments."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.ingestion.document import BlockKind, lowered, pipe_table, raised
from core.ingestion.formats.includes import Includes, SourceLine, included_lines, resolved
from core.ingestion.formats.latex_words import quantity
from core.ingestion.formats.quarto import KINDS, LABEL, LABELLED, SPAN
from core.ingestion.formats.values import Values

_FENCE = re.compile(
    r"(?P<indent>[ \t]*(?P<marker>(?:[-*+]|\d{1,9}[.)])[ \t]+)?)"
    r"(?P<marks>`{3,}|~{3,}|:{3,})(?P<info>[^`]*)"
)
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:.+-]{1,40})\}[ \t]*(?P<title>.*)")
_OPTION = re.compile(r"[ \t]*:([\w-]{1,40}):[ \t]*(.*)")
_YAML_OPTION = re.compile(r"[ \t]*([\w-]{1,40}):[ \t]*(.*)")
_LEFT_OUT = re.compile(r"[ \t]*(?:\([^()\n]{1,200}\)=|\+\+\+.*|\{[.#][^{}]{0,200}\})[ \t]*")
_ROLE = re.compile(
    r"\{(?P<name>[\w:+.-]{1,40})\}(?P<marks>`{1,9})(?P<text>[^`\n]{1,500})(?P=marks)"
)
_TITLED = re.compile(r"(.*?\S)\s?<([^<>]*)>\s?")
_CODE = frozenset({"code-cell", "code-block", "code", "sourcecode", "literalinclude", "include"})
_PICTURES = frozenset({"figure", "image"})
_WITHOUT_TEXT = frozenset(
    {
        *(
            "toctree",
            "tableofcontents",
            "contents",
            "bibliography",
            "raw",
            "index",
            "only",
        ),
        *("mermaid", "embed", "youtube", "audio", "iframe", "video", "footbibliography"),
    }
)
_TITLES = frozenset(
    {
        *("note", "tip", "hint", "warning", "important", "attention", "caution", "danger", "error"),
        *("seealso", "todo", "exercise", "solution", "theorem", "lemma", "proof", "definition"),
        *("example", "remark", "corollary", "proposition", "algorithm"),
    }
)
_OF_MYST = frozenset(
    {
        *(*_TITLES, *_PICTURES, "csv-table", "list-table", "table", "admonition", "code-cell"),
        *("code-block", "tab-set", "dropdown", "toctree", "math", "eval-rst", "margin", "sidebar"),
        *("grid", "card", "epigraph", "literalinclude", "include"),
    }
)
"""Names that no language of code has."""
_CODE_ROLES = frozenset({"code", "func", "meth", "class", "mod", "attr", "file", "command", "kbd"})
_LINKS = frozenset({"ref", "numref", "doc", "eq", "prf:ref", "hoverxref"})


_COMMENT = re.compile(r"[ \t]*%(.*)")
_SUBSTITUTION = re.compile(r"\{\{((?:(?!\}\}).){1,300})\}\}")
_TARGET = re.compile(r"[ \t]*\(([^()\n]{1,200})\)=[ \t]*")
_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t#]*(?:\{[^{}]*\}[ \t]*)?")
_EMPTY_LINK = re.compile(r"(?<!!)\[\]\(([^()\s]{1,300})\)|<(?:project|path):([^<>\s]{1,300})>")
_HIDDEN_CODE = re.compile(r"\b(?:remove|hide)[-_](input|cell)\b")
_ROW = re.compile(r"[ \t]*[*-][ \t]+[*-](?:[ \t]+(.*))?")
_CELL = re.compile(r"[ \t]+[*-](?:[ \t]+(.*))?")
_NO_WORDS = re.compile(r"[\d\s|]*|[\w./-]+\.\w{2,5}|\S*://\S*")
"""An argument that is a number of columns, a file or an address."""


def has_directives(lines: Sequence[SourceLine]) -> bool:
    """Return whether a page that no MyST site publishes is written in MyST all the same."""
    for line in lines:
        fence = _FENCE.fullmatch(line.text) if "{" in line.text else None
        directive = _DIRECTIVE.fullmatch(fence["info"].strip()) if fence else None
        if directive and (directive["name"] in _OF_MYST or ":" in directive["name"]):
            return True
    return False


def with_directives(
    lines: Sequence[SourceLine], includes: Includes, values: Values, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return the lines as plain Markdown: what a reader of the published page sees.

    A directive that nothing here knows keeps what it holds.

    Source: the MyST guide, "Directives", "Roles" and "Cross-references".
    """
    return list(_Page(lines, includes, values).read(lines, chain))


class _Page:
    """One page: what its labels stand for, and what the course's settings say."""

    def __init__(self, lines: Sequence[SourceLine], includes: Includes, values: Values) -> None:
        self.includes, self._values = includes, values
        self._titles: dict[str, str] = {}
        label = ""
        for line in lines:
            if target := _TARGET.fullmatch(line.text):
                label = target[1].strip()
            elif label and (heading := _HEADING.fullmatch(line.text)):
                self._titles.setdefault(label, heading[1])
                label = ""
            elif line.text.strip():
                label = ""

    def read(self, lines: Sequence[SourceLine], chain: tuple[str, ...]) -> Iterator[SourceLine]:
        """Yield the lines of the page, or of a part of it, as they are published."""
        position = 0
        while position < len(lines):
            line = lines[position]
            fence = _FENCE.fullmatch(line.text)
            directive = _DIRECTIVE.fullmatch(fence["info"].strip()) if fence else None
            if fence is None or (directive is None and fence["marks"][0] == ":"):
                if comment := _COMMENT.fullmatch(line.text):
                    self.includes.left_out("comment", line.number, comment[1])
                elif not _LEFT_OUT.fullmatch(line.text) and (fence is None or fence["info"]):
                    yield SourceLine(self.shown(line.text, line.number), line.number)
                position += 1
                continue
            end = _end(lines, position, fence["marks"])
            if directive is None:
                yield from lines[position : end + 1]
            else:
                found = _Directive(directive, fence["indent"], lines[position:end], self, chain)
                yield from _under(fence["marker"] or "", fence["indent"], found.shown())
            position = end + 1

    def shown(self, text: str, number: int) -> str:
        """Return a line of prose with its roles, links and values as their words."""
        if "{{" in text:
            text = _SUBSTITUTION.sub(lambda found: self._value(found, number), text)
        if "{" in text:
            text = _ROLE.sub(lambda role: self._role(role, number), text)
            text = LABEL.sub("", SPAN.sub(r"\1", text)) if "]{" in text or "){" in text else text
        if "[](" in text or "<p" in text:
            text = _EMPTY_LINK.sub(lambda link: self.titled(link[1] or link[2]), text)
        return text

    def titled(self, target: str) -> str:
        """Return what a label or a page of the course is called, as far as the page says it."""
        label = target.lstrip("#")
        words = re.sub(r"\.\w{1,5}\Z", "", label.rpartition("#")[2] or label)
        kind = LABELLED.fullmatch(words)
        plain = re.sub(r"[-_:/]+", " ", kind["id"] if kind else words.removeprefix("./")).strip()
        return self._titles.get(label) or (f"{KINDS[kind['kind']]} {plain}" if kind else plain)

    def _value(self, found: re.Match[str], number: int) -> str:
        value = self._values.written(found[1])
        if value is None:
            self.includes.left_out("value that is not known", number)
        return found[0] if value is None else value

    def _role(self, found: re.Match[str], number: int) -> str:
        """Return the words of a role: `{ref}`title <target>``, `{math}`x``."""
        name, text = found["name"].lower(), found["text"].strip()
        kind = name.rpartition(":")[2]
        if kind == "math":
            return f"${text}$"
        if name.startswith("cite") or kind in {"label", "footcite"}:
            return ""
        if kind in {"sup", "superscript", "sub", "subscript"}:
            return raised(text) if kind.startswith("sup") else lowered(text)
        if kind in {"del", "strike", "s"}:
            self.includes.left_out("struck text", number, text)
            return ""
        titled = _TITLED.fullmatch(text)
        if name.startswith("glue") or kind in {"eval"}:
            self.includes.left_out("computed value", number)
            return f"{{{text.partition(':')[0]}}}"
        if kind == "si" and titled:
            return quantity("qty", [None, titled[1], titled[2]], {})
        words = titled[1] if titled else text.lstrip("!")
        if _PLACE.search(words) and titled:
            named = self._titles.get(titled[2]) or re.sub(r"^\w+[-:]|[-_:]", " ", titled[2]).strip()
            return _PLACE.sub(lambda _: f"“{named}”", words)
        if not titled and words.startswith("~"):
            words = words[1:].rpartition(".")[2]
        if kind in _CODE_ROLES:
            return f"`{words}`"
        return words if titled or name not in _LINKS else self.titled(words)


_PLACE = re.compile(r"%s|\{(?:number|name)\}")
"""Where the number of a chapter or figure is put in, which is known when a book is built."""


def _under(marker: str, indent: str, lines: Iterator[SourceLine]) -> Iterator[SourceLine]:
    """Yield the lines of a directive, the first with words as those of a list item."""
    for line in lines:
        if marker and line.text.strip():
            text = line.text.removeprefix(indent)
            yield SourceLine(indent[: len(indent) - len(marker)] + marker + text, line.number)
            marker = ""
        else:
            yield line


def _end(lines: Sequence[SourceLine], start: int, marks: str) -> int:
    """Return the place of the line that closes a fence, or that after the last line."""
    for at in range(start + 1, len(lines)):
        text = lines[at].text.strip()
        if len(text) >= len(marks) and not text.strip(marks[0]):
            return at
    return len(lines)


class _Directive:
    """A directive with its options and what it holds."""

    def __init__(
        self,
        found: re.Match[str],
        indent: str,
        lines: Sequence[SourceLine],
        page: _Page,
        chain: tuple[str, ...],
    ) -> None:
        self._name, self._title = found["name"].lower(), found["title"].strip()
        self._indent, self._number = " " * len(indent.expandtabs(4)), lines[0].number
        self._options, self._body = _options(lines[1:])
        self._page, self._includes, self._chain = page, page.includes, chain

    def shown(self) -> Iterator[SourceLine]:
        """Yield what a reader sees of it."""
        kind = self._name.rpartition(":")[2]
        if self._name == "code-cell" and (
            tag := _HIDDEN_CODE.search(self._options.get("tags", ""))
        ):
            is_cell = tag[0].startswith("remove") and tag[1] == "cell"
            self._omit(f"{'cell' if is_cell else 'code'} that is not published")
        elif self._name in _CODE:
            yield from self._code()
        elif kind == "math":
            yield from self._lines("$$", *(part for part in (self._title,) if part))
            yield from [*self._body, *self._lines("$$")]
        elif self._name in _PICTURES:
            yield from self._lines("", f"![{self._options.get('alt', '')}](picture)", "")
            yield from self._inside()
        elif kind in {"csv-table", "list-table"}:
            yield from self._table(kind)
        elif kind == "eval-rst":
            yield from self._rst()
        elif self._is_hidden(kind):
            self._omit("hidden text")
        elif self._name in _WITHOUT_TEXT or self._name.startswith("glue:"):
            if kind not in {"toctree", "tableofcontents", "contents", "index"}:
                self._omit(f"directive {self._name}")
        else:
            title = "" if _NO_WORDS.fullmatch(self._title) else self._title
            words = (kind.capitalize() if kind in _TITLES else "", title)
            shown = self._page.shown(" ".join(filter(None, words)), self._number)
            yield from self._lines("", shown, "")
            yield from self._inside()

    def _is_hidden(self, kind: str) -> bool:
        """Return whether it holds what only another form of the book shows."""
        return kind == "only" and not re.search(r"\bhtml\b|\bnot\b", self._title)

    def _omit(self, kind: str) -> None:
        text = "\n".join(line.text for line in self._body)
        self._includes.left_out(kind, self._number, text)

    def _table(self, kind: str) -> Iterator[SourceLine]:
        if self._title:
            yield from self._lines("", self._page.shown(self._title, self._number), "")
        rows = self._csv_rows() if kind == "csv-table" else self._list_rows()
        shown = [[self._page.shown(cell, self._number) for cell in row] for row in rows]
        yield from self._lines("", *pipe_table(shown).split("\n"), "")

    def _csv_rows(self) -> list[list[str]]:
        delimiter = {"tab": "\t", "space": " "}.get(
            self._options.get("delim", ","), self._options.get("delim", ",")
        )
        lines = [line.text for line in self._body]
        if path := self._options.get("file"):
            path = resolved(path, self._chain)
            lines = (self._includes.text(path, self._chain) or "").split("\n")
        header = self._options.get("header")
        written = [*([header] if header else []), *lines]
        reader = csv.reader(written, delimiter=delimiter[:1] or ",", skipinitialspace=True)
        try:
            return [row for row in reader if any(map(str.strip, row))]
        except csv.Error:
            return [[line] for line in written]

    def _list_rows(self) -> list[list[str]]:
        rows: list[list[str]] = []
        for line in self._body:
            if row := _ROW.fullmatch(line.text):
                rows.append([row[1] or ""])
            elif rows and (cell := _CELL.fullmatch(line.text)):
                rows[-1].append(cell[1] or "")
            elif rows and line.text.strip():
                rows[-1][-1] = f"{rows[-1][-1]} {line.text.strip()}".strip()
        return rows

    def _rst(self) -> Iterator[SourceLine]:
        """Yield what its reStructuredText says, as Markdown."""
        from core.ingestion.formats.rst import parse_rst  # most pages have none

        text = "\n".join(line.text.removeprefix(self._indent) for line in self._body)
        document = parse_rst(text, read_include=self._includes.value)
        self._includes.omissions += (
            replace(one, where=f"line {self._number}") for one in document.left_out
        )
        for block in document.blocks:
            head = "#" * block.level + " " if block.kind is BlockKind.HEADING else ""
            yield from self._lines("", *f"{head}{block.text}".split("\n"), "")

    def _code(self) -> Iterator[SourceLine]:
        """Yield the code, or the lines of an included page."""
        if self._name in {"include", "literalinclude"}:
            path = resolved(self._title, self._chain)
            text = self._includes.text(path, self._chain)
            lines = included_lines(text, self._number) if text is not None else []
            if self._name == "include" and not {"literal", "code"} & self._options.keys():
                yield from self._page.read(lines, (*self._chain, path))
                return
            language = self._options.get("language") or self._options.get("lang") or ""
            self._body = lines
        else:
            language = "python" if self._title.startswith("ipython") else self._title
        if caption := self._options.get("caption"):
            yield from self._lines("", caption, "")
        if self._body:
            fence = "`" * 12  # longer than any within
            yield from [*self._lines(fence + language), *self._body, *self._lines(fence)]

    def _inside(self) -> Iterator[SourceLine]:
        yield from self._page.read(self._body, self._chain)
        yield from self._lines("")

    def _lines(self, *texts: str) -> Iterator[SourceLine]:
        return (SourceLine(self._indent + text if text else "", self._number) for text in texts)


def _options(lines: Sequence[SourceLine]) -> tuple[Mapping[str, str], Sequence[SourceLine]]:
    """Return the options at the top of a directive, and the lines after them."""
    options: dict[str, str] = {}
    name = ""
    is_block = bool(lines) and lines[0].text.strip() == "---"
    pattern, at = (_YAML_OPTION, 1) if is_block else (_OPTION, 0)
    while at < len(lines) and not (is_block and lines[at].text.strip() == "---"):
        option = pattern.fullmatch(lines[at].text)
        if option is None and not is_block:
            break
        if option is not None:
            name = option[1]
            options[name] = option[2].strip().strip("\"'")
        elif name:  # a list of several lines, as of tags
            options[name] += f" {lines[at].text.strip()}"
        at += 1
    return options, lines[at + 1 if is_block else at :]
