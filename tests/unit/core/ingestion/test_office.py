"""Word and PowerPoint files become blocks; hidden text, bombs and DTDs do not get through."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import docx
import pptx
import pytest
from docx.oxml.parser import parse_xml
from docx.shared import Pt, RGBColor
from pptx.util import Emu, Inches

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind
from core.ingestion.formats import decoding as containers
from core.ingestion.formats.docx import parse_docx
from core.ingestion.formats.pptx import parse_pptx

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def saved(document: Any) -> bytes:
    target = BytesIO()
    document.save(target)
    return target.getvalue()


def word(build: Callable[[Any], object]) -> list[Block]:
    document = docx.Document()
    build(document)
    return list(parse_docx(saved(document)).blocks)


def with_member(data: bytes, name: str, content: bytes) -> bytes:
    """Return the archive with one member replaced or added."""
    target = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(target, "w", 8) as new:
        for member in old.infolist():
            if member.filename != name:
                new.writestr(member, old.read(member))
        new.writestr(name, content)
    return target.getvalue()


def test_titles_and_headings_are_told_by_their_style() -> None:
    def build(document: Any) -> None:
        document.add_heading("The Book", 0)
        document.add_heading("Demand", 2)
        document.add_paragraph("It falls.")

    assert word(build) == [
        Block(BlockKind.HEADING, "The Book", 1),
        Block(BlockKind.HEADING, "Demand", 2),
        Block(BlockKind.PARAGRAPH, "It falls."),
    ]


def test_lists_are_numbered_as_word_numbers_them() -> None:
    def build(document: Any) -> None:
        document.add_paragraph("first", style="List Number")
        document.add_paragraph("second", style="List Number")
        document.add_paragraph("point", style="List Bullet")

    assert [(block.kind, block.text, block.level) for block in word(build)] == [
        (BlockKind.LIST_ITEM, "1. first", 1),
        (BlockKind.LIST_ITEM, "2. second", 1),
        (BlockKind.LIST_ITEM, "- point", 1),
    ]


def test_tables_become_pipe_tables() -> None:
    def build(document: Any) -> None:
        table = document.add_table(rows=2, cols=2)
        for cell, text in zip(table._cells, ["Good", "Price", "Tea", "2"], strict=True):
            cell.text = text

    assert [b.text for b in word(build)] == ["| Good | Price |\n| --- | --- |\n| Tea | 2 |"]


def test_paragraphs_in_a_typewriter_font_become_one_fence() -> None:
    def build(document: Any) -> None:
        for line in ("def f(x):", "    return x"):
            document.add_paragraph().add_run(line).font.name = "Courier New"
        document.add_paragraph("Call ").add_run("f(1)").font.name = "Consolas"

    assert [block.text for block in word(build)] == [
        "```\ndef f(x):\n    return x\n```",
        "Call `f(1)`",
    ]


def test_equations_become_tex() -> None:
    fraction = (
        f"<m:oMath {M}><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:sSup><m:e><m:r>"
        "<m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f>"
        "</m:oMath>"
    )

    def build(document: Any) -> None:
        document.add_paragraph("Let ")._p.append(parse_xml(fraction))
        document.add_paragraph()._p.append(parse_xml(f"<m:oMathPara {M}>{fraction}</m:oMathPara>"))

    assert [(block.kind, block.text) for block in word(build)] == [
        (BlockKind.PARAGRAPH, "Let $\\frac{1}{x^{2}}$"),
        (BlockKind.FORMULA, "$$\\frac{1}{x^{2}}$$"),
    ]


def _hidden(run: Any) -> None:
    run.font.hidden = True


def _tiny(run: Any) -> None:
    run.font.size = Pt(1)


def _white(run: Any) -> None:
    run.font.color.rgb = RGBColor(255, 255, 255)


@pytest.mark.parametrize("hide", [_hidden, _tiny, _white])
def test_runs_that_no_reader_sees_are_left_out(hide: Callable[[Any], None]) -> None:
    def build(document: Any) -> None:
        hide(document.add_paragraph("Seen.").add_run(" SECRET"))

    assert [block.text for block in word(build)] == ["Seen."]


def test_white_text_in_a_shaded_cell_is_kept() -> None:
    def build(document: Any) -> None:
        cell = document.add_table(rows=1, cols=1).cell(0, 0)
        _white(cell.paragraphs[0].add_run("Header"))
        cell._tc.get_or_add_tcPr().append(parse_xml(f'<w:shd {W} w:val="clear" w:fill="1F3864"/>'))

    assert "Header" in word(build)[0].text


def test_deleted_text_is_left_out_and_inserted_text_kept() -> None:
    changes = (
        f"<w:p {W}><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>"
    )
    assert [b.text for b in word(lambda d: d.element.body.insert(0, parse_xml(changes)))] == ["new"]


def slides(build: Callable[[Any], object]) -> list[Block]:
    presentation = pptx.Presentation()
    build(presentation)
    return list(parse_pptx(saved(presentation)).blocks)


def test_slides_have_a_title_list_items_and_notes() -> None:
    def build(presentation: Any) -> None:
        presentation.slides.add_slide(presentation.slide_layouts[6])
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = "Demand"
        slide.placeholders[1].text = "falls\nas price rises"
        slide.notes_slide.notes_text_frame.text = "Draw the curve."

    assert slides(build) == [
        Block(BlockKind.HEADING, "Demand", 2, locator={"slide": 2}),
        Block(BlockKind.LIST_ITEM, "- falls", 1, locator={"slide": 2}),
        Block(BlockKind.LIST_ITEM, "- as price rises", 1, locator={"slide": 2}),
        Block(BlockKind.PARAGRAPH, "Speaker notes: Draw the curve.", locator={"slide": 2}),
    ]


def test_tables_and_grouped_shapes_are_read() -> None:
    def build(presentation: Any) -> None:
        shapes = presentation.slides.add_slide(presentation.slide_layouts[6]).shapes
        box = shapes.add_group_shape().shapes.add_textbox(0, 0, Inches(1), Inches(1))
        box.text_frame.text = "grouped"
        table = shapes.add_table(1, 2, 0, 0, Inches(2), Inches(1)).table
        table.cell(0, 0).text, table.cell(0, 1).text = "a", "b"

    assert [block.text for block in slides(build)] == [
        "Slide 1",
        "grouped",
        "| a | b |\n| --- | --- |",
    ]


def test_hidden_slides_and_shapes_beside_the_slide_are_left_out() -> None:
    def build(presentation: Any) -> None:
        hidden = presentation.slides.add_slide(presentation.slide_layouts[5])
        hidden.shapes.title.text = "SECRET"
        hidden.element.set("show", "0")
        shown = presentation.slides.add_slide(presentation.slide_layouts[5]).shapes
        shown.title.text = "Seen"
        beside = shown.add_textbox(presentation.slide_width + Emu(1), 0, Inches(1), Inches(1))
        beside.text_frame.text = "SECRET"
        tiny = shown.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.paragraphs[0].add_run()
        tiny.text, tiny.font.size = "SECRET", Pt(1)

    assert [block.text for block in slides(build)] == ["Seen"]


@pytest.fixture
def plain_docx() -> bytes:
    document = docx.Document()
    document.add_paragraph("Text.")
    return saved(document)


def test_a_part_with_a_dtd_is_refused(plain_docx: bytes) -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>'
    for encoded in (
        bomb,
        ('<?xml version="1.0" encoding="utf-16"?>' + bomb.decode()).encode("utf-16"),
    ):
        with pytest.raises(UnsupportedDocument, match="XML entities"):
            parse_docx(with_member(plain_docx, "word/settings.xml", encoded))


@pytest.mark.costly
def test_an_archive_that_unpacks_to_too_much_is_refused(plain_docx: bytes) -> None:
    bomb = with_member(plain_docx, "word/media/zeros.bin", bytes(containers.MAX_UNPACKED_BYTES))
    assert len(bomb) < 1_000_000
    with pytest.raises(UnsupportedDocument, match="unpacks to more than 200 MB"):
        parse_docx(bomb)


def test_a_part_packed_too_well_is_refused(plain_docx: bytes) -> None:
    with pytest.raises(UnsupportedDocument, match="packed more than 200 to 1"):
        parse_docx(with_member(plain_docx, "word/media/zeros.bin", bytes(20_000_000)))


def test_an_archive_with_too_many_parts_is_refused(plain_docx: bytes) -> None:
    target = BytesIO(plain_docx)
    with zipfile.ZipFile(target, "a") as archive:
        for number in range(containers.MAX_MEMBERS):
            archive.writestr(f"word/media/{number}.bin", b"")
    with pytest.raises(UnsupportedDocument, match="more than 5,000 parts"):
        parse_docx(target.getvalue())


def test_a_part_that_lies_about_its_size_is_damaged(plain_docx: bytes) -> None:
    with zipfile.ZipFile(BytesIO(plain_docx)) as archive:
        size = archive.getinfo("word/document.xml").file_size
    lying = plain_docx.replace(size.to_bytes(4, "little"), (200).to_bytes(4, "little"))
    with pytest.raises(UnsupportedDocument, match="damaged"):
        parse_docx(lying)


@pytest.mark.parametrize("parse", [parse_docx, parse_pptx])
@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_truncated_file_is_damaged(
    parse: Callable[[bytes], object], keep: float, plain_docx: bytes
) -> None:
    with pytest.raises(UnsupportedDocument, match="is a damaged"):
        parse(plain_docx[: int(keep * len(plain_docx))])


def test_a_picture_linked_from_elsewhere_is_never_fetched(plain_docx: bytes) -> None:
    relations = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="rId1" TargetMode="External" Target="http://127.0.0.1:9/x"'
        b' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"/>'
        b"</Relationships>"
    )
    data = with_member(plain_docx, "word/_rels/document.xml.rels", relations)
    assert [block.text for block in parse_docx(data).blocks] == ["Text."]
