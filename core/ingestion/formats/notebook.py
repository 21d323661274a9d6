"""Jupyter notebooks: prose from Markdown cells, code cells as fences with short outputs."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, ParsedDocument, document_of
from core.ingestion.formats.decoding import decode_text
from core.ingestion.formats.markup import fenced

_MAX_OUTPUT_LINES = 20
_MAX_OUTPUT_CHARACTERS = 2_000
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

_Json = Mapping[str, Any]


def parse_notebook(data: bytes) -> ParsedDocument:
    """Return the cells of a notebook (format 3 or 4), each block with its `cell` number.

    Raw cells are left out, and so are cells, inputs and outputs that the author removed from
    publication with the tags `remove-cell`, `remove-input` and `remove-output`.

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
    language = _language(metadata)
    blocks = [
        replace(block, locator={"cell": number})
        for number, cell in enumerate(cells, start=1)
        for block in _cell_blocks(_dict(cell), language)
    ]
    title = metadata.get("title")
    return document_of(
        title if isinstance(title, str) and title.strip() else None,
        blocks,
        metadata={"language": language},
        warnings=(*decoded.warnings, *_left_out(list(map(_dict, cells)))),
    )


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


def _left_out(cells: Sequence[_Json]) -> Iterator[str]:
    """Yield a sentence for each kind of content that does not go in."""
    raw = sum(cell.get("cell_type") == "raw" and bool(_text(cell.get("source"))) for cell in cells)
    if raw:
        yield f"{raw} raw cells were left out"
    removed = sum(any(tag.startswith("remove-") for tag in _tags(cell)) for cell in cells)
    if removed:
        yield f"{removed} cells are tagged as not published, wholly or in part, and so left out"
    outputs = [_dict(output) for cell in cells for output in _list(cell.get("outputs"))]
    pictures = sum(bool(output.get("data")) and not _output_text(output) for output in outputs)
    if pictures:
        yield f"{pictures} outputs without plain text were left out"


def _tags(cell: _Json) -> set[str]:
    return {str(tag).replace("_", "-") for tag in _list(_dict(cell.get("metadata")).get("tags"))}


def _cell_blocks(cell: _Json, language: str) -> Iterator[Block]:
    removed = _tags(cell)
    if "remove-cell" in removed:
        return
    source = _text(cell.get("source", cell.get("input")))
    match cell.get("cell_type"):
        case "markdown":
            yield from _markdown_blocks(source)
        case "heading":
            yield from _old_heading(cell, source)
        case "code":
            if "remove-input" not in removed:
                yield Block(BlockKind.CODE, fenced(source, language))
            if "remove-output" not in removed:
                yield from _output_blocks(cell)


def _markdown_blocks(source: str) -> tuple[Block, ...]:
    from core.ingestion.formats.markdown.reader import parse_markdown

    return parse_markdown(source, dialect="markdown", read_include=lambda _: None).blocks


def _old_heading(cell: _Json, source: str) -> Iterator[Block]:
    level = cell.get("level")
    level = min(max(level, 1), 6) if isinstance(level, int) else 1
    yield Block(BlockKind.HEADING, " ".join(source.split()), level)


def _output_blocks(cell: _Json) -> Iterator[Block]:
    """Yield what the code printed and returned, as one fence."""
    outputs = [_output_text(_dict(output)) for output in _list(cell.get("outputs"))]
    text = "\n".join(filter(None, (_ANSI.sub("", output).rstrip() for output in outputs)))
    if text.strip():
        yield Block(BlockKind.CODE, fenced(_shortened(text), "text"))


def _output_text(output: _Json) -> str:
    match output.get("output_type"):
        case "stream":
            return "" if output.get("name") == "stderr" else _text(output.get("text"))
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
