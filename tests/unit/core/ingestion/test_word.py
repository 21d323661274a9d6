"""A Word file is read as its reader sees it, and what is left out of it is counted."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import docx
import pytest
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml.parser import parse_xml

from core.ingestion.document import BlockKind, ParsedDocument, counted
from core.ingestion.formats.docx import parse_docx

_SPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
}
_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in _SPACES.items())


def xml(markup: str) -> Any:
    return parse_xml(f"<w:body {_DECLARED}>{markup}</w:body>")


def word(
    body: str,
    *,
    numbering: str = "",
    styles: str = "",
    parts: Mapping[str, str] | None = None,
) -> ParsedDocument:
    """Return a Word file with this body as it is read; `parts` are notes or comments by kind."""
    document = docx.Document()
    for style in xml(styles):
        document.styles.element.append(style)
    root = document.part.numbering_part.element
    for one in xml(numbering):
        root.insert(0, one) if one.tag.endswith("abstractNum") else root.append(one)
    place = document.element.body
    for index, one in enumerate(xml(body)):
        place.insert(index, one)
    for kind, content in (parts or {}).items():
        blob = f"<w:{kind} {_DECLARED}>{content}</w:{kind}>".encode()
        content_type = getattr(CONTENT_TYPE, f"WML_{kind.upper()}")
        part = Part(PackURI(f"/word/{kind}2.xml"), content_type, blob, document.part.package)
        document.part.relate_to(part, getattr(RELATIONSHIP_TYPE, kind.upper()))
    target = BytesIO()
    document.save(target)
    return parse_docx(target.getvalue())


def texts(body: str, **parts: Any) -> list[str]:
    return [block.text for block in word(body, **parts).blocks]


def left_out(body: str, **parts: Any) -> list[tuple[str, int]]:
    return [(one.kind, one.words) for one in word(body, **parts).left_out]


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def control(content: str, properties: str = "") -> str:
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(run(text))}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


# --- content controls


@pytest.mark.parametrize(
    "body",
    [
        control(paragraph(run("Deep pond"))),
        paragraph(control(run("Deep pond"))),
        control(control(paragraph(run("Deep "), control(run("pond"))))),
        paragraph(f"<w:customXml>{run('Deep pond')}</w:customXml>"),
        f"<w:ins>{control(paragraph(run('Deep pond')))}</w:ins>",
    ],
)
def test_text_in_content_controls_is_read(body: str) -> None:
    assert texts(body) == ["Deep pond"]


@pytest.mark.parametrize(
    "body",
    [
        table(row(cell("a"), cell("b")), control(row(cell("c"), cell("d")))),
        table(row(cell("a"), cell("b")), row(cell("c"), control(cell("d")))),
        table(control(row(control(cell("a")), cell("b")) + row(cell("c"), cell("d")))),
        control(table(row(cell("a"), cell("b")), row(cell("c"), cell("d")))),
        table(
            row(cell("a"), cell("b")),
            row(cell("c"), f"<w:tc>{control(paragraph(run('d')))}</w:tc>"),
        ),
    ],
)
def test_rows_and_cells_in_content_controls_are_read(body: str) -> None:
    assert texts(body) == ["| a | b |\n| --- | --- |\n| c | d |"]


def test_a_control_that_only_asks_for_text_is_counted() -> None:
    body = control(paragraph(run("Click here to enter text.")), "<w:showingPlcHdr/>")
    inline = paragraph(run("Name: "), control(run("Enter."), "<w:showingPlcHdr/>"))
    assert texts(body + inline) == ["Name:"]
    assert left_out(body + inline) == [("form control", 0), ("form control", 0)]


# --- changes


@pytest.mark.parametrize(
    ("gone", "kind"),
    [
        ("<w:del><w:r><w:delText>on Monday</w:delText></w:r></w:del>", "deleted text"),
        (f"<w:moveFrom>{run('on Monday')}</w:moveFrom>", "moved-away text"),
        (run("on Monday", "<w:strike/>"), "struck text"),
        (run("on Monday", '<w:dstrike w:val="1"/>'), "struck text"),
        (run("on Monday", "<w:vanish/>"), "hidden text"),
        (run("on Monday", '<w:rStyle w:val="Gone"/>'), "struck text"),
    ],
)
def test_text_that_does_not_hold_is_left_out_and_counted(gone: str, kind: str) -> None:
    styles = (
        '<w:style w:type="character" w:styleId="Gone"><w:name w:val="gone"/>'
        "<w:rPr><w:strike/></w:rPr></w:style>"
    )
    body = paragraph(run("The exam is "), gone, run(" on Friday."))
    document = word(body, styles=styles)
    assert [block.text for block in document.blocks] == ["The exam is on Friday."]
    assert [(one.kind, one.words) for one in document.left_out] == [(kind, 2)]


def test_text_that_a_style_strikes_and_a_run_does_not_is_read() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="Old"><w:name w:val="old"/>'
        "<w:rPr><w:strike/></w:rPr></w:style>"
    )
    body = paragraph(
        run("Gone. "), run("Kept.", '<w:strike w:val="0"/>'), properties='<w:pStyle w:val="Old"/>'
    )
    assert texts(body, styles=styles) == ["Kept."]


def test_text_that_was_moved_or_inserted_stands_in_its_new_place() -> None:
    body = paragraph(f"<w:moveTo>{run('Perch ')}</w:moveTo>", f"<w:ins>{run('here.')}</w:ins>")
    assert texts(body + f"<w:moveTo>{paragraph(run('Pike.'))}</w:moveTo>") == [
        "Perch here.",
        "Pike.",
    ]


def test_a_deleted_paragraph_mark_joins_two_paragraphs() -> None:
    first = paragraph(run("The exam "), properties="<w:rPr><w:del/></w:rPr>")
    assert texts(first + paragraph(run("is oral."))) == ["The exam is oral."]


def test_deleted_rows_and_cells_are_left_out() -> None:
    gone = row(cell("old"), cell("1"), properties="<w:del/>")
    body = table(
        row(cell("a"), cell("b")), gone, row(cell("c"), cell("old", "<w:cellDel/>"), cell("d"))
    )
    assert texts(body) == ["| a | b |\n| --- | --- |\n| c | d |"]
    assert left_out(body) == [("deleted text", 2), ("deleted text", 1)]


# --- raised and lowered text

_UP = '<w:vertAlign w:val="superscript"/>'


@pytest.mark.parametrize(
    ("runs", "shown"),
    [
        ([run("10"), run("2", _UP), run("4", _UP)], "10²⁴"),
        ([run("H"), run("2", '<w:vertAlign w:val="subscript"/>'), run("O")], "H₂O"),
        ([run("x"), run("2,5", _UP)], "x^(2,5)"),
        ([run("10"), run("6 ", '<w:position w:val="8"/>'), run("litres")], "10⁶ litres"),
        ([run("v"), run("2", '<w:position w:val="-2"/><w:sz w:val="16"/>')], "v₂"),
        ([run("the 2"), run("nd", _UP), run(" day")], "the 2nd day"),
        ([run("10"), run("9", '<w:rStyle w:val="Up"/>')], "10⁹"),
    ],
)
def test_raised_and_lowered_runs_keep_their_meaning(runs: Sequence[str], shown: str) -> None:
    styles = (
        '<w:style w:type="character" w:styleId="Up"><w:name w:val="up"/>'
        f"<w:rPr>{_UP}</w:rPr></w:style>"
    )
    assert texts(paragraph(*runs), styles=styles) == [shown]
    assert texts(table(row(cell("a"), f"<w:tc>{paragraph(*runs)}</w:tc>")), styles=styles) == [
        f"| a | {shown} |\n| --- | --- |"
    ]


# --- labels


def level(depth: int, shape: str, text: str, more: str = "", start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{shape}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbering(*levels: str, overrides: str = "") -> str:
    return (
        f'<w:abstractNum w:abstractNumId="90">{"".join(levels)}</w:abstractNum>'
        '<w:num w:numId="91"><w:abstractNumId w:val="90"/></w:num>'
        f'<w:num w:numId="92"><w:abstractNumId w:val="90"/>{overrides}</w:num>'
    )


def item(text: str, depth: int = 0, number: int = 91) -> str:
    place = f'<w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/>'
    return paragraph(run(text), properties=f"<w:numPr>{place}</w:numPr>")


def test_items_have_the_labels_that_the_page_shows() -> None:
    levels = numbering(
        level(0, "decimal", "§ %1"), level(1, "lowerLetter", "(%2)"), level(2, "lowerRoman", "%3.")
    )
    body = item("a") + item("b", 1) + item("c", 1) + item("d", 2) + item("e") + item("f", 1)
    assert texts(body, numbering=levels) == [
        *("§ 1 a", "(a) b", "(b) c", "i. d", "§ 2 e", "(a) f"),
    ]


def test_labels_name_the_levels_above_and_may_be_decimal_all() -> None:
    levels = numbering(
        level(0, "upperRoman", "Part %1", start=3),
        level(1, "decimal", "%1.%2", "<w:isLgl/>"),
        level(2, "lowerLetter", "%1.%2.%3", '<w:lvlRestart w:val="0"/>'),
    )
    body = item("a") + item("b", 1) + item("c", 2) + item("d", 1) + item("e", 2)
    assert texts(body, numbering=levels) == [
        *("Part III a", "3.1 b", "III.1.a c", "3.2 d", "III.2.b e"),
    ]


def test_lists_of_one_definition_count_on_unless_one_starts_anew() -> None:
    levels = level(0, "decimal", "%1)")
    body = item("a") + item("b") + item("c", number=92)
    assert texts(body, numbering=numbering(levels))[-1] == "3) c"
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
    body += item("d", number=92)
    assert texts(body, numbering=numbering(levels, overrides=anew))[2:] == ["7) c", "8) d"]


def test_headings_have_the_numbers_of_their_style() -> None:
    linked = "".join(
        level(depth, "decimal", text, f'<w:pStyle w:val="Numbered{depth}"/>')
        for depth, text in enumerate(("Chapter %1", "%1.%2"))
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Numbered{depth}">'
        f'<w:name w:val="numbered {depth}"/><w:basedOn w:val="Heading{depth + 1}"/>'
        '<w:pPr><w:numPr><w:numId w:val="91"/></w:numPr></w:pPr></w:style>'
        for depth in range(2)
    )
    body = "".join(
        paragraph(run(text), properties=f'<w:pStyle w:val="Numbered{depth}"/>')
        for text, depth in (("Tides", 0), ("Rise", 1), ("Fall", 1), ("Waves", 0), ("Foam", 1))
    )
    blocks = word(body, numbering=numbering(linked), styles=styles).blocks
    assert [(block.kind, block.level, block.text) for block in blocks] == [
        (BlockKind.HEADING, 1, "Chapter 1 Tides"),
        (BlockKind.HEADING, 2, "1.1 Rise"),
        (BlockKind.HEADING, 2, "1.2 Fall"),
        (BlockKind.HEADING, 1, "Chapter 2 Waves"),
        (BlockKind.HEADING, 2, "2.1 Foam"),
    ]


def test_a_deleted_item_does_not_count_and_a_bullet_stays_one() -> None:
    gone = "<w:rPr><w:del/></w:rPr><w:numPr><w:ilvl/><w:numId w:val='91'/></w:numPr>"
    body = item("a") + paragraph(properties=gone) + item("b") + item("c", 1)
    levels = numbering(level(0, "decimal", "%1."), level(1, "bullet", "o"))
    assert texts(body, numbering=levels) == ["1. a", "2. b", "- c"]


def test_a_label_in_a_script_that_is_not_written_is_counted() -> None:
    document = word(item("a"), numbering=numbering(level(0, "hebrew1", "%1.")))
    assert [block.text for block in document.blocks] == ["1. a"]
    assert [one.kind for one in document.left_out] == ["list label in its own script"]


@pytest.mark.parametrize(
    ("number", "shape", "text"),
    [
        *((28, "lowerLetter", "bb"), (3, "upperLetter", "C"), (14, "lowerRoman", "xiv")),
        *((1999, "upperRoman", "MCMXCIX"), (7, "decimalZero", "07"), (22, "ordinal", "22nd")),
        *((13, "ordinal", "13th"), (3, "decimalEnclosedCircle", "③"), (2, "russianUpper", "Б")),
        *((12, "chineseCounting", "十二"), (30, "japaneseCounting", "三十"), (2, "chicago", "†")),
        *((5, "none", ""), (5, "unknown", "5")),
    ],
)
def test_numbers_are_written_as_the_format_says(number: int, shape: str, text: str) -> None:
    assert counted(number, shape) == text


# --- notes, boxes, equations


def note(kind: str, identifier: int, text: str) -> str:
    return f'<w:{kind} w:id="{identifier}">{paragraph(run(text))}</w:{kind}>'


def test_notes_have_the_numbers_of_the_page_and_follow_their_paragraph() -> None:
    body = paragraph(
        *(run("Silt"), '<w:r><w:footnoteReference w:id="7"/></w:r>'),
        *(run(" and sand"), '<w:r><w:endnoteReference w:id="3"/></w:r>', run(".")),
    )
    parts = {
        "footnotes": note("footnote", 7, "Finer than sand."),
        "endnotes": note("endnote", 3, "Reed 1953."),
    }
    assert texts(body, parts=parts) == [
        "Silt[1] and sand[i].",
        "[1] Finer than sand.",
        "[i] Reed 1953.",
    ]


def test_a_note_in_a_table_follows_the_table() -> None:
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    body = table(row(cell("a"), f"<w:tc>{paragraph(run('b'), reference)}</w:tc>"))
    assert texts(body, parts={"footnotes": note("footnote", 2, "Note.")}) == [
        "| a | b[1] |\n| --- | --- |",
        "[1] Note.",
    ]


def test_comments_are_counted_with_their_words() -> None:
    body = paragraph(run("Text"), '<w:r><w:commentReference w:id="5"/></w:r>')
    comments = note("comment", 5, "Is that so?")
    assert texts(body, parts={"comments": comments}) == ["Text"]
    assert left_out(body, parts={"comments": comments}) == [("comment", 3)]


def test_a_text_box_is_read_once_where_it_is_anchored() -> None:
    box = f"<w:txbxContent>{paragraph(run('In a box.'))}</w:txbxContent>"
    drawing = f"<w:drawing><wp:anchor><wps:txbx>{box}</wps:txbx></wp:anchor></w:drawing>"
    older = f"<w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict>"
    both = (
        f'<mc:AlternateContent><mc:Choice Requires="wps">{drawing}</mc:Choice>'
        f"<mc:Fallback>{older}</mc:Fallback></mc:AlternateContent>"
    )
    for shape in (both, older):
        assert texts(paragraph(run("Before."), f"<w:r>{shape}</w:r>")) == ["Before.", "In a box."]
    inside = paragraph(run("b"), f"<w:r>{both}</w:r>")
    assert texts(table(row(cell("a"), f"<w:tc>{inside}</w:tc>"))) == [
        "| a | b In a box. |\n| --- | --- |"
    ]


def math(content: str) -> str:
    return f"<m:oMath>{content}</m:oMath>"


def mathrun(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("content", "tex"),
    [
        (
            f"<m:func><m:fName>{mathrun('sin')}</m:fName><m:e>{mathrun('x')}</m:e></m:func>",
            "\\sin x",
        ),
        (f"<m:acc><m:accPr/><m:e>{mathrun('x')}</m:e></m:acc>", "\\hat{x}"),
        (
            f'<m:bar><m:barPr><m:pos m:val="top"/></m:barPr><m:e>{mathrun("x")}</m:e></m:bar>',
            "\\overline{x}",
        ),
        (
            '<m:f><m:fPr><m:type m:val="noBar"/></m:fPr>'
            f"<m:num>{mathrun('n')}</m:num><m:den>{mathrun('k')}</m:den></m:f>",
            "\\binom{n}{k}",
        ),
        (
            f"<m:sPre><m:sub>{mathrun('6')}</m:sub><m:sup>{mathrun('14')}</m:sup>"
            f"<m:e>{mathrun('C')}</m:e></m:sPre>",
            "{}_{6}^{14}C",
        ),
        (f"{mathrun('a')}<w:del>{mathrun('b')}</w:del>{mathrun('c')}", "ac"),
    ],
)
def test_equations_are_written_as_tex(content: str, tex: str) -> None:
    assert texts(paragraph(run("So "), math(content))) == [f"So ${tex}$"]


@pytest.mark.parametrize(
    ("font", "code", "sign"),
    [("Symbol", "F061", "α"), ("Symbol", "B3", "≥"), ("Wingdings", "F0FC", "✓")],
)
def test_signs_of_symbol_fonts_are_read(font: str, code: str, sign: str) -> None:
    symbol = f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>'
    assert texts(paragraph(run("An "), symbol)) == [f"An {sign}"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ('<w:object><o:OLEObject ProgID="Excel.Sheet.12"/></w:object>', "embedded object"),
        ('<w:object><o:OLEObject ProgID="Equation.DSMT4"/></w:object>', "equation"),
        (
            "<w:drawing><wp:inline><a:graphic><a:graphicData "
            'uri="http://schemas.openxmlformats.org/drawingml/2006/chart"/></a:graphic></wp:inline>'
            "</w:drawing>",
            "chart",
        ),
        (
            "<w:drawing><wp:inline><a:graphic><a:graphicData "
            'uri="http://schemas.openxmlformats.org/drawingml/2006/picture"/></a:graphic>'
            "</wp:inline></w:drawing>",
            "picture",
        ),
        ('<w:sym w:font="Webdings" w:char="F021"/>', "symbol"),
        (
            '<w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox/></w:ffData></w:fldChar>',
            "form control",
        ),
    ],
)
def test_what_has_no_text_is_counted(content: str, kind: str) -> None:
    assert left_out(paragraph(run("Text"), f"<w:r>{content}</w:r>")) == [(kind, 0)]


def test_the_instruction_of_a_field_is_no_text() -> None:
    begin, middle, end = (
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
    )
    condition = f"{begin}{run('IF 1 = 1 yes no')}{middle}{run('yes')}{end}"
    assert texts(paragraph(run("It is "), condition, run("."))) == ["It is yes."]


def test_what_is_left_out_is_named_with_its_heading() -> None:
    heading = paragraph(run("Fees"), properties='<w:pStyle w:val="Heading1"/>')
    document = word(heading + paragraph(run("30 euros"), run("40", "<w:strike/>")))
    assert [one.where for one in document.left_out] == ['under "Fees"']


# --- tables


def test_cells_that_span_rows_are_repeated_and_a_frame_is_no_table() -> None:
    merged = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    body = table(
        row(cell("North", merged[0]), cell("4 m")),
        row(cell("", merged[1]), cell("5 m")),
        row(cell("both", '<w:gridSpan w:val="2"/>')),
    )
    assert texts(body) == ["| North | 4 m |\n| --- | --- |\n| North | 5 m |\n| both |  |"]
    framed = table(row(f"<w:tc>{item('first') + item('second')}</w:tc>"))
    assert texts(framed, numbering=numbering(level(0, "decimal", "%1."))) == [
        "1. first",
        "2. second",
    ]
