"""What Quarto and R Markdown add to Markdown: code cells, callouts, shortcodes, included files."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from core.domain.markdown import code_spans
from core.ingestion.formats.includes import Includes, SourceLine, included_lines, resolved
from core.ingestion.formats.values import Values

FENCE = re.compile(r"(?P<indent>[ \t>]*)(?P<marks>`{3,}(?=[^`]*\Z)|~{3,})[ \t]*(?P<info>.*)")
_CELL = re.compile(r"\{\s*([A-Za-z][\w+#-]*)\s*[,\s]?(.*)\}")
_RAW = re.compile(r"\{\s*=\s*([\w-]+)\s*\}")
_OPTION_LINE = re.compile(r"[ \t>]*(?:#|//|--|%%?|;;)\|\s?(.*)")
_YAML_OPTION = re.compile(r"([\w.-]+)\s*:\s*(.*)")
_R_OPTION = re.compile(r"([\w.-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[\w.+-]+)")
_CAPTIONS = ("fig-cap", "tbl-cap", "lst-cap", "fig.cap", "tbl.cap")
_NO = frozenset({"false", "f", "no"})


class FenceWriter:
    """Takes the lines of one fence, and gives back those that are shown."""

    def __init__(self, opening: re.Match[str], line: SourceLine, includes: Includes) -> None:
        self.is_closed = False
        self._opening, self._line, self._includes = opening, line, includes
        self._closing = re.compile(
            rf"[ \t>]*{opening['marks'][0]}{{{len(opening['marks'])},}}[ \t]*"
        )
        self._body: list[SourceLine] = []

    def take(self, line: SourceLine) -> Iterator[SourceLine]:
        """Yield the whole fence once `line` closes it."""
        if self._closing.fullmatch(line.text):
            self.is_closed = True
            yield from self._shown(line)
        else:
            self._body.append(line)

    def end(self) -> Iterator[SourceLine]:
        """Yield a fence that nothing closes."""
        yield from self._shown(None)

    def _shown(self, closing: SourceLine | None) -> Iterator[SourceLine]:
        info = self._opening["info"].strip()
        if raw := _RAW.fullmatch(info):
            yield from self._raw(raw[1])
            return
        cell = _CELL.fullmatch(info)
        opening = self._line
        if cell:
            options, self._body = _options(cell[2], self._body)
            if options.get("include", "").lower() in _NO:
                self._omit("cell that is not published")
                return
            yield from self._captions(options)
            if options.get("echo", "").lower() in _NO:
                self._omit("code that is not published")
                return
            marks = self._opening["indent"] + self._opening["marks"]
            opening = SourceLine(marks + cell[1], opening.number)
        yield opening
        yield from self._body
        if closing is not None:
            yield closing

    def _omit(self, kind: str) -> None:
        text = "\n".join(line.text for line in self._body)
        self._includes.left_out(kind, self._line.number, text)

    def _raw(self, kind: str) -> Iterator[SourceLine]:
        """Yield the content of a raw block where it is HTML; pages show no other."""
        if kind.startswith("html"):
            yield from self._body
        else:
            self._omit(f"raw {kind}")

    def _captions(self, options: Mapping[str, str]) -> Iterator[SourceLine]:
        for name in _CAPTIONS:
            if caption := options.get(name):
                shown = (self._opening["indent"] + text for text in ("", caption, ""))
                yield from (SourceLine(text, self._line.number) for text in shown)


def _options(written: str, body: list[SourceLine]) -> tuple[dict[str, str], list[SourceLine]]:
    """Return the options of a cell, and its lines without those that set options."""
    options = {name: value.strip("\"'") for name, value in _R_OPTION.findall(written)}
    start = 0
    for line in body:
        option_line = _OPTION_LINE.fullmatch(line.text)
        if option_line is None:
            break
        start += 1
        if option := _YAML_OPTION.fullmatch(option_line[1].strip()):
            options[option[1]] = option[2].strip().strip("\"'")
    return options, body[start:]


KINDS: Mapping[str, str] = {
    "fig": "Figure",
    "tbl": "Table",
    "tab": "Table",
    "lst": "Listing",
    "eq": "Equation",
    "sec": "Section",
    "thm": "Theorem",
    "lem": "Lemma",
    "cor": "Corollary",
    "prp": "Proposition",
    "cnj": "Conjecture",
    "def": "Definition",
    "exm": "Example",
    "exr": "Exercise",
    "sol": "Solution",
    "rem": "Remark",
    "alg": "Algorithm",
    "nte": "Note",
    "tip": "Tip",
    "wrn": "Warning",
    "imp": "Important",
    "cau": "Caution",
}
_NAME = rf"(?P<kind>{'|'.join(KINDS)})[-:](?P<id>[A-Za-z0-9][\w:-]{{0,100}})"
LABELLED = re.compile(_NAME)
_ATTRIBUTES = r"\{\s?(?:[.#][\w:-]|[\w-]{1,40}\s?=)[^{}\n]{0,500}\}"
_REFERENCE = re.compile(rf"(?<![\w@\\])-?@{_NAME}|\\@ref\({_NAME.replace('P<', 'P<r_')}\)")
_BRACKETED = re.compile(rf"\[((?:[^\[\]@]{{0,80}}@(?:{'|'.join(KINDS)})-[\w:-]++)++)\]")
SPAN = re.compile(rf"(?<![!\]])\[([^\[\]]{{1,500}})\]{_ATTRIBUTES}")
LABEL = re.compile(rf"(?<=[)\]`]){_ATTRIBUTES}|(?<=\$\$)\s*\{{#eq-[^{{}}\n]{{0,100}}\}}")
_TABLE_CAPTION = re.compile(r"\s*(?:Table)?:\s(.{1,1000}?)\s?\{#tbl-[^{}\n]{0,200}\}\s*")
_QUARTO_INLINE_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*\{[^{}]*#(sec-[\w:-]+)[^{}]*\}\s*")

_LONGEST = 1_000
"""Characters of a heading or caption with a label."""


def shown_prose(lines: Sequence[SourceLine]) -> Callable[[str], str]:
    """Return what makes of a line of prose what a reader sees of it.

    A reference to a section of the page is the section's heading; one to a figure, a theorem or
    another page's section is its kind and the words of its label, for numbers are given only
    when the book is built. Labels and attributes are gone. Code stays.

    Source: the Quarto guide, "Cross References"; bookdown, "Cross-references".
    """
    headings: dict[str, str] = {}
    for line in lines:
        if "{#sec-" in line.text[:_LONGEST] and (
            found := _QUARTO_INLINE_HEADING.fullmatch(line.text[:_LONGEST])
        ):
            headings.setdefault(found[2].removeprefix("sec-"), found[1])

    def words(reference: re.Match[str]) -> str:
        kind, name = reference["kind"] or reference["r_kind"], reference["id"] or reference["r_id"]
        if kind == "sec" and name in headings:
            return f"“{headings[name]}”"
        label = re.sub(r"[-_:]+", " ", name)
        return f"{KINDS[kind]} {label}" if reference["kind"] else label

    def shown(text: str) -> str:
        if "{#tbl-" in text[:_LONGEST] and (caption := _TABLE_CAPTION.fullmatch(text)):
            return str(caption[1].strip())
        if not any(mark in text for mark in ("@", "]{", "){", "`{", "${", "$ {")):
            return text
        text = _BRACKETED.sub(r"(\1)", LABEL.sub("", SPAN.sub(r"\1", text)))
        return _REFERENCE.sub(words, text)

    return lambda line: _outside_of_code(line, shown)


def _outside_of_code(line: str, change: Callable[[str], str]) -> str:
    spans = list(code_spans(line, 0, len(line))) if "`" in line else []
    if not spans:
        return change(line)
    pieces, position = list[str](), 0
    for start, end in spans:
        label = LABEL.match(line, end)
        pieces += [change(line[position:start]), line[start:end]]
        position = label.end() if label else end
    return "".join([*pieces, change(line[position:])])


_DIV = re.compile(r"[ \t]*+:{3,}+[ \t]*+(?P<what>\{[^{}]*+\}|[\w.-]++)?+[ \t]*+:*+[ \t]*+")
_CALLOUT = re.compile(r"\.?callout-([\w-]+)")
_TITLED = re.compile(r"#(?:thm|lem|cor|prp|cnj|def|exm|exr|sol|rem|alg)-")
_TITLE = re.compile(r"""\b(?:title|name)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+(.*?)[ \t]*(?:\{[^{}]*\}[ \t]*)?")
_SHORTCODE = re.compile(r"(?<!\{)\{\{<\s*([\w-]+)([^<>{}]*)>\}\}(?!\})")
_INCLUDE = re.compile(r"(?<!\{)\{\{<\s*include\s+([^<>{}]+)>\}\}(?!\})")
_WITHOUT_TEXT = frozenset({"pagebreak", "fa", "bi", "iconify"})


_ATTRIBUTE = re.compile(
    r"""(when|unless)-(format|profile|meta)\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.:-]+))"""
)
_SPAN = re.compile(
    r"(?<![!\]])\[([^\[\]]{1,500})\]\{([^{}\n]*\.content-(?:visible|hidden)[^{}\n]*)\}"
)
_VALUE = re.compile(
    r"`\{?r\}?\s+(params\$[\w.$]+|[\w.]+\$[\w.$]+|[^`]{1,200})`|`\{(\w+)\}\s+([^`]{1,200})`"
)
_RAW_TEX = re.compile(r"\s*\\(?!begin|end)[A-Za-z]+\*?(?:\[[^\]]*\]|\{[^{}]*\})*\s*")
_TEXT_REFERENCE = re.compile(r"\(ref:[\w-]+\)\s*")
"""What R Markdown puts a caption elsewhere by."""
_HTML = frozenset({"html", "html4", "html5", "html:js"})


def with_shown_text(
    lines: Sequence[SourceLine], includes: Includes, values: Values, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return the lines as plain Markdown: what a reader of the published page sees.

    Source: the Quarto guide, "Markdown Basics", "Callouts", "Conditional Content", "Includes".
    """
    return list(_Page(includes, values, chain).read(lines))


class _Page:
    """One pass over the lines of a page or of a file that it includes."""

    def __init__(self, includes: Includes, values: Values, chain: tuple[str, ...]) -> None:
        self._includes, self._values, self._chain = includes, values, chain
        self._box: str | None = None
        """What an open callout is called unless its first line is a heading; none: no new one."""
        self._open: list[bool] = []
        """Of each box around, whether what it holds is published."""

    def read(self, lines: Sequence[SourceLine]) -> Iterator[SourceLine]:
        self._shown = shown_prose(lines)
        fence: FenceWriter | None = None
        hidden: list[SourceLine] = []
        for line in lines:
            if fence is not None:
                yield from fence.take(line)
                fence = None if fence.is_closed else fence
                continue
            opening = FENCE.fullmatch(line.text)
            div = _DIV.fullmatch(line.text) if opening is None else None
            if div:
                yield from self._edge(div["what"], line)
            if not all(self._open):
                hidden.append(line)
                continue
            self._count(hidden)
            if opening:
                yield from self._title(line)
                fence = FenceWriter(opening, line, self._includes)
            elif not div and line.text.strip() != ". . .":  # a pause of slides
                yield from self._prose(line)
        self._count(hidden)
        if fence is not None:
            yield from fence.end()

    def _edge(self, what: str | None, line: SourceLine) -> Iterator[SourceLine]:
        if what is None:
            if self._open:
                self._open.pop()
        else:
            self._open.append(self._is_published(what))
        if all(self._open):
            yield from self._title(line)
            self._box = _box_title(what) if what else None
            yield SourceLine("", line.number)

    def _count(self, hidden: list[SourceLine]) -> None:
        if hidden:
            text = "\n".join(line.text for line in hidden if not _DIV.fullmatch(line.text))
            self._includes.left_out("hidden text", hidden[0].number, text)
            hidden.clear()

    def _is_published(self, what: str) -> bool:
        """Return whether the page of the course's own format and profile shows a part of it."""
        names = re.split(r"[\s{}.]+", what)
        if "hidden" in names:
            return False
        if "content-visible" not in names and "content-hidden" not in names:
            return True
        tests = []
        for kind, of, *value in _ATTRIBUTE.findall(what):
            named = next(filter(None, value), "")
            holds = {"format": self._is_format, "profile": self._is_profile}.get(of, self._is_meta)(
                named
            )
            tests.append(holds is (kind == "when"))
        return all(tests) is ("content-visible" in names)

    def _is_format(self, name: str) -> bool:
        written = self._values.value("meta.format")
        formats = _listed(list(written) if isinstance(written, dict) else written) or ["html"]
        if any(str(one).split("-")[0] in {"html", "revealjs"} for one in formats):
            return name in _HTML or (name == "revealjs" and "html" not in formats)
        first = str(formats[0])
        return name == first or (name in {"pdf", "latex"} and first in {"pdf", "latex", "beamer"})

    def _is_profile(self, name: str) -> bool:
        active = _listed(self._values.value("meta.profile.default"))
        groups = _listed(self._values.value("meta.profile.group"))
        if groups and not isinstance(groups[0], list):
            groups = [groups]  # a single one
        return name in [*active, *(group[0] for group in groups if _listed(group))]

    def _is_meta(self, name: str) -> bool:
        value = self._values.value(f"meta.{name}")
        return str(value).lower() not in {"none", "false", ""}

    def _prose(self, line: SourceLine) -> Iterator[SourceLine]:
        if self._box is not None and (heading := _HEADING.fullmatch(line.text)):
            self._box = heading[1]
            yield from self._title(line)
        else:
            if line.text.strip():
                yield from self._title(line)
            yield from self._without_shortcodes(line)

    def _title(self, line: SourceLine) -> Iterator[SourceLine]:
        if self._box:
            yield from (SourceLine(text, line.number) for text in ("", self._box, ""))
        self._box = None

    def _without_shortcodes(self, line: SourceLine) -> Iterator[SourceLine]:
        text = line.text
        while found := _INCLUDE.search(text) if "{{<" in text else None:
            if before := text[: found.start()].rstrip():
                yield from self._words_of(SourceLine(before, line.number))
                yield SourceLine("", line.number)
            yield from self._included(found[1].strip().strip("\"'"), line.number)
            text = text[found.end() :]
            if not text.strip():
                return
        yield from self._words_of(SourceLine(text, line.number))

    def _words_of(self, line: SourceLine) -> Iterator[SourceLine]:
        text = line.text
        if _RAW_TEX.fullmatch(text):
            self._includes.left_out("raw latex", line.number)
            text = ""
        if "(ref:" in text:
            text = _TEXT_REFERENCE.sub("", text)
        if "{{<" in text:
            text = _SHORTCODE.sub(lambda code: self._words(code, line.number), text)
        if ".content-" in text:
            text = _SPAN.sub(lambda span: self._span(span, line.number), text)
        if "`r " in text or "`{" in text:
            text = _VALUE.sub(lambda value: self._computed(value, line.number), text)
        yield SourceLine(self._shown(text), line.number)

    def _span(self, span: re.Match[str], number: int) -> str:
        if self._is_published(span[2]):
            return span[1]
        self._includes.left_out("hidden text", number, span[1])
        return ""

    def _computed(self, value: re.Match[str], number: int) -> str:
        """Return what a piece of code in a line prints, where the page says it itself."""
        name = (value[1] or value[3] or "").replace("$", ".").replace('["', ".").replace('"]', "")
        text = self._values.text(name) if re.fullmatch(r"[\w.-]+", name) else None
        if text is None:
            self._includes.left_out("computed value", number)
            return value[0]
        return text

    def _words(self, shortcode: re.Match[str], number: int) -> str:
        name, given = shortcode[1], shortcode[2].strip()
        if name == "kbd":
            return str(given)
        if name in {"var", "meta"}:
            value = self._values.text(f"{name}.{given.strip(chr(34))}")
            if value is None:
                self._includes.left_out("value that is not known", number)
            return shortcode[0] if value is None else value
        if name not in _WITHOUT_TEXT:
            self._includes.left_out(f"shortcode {name}", number)
        return ""

    def _included(self, path: str, number: int) -> Iterator[SourceLine]:
        path = resolved(path, self._chain)
        text = self._includes.text(path, self._chain)
        if text is not None:
            inner = _Page(self._includes, self._values, (*self._chain, path))
            yield from (
                SourceLine(line.text, number) for line in inner.read(included_lines(text, number))
            )


def _listed(value: object) -> list[Any]:
    """Return a list of settings, and what is none as a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _box_title(what: str) -> str | None:
    """Return what stands above a box unless it says so itself; none for what is no box."""
    title = _TITLE.search(what)
    if callout := _CALLOUT.search(what):
        return (title[1] or title[2]) if title else callout[1].capitalize()
    return ((title[1] or title[2]) if title else "") if _TITLED.search(what) else None
