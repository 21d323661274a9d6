"""What mdBook adds to Markdown: included files, captions of listings, hidden lines of code."""

import posixpath
import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from core.domain.markdown import code_spans
from core.ingestion.document import Omission
from core.ingestion.formats.html_elements import TAG, attribute

_MAX_DEPTH = 8
_MAX_CHARACTERS = 2_000_000


class Includes:
    """The included files of one page, and all that is left out of it.

    Args:
        read: gives the text of a file by its path relative to the page, or none.
    """

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._left = _MAX_CHARACTERS
        self._warnings: dict[str, None] = {}
        self.omissions: list[Omission] = []

    def left_out(self, kind: str, line: int = 0, text: str = "") -> None:
        """Note an element that is not read, with the words that it held."""
        self.omissions.append(Omission(kind, f"line {line}" if line else "", len(text.split())))

    def value(self, path: str) -> str | None:
        """Return the text of a file of the course that may be missing, such as its settings."""
        return self._read(path)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each file that was left out, in order."""
        return tuple(self._warnings)

    def warn(self, sentence: str) -> None:
        """Note something that was left out; the same sentence counts once."""
        self._warnings.setdefault(sentence)

    def text(self, path: str, chain: tuple[str, ...]) -> str | None:
        """Return the text of the file at `path`, with Unix line ends, or none with a warning.

        Args:
            path: relative to the page, as `resolved` gives it.
            chain: the files that are being included already, outermost first.
        """
        if path in chain:
            self.warn(f"The file {path} includes itself and was left out there.")
            return None
        if len(chain) >= _MAX_DEPTH:
            self.warn(f"The file {path} is included too deeply and was left out.")
            return None
        text = self._read(path)
        if text is None:
            self.warn(f"The included file {path} is missing.")
            return None
        self._left -= len(text) + 1
        if self._left < 0:
            self.warn(f"The included file {path} makes the page too long and was left out.")
            return None
        return text.replace("\r\n", "\n").removeprefix("\ufeff").removesuffix("\n")


def resolved(path: str, chain: tuple[str, ...]) -> str:
    """Return `path`, written in the last file of `chain`, relative to the page."""
    if not chain or path.startswith(("/", "@")):
        return path
    return posixpath.normpath(posixpath.join(posixpath.dirname(chain[-1]), path))


_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}(?=[^`]*\Z)|~{3,})")


class SourceLine(NamedTuple):
    """A line of text and the line of the page, counted from 1, that it stands for."""

    text: str
    number: int


class Edit(NamedTuple):
    """Replaces the characters from `start` up to `end` by `text`."""

    start: int
    end: int
    text: str


def source_lines(text: str) -> list[SourceLine]:
    """Return the numbered lines of a page, whatever line ends it uses."""
    unix = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    return [SourceLine(line, number) for number, line in enumerate(unix.split("\n"), start=1)]


def included_lines(text: str, number: int) -> list[SourceLine]:
    """Return the lines of another file, all standing for the line that included it."""
    return [SourceLine(line, number) for line in text.split("\n")]


def joined(lines: Iterable[SourceLine]) -> str:
    """Return the text of the lines."""
    return "\n".join(line.text for line in lines)


def line_finder(lines: Sequence[SourceLine]) -> Callable[[int], int]:
    """Return what gives the number of the line at a place in the joined text."""
    ends = list(accumulate(len(line.text) + 1 for line in lines))
    return lambda position: lines[min(bisect_right(ends, position), len(lines) - 1)].number


def prose_changed(
    lines: Iterable[SourceLine], change: Callable[[str, int], str]
) -> Iterator[SourceLine]:
    """Yield the lines with `change` made to what of each is no code, given its number."""
    fence = ""
    for line in lines:
        mark = _FENCE.match(line.text) if "``" in line.text or "~~~" in line.text else None
        if fence:
            stripped = line.text.strip(" \t>")
            if mark and mark[1].startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
            yield line
        elif mark:
            fence = mark[1]
            yield line
        else:
            yield SourceLine(_changed(line, change), line.number)


def _changed(line: SourceLine, change: Callable[[str, int], str]) -> str:
    text, number = line
    spans = list(code_spans(text, 0, len(text))) if "`" in text else []
    pieces, position = list[str](), 0
    for start, end in spans:
        pieces += [change(text[position:start], number), text[start:end]]
        position = end
    return "".join([*pieces, change(text[position:], number)])


def edited(lines: Sequence[SourceLine], edits: Iterable[Edit]) -> list[SourceLine]:
    """Return the lines after `edits` of their joined text.

    The edits are in order and do not overlap. New text stands for the line where it begins.
    """
    edits = list(edits)
    if not edits:
        return list(lines)
    text, result = joined(lines), _Rewriting(lines)
    position = 0
    for edit in edits:
        result.copy(text[position : edit.start])
        result.replace(text[edit.start : edit.end], edit.text)
        position = edit.end
    result.copy(text[position:])
    return result.finish()


class _Rewriting:
    """The new lines so far, and how far the old ones are read."""

    def __init__(self, lines: Sequence[SourceLine]) -> None:
        self._numbers = [line.number for line in lines] or [1]
        self._read = 0
        self._done: list[SourceLine] = []
        self._open: list[str] = []
        self._open_number = self._numbers[0]

    def copy(self, text: str) -> None:
        first, *others = text.split("\n")
        self._open.append(first)
        for line in others:
            self._read += 1
            self._end_line()
            self._open.append(line)

    def replace(self, old: str, new: str) -> None:
        first, *others = new.split("\n")
        self._open.append(first)
        for line in others:
            self._end_line()
            self._open.append(line)
        height = old.count("\n")
        self._read += height
        if height and not any(map(str.strip, self._open)):
            self._open_number = self._numbers[self._read]

    def finish(self) -> list[SourceLine]:
        self._end_line()
        return self._done

    def _end_line(self) -> None:
        self._done.append(SourceLine("".join(self._open), self._open_number))
        self._open.clear()
        self._open_number = self._numbers[self._read]


_LINK = re.compile(
    r"(\\?)\{\{\s{0,20}#(include|rustdoc_include|playground|playpen|title)\s([^{}]+)\}\}"
)
_ANCHOR = re.compile(r"ANCHOR(_END)?:\s*([\w-]+)")
_LINES = re.compile(r"(\d{1,9})?(:)?(\d{1,9})?")
_HIDDEN_LINE = re.compile(r"\s*#(?: .*)?")
_ESCAPED_LINE = re.compile(r"(\s*)##")


def page_title(lines: Iterable[SourceLine]) -> str | None:
    """Return what `{{#title ...}}` calls the page, if anything."""
    links = (match for line in lines for match in _LINK.finditer(line.text))
    return next((match[3].strip() for match in links if match[2] == "title"), None)


def with_includes(
    lines: Iterable[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return the lines with each included file in place of its link.

    Source: the `links` preprocessor of mdBook.
    """
    return [spliced for line in lines for spliced in _spliced(line, includes, chain)]


def _spliced(line: SourceLine, includes: Includes, chain: tuple[str, ...]) -> list[SourceLine]:
    if "{{" not in line.text:
        return [line]

    def content(link: re.Match[str]) -> str:
        if link[1]:
            return link[0][1:]
        return "" if link[2] == "title" else _content(link[2], link[3], includes, chain)

    return included_lines(_LINK.sub(content, line.text), line.number)


def _content(kind: str, argument: str, includes: Includes, chain: tuple[str, ...]) -> str:
    path, _, part = next(iter(argument.split()), "").partition(":")
    path = resolved(path, chain)
    text = includes.text(path, chain)
    if text is None:
        return ""
    chosen = _selected(text, part)
    if chosen is None:
        includes.warn(f"The included file {path} has no part called {part}.")
        return ""
    lines = [line for line in chosen if not _ANCHOR.search(line)]
    whole = "\n".join(lines)
    nested = joined(with_includes(included_lines(whole, 1), includes, (*chain, path)))
    return f"```rust\n{nested}\n```" if kind in {"playground", "playpen"} else nested


def _selected(text: str, part: str) -> Sequence[str] | None:
    """Return the lines that `part` names: a number, `first:last` or an anchor; else none."""
    lines = text.split("\n")
    if not part:
        return lines
    if span := _LINES.fullmatch(part):
        first = int(span[1] or 1)
        last = int(span[3] or len(lines)) if span[2] else first
        return lines[max(first, 1) - 1 : last]
    return _anchored(lines, part)


def _anchored(lines: Sequence[str], name: str) -> Sequence[str] | None:
    start = None
    for index, line in enumerate(lines):
        anchor = _ANCHOR.search(line)
        if anchor is None or anchor[2] != name:
            continue
        if anchor[1] and start is not None:
            return lines[start:index]
        if not anchor[1]:
            start = index + 1
    return None if start is None else lines[start:]


def with_captions(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return the lines with the words of each `<Listing>` tag in place of the tag."""
    text = joined(lines)
    return edited(lines, _caption_edits(text)) if "<Listing" in text else list(lines)


def _caption_edits(text: str) -> Iterator[Edit]:
    caption = ""
    for tag in TAG.finditer(text):
        if tag["name"] != "Listing":
            continue
        if tag["closing"]:
            yield Edit(tag.start(), tag.end(), f"\n\n{caption}\n\n")
            continue
        number, words = (attribute(tag["attributes"], name) for name in ("number", "caption"))
        caption = ": ".join(filter(None, (f"Listing {number}" if number else "", words)))
        file_name = attribute(tag["attributes"], "file-name")
        shown = f"Filename: {file_name}" if file_name else ""
        yield Edit(tag.start(), tag.end(), f"\n\n{shown}\n\n")


def shown_code(code: str) -> str:
    """Return Rust code without the lines that a reader does not see, `# use std::fs;`."""
    shown = (line for line in code.split("\n") if not _HIDDEN_LINE.fullmatch(line))
    return "\n".join(_ESCAPED_LINE.sub(r"\1#", line, count=1) for line in shown)


class MarkdownFlavour(StrEnum):
    """Which generator publishes the page: it decides includes, containers and anchors."""

    MDBOOK = "mdbook"
    MKDOCS = "mkdocs"
    DOCUSAURUS = "docusaurus"
    """MDX: Markdown with imports, components and expressions."""
    QUARTO = "quarto"
    """Markdown of Pandoc with code cells; R Markdown too."""
    MYST = "myst"
    """Markdown of Jupyter Book and Sphinx, with directives and roles."""
    HUGO = "hugo"
    """GitHub's, with shortcodes."""
    JEKYLL = "jekyll"
    """GitHub's, with the tags of Liquid and the attributes of kramdown."""
    MARKDOWN = "markdown"
    """GitHub's own, for everything else."""


_SNIPPET = re.compile(r"""([ \t]*)(;*)-{1,8}8<-{1,8}(?:[ \t]+["'](.+)["'])?[ \t]*""")
_SECTION = re.compile(r"-8<-{1,8}[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*([\w-]+)[ \t]*\]")
_HOLDS_MARKDOWN = re.compile(r"<(\w+)\b[^<>]{0,500}\smarkdown\b[^<>]{0,500}>[ \t]*$")
_CLOSING = re.compile(r"[ \t]*</(\w+)>")
_ABBREVIATION = re.compile(r"\A\*\[([^\[\]\n]{1,100})\]:[ \t]*")
_NAMED_PART = re.compile(r"(.+?):((?:\d{0,9}:)?\d{1,9}:?|[A-Za-z][\w-]*)")


def with_markdown_in_html(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return the lines with blank ones where an element of HTML says that it holds Markdown.

    A definition of an abbreviation, which a reader unfolds, becomes words.
    Source: Python-Markdown, "Markdown in HTML", "Abbreviations".
    """
    names = {found[1] for line in lines for found in _HOLDS_MARKDOWN.finditer(line.text)}
    shown = list[SourceLine]()
    for text, number in lines:
        closing = _CLOSING.match(text) if names else None
        if closing and closing[1] in names:
            shown.append(SourceLine("", number))
        shown.append(SourceLine(_ABBREVIATION.sub(r"\1: ", text), number))
        if names and _HOLDS_MARKDOWN.search(text):
            shown.append(SourceLine("", number))
    return shown


def with_snippets(
    lines: Iterable[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return the lines with each snippet's file in its place, as deep as its mark stands.

    Paths count from the folder of the site, not from the page.
    Source: pymdownx.snippets.
    """
    return list(_snippets_spliced(lines, includes, chain))


def _snippets_spliced(
    lines: Iterable[SourceLine], includes: Includes, chain: tuple[str, ...]
) -> Iterator[SourceLine]:
    in_block = False
    for line in lines:
        mark = _SNIPPET.fullmatch(line.text) if "8<" in line.text else None
        if mark and mark[2]:
            yield SourceLine(line.text.replace(";", "", 1), line.number)
        elif mark and not mark[3]:
            in_block = not in_block
        elif mark:
            yield from _snippets_content(mark[3], mark[1], line.number, includes, chain)
        elif not in_block:
            yield line
        elif (name := line.text.strip()) and not name.startswith(";"):
            yield from _snippets_content(name, "", line.number, includes, chain)


def _snippets_content(
    name: str, indent: str, number: int, includes: Includes, chain: tuple[str, ...]
) -> Iterator[SourceLine]:
    named = _NAMED_PART.fullmatch(name)
    path, part = (named[1], named[2]) if named else (name, "")
    text = includes.text(path, chain)
    if text is None:
        return
    chosen = _snippets_selected(text.split("\n"), part)
    if chosen is None:
        includes.warn(f"The included file {path} has no section called {part}.")
        return
    inner = [SourceLine(line, number) for line in chosen if not _SECTION.search(line)]
    for line in _snippets_spliced(inner, includes, (*chain, path)):
        yield SourceLine(indent + line.text if line.text else "", number)


def _snippets_selected(lines: Sequence[str], part: str) -> Sequence[str] | None:
    """Return the lines from `first:last` or of the section, or none for an unknown one."""
    if not part:
        return lines
    if part[-1] in "0123456789:":
        first, _, last = part.partition(":")
        end = int(last.rstrip(":")) if last.rstrip(":") else len(lines)
        return lines[max(int(first or 1), 1) - 1 : end]
    start = None
    for index, line in enumerate(lines):
        section = _SECTION.search(line)
        if section and section[2] == part:
            if section[1] == "end":
                return lines[start or 0 : index]
            start = index + 1
    return None if start is None else lines[start:]


_MAX_LINES = 400
_FRONT_MATTER_MAX_CHARACTERS = 20_000
_UNREADABLE = "The front matter could not be read and was left out."
_ENDS: Mapping[str, tuple[str, ...]] = {"---": ("---", "..."), "+++": ("+++",)}


class FrontMatter(NamedTuple):
    """What the block says, how many lines of the page it takes, and what was wrong with it."""

    metadata: Mapping[str, str]
    height: int
    warnings: tuple[str, ...] = ()
    values: Mapping[object, object] = {}
    """All that it says, nested as it is written."""


def front_matter(lines: Sequence[SourceLine]) -> FrontMatter:
    """Return the front matter of a page; values are text as written, lists joined by commas.

    Blank lines may stand before it. Nested values are in `values` alone. A block that cannot be
    read costs its values, not the page.
    """
    start = next((at for at, line in enumerate(lines) if line.text.strip()), 0)
    mark = lines[start].text.rstrip() if lines else ""
    end = _closing_line(lines, start, mark)
    if end == 0:
        return FrontMatter({}, 0)
    text = joined(lines[start + 1 : end])
    if len(text) > _FRONT_MATTER_MAX_CHARACTERS:
        return FrontMatter({}, end + 1, (_UNREADABLE,))
    try:
        values = tomllib.loads(text) if mark == "+++" else _yaml(text)
    except (ValueError, RecursionError):
        is_prose = start or (mark == "+++" and "=" not in text)
        return FrontMatter({}, 0) if is_prose else FrontMatter({}, end + 1, (_UNREADABLE,))
    if not isinstance(values, dict):
        # Prose between two rules stays; an empty block, or one of comments only, goes.
        return FrontMatter({}, 0 if values or start else end + 1)
    metadata = {str(name): _plain(value) for name, value in values.items()}
    return FrontMatter(
        {name: text for name, text in metadata.items() if text}, end + 1, values=values
    )


def _yaml(text: str) -> object:
    import yaml  # most pages have none

    try:
        # BaseLoader makes text of every value: no tag runs anything, "1.10" stays "1.10".
        return yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise ValueError("no YAML") from error


def _closing_line(lines: Sequence[SourceLine], start: int, mark: str) -> int:
    for index in range(start + 1, min(len(lines), start + _MAX_LINES) if mark in _ENDS else 0):
        if lines[index].text.rstrip() in _ENDS[mark]:
            return index
    return 0


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item).strip() for item in value if not isinstance(item, list | dict))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if isinstance(value, dict) or value is None else str(value).strip()
