"""A term or option and what is said of it are one block of a passage, in each format."""

import pytest

from core.ingestion.chunking import LARGEST_ENTRY_TOKENS, ChunkedDocument, chunk_document
from core.ingestion.document import ParsedDocument
from core.ingestion.formats.html import parse_html
from core.ingestion.formats.latex import parse_latex
from core.ingestion.formats.markdown import parse_markdown
from core.ingestion.formats.rst import parse_rst

RST, MARKDOWN, HTML, LATEX = "rst", "markdown", "html", "latex"
OPTIONS = """--quick
    Compare sizes only.
-s PERCENT, --sample=PERCENT
    Read only a part. The default is 100.
-n, --dry-run  show what would be added
"""
DIRECTIVES = """.. option:: -q, --quiet

   Print errors only.

.. option:: -j N, --jobs N

   Use N threads.

   Only on Linux.
"""


def parsed(kind: str, text: str) -> ParsedDocument:
    match kind:
        case "rst":
            return parse_rst(text, read_include=lambda _: None)
        case "markdown":
            return parse_markdown(text, dialect="markdown", read_include=lambda _: None)
        case "latex":
            return parse_latex(text, read_include=lambda _: None)
        case _:
            return parse_html(text)


def entries(document: ParsedDocument) -> list[str]:
    return entries_of(chunk_document(document))


def entries_of(chunked: ChunkedDocument) -> list[str]:
    return [
        passage.text[block.start : block.end]
        for passage in chunked.passages
        for block in passage.blocks
        if block.kind == "entry"
    ]


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        (
            RST,
            OPTIONS,
            [
                "`--quick`: Compare sizes only.",
                "`-s PERCENT, --sample=PERCENT`: Read only a part. The default is 100.",
                "`-n, --dry-run`: show what would be added",
            ],
        ),
        (
            RST,
            DIRECTIVES,
            [
                "`-q, --quiet`: Print errors only.",
                "`-j N, --jobs N`: Use N threads.\n\nOnly on Linux.",
            ],
        ),
        (
            RST,
            "apple : fruit\n    Round. Grows on trees.\n\n"
            "``hash``\n    * blake3\n    * sha256\n\nEnd.",
            ["apple, fruit: Round. Grows on trees.", "`hash`:\n\n- blake3\n- sha256"],
        ),
        (
            RST,
            ".. py:class:: Tide\n\n   A tide.\n\n   .. py:method:: rise()\n\n      Rise.\n",
            ["`Tide`: A tide.", "`rise()`: Rise."],
        ),
        (
            RST,
            "run\n    Do it::\n\n        tide run\n",
            ["run: Do it:\n\n```\ntide run\n```"],
        ),
        (
            MARKDOWN,
            "apple\n: Round. Grows on trees.\n\n    Keeps well.\n\npear\n: Long.\n: Sweet.\n\nEnd.",
            ["apple: Round. Grows on trees.\n\nKeeps well.", "pear: Long.\n\nSweet."],
        ),
        (
            MARKDOWN,
            "hash\n: - blake3\n  - sha256\n\nrun\n:   ```sh\n    tide\n    ```\n",
            ["hash:\n\n- blake3\n- sha256", "run:\n\n```sh\ntide\n```"],
        ),
        (
            MARKDOWN,
            "<dl><dt>apple</dt><dd>Round.</dd></dl>\n\n<dl><dt>pear</dt><dd>Long.</dd></dl>",
            ["apple: Round.", "pear: Long."],
        ),
        (
            HTML,
            "<main><p>Some.</p><dl><dt>apple</dt><dd><p>Round.</p><p>Keeps.</p></dd><dt>pear</dt>"
            "<dd>Long. Sweet.</dd></dl><p>End.</p></main>",
            ["apple: Round.\n\nKeeps.", "pear: Long. Sweet."],
        ),
        (
            HTML,
            "<main><dl><dt>hash<dd><ul><li>blake3<li>sha256</ul><dt>run<dd><pre>tide</pre></dl>End.",
            ["hash:\n\n- blake3\n- sha256", "run:\n\n```\ntide\n```"],
        ),
        (
            LATEX,
            r"\begin{description}\item[apple] Round. Grows.\item[pear] Long.\end{description}End.",
            ["- apple: Round. Grows.", "- pear: Long."],
        ),
        (
            LATEX,
            r"\begin{itemize}\item one\end{itemize}\begin{description}\item[ebb] "
            r"\begin{itemize}\item falls\end{itemize}\end{description}",
            ["- ebb:\n   - falls"],
        ),
    ],
)
def test_an_entry_is_one_block(kind: str, text: str, shown: list[str]) -> None:
    assert entries(parsed(kind, text)) == shown


def test_a_term_without_a_definition_stays_by_itself() -> None:
    page = parse_html("<main><dl><dt>apple</dt></dl><p>Pears are long.</p></main>")
    assert [block.text for block in page.blocks] == ["apple:", "Pears are long."]


def test_a_long_entry_is_whole_as_far_as_it_fits() -> None:
    sentence = "The water rises twice a day in most harbours of the coast. "
    paragraphs = "".join(f"\n    {sentence * 4}\n" for _ in range(12))
    chunked = chunk_document(parsed(RST, f"tide{paragraphs}"))
    [whole] = entries_of(chunked)
    assert whole.startswith("tide: The water rises")
    assert whole.count("\n\n") >= 1
    assert len(whole.split()) < LARGEST_ENTRY_TOKENS
    assert chunked.text.count("twice a day") == 48
    one = chunk_document(parsed(RST, f"tide\n    {sentence * 60}"))
    assert entries_of(one)[0].startswith("tide: The water")
    assert len(entries_of(one)) == 1


def test_no_entry_is_parted_between_passages() -> None:
    said = "It is told here how the water rises and falls in each harbour of the long coast. "
    page = "".join(f"term{n}\n    {said * 3}\n\n    {said}\n\n" for n in range(20))
    chunked = chunk_document(parsed(RST, page))
    assert len(chunked.passages) > 3
    assert all(entry.count("told here") == 4 for entry in entries_of(chunked))
    assert len(entries_of(chunked)) == 20
