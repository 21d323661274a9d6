"""Markdown pages: what becomes a block, with which words, where in the source."""

import pytest

from core.ingestion.document import Block, BlockKind, ParsedDocument
from core.ingestion.formats.markdown import parse_markdown


def parsed(text: str, dialect: str = "markdown", **files: str) -> ParsedDocument:
    return parse_markdown(text, dialect=dialect, read_include=files.get)


def blocks(text: str, dialect: str = "markdown") -> list[Block]:
    return list(parsed(text, dialect).blocks)


def texts(text: str, dialect: str = "markdown") -> list[str]:
    return [block.text for block in blocks(text, dialect)]


def lines(block: Block) -> tuple[int, int]:
    return block.locator["line_start"], block.locator["line_end"]


def test_each_block_knows_its_kind_and_its_lines_below_front_matter() -> None:
    page = (
        "---\ntitle: Markets\n---\n\n# Supply\n\nTwo\nlines.\n\n- one\n- two\n\n"
        "```py\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    found = [(block.kind, block.text, lines(block)) for block in blocks(page)]
    assert found == [
        (BlockKind.HEADING, "Supply", (5, 5)),
        (BlockKind.PARAGRAPH, "Two lines.", (7, 8)),
        (BlockKind.LIST_ITEM, "- one", (10, 10)),
        (BlockKind.LIST_ITEM, "- two", (11, 11)),
        (BlockKind.CODE, "```py\nx = 1\n```", (13, 15)),
        (BlockKind.TABLE, "| a | b |\n| --- | --- |\n| 1 | 2 |", (17, 19)),
    ]


def test_windows_line_ends_and_a_byte_order_mark_do_not_move_lines() -> None:
    (heading, paragraph) = blocks("\ufeff---\r\ntitle: x\r\n---\r\n# A\r\n\r\ntext\r\n")
    assert (lines(heading), lines(paragraph)) == ((4, 4), (6, 6))


def test_front_matter_gives_title_and_metadata_as_they_are_written() -> None:
    page = parsed("---\ntitle: 1.10\nslug: 007\ntags: [a, b]\nnested: {a: 1}\n---\ntext")
    assert page.title == "1.10"
    assert page.metadata == {"title": "1.10", "slug": "007", "tags": "a, b"}
    assert page.warnings == ()


@pytest.mark.costly
@pytest.mark.parametrize(
    "yaml", ["title: [unclosed", "a: b: c", "&a [*a]", "x: " + "[" * 5000, "{[1]: 2}"]
)
def test_malformed_front_matter_is_a_warning_and_the_page_stays(yaml: str) -> None:
    page = parsed(f"---\n{yaml}\n---\ntext")
    assert [block.text for block in page.blocks] == ["text"]
    assert len(page.warnings) == 1


def test_front_matter_runs_no_tags() -> None:
    page = parsed("---\ntitle: !!python/object/apply:os.system ['true']\n---\ntext")
    assert page.metadata == {"title": "true"}


def test_prose_between_two_rules_is_no_front_matter() -> None:
    assert texts("---\nonly prose\n---\n\nmore") == ["only prose", "more"]


def test_inline_markup_becomes_plain_words() -> None:
    page = (
        "**Bold** _em_ ~~gone~~ [label](http://a.b 'title') ![alt *text*](i.png) `co_de` "
        "&amp; &lt;T&gt; <b>html</b> <kbd>Ctrl</kbd><!-- no --> <img alt='pic' src=x> \\*x\\*"
    )
    expected = "Bold em label alt text `co_de` & <T> html Ctrl pic *x*"
    assert texts(page) == [expected]


def test_hard_breaks_stay_and_soft_breaks_become_spaces() -> None:
    assert texts("one\ntwo  \nthree<br>four") == ["one two\nthree\nfour"]


def test_footnote_references_go_and_definitions_stay_where_they_are() -> None:
    assert texts("Sure[^1].\n\n[^1]: A source.\n\n# Next") == ["Sure.", "A source.", "Next"]


def test_lists_keep_numbers_bullets_and_depth() -> None:
    items = blocks("3. three\n\n   more\n1. four\n   * deep\n")
    assert [(item.kind, item.text, item.level) for item in items] == [
        (BlockKind.LIST_ITEM, "3. three", 1),
        (BlockKind.PARAGRAPH, "more", 1),
        (BlockKind.LIST_ITEM, "4. four", 1),
        (BlockKind.LIST_ITEM, "- deep", 2),
    ]


def test_a_defined_term_stands_before_its_definition() -> None:
    assert texts("Elasticity\n: How strongly demand reacts.\n\nFern\n: A plant.\n") == [
        "Elasticity: How strongly demand reacts.",
        "Fern: A plant.",
    ]


@pytest.mark.parametrize(
    ("info", "first"),
    [
        ("rust,ignore", "```rust"),
        ("js {1,3} showLineNumbers", "```js"),
        ("{ .yaml .annotate }", "```yaml"),
        ("", "```"),
        ('title="a.js"', "a.js"),
    ],
)
def test_a_fence_keeps_the_first_word_of_its_info_string(info: str, first: str) -> None:
    assert texts(f"~~~{info}\nx\n~~~")[0].split("\n")[0] == first


def test_a_fence_of_fences_cannot_be_closed_by_its_content() -> None:
    assert texts("````md\n```py\nx\n```\n````") == ["````md\n```py\nx\n```\n````"]


def test_setext_headings_and_attributes_of_headings_are_understood() -> None:
    heads = blocks("Title {#top .big}\n===\n\nSub\n---\n\n## `x` {.cls}\n")
    assert [(head.text, head.level, head.anchor) for head in heads] == [
        ("Title", 1, "top"),
        ("Sub", 2, "sub"),
        ("`x`", 2, "x"),
    ]


@pytest.mark.parametrize(
    "formula",
    ["$a_1 + b_1 * c_2$", "$x$", r"\(a_1\)", r"\(x\)", r"\[ x_1 = y_1 \]", "$$ a_1 * b_1 * c $$"],
)
def test_formulas_in_a_line_stay_verbatim(formula: str) -> None:
    assert texts(f"So {formula} holds in 2020") == [f"So {formula} holds in 2020"]


@pytest.mark.parametrize(
    "formula",
    ["$$\n- a_1\n= b_1\n$$", "\\[\na\n= b\n+ c_1\n\\]", "$$ E = mc^2 $$", "\\\\[\nx_1\n\\\\]"],
)
def test_formulas_of_their_own_are_blocks(formula: str) -> None:
    (block,) = blocks(f"{formula}\n")
    assert (block.kind, block.text) == (BlockKind.FORMULA, formula)


@pytest.mark.parametrize(
    "prose",
    ["from $5 and $6 *a*", "US$7-$8 *a*", "$5, $6 and $7 *a*", "1$ or 2$ *a*", r"\[1\] *a*"],
)
def test_prices_and_escaped_brackets_are_no_formulas(prose: str) -> None:
    assert texts(prose) == [prose.replace("*a*", "a").replace("\\", "")]


@pytest.mark.parametrize(
    ("page", "dialect"),
    [
        (":::note Watch *out*\n\nBody **text**.\n\n- item\n\n:::\n\nafter", "docusaurus"),
        (":::note[Watch *out*]{.x}\nBody **text**.\n\n- item\n:::\nafter", "docusaurus"),
        ('!!! note "Watch *out*"\n    Body **text**.\n\n\n    - item\n\nafter', "mkdocs"),
        ('??? note "Watch *out*"\n    Body **text**.\n\n    - item\nafter', "mkdocs"),
        ('=== "Watch *out*"\n\n    Body **text**.\n\n    - item\n\nafter', "mkdocs"),
        ("> [!NOTE] Watch out\n> Body **text**.\n>\n> - item\n\nafter", "markdown"),
    ],
)
def test_boxes_give_their_title_and_their_blocks(page: str, dialect: str) -> None:
    assert texts(page, dialect) == ["Watch out", "Body text.", "- item", "after"]


def test_boxes_without_a_title_are_named_by_their_kind() -> None:
    assert texts("> [!WARNING]\n> Careful.") == ["Warning", "Careful."]
    assert texts("!!! tip\n    Careful.", "mkdocs") == ["Tip", "Careful."]
    assert texts('!!! tip ""\n    Careful.', "mkdocs") == ["Careful."]
    assert texts("::::columns\n:::danger\nCareful.\n:::\n::::") == ["Danger", "Careful."]


def test_html_blocks_give_text_instead_of_markup() -> None:
    page = (
        "<table><tr><th>Good</th><th>Price</th></tr><tr><td>Tea</td><td>3</td></tr></table>\n\n"
        "<details>\n<summary>Solution</summary>\n\nIt is **four**.\n\n</details>\n\n"
        '<figure>\n<img src="x.png" alt="A curve" />\n<figcaption>Figure 1</figcaption>\n'
        '</figure>\n\n<h2 id="own">Own id</h2>\n'
    )
    assert texts(page) == [
        "| Good | Price |\n| --- | --- |\n| Tea | 3 |",
        "Solution",
        "It is four.",
        "A curve",
        "Figure 1",
        "Own id",
    ]
    assert blocks(page)[-1].anchor == "own"


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- secret -->",
        "<!--\n\nsecret\n\n-->",
        "<script>\n\nsecret\n\n</script>",
        "<style>secret</style>",
        '<div style="display: none">\n\nsecret *md*\n\n- secret\n\n</div>',
        "<div hidden>\n\n```\nsecret\n```\n\n| secret |\n|---|\n| secret |\n\n</div>",
        "<span hidden>secret **bold**</span>",
        '<span style="font-size:0">secret</span>',
        "[//]: # (secret)",
        "a\u200b\u202e\U000e0073\U000e0065"[1:],
        "&#8203;&#x202e;&ZeroWidthSpace;",
        "<section hidden><p>secret</p></section>",
        '<template>\n\n# secret\n\n</template>\n\n<img hidden alt="secret">',
    ],
)
@pytest.mark.parametrize("dialect", ["markdown", "mdbook", "mkdocs", "docusaurus"])
def test_text_that_no_reader_sees_is_dropped(hidden: str, dialect: str) -> None:
    assert texts(f"before\n\n{hidden}\n\nafter", dialect) == ["before", "after"]


def test_an_unclosed_hidden_word_hides_no_more_than_its_paragraph() -> None:
    assert texts("a <span hidden>b\n\nc\n\n<p hidden>\n\nd") == ["a", "c", "d"]


def test_nothing_that_hides_is_left_open_by_a_stray_end_tag() -> None:
    assert texts("</div>\n\n<div hidden>\n\nno\n\n</div>\n\n</div>\n\nyes") == ["yes"]


def test_blanks_inside_of_code_are_kept() -> None:
    page = "The  rule `x = \"a  b\"` and  ``awk '{print $1,   $2}'`` hold\nblanks.\n"
    assert texts(page) == ["The rule `x = \"a  b\"` and `awk '{print $1,   $2}'` hold blanks."]


def by_kind(text: str, dialect: str = "markdown", **files: str) -> dict[str, int]:
    page = parse_markdown(text, dialect=dialect, read_include=files.get)
    return {one.kind: one.words for one in page.left_out}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("10<sup>6</sup> m, 10<sup>-19</sup> C, H<sub>2</sub>O", "10⁶ m, 10⁻¹⁹ C, H₂O"),
        ("x<sub>max</sub>, 2<sup>n+1</sup>, the 5<sup>th</sup>", "x_(max), 2ⁿ⁺¹, the 5th"),
        ("silt<sup>[1](#fn1)</sup> is fine", "silt is fine"),
        ("10^6^ m, CO~2~ and ~12 May~ 19 May", "10⁶ m, CO₂ and 19 May"),
        ("from ~5 to ~6 m, 2^3 and a ^ b ^ c", "from ~5 to ~6 m, 2^3 and a ^ b ^ c"),
        ("~~12 May~~ 19 May, <s>old</s> <del>gone</del> <strike>x</strike> new", "19 May, new"),
        ("<del>all\nof it</del> stays **~~not~~**", "stays"),
        ("{--out--}{++in++} {~~old~>new~~} {==so==}{>>why<<}", "in new so"),
        ("==Marked== words, a == b == c", "Marked words, a == b == c"),
        ("Text[^1] here.", "Text[^1] here."),
        ("H$_2$O, 10$^6$ m, $x^2$, 5$ and 6$", "H₂O, 10⁶ m, $x^2$, 5$ and 6$"),
        ('<span style="text-decoration: line-through">40</span> 50', "50"),
    ],
)
def test_raised_lowered_and_struck_words_keep_their_meaning(written: str, shown: str) -> None:
    assert texts(written) == [shown]


def test_a_struck_block_and_what_it_holds_are_left_out_and_counted() -> None:
    page = (
        "<del>\n\nThe fee is 40.\n\n```\ncode here\n```\n\n</del>\n\n"
        "The fee is 30. ![p](a.png) <!-- a b -->"
    )
    assert texts(page) == ["The fee is 30. p"]
    assert by_kind(page) == {"struck text": 2, "picture": 0, "comment": 2}
    assert by_kind("~~one two~~ {>>three<<} <iframe src=x></iframe>") == {
        "struck text": 2,
        "comment": 1,
        "iframe element": 0,
    }


@pytest.mark.parametrize(
    "head",
    [
        '+++\ntitle = "Rain"\n[extra]\nx = 1\n+++\n',
        "\n\n---\ntitle: Rain\n---\n",
        '\n+++\ntitle = "Rain"\n+++\n',
    ],
)
@pytest.mark.parametrize("dialect", ["markdown", "hugo", "docusaurus", "mkdocs"])
def test_front_matter_of_any_kind_is_no_text(head: str, dialect: str) -> None:
    page = parse_markdown(f"{head}\nIt falls.", dialect=dialect, read_include=lambda _: None)
    assert (page.title, [block.text for block in page.blocks]) == ("Rain", ["It falls."])


def test_a_note_of_obsidian_is_read_as_it_is_shown() -> None:
    page = (
        "A [[Compost|heap]] and [[Water]], [[2026-01-02]]; x[[i]], [[1, 2]]. ^mulch1\n\n"
        "![[Compost#Making]]\n\n%% a remark\n\nof two %%\n\n> [!tip]- Folded\n> Sow.\n\n"
        "![[p.png|300]]\n\n```dataview\nLIST\n```\n\n`[[code]] %%x%%` ![[Gone]]"
    )
    note = "---\na: 1\n---\nIntro.\n\n## Making\n\nTurn it.\n\n## After\n\nNo."
    read = parse_markdown(page, dialect="markdown", read_include={"Compost.md": note}.get)
    assert [block.text for block in read.blocks] == [
        "A heap and Water, 2026-01-02; x[[i]], [[1, 2]].",
        "Making",
        "Turn it.",
        "Folded",
        "Sow.",
        "`[[code]] %%x%%`",
    ]
    assert [one.kind for one in read.left_out] == [
        "comment",
        "picture",
        "dataview block",
        "embedded note",
    ]


def test_settings_of_mkdocs_are_put_in_and_the_rest_keeps_its_braces() -> None:
    config = "site_name: Kit\nextra:\n  course: {room: Hall 7, open: true}\n"
    page = (
        "---\nlevel: two\n---\n"
        "In {{ course.room }} of {{ config.site_name }}, {{ page.meta.level }}; {{ gone.x }} stays."
        "\n\n{% set day = 'Monday' %}"
        "{% if course.open %}Open on {{ day }}.{% else %}Shut.{% endif %}"
        "\n\n{% if not course.open %}Never.{% elif course.room == 'Hall 7' %}Hall.{% endif %}"
        "{# a remark #}\n\n{% raw %}{{ kept }}{% endraw %} Press ++ctrl+alt+del++."
    )
    read = parse_markdown(page, dialect="mkdocs", read_include={"@site/mkdocs.yml": config}.get)
    assert [block.text for block in read.blocks] == [
        "In Hall 7 of Kit, two; {{ gone.x }} stays.",
        "Open on Monday.",
        "Hall.",
        "{{ kept }} Press Ctrl+Alt+Del.",
    ]
    assert [one.kind for one in read.left_out] == [
        "value that is not known",
        "hidden text",
        "hidden text",
        "comment",
    ]


def test_settings_of_jekyll_and_hugo_are_put_in() -> None:
    jekyll = parse_markdown(
        "{{ site.hall }} and [x]({{ site.baseurl }}/y), {{ page.z }}.",
        dialect="jekyll",
        read_include={"@site/_config.yml": "hall: Hall 7"}.get,
    )
    assert [block.text for block in jekyll.blocks] == ["Hall 7 and x, {{ page.z }}."]
    hugo = parse_markdown(
        'In {{< param room >}}.\n\n{{< figure src="a.png" caption="A pond in spring" >}}\n\n'
        "{{< youtube x >}}",
        dialect="hugo",
        read_include={"@site/hugo.toml": '[params]\nroom = "Hall 7"'}.get,
    )
    assert [block.text for block in hugo.blocks] == ["In Hall 7.", "A pond in spring"]
    assert [one.kind for one in hugo.left_out] == ["shortcode youtube"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("At 50%% of it and 20%% of that.", ["At 50%% of it and 20%% of that."]),
        ("One %% two.\n\n`%%x%%` three.", ["One %% two.", "`%%x%%` three."]),
        ("%%a%% b %%c%% d %% e", ["b d %% e"]),
        ("%%\n\nA remark.\n\n%%\n\nText.", ["Text."]),
    ],
)
def test_only_what_stands_between_two_marks_is_a_comment(written: str, shown: list[str]) -> None:
    assert texts(written) == shown
