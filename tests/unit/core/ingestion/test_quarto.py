"""Quarto and R Markdown: what a reader of the published page sees goes in, nothing else does."""

import pytest

from core.ingestion.document import BlockKind, ParsedDocument
from core.ingestion.formats.markdown.anchors import pandoc_slug
from core.ingestion.formats.markdown.reader import parse_markdown
from core.ingestion.sites.detection import loose_page


def parsed(text: str, **files: str) -> ParsedDocument:
    return parse_markdown(text, dialect="quarto", read_include=files.get)


def texts(text: str, **files: str) -> list[str]:
    return [block.text for block in parsed(text, **files).blocks]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("```{python}\nx = 1\n```", ["```python\nx = 1\n```"]),
        ("```{r name, fig.width=3}\nx <- 1\n```", ["```r\nx <- 1\n```"]),
        ("```{python}\n#| label: a\n#| eval: true\nx = 1\n```", ["```python\nx = 1\n```"]),
        (
            '```{r}\n#| fig-cap: "The tide: a plot."\nplot(x)\n```',
            ["The tide: a plot.", "```r\nplot(x)\n```"],
        ),
        ("```{python}\n#| echo: false\n#| fig-cap: A plot.\nx = 1\n```", ["A plot."]),
        ("```{r, echo=FALSE, fig.cap='A plot.'}\nplot(x)\n```", ["A plot."]),
        ("```{r setup, include=FALSE}\nlibrary(x)\n```", []),
        (
            "```python\n#| not: an option\n::: {.x}\n```",
            ["```python\n#| not: an option\n::: {.x}\n```"],
        ),
        ("```{=html}\n<p>Shown.</p>\n```", ["Shown."]),
        ("```{=latex}\n\\newpage\n```", []),
    ],
)
def test_cells_are_shown_as_they_are_published(cell: str, shown: list[str]) -> None:
    assert texts(f"Before.\n\n{cell}\n\nAfter.") == ["Before.", *shown, "After."]


@pytest.mark.parametrize(
    ("box", "shown"),
    [
        ("::: {.callout-note}\nText.\n:::", ["Note", "Text."]),
        ('::: {.callout-tip collapse="true"}\n## A title\n\nText.\n:::', ["A title", "Text."]),
        ('::: {.callout-warning title="Mind"}\nText.\n:::', ["Mind", "Text."]),
        ("::: {#thm-line}\n## Line\n\nText.\n:::", ["Line", "Text."]),
        ("::: {.column width=50%}\nText.\n:::", ["Text."]),
        ("::::: columns\n::: {.column}\nA.\n:::\n::: {.column}\nB.\n:::\n:::::", ["A.", "B."]),
    ],
)
def test_boxes_keep_their_words_and_are_no_sections(box: str, shown: list[str]) -> None:
    blocks = parsed(f"{box}\n\nAfter.").blocks
    assert [block.text for block in blocks] == [*shown, "After."]
    assert {block.kind for block in blocks} == {BlockKind.PARAGRAPH}


def test_shortcodes_include_files_and_what_else_they_stand_for_is_named() -> None:
    text = "One.\n\n{{< include _two.qmd >}}\n\n{{< include gone.qmd >}}\n\n{{< video x >}}"
    page = parsed(text, **{"_two.qmd": "Two, {{< kbd Ctrl-C >}}.\n"})
    assert [block.text for block in page.blocks] == ["One.", "Two, Ctrl-C."]
    assert page.warnings == (
        "The included file gone.qmd is missing.",
        "What the shortcode video stands for was left out.",
    )
    assert texts("A fence that nothing closes:\n\n```{r}\nx") == [
        "A fence that nothing closes:",
        "```r\nx\n```",
    ]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Heading identifiers in HTML", "heading-identifiers-in-html"),
        ("Maître d'hôtel", "maître-dhôtel"),
        ("*Dogs*?--in *my* house?", "dogs--in-my-house"),
        ("3. Applications", "applications"),
        ("33", "section"),
    ],
)
def test_headings_have_the_anchors_of_pandoc(heading: str, anchor: str) -> None:
    assert pandoc_slug(heading.replace("*", "")) == anchor


@pytest.mark.parametrize(
    ("path", "url"),
    [("part/a b.qmd", "part/a%20b.html"), ("index.qmd", ""), ("x/01.Rmd", "x/01.html")],
)
def test_pages_are_published_as_html(path: str, url: str) -> None:
    assert loose_page(path).url_path == url
