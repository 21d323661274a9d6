"""Jupyter notebooks: prose from Markdown cells, code cells as fences with short outputs."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, Omission, ParsedDocument, document_of, fenced
from core.ingestion.formats.decoding import decode_text
from core.ingestion.formats.html import parse_html
from core.ingestion.formats.includes import front_matter, source_lines
from core.ingestion.formats.latex import parse_latex
from core.ingestion.formats.markdown import parse_markdown

_MAX_OUTPUT_LINES = 20
_MAX_OUTPUT_CHARACTERS = 2_000
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

_RICH = ("text/markdown", "text/latex", "text/html")
"""What is read rather than plain text, the best first."""
_FORMULA = re.compile(
    r"\s*(?:\${1,2}\s*((?:[^$\\]|\\.)+?)\s*\${1,2}|(?:\\\[)?(\\begin\{(?:equation|align|gather|"
    r"math|bmatrix|array).*?\\end\{\w+\*?\})(?:\\\])?)\s*",
    re.DOTALL,
)
_BOXES = re.compile(r"^(?:`{3,}|:{3,})[ \t]*\{[ \t]*(\.?)[a-z]", re.MULTILINE)
_OPTION = re.compile(r"^#\|[ \t]*([\w-]+)[ \t]*:[ \t]*(\S+)", re.MULTILINE)

_Json = Mapping[str, Any]


def parse_notebook(data: bytes) -> ParsedDocument:
    """Return the cells of a notebook (format 3 or 4), each block with its `cell` number.

    Raw cells are left out, and so are cells, inputs and outputs that the author took out of
    what is published, by the tags `remove-cell`, `remove-input`, `remove-output`, `hide-input`
    and `hide-cell` or the same options of Quarto. What a page hides until a click is code.

    Raises:
        UnsupportedDocument: when the file is no notebook.
    """
    decoded = decode_text(data)
    try:
        notebook = json.loads(decoded.text)
    except ValueError as error:
        raise UnsupportedDocument("is not a valid notebook (broken JSON)") from error
    if not isinstance(notebook, dict) or not isinstance(cells := _cells(notebook), list):
        raise UnsupportedDocument("is not a valid notebook (it has no cells)")
    metadata = _dict(notebook.get("metadata"))
    reader = _Reader(_language(metadata), _dialect(cells))
    blocks = [
        replace(block, locator={"cell": number})
        for number, cell in enumerate(cells, start=1)
        for block in reader.cell(_dict(cell), number)
    ]
    title = reader.head.get("title") or metadata.get("title")
    return document_of(
        title if isinstance(title, str) and title.strip() else None,
        blocks,
        metadata={**reader.head, "language": reader.language},
        warnings=decoded.warnings,
        left_out=reader.left_out,
    )


def _dialect(cells: Sequence[Any]) -> str:
    """Return the Markdown that the cells are written in, by the boxes in them."""
    texts = (_text(_dict(cell).get("source")) for cell in cells)
    marks = {mark for text in texts for mark in _BOXES.findall(text)}
    return "quarto" if any("." in mark for mark in marks) else "myst" if marks else "markdown"


def _cells(notebook: _Json) -> Any:
    """Return the list of cells; format 3 keeps them in worksheets."""
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return notebook.get("cells")
    return [cell for sheet in sheets for cell in _list(_dict(sheet).get("cells"))]


def _language(metadata: _Json) -> str:
    kernel = _dict(metadata.get("kernelspec")).get("language")
    name = _dict(metadata.get("language_info")).get("name", kernel)
    return name if isinstance(name, str) and name else "python"


def _tags(cell: _Json, source: str) -> set[str]:
    """Return the tags of a cell, and the options of Quarto at its top as such tags."""
    metadata = _dict(cell.get("metadata"))
    tags = {str(tag).replace("_", "-") for tag in _list(metadata.get("tags"))}
    options = {found[1]: found[2] for found in _OPTION.finditer(source)}
    for name, tag in (("include", "cell"), ("echo", "input"), ("output", "output")):
        if options.get(name) == "false" or (name == "echo" and metadata.get("hide_input") is True):
            tags.add(f"remove-{tag}")
    return tags


class _Reader:
    """Reads one cell after another, and notes what is left out of them."""

    def __init__(self, language: str, dialect: str) -> None:
        self.language = language
        self.head: Mapping[str, str] = {}
        """What a raw cell at the top says of the page, as in Quarto."""
        self.left_out: list[Omission] = []
        self._dialect = dialect

    def cell(self, cell: _Json, number: int) -> Iterator[Block]:
        """Yield the blocks of a cell."""
        source = _text(cell.get("source", cell.get("input")))
        tags = _tags(cell, source)
        if "remove-cell" in tags:
            self._omit("cell that is not published", number, source)
            return
        match cell.get("cell_type"):
            case "markdown":
                yield from self._read(parse_markdown, source, number, dialect=self._dialect)
            case "heading":
                yield from _old_heading(cell, source)
            case "code":
                yield from self._code(cell, source, tags, number)
            case "raw" if number == 1 and (head := front_matter(source_lines(source))).metadata:
                self.head = head.metadata
            case _ if source.strip():
                self._omit("raw cell", number, source)

    def _code(self, cell: _Json, source: str, tags: set[str], number: int) -> Iterator[Block]:
        if tags & {"remove-input", "hide-input", "hide-cell"}:
            self._omit("code that is not published", number, source)
        else:
            yield Block(BlockKind.CODE, fenced(source, self.language))
        printed = list[str]()
        for output in map(_dict, _list(cell.get("outputs"))):
            if "remove-output" in tags:
                self._omit("output that is not published", number, _plain_output(output))
            elif (rich := list(self._rich(output, number))) or _is_rich(output):
                yield from self._printed(printed, number)
                yield from rich
            elif output.get("name") == "stderr":
                self._omit("error stream", number, _text(output.get("text")))
            elif text := _ANSI.sub("", _plain_output(output)).rstrip():
                printed.append(text)
        yield from self._printed(printed, number)

    def _printed(self, outputs: list[str], number: int) -> Iterator[Block]:
        """Yield what the code printed and returned since the last rich output, as one fence."""
        whole = "\n".join(outputs)
        outputs.clear()
        if whole:
            short = _shortened(whole)
            if short != whole:
                self._omit("rest of a long output", number, whole[len(short) - 1 :])
            yield Block(BlockKind.CODE, fenced(short, "text"))

    def _rich(self, output: _Json, number: int) -> Iterator[Block]:
        """Yield an output that is more than text, as a reader of the notebook sees it."""
        data = _dict(output.get("data"))
        found = next((kind for kind in _RICH if _text(data.get(kind)).strip()), "")
        text = _text(data.get(found))
        if found == "text/markdown":
            yield from self._read(parse_markdown, text, number, dialect=self._dialect)
        elif found == "text/latex" and (formula := _FORMULA.fullmatch(text)):
            yield Block(BlockKind.FORMULA, f"$$\n{(formula[1] or formula[2]).strip()}\n$$")
        elif found == "text/latex":
            yield from self._read(parse_latex, text, number)
        elif found:
            document = parse_html(text.encode(), charset="utf-8")
            self.left_out += (replace(one, where=f"cell {number}") for one in document.left_out)
            if not document.blocks:
                self._omit("interactive output", number)
            yield from document.blocks
        elif _is_rich(output):
            is_picture = any(kind.startswith("image/") for kind in data)
            self._omit("picture" if is_picture else "interactive output", number)

    def _read(
        self, parse: Callable[..., ParsedDocument], text: str, number: int, **named: str
    ) -> Sequence[Block]:
        document = parse(text, read_include=lambda _: None, **named)
        self.left_out += (replace(one, where=f"cell {number}") for one in document.left_out)
        return document.blocks

    def _omit(self, kind: str, number: int, text: str = "") -> None:
        self.left_out.append(Omission(kind, f"cell {number}", len(text.split())))


def _old_heading(cell: _Json, source: str) -> Iterator[Block]:
    level = cell.get("level")
    level = min(max(level, 1), 6) if isinstance(level, int) else 1
    yield Block(BlockKind.HEADING, " ".join(source.split()), level)


def _is_rich(output: _Json) -> bool:
    """Return whether a page shows something else than the plain text of an output."""
    return any(kind not in {"text/plain", "application/json"} for kind in _dict(output.get("data")))


def _plain_output(output: _Json) -> str:
    match output.get("output_type"):
        case "stream":
            return _text(output.get("text"))
        case "execute_result" | "display_data" | "pyout":
            rich = _dict(output.get("data", output))
            return _text(rich.get("text/plain", rich.get("text")))
        case "error" | "pyerr":
            return f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    return ""


def _shortened(text: str) -> str:
    lines = text[:_MAX_OUTPUT_CHARACTERS].split("\n")
    short = "\n".join(lines[:_MAX_OUTPUT_LINES])
    return short if short == text else f"{short}\n…"


def _text(value: Any) -> str:
    """Return a multi-line string, which notebooks store whole or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
