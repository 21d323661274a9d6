"""What MyST adds to Markdown for Jupyter Book and Sphinx: directives, roles, labels, comments."""

import re
from collections.abc import Iterator, Mapping, Sequence

from core.ingestion.formats.flavours.includes import Includes, resolved
from core.ingestion.formats.flavours.source_lines import SourceLine, included_lines

_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,}|:{3,})(?P<info>[^`]*)")
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:.+-]{1,40})\}[ \t]*(?P<title>.*)")
_OPTION = re.compile(r"[ \t]*:([\w-]{1,40}):[ \t]*(.*)")
_YAML_OPTION = re.compile(r"[ \t]*([\w-]{1,40}):[ \t]*(.*)")
_LEFT_OUT = re.compile(r"[ \t]*(?:\([^()\n]{1,200}\)=|%.*|\+\+\+.*)[ \t]*")
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
            "glue:",
        ),
        *("eval-rst", "mermaid", "iframe", "video", "footbibliography"),
    }
)
_TITLES = frozenset(
    {
        *("note", "tip", "hint", "warning", "important", "attention", "caution", "danger", "error"),
        *("seealso", "todo", "exercise", "solution", "theorem", "lemma", "proof", "definition"),
        *("example", "remark", "corollary", "proposition", "algorithm"),
    }
)
_CODE_ROLES = frozenset({"code", "func", "meth", "class", "mod", "attr", "file", "command", "kbd"})
_LINKS = frozenset({"ref", "numref", "doc", "eq", "prf:ref", "hoverxref"})


def with_directives(
    lines: Sequence[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return the lines as plain Markdown: what a reader of the published page sees.

    A directive that nothing here knows keeps what it holds.

    Source: the MyST guide, "Directives", "Roles" and "Cross-references".
    """
    return list(_read(lines, includes, chain))


def _read(
    lines: Sequence[SourceLine], includes: Includes, chain: tuple[str, ...]
) -> Iterator[SourceLine]:
    position = 0
    while position < len(lines):
        line = lines[position]
        fence = _FENCE.fullmatch(line.text)
        directive = _DIRECTIVE.fullmatch(fence["info"].strip()) if fence else None
        if fence is None or (directive is None and fence["marks"][0] == ":"):
            if not _LEFT_OUT.fullmatch(line.text):
                yield SourceLine(_ROLE.sub(_role, line.text), line.number)
            position += 1
            continue
        end = _end(lines, position, fence["marks"])
        if directive is None:
            yield from lines[position : end + 1]
        else:
            found = _Directive(directive, fence["indent"], lines[position:end], includes, chain)
            yield from found.shown()
        position = end + 1


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
        includes: Includes,
        chain: tuple[str, ...],
    ) -> None:
        self._name, self._title = found["name"].lower(), found["title"].strip()
        self._indent, self._number = indent, lines[0].number
        self._options, self._body = _options(lines[1:])
        self._includes, self._chain = includes, chain

    def shown(self) -> Iterator[SourceLine]:
        """Yield what a reader sees of it."""
        kind = self._name.rpartition(":")[2]
        if self._name in _CODE:
            yield from self._code()
        elif kind == "math":
            yield from self._lines("$$", *(part for part in (self._title,) if part))
            yield from [*self._body, *self._lines("$$")]
        elif self._name in _PICTURES:
            yield from self._lines("", f"![{self._options.get('alt', '')}](picture)", "")
            yield from self._inside()
        elif self._name in _WITHOUT_TEXT:
            if kind not in {"toctree", "tableofcontents", "contents", "index"}:
                self._includes.warn(f"What the directive {self._name} stands for was left out.")
        else:
            words = (kind.capitalize() if kind in _TITLES else "", self._title)
            yield from self._lines("", _ROLE.sub(_role, " ".join(filter(None, words))), "")
            yield from self._inside()

    def _code(self) -> Iterator[SourceLine]:
        """Yield the code, or the lines of an included page."""
        if self._name in {"include", "literalinclude"}:
            path = resolved(self._title, self._chain)
            text = self._includes.text(path, self._chain)
            lines = included_lines(text, self._number) if text is not None else []
            if self._name == "include" and not {"literal", "code"} & self._options.keys():
                yield from _read(lines, self._includes, (*self._chain, path))
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
        yield from _read(self._body, self._includes, self._chain)
        yield from self._lines("")

    def _lines(self, *texts: str) -> Iterator[SourceLine]:
        return (SourceLine(self._indent + text if text else "", self._number) for text in texts)


def _options(lines: Sequence[SourceLine]) -> tuple[Mapping[str, str], Sequence[SourceLine]]:
    """Return the options at the top of a directive, and the lines after them."""
    options: dict[str, str] = {}
    is_block = bool(lines) and lines[0].text.strip() == "---"
    pattern, at = (_YAML_OPTION, 1) if is_block else (_OPTION, 0)
    while at < len(lines) and not (is_block and lines[at].text.strip() == "---"):
        option = pattern.fullmatch(lines[at].text)
        if option is None and not is_block:
            break
        if option is not None:
            options[option[1]] = option[2].strip().strip("\"'")
        at += 1
    return options, lines[at + 1 if is_block else at :]


def _role(found: re.Match[str]) -> str:
    """Return the words of a role: `{ref}`title <target>``, `{math}`x``."""
    name, text = found["name"].lower(), found["text"].strip()
    kind = name.rpartition(":")[2]
    if kind == "math":
        return f"${text}$"
    if name.startswith("cite") or kind in {"label", "footcite"}:
        return ""
    titled = _TITLED.fullmatch(text)
    words = titled[1] if titled else text.lstrip("!")
    if not titled and words.startswith("~"):
        words = words[1:].rpartition(".")[2]
    if kind in _CODE_ROLES:
        return f"`{words}`"
    return words if titled or name not in _LINKS else re.sub(r"[-_:/]+", " ", words)
