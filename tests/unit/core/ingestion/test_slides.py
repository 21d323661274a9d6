"""Slides are read in the order in which they are seen, and what is left out is counted."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pptx
import pytest
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.util import Inches

from core.domain import Course
from core.ingestion.document import Block, BlockKind, ParsedDocument
from core.ingestion.formats.pptx import parse_pptx
from core.ingestion.passages import Placement, course_document

_DECLARED = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
    }.items()
)
_TITLE_SLIDE, _TITLE_ONLY, _BLANK = 0, 5, 6
COURSE = Course(course_id="rivers", title="Rivers")


def deck(build: Callable[[Any], object], layout: int = _BLANK) -> ParsedDocument:
    """Return what is read of a presentation with one slide, which `build` fills."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[layout])
    if layout == _TITLE_ONLY:
        slide.shapes.title.text = "Weirs"
    build(slide)
    target = BytesIO()
    presentation.save(target)
    return parse_pptx(target.getvalue())


def texts(build: Callable[[Any], object], layout: int = _BLANK) -> list[str]:
    return [block.text for block in deck(build, layout).blocks]


def box(slide: Any, text: str, left: float, top: float, width: float = 3, height: float = 1) -> Any:
    """Put a text box on the slide, in inches."""
    places = map(Inches, (left, top, width, height))
    frame = slide.shapes.add_textbox(*places).text_frame
    frame.text = text
    return frame


def shape(paragraphs: str, identifier: int = 90) -> str:
    return (
        f'<p:sp {_DECLARED}><p:nvSpPr><p:cNvPr id="{identifier}" name="Box"/><p:cNvSpPr/><p:nvPr/>'
        '</p:nvSpPr><p:spPr><a:xfrm><a:off x="914400" y="914400"/><a:ext cx="914400" cy="914400"/>'
        f"</a:xfrm></p:spPr><p:txBody><a:bodyPr/><a:lstStyle/>{paragraphs}</p:txBody></p:sp>"
    )


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        ([("below", 1, 4), ("above", 1, 1)], ["above", "below"]),
        ([("right", 5, 1), ("left", 1, 1)], ["left", "right"]),
        ([("right", 5, 1.1), ("left", 1, 1.3)], ["left", "right"]),
        (
            [("d", 5, 4), ("c", 1, 4), ("b", 5, 1), ("a", 1, 1)],
            ["a", "b", "c", "d"],
        ),
        ([("foot", 1, 6), ("right", 5, 2), ("head", 1, 0.2), ("left", 1, 2)], None),
    ],
)
def test_boxes_are_read_from_top_to_bottom_and_left_to_right(
    boxes: list[tuple[str, float, float]], order: list[str] | None
) -> None:
    def build(slide: Any) -> None:
        for text, left, top in boxes:
            box(slide, text, left, top)

    assert texts(build)[1:] == (order or ["head", "left", "right", "foot"])


def test_a_tall_box_is_read_before_those_to_its_right() -> None:
    def build(slide: Any) -> None:
        box(slide, "right below", 6, 4)
        box(slide, "tall", 1, 1, height=5)
        box(slide, "right above", 6, 1)

    assert texts(build)[1:] == ["tall", "right above", "right below"]


def test_members_of_a_group_stay_together_in_their_order() -> None:
    def build(slide: Any) -> None:
        box(slide, "last", 1, 6)
        group = slide.shapes.add_group_shape().shapes
        for text, top in (("second", 3), ("first", 1)):
            group.add_textbox(*map(Inches, (1, top, 2, 1))).text_frame.text = text

    assert texts(build)[1:] == ["first", "second", "last"]


@pytest.mark.parametrize(
    ("first", "named", "title"),
    [
        (_TITLE_ONLY, "", "week2"),
        (_TITLE_SLIDE, "", "Weirs"),
        (_TITLE_ONLY, "Rivers, week 2", "Rivers, week 2"),
    ],
    ids=["neither", "a title slide", "properties"],
)
def test_a_deck_is_not_called_by_the_first_of_its_slides(
    first: int, named: str, title: str
) -> None:
    presentation = pptx.Presentation()
    presentation.core_properties.title = named
    for layout, heading in ((first, "Weirs"), (_TITLE_ONLY, "Locks")):
        slide = presentation.slides.add_slide(presentation.slide_layouts[layout])
        slide.shapes.title.text = heading
        box(slide, "Water falls over it.", 1, 4)
    target = BytesIO()
    presentation.save(target)
    place = Placement("decks/week2.pptx", "decks")
    document = course_document(COURSE, place, parse_pptx(target.getvalue()), "")
    assert document.record.title == title
    assert {chunk.page_title for chunk in document.chunks} == {title}


def test_a_slide_without_a_title_is_named_by_its_number() -> None:
    presentation = pptx.Presentation()
    for title in ("Weirs", ""):
        slide = presentation.slides.add_slide(presentation.slide_layouts[_TITLE_ONLY])
        slide.shapes.title.text = title
        box(slide, "Text", 1, 4)
    target = BytesIO()
    presentation.save(target)
    headings = [b for b in parse_pptx(target.getvalue()).blocks if b.kind is BlockKind.HEADING]
    assert headings == [
        Block(BlockKind.HEADING, "Weirs", 2, locator={"slide": 1}),
        Block(BlockKind.HEADING, "Slide 2", 2, locator={"slide": 2}),
    ]


@pytest.mark.parametrize(
    ("attributes", "shown"),
    [
        ('baseline="30000"', "10⁶ litres"),
        ('baseline="-25000"', "10₆ litres"),
        ('baseline="0"', "106 litres"),
        ('baseline="30%"', "10⁶ litres"),
    ],
)
def test_raised_and_lowered_runs_keep_their_meaning(attributes: str, shown: str) -> None:
    runs = (
        f"<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr {attributes}/><a:t>6</a:t></a:r>"
        "<a:r><a:t> litres</a:t></a:r></a:p>"
    )
    build = lambda slide: slide.shapes._spTree.append(parse_xml(shape(runs)))  # noqa: E731
    assert texts(build)[1:] == [shown]


@pytest.mark.parametrize("strike", ["sngStrike", "dblStrike"])
def test_struck_runs_are_left_out_and_counted(strike: str) -> None:
    runs = (
        f'<a:p><a:r><a:t>On </a:t></a:r><a:r><a:rPr strike="{strike}"/><a:t>12 May </a:t></a:r>'
        "<a:r><a:rPr strike='noStrike'/><a:t>19 May</a:t></a:r></a:p>"
    )
    document = deck(lambda slide: slide.shapes._spTree.append(parse_xml(shape(runs))))
    assert document.blocks[1].text == "On 19 May"
    assert [(one.kind, one.where, one.words) for one in document.left_out] == [
        ("struck text", "slide 1", 2)
    ]


_EQUATION = (
    "<a14:m><m:oMath><m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup>"
    "<m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m>"
)


@pytest.mark.parametrize(
    "alternatives",
    [
        '<mc:AlternateContent {d}><mc:Choice Requires="a14">{seen}</mc:Choice>'
        "<mc:Fallback>{older}</mc:Fallback></mc:AlternateContent>",
        "<mc:AlternateContent {d}><mc:Fallback>{seen}</mc:Fallback></mc:AlternateContent>",
    ],
)
def test_a_box_with_an_equation_is_read_once(alternatives: str) -> None:
    seen = shape(f"<a:p><a:r><a:t>The energy is </a:t></a:r>{_EQUATION}</a:p>")
    older = shape("<a:p><a:r><a:t>The energy is</a:t></a:r></a:p>")
    markup = alternatives.format(d=_DECLARED, seen=seen, older=older)
    build = lambda slide: slide.shapes._spTree.append(parse_xml(markup))  # noqa: E731
    assert texts(build)[1:] == ["The energy is $E=mc^{2}$"]


def test_an_equation_by_itself_is_a_formula() -> None:
    displayed = _EQUATION.replace("<m:oMath>", "<m:oMathPara><m:oMath>").replace(
        "</m:oMath>", "</m:oMath></m:oMathPara>"
    )
    markup = shape(f"<a:p>{displayed}</a:p>")
    document = deck(lambda slide: slide.shapes._spTree.append(parse_xml(markup)))
    assert (document.blocks[1].kind, document.blocks[1].text) == (
        BlockKind.FORMULA,
        "$$E=mc^{2}$$",
    )


def test_numbered_lines_have_the_labels_that_the_slide_shows() -> None:
    def line(text: str, label: str, level: int = 0) -> str:
        return f'<a:p><a:pPr lvl="{level}">{label}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'

    letters = '<a:buAutoNum type="alphaLcParenBoth"/>'
    romans = '<a:buAutoNum type="romanUcPeriod" startAt="4"/>'
    lines = (
        line("a", romans)
        + line("b", letters, 1)
        + line("c", letters, 1)
        + line("d", romans)
        + line("e", letters, 1)
        + line("f", '<a:buChar char="•"/>')
    )
    build = lambda slide: slide.shapes._spTree.append(parse_xml(shape(lines)))  # noqa: E731
    assert texts(build)[1:] == ["IV. a", "(a) b", "(b) c", "V. d", "(a) e", "- f"]


def test_cells_that_span_rows_are_repeated() -> None:
    def build(slide: Any) -> None:
        table = slide.shapes.add_table(2, 2, 0, 0, Inches(4), Inches(2)).table
        table.cell(0, 0).merge(table.cell(1, 0))
        for (row, column), text in {(0, 0): "North", (0, 1): "4 m", (1, 1): "5 m"}.items():
            table.cell(row, column).text = text

    assert texts(build)[1:] == ["| North | 4 m |\n| --- | --- |\n| North | 5 m |"]


def test_the_words_of_a_diagram_are_read() -> None:
    model = (
        f'<dgm:dataModel {_DECLARED}><dgm:ptLst><dgm:pt modelId="1" type="doc"/>'
        '<dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Rain </a:t></a:r><a:r><a:t>falls</a:t></a:r>'
        '</a:p></dgm:t></dgm:pt><dgm:pt modelId="3" type="pres"><dgm:t><a:p><a:r><a:t>x</a:t></a:r>'
        "</a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
    )

    def build(slide: Any) -> None:
        part = Part(
            PackURI("/ppt/diagrams/data1.xml"),
            "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml",
            slide.part.package,
            model.encode(),
        )
        link = slide.part.relate_to(part, RELATIONSHIP_TYPE.DIAGRAM_DATA)
        slide.shapes._spTree.append(
            parse_xml(
                f'<p:graphicFrame {_DECLARED}><p:nvGraphicFramePr><p:cNvPr id="9" name="D"/>'
                "<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x='0' y='0'/>"
                "<a:ext cx='9' cy='9'/></p:xfrm><a:graphic><a:graphicData "
                'uri="http://schemas.openxmlformats.org/drawingml/2006/diagram">'
                f'<dgm:relIds r:dm="{link}"/></a:graphicData></a:graphic></p:graphicFrame>'
            )
        )

    document = deck(build)
    assert [block.text for block in document.blocks] == ["Slide 1", "- Rain falls"]
    assert document.left_out == ()


def test_what_is_not_read_of_a_slide_is_counted() -> None:
    def build(slide: Any) -> None:
        box(slide, "Seen", 1, 2)
        box(slide, "Far beside it", 40, 2)
        slide.shapes.add_shape(1, *map(Inches, (1, 4, 1, 1)))
        hidden = slide.shapes.add_textbox(*map(Inches, (1, 5, 1, 1)))
        hidden.text_frame.text = "Not shown"
        hidden._element.nvSpPr.cNvPr.set("hidden", "1")

    assert [(one.kind, one.where, one.words) for one in deck(build).left_out] == [
        ("hidden text", "slide 1", 3),
        ("shape", "slide 1", 0),
        ("hidden text", "slide 1", 2),
    ]


def test_comments_on_slides_are_counted_with_their_words() -> None:
    def build(slide: Any) -> None:
        box(slide, "Seen", 1, 2)
        comments = (
            f'<p:cmLst {_DECLARED}><p:cm idx="1"><p:text>Is that so?</p:text></p:cm></p:cmLst>'
        )
        part = Part(
            PackURI("/ppt/comments/comment1.xml"),
            "application/vnd.openxmlformats-officedocument.presentationml.comments+xml",
            slide.part.package,
            comments.encode(),
        )
        slide.part.relate_to(part, RELATIONSHIP_TYPE.COMMENTS)

    assert [(one.kind, one.words) for one in deck(build).left_out] == [("comment", 3)]


def test_a_footer_is_counted_with_its_words_once() -> None:
    footer = shape("<a:p><a:r><a:t>Harbour School</a:t></a:r></a:p>").replace(
        "<p:nvPr/>", '<p:nvPr><p:ph type="ftr" sz="quarter" idx="11"/></p:nvPr>'
    )
    presentation = pptx.Presentation()
    for _ in range(2):
        slide = presentation.slides.add_slide(presentation.slide_layouts[_TITLE_ONLY])
        slide.shapes.title.text = "Weirs"
        slide.shapes._spTree.append(parse_xml(footer))
    target = BytesIO()
    presentation.save(target)
    document = parse_pptx(target.getvalue())
    assert [block.text for block in document.blocks] == ["Weirs", "Weirs"]
    assert [(one.kind, one.words) for one in document.left_out] == [
        ("header or footer", 2),
        ("header or footer", 0),
    ]
