"""Cutting documents into passages."""

import pytest

from core.domain.sentences import count_tokens
from core.ingestion.chunking import (
    LARGEST_TOKENS,
    LARGEST_WHOLE_TOKENS,
    ChunkedDocument,
    chunk_document,
)
from core.ingestion.document import Block, BlockKind, document_of

SENTENCE = "The tide rises twice a day because the moon pulls at the water of the sea. "


def heading(text: str, level: int = 1, anchor: str | None = None) -> Block:
    return Block(BlockKind.HEADING, text, level, anchor)


def paragraph(sentences: int) -> Block:
    return Block(BlockKind.PARAGRAPH, (SENTENCE * sentences).strip())


def chunked(*blocks: Block) -> ChunkedDocument:
    return chunk_document(document_of(None, blocks))


def assert_verbatim(document: ChunkedDocument) -> None:
    for passage in document.passages:
        assert document.text[passage.char_start : passage.char_end] == passage.text


def test_a_passage_never_crosses_a_heading() -> None:
    document = chunked(heading("A"), paragraph(2), heading("B", 2), paragraph(2))
    assert [p.section.path for p in document.passages] == [("A",), ("A", "B")]
    assert_verbatim(document)


def test_a_heading_of_the_same_level_replaces_the_one_before() -> None:
    document = chunked(heading("A"), heading("B", 2), heading("C", 2), paragraph(1))
    assert [section.path for section in document.sections] == [("A",), ("A", "B"), ("A", "C")]


def test_text_before_the_first_heading_has_an_empty_path() -> None:
    document = chunked(paragraph(1), heading("A"), paragraph(1))
    assert [p.section.path for p in document.passages] == [(), ("A",)]


@pytest.mark.parametrize("sentences", [1, 5, 12, 17, 40, 100])
def test_prose_is_cut_between_sentences_into_like_sizes(sentences: int) -> None:
    document = chunked(heading("A"), paragraph(sentences))
    assert all(p.text.endswith("sea.") for p in document.passages)
    assert all(p.token_count <= LARGEST_TOKENS for p in document.passages)
    if sentences >= 40:
        assert min(p.token_count for p in document.passages) >= 100
    words = [word for passage in document.passages for word in passage.text.split()]
    assert words == (SENTENCE * sentences).split()
    assert_verbatim(document)


def test_a_fence_that_fits_stays_whole() -> None:
    code = "```python\n" + "x = compute(1)\n\n" * 60 + "```"
    assert LARGEST_TOKENS < count_tokens(code) <= LARGEST_WHOLE_TOKENS
    document = chunked(heading("A"), paragraph(4), Block(BlockKind.CODE, code), paragraph(4))
    assert any(code in p.text for p in document.passages)
    assert_verbatim(document)


def test_a_longer_fence_is_fenced_again_with_its_language() -> None:
    code = "```rust\n" + "let x = 1;\nlet y = 2;\n\n" * 200 + "```"
    document = chunked(Block(BlockKind.CODE, code))
    assert len(document.passages) > 3
    for passage in document.passages:
        assert passage.text.startswith("```rust\n")
        assert passage.text.endswith("\n```")
    assert sum(p.text.count("let x") for p in document.passages) == 200


def test_a_longer_table_repeats_its_header() -> None:
    table = "| year | people |\n| --- | --- |\n" + "\n".join(
        f"| {year} | {year * 7} |" for year in range(1700, 2000)
    )
    document = chunked(Block(BlockKind.TABLE, table))
    assert len(document.passages) > 3
    assert all(p.text.startswith("| year | people |\n| --- | --- |\n") for p in document.passages)
    assert all(p.token_count <= LARGEST_WHOLE_TOKENS + 10 for p in document.passages)


def test_a_text_without_any_break_still_fits() -> None:
    document = chunked(Block(BlockKind.PARAGRAPH, "x" * 50_000))
    assert all(p.token_count <= LARGEST_TOKENS for p in document.passages)
    assert "".join(p.text for p in document.passages).replace(" ", "") == "x" * 50_000


def test_list_items_share_a_passage_on_lines_of_their_own() -> None:
    items = [Block(BlockKind.LIST_ITEM, f"- item {n}", 1) for n in range(3)]
    assert chunked(*items).passages[0].text == "- item 0\n- item 1\n- item 2"


def test_an_item_of_a_list_in_a_list_is_indented() -> None:
    items = [("1. go", 1), ("2. prepare", 1), ("1. wash", 2), ("3. stop", 1)]
    blocks = [Block(BlockKind.LIST_ITEM, text, level) for text, level in items]
    [passage] = chunk_document(document_of(None, blocks)).passages
    assert passage.text == "1. go\n2. prepare\n   1. wash\n3. stop"


def test_an_item_that_begins_a_passage_is_indented_as_well() -> None:
    items = [(f"{n}. turn {'it a bit ' * 30}", 1 + (n > 3)) for n in range(1, 7)]
    document = chunked(*(Block(BlockKind.LIST_ITEM, text, level) for text, level in items))
    assert any(p.text.startswith("   ") for p in document.passages)
    lines = [line for passage in document.passages for line in passage.text.split("\n")]
    assert lines == [f"{'   ' * (level - 1)}{text}" for text, level in items]
    assert_verbatim(document)


def test_what_is_of_an_item_is_indented_below_it() -> None:
    long = Block(BlockKind.LIST_ITEM, "- " + (SENTENCE * 40).strip(), 1)
    first, *others = chunked(long, Block(BlockKind.PARAGRAPH, "So it is.", 1)).passages
    assert first.text.startswith("- The tide")
    assert others
    assert all(p.text.startswith("   The tide") for p in others)
    assert others[-1].text.endswith("\n\n   So it is.")


def test_a_passage_names_the_lines_from_its_first_to_its_last_block() -> None:
    blocks = [
        Block(BlockKind.PARAGRAPH, f"Line {n}.", locator={"line_start": n, "line_end": n + 1})
        for n in (1, 4)
    ]
    assert chunked(*blocks).passages[0].locator == {"line_start": 1, "line_end": 5}


def test_an_empty_document_has_no_passages() -> None:
    assert chunked().passages == ()
    assert chunked(heading("Alone")).passages == ()


def test_a_passage_with_recognised_text_is_marked() -> None:
    scanned = Block(BlockKind.PARAGRAPH, SENTENCE.strip(), recognised=True)
    document = chunked(heading("A"), paragraph(1), scanned, heading("B"), paragraph(1))
    assert [passage.recognised for passage in document.passages] == [True, False]
