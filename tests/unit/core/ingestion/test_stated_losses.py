"""What a document that goes in has to do without is stated, whatever its format."""

from io import BytesIO
from typing import Any

import docx
import pptx
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from core.ingestion.formats.html.reader import parse_html
from core.ingestion.formats.notebook import parse_notebook
from core.ingestion.formats.office.docx import parse_docx
from core.ingestion.formats.office.pptx import parse_pptx
from tests.unit.core.ingestion.test_notebook import code, notebook

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def saved(document: Any) -> bytes:
    target = BytesIO()
    document.save(target)
    return target.getvalue()


def test_cells_and_outputs_that_do_not_go_in() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "x"}}
    raw = {"cell_type": "raw", "source": "LaTeX"}
    document = parse_notebook(
        notebook(code("x", picture), raw, code("y", tags=("remove_cell",)), code("z"))
    )
    assert document.warnings == (
        "1 raw cells were left out",
        "1 cells are tagged as not published, wholly or in part, and so left out",
        "1 outputs without plain text were left out",
    )
    assert parse_notebook(notebook(code("x"))).warnings == ()


def test_slides_and_charts_that_do_not_go_in() -> None:
    presentation = pptx.Presentation()
    for title in ("Seen", "Hidden", ""):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = title
        if title == "Hidden":
            slide.element.set("show", "0")
    assert parse_pptx(saved(presentation)).warnings == (
        "1 of 3 slides are hidden: 2",
        "1 of 3 slides have no text: 3",
    )
    chart_data: Any = CategoryChartData
    data = chart_data()
    data.categories = ["a"]
    data.add_series("s", (1,))
    size = [Inches(1)] * 4
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, *size, data)
    slide.shapes.add_table(1, 1, *size).table.cell(0, 0).text = "A table is read."
    assert parse_pptx(saved(presentation)).warnings == (
        "1 of 3 slides are hidden: 2",
        "the text of 1 charts, diagrams and embedded objects was left out",
    )


def test_endnotes_that_do_not_go_in() -> None:
    document = docx.Document()
    document.add_paragraph("Text.")
    assert parse_docx(saved(document)).warnings == ()
    notes = "<w:endnote><w:p/></w:endnote><w:endnote><w:p><w:r><w:t>A</w:t></w:r></w:p></w:endnote>"
    part = Part(
        PackURI("/word/endnotes.xml"),
        CONTENT_TYPE.WML_ENDNOTES,
        f'<w:endnotes xmlns:w="{W}">{notes}</w:endnotes>'.encode(),
        document.part.package,
    )
    document.part.relate_to(part, RELATIONSHIP_TYPE.ENDNOTES)
    assert parse_docx(saved(document)).warnings == ("1 endnotes were left out",)


def test_articles_of_a_page_that_do_not_go_in() -> None:
    article = "<article><h2>{0}</h2><p>" + "Words of article {0}. " * 20 + "</p></article>"
    page = "<html><body>{}</body></html>".format("".join(map(article.format, "ABC")))
    assert parse_html(page).warnings == (
        "2 other parts of the page, each with much of its text, were left out",
    )
    assert parse_html(f"<main>{article.format('A')}</main><aside>More.</aside>").warnings == ()
