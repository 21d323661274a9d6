"""Notebooks become prose, fences in the kernel's language and short outputs."""

import json
from typing import Any

import pytest

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import BlockKind, Omission
from core.ingestion.formats.notebook import parse_notebook


def notebook(*cells: dict[str, Any], **metadata: Any) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": list(cells)}).encode()


def code(source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    metadata = {"tags": list(tags)}
    return {"cell_type": "code", "source": source, "outputs": outputs, "metadata": metadata}


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_cells_become_blocks_that_know_their_cell() -> None:
    markdown = {"cell_type": "markdown", "source": ["# Demand\n", "\n", "It *falls*."]}
    kernel = {"language_info": {"name": "julia"}}
    document = parse_notebook(notebook(markdown, code("f(x) = x", printed("1\n")), **kernel))
    assert [(block.kind, block.text, dict(block.locator)) for block in document.blocks] == [
        (BlockKind.HEADING, "Demand", {"cell": 1}),
        (BlockKind.PARAGRAPH, "It falls.", {"cell": 1}),
        (BlockKind.CODE, "```julia\nf(x) = x\n```", {"cell": 2}),
        (BlockKind.CODE, "```text\n1\n```", {"cell": 2}),
    ]
    assert document.metadata["language"] == "julia"


def test_results_and_errors_are_shown_without_colours() -> None:
    result = {"output_type": "execute_result", "data": {"text/plain": "\x1b[31m42\x1b[0m"}}
    failure = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["…"]}
    _, outputs = parse_notebook(notebook(code("x", result, failure))).blocks
    assert outputs.text == "```text\n42\nValueError: no\n```"


def test_long_outputs_are_cut() -> None:
    _, output = parse_notebook(notebook(code("x", printed("line\n" * 1000)))).blocks
    assert output.text.count("line") == 20
    assert output.text.endswith("…\n```")


def test_what_the_author_removed_from_publication_is_left_out() -> None:
    cells = [
        code("secret", tags=("remove-cell",)),
        code("setup", printed("shown"), tags=("remove-input",)),
        code("shown", printed("noise"), tags=("remove_output",)),
        {"cell_type": "raw", "source": "raw"},
    ]
    texts = " ".join(block.text for block in parse_notebook(notebook(*cells)).blocks)
    assert texts == "```text\nshown\n``` ```python\nshown\n```"


def test_the_third_format_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Supply"]},
        {"cell_type": "code", "input": "1+1", "outputs": [{"output_type": "pyout", "text": "2"}]},
    ]
    old = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode()
    assert [block.text for block in parse_notebook(old).blocks] == [
        "Supply",
        "```python\n1+1\n```",
        "```text\n2\n```",
    ]


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"nbformat": 4}', b'{"cells": 3}'])
def test_what_is_no_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedDocument, match="is not a valid notebook"):
        parse_notebook(data)


def test_cells_of_the_wrong_shape_are_left_out() -> None:
    strange = json.dumps({"cells": [None, 3, {"cell_type": "code", "source": {"a": 1}}]})
    assert parse_notebook(strange.encode()).blocks == ()


def displayed(**data: str) -> dict[str, Any]:
    named = {name.replace("_", "/"): text for name, text in data.items()}
    return {"output_type": "display_data", "data": named}


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (
            displayed(text_markdown="## Best\n\n*Model* B", text_plain="<Markdown>"),
            ["Best", "Model B"],
        ),
        (
            displayed(text_latex="$\\displaystyle x^{2}$", text_plain="x**2"),
            ["$$\n\\displaystyle x^{2}\n$$"],
        ),
        (
            displayed(
                text_html="<table><tr><th>a</th></tr><tr><td>1</td></tr></table>",
                text_plain="   a\n0  1",
            ),
            ["| a |\n| --- |\n| 1 |"],
        ),
        (displayed(text_markdown="**m**", text_html="<b>h</b>", text_plain="p"), ["m"]),
        (displayed(image_png="x", text_plain="<Figure size 640x480>"), []),
    ],
)
def test_an_output_is_read_as_a_reader_sees_it(output: dict[str, Any], shown: list[str]) -> None:
    _, *outputs = parse_notebook(notebook(code("x", output))).blocks
    assert [block.text for block in outputs] == shown


@pytest.mark.parametrize("tag", ["remove-input", "hide-input", "hide_input", "hide-cell"])
def test_code_that_is_not_shown_is_left_out_and_its_output_read(tag: str) -> None:
    document = parse_notebook(notebook(code("answer = 7", printed("shown"), tags=(tag,))))
    assert [block.text for block in document.blocks] == ["```text\nshown\n```"]
    assert document.left_out == (Omission("code that is not published", "cell 1", 3),)


def test_options_of_quarto_count_as_tags_and_a_raw_cell_at_the_top_is_the_head() -> None:
    cells = [
        {"cell_type": "raw", "source": "---\ntitle: Rain\n---"},
        code("#| echo: false\nsecret", printed("shown")),
        code("#| include: false\nsecret", printed("noise")),
    ]
    document = parse_notebook(notebook(*cells))
    assert document.title == "Rain"
    assert [block.text for block in document.blocks] == ["```text\nshown\n```"]


def test_cells_of_a_book_are_read_in_the_markdown_of_the_book() -> None:
    cell = {"cell_type": "markdown", "source": "```{tip} Boots\nBring {kbd}`two`.\n```"}
    texts = [block.text for block in parse_notebook(notebook(cell)).blocks]
    assert texts == ["Tip Boots", "Bring `two`."]
