"""Quarto and R Markdown: what a reader of the published page sees goes in, nothing else does."""

import pytest

from core.ingestion.document import BlockKind, Omission, ParsedDocument
from core.ingestion.formats.markdown import parse_markdown
from core.ingestion.formats.markdown_inline import pandoc_slug
from core.ingestion.sources.sources import loose_page


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
    assert page.warnings == ("The included file gone.qmd is missing.",)
    assert page.left_out == (Omission("shortcode video", "line 7"),)
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


SETTINGS = {
    "@site/_quarto.yml": "format: {html: {}}\nprofile: {default: winter}\nbook: {title: Seas}",
    "@site/_variables.yml": "room: Hall 7\ncontact: {mail: a@b.c}",
}


@pytest.mark.parametrize(
    ("attributes", "is_shown"),
    [
        ('.content-visible when-format="html"', True),
        ('.content-visible when-format="pdf"', False),
        ('.content-visible unless-format="pdf"', True),
        ('.content-hidden when-format="html"', False),
        ('.content-hidden unless-format="html"', True),
        ('.content-hidden when-format="docx"', True),
        ('.content-visible when-profile="winter"', True),
        ('.content-visible when-profile="solutions"', False),
        ('.content-hidden unless-profile="solutions"', False),
        ('.content-visible when-format="html" when-profile="solutions"', False),
        ('.content-visible when-meta="draft.open"', True),
        ('.content-visible when-meta="draft.shut"', False),
        (".hidden", False),
        (".callout-note", True),
    ],
)
def test_conditional_content_is_read_where_it_is_published(attributes: str, is_shown: bool) -> None:
    head = "---\ndraft: {open: true, shut: false}\n---\n"
    inside = "::: {.inner}\nIt is.\n:::\n```\ncode\n```"
    box = f":::: {{{attributes}}}\n{inside}\n::::"
    page = parsed(f"{head}Before.\n\n{box}\n\nAfter.", **SETTINGS)
    found = [block.text for block in page.blocks]
    assert ("It is." in found, "```\ncode\n```" in found) == (is_shown, is_shown)
    assert (found[0], found[-1]) == ("Before.", "After.")
    assert [one.kind for one in page.left_out] == ([] if is_shown else ["hidden text"])


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("In {{< var room >}}, {{< var contact.mail >}}.", "In Hall 7, a@b.c."),
        ("By {{< meta author >}} in {{< meta title >}}.", "By Reed in Seas."),
        ("An {{< var gone >}} one.", "An {{< var gone >}} one."),
        ("It is `r params$depth` m and `{python} 1+1`.", "It is 12 m and `{python} 1+1`."),
        ("Here [not]{.content-visible when-format=pdf} so.", "Here so."),
        ("10^6^ m, H~2~O, ~~old~~ new, 1^st^.", "10⁶ m, H₂O, new, 1st."),
        ("| One\n| two", "One\ntwo"),
        ("Part {{< include _a.qmd >}}", "Part"),
    ],
)
def test_values_and_marks_are_what_is_published(written: str, shown: str) -> None:
    head = "---\nauthor: Reed\nparams: {depth: 12}\n---\n"
    assert texts(head + written, **SETTINGS, **{"_a.qmd": "Inner."})[0] == shown


@pytest.mark.parametrize(
    ("drawn", "rows"),
    [
        (
            "+---+----+\n| a | b  |\n+:=:+===:+\n| 1 | - x |\n|   | - y |\n+---+----+".replace(
                "+----+", "+-----+"
            )
            .replace("| b  |", "| b   |")
            .replace("+===:+", "+====:+"),
            ["| a | b |", "| 1 | x; y |"],
        ),
        (
            "  Right  Left\n-------  ----\n     12  ab\n      3  c",
            ["| Right | Left |", "| 12 | ab |", "| 3 | c |"],
        ),
        (
            "---------------\nName    Depth\n------- -------\nNorth   3 m\npond\n\n"
            "South   4 m\n---------------",
            ["| Name | Depth |", "| North pond | 3 m |", "| South | 4 m |"],
        ),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
    ],
)
def test_tables_are_read_however_they_are_drawn(drawn: str, rows: list[str]) -> None:
    (block,) = parsed(drawn).blocks
    assert block.kind is BlockKind.TABLE
    assert [line for line in block.text.split("\n") if "---" not in line] == rows
