"""What a document that goes in has to do without is stated, whatever its format."""

from io import BytesIO
from typing import Any

import pptx
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from core.ingestion.document import Omission
from core.ingestion.formats.html import parse_html
from core.ingestion.formats.notebook import parse_notebook
from core.ingestion.formats.pptx import parse_pptx
from tests.unit.core.ingestion.test_notebook import code, notebook


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
    assert document.left_out == (
        Omission("picture", "cell 1"),
        Omission("raw cell", "cell 2", 1),
        Omission("cell that is not published", "cell 3", 1),
    )
    assert parse_notebook(notebook(code("x"))).left_out == ()


def test_slides_and_charts_that_do_not_go_in() -> None:
    presentation = pptx.Presentation()
    for title in ("Seen", "Hidden", ""):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = title
        if title == "Hidden":
            slide.element.set("show", "0")
    document = parse_pptx(saved(presentation))
    assert document.warnings == ("1 of 3 slides have no text: 3",)
    assert document.left_out == (Omission("hidden slide", "slide 2", 1),)
    chart_data: Any = CategoryChartData
    data = chart_data()
    data.categories = ["a"]
    data.add_series("s", (1,))
    size = [Inches(1)] * 4
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, *size, data)
    slide.shapes.add_table(1, 1, *size).table.cell(0, 0).text = "A table is read."
    document = parse_pptx(saved(presentation))
    assert document.warnings == ()
    assert document.left_out[1:] == (Omission("chart", "slide 3", 0),)


def test_articles_of_a_page_that_do_not_go_in() -> None:
    article = "<article><h2>{0}</h2><p>" + "Words of article {0}. " * 20 + "</p></article>"
    page = "<html><body>{}</body></html>".format("".join(map(article.format, "ABC")))
    assert parse_html(page).warnings == (
        "2 other parts of the page, each with much of its text, were left out",
    )
    assert parse_html(f"<main>{article.format('A')}</main><aside>More.</aside>").warnings == ()
