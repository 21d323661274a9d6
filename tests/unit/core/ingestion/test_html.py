"""Web pages become blocks: the main content, with code, tables and formulas, nothing hidden."""

import pytest

from core.ingestion.document import Block, BlockKind, Omission
from core.ingestion.formats.html import parse_html


def blocks(html: str) -> list[Block]:
    return list(parse_html(f"<html><body><main>{html}</main></body></html>").blocks)


def texts(html: str) -> list[str]:
    return [block.text for block in blocks(html)]


def test_only_the_main_content_is_read() -> None:
    page = (
        "<body><header>Site</header><nav>Menu</nav><main><p>Lesson</p></main>"
        "<aside>Advert</aside><footer>Imprint</footer></body>"
    )
    assert [block.text for block in parse_html(page).blocks] == ["Lesson"]


def test_without_main_the_body_is_read_without_its_furniture() -> None:
    page = (
        "<body><header>Site</header><div>Lesson<script>x()</script></div>"
        "<footer>Imprint</footer><style>p{}</style><template>later</template></body>"
    )
    assert [block.text for block in parse_html(page).blocks] == ["Lesson"]


def test_an_empty_main_does_not_hide_the_page() -> None:
    page = "<body><main></main><div>The lesson stands beside it.</div></body>"
    assert [block.text for block in parse_html(page).blocks] == ["The lesson stands beside it."]


@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ('<h2 id="demand">Demand<a class="headerlink" href="#demand">¶</a></h2>', "demand"),
        ('<h2><a class="header" id="demand" href="#demand">Demand</a></h2>', "demand"),
        ('<section id="demand"><h2>Demand</h2></section>', "demand"),
        ('<a id="demand"></a><h2>Demand</h2>', "demand"),
        ('<h2><span class="mw-headline" id="demand">Demand</span></h2>', "demand"),
        ("<p>Before</p><h2>Demand</h2>", None),
    ],
)
def test_a_heading_has_the_fragment_of_its_page(markup: str, anchor: str | None) -> None:
    heading = blocks(markup)[-1]
    assert heading == Block(BlockKind.HEADING, "Demand", 2, anchor)


def test_inline_markup_goes_and_inline_code_keeps_its_backticks() -> None:
    markup = '<p>See <a href="/x"><b>the</b> rule</a>:\n <code>a | b</code>&nbsp;now.</p>'
    assert texts(markup) == ["See the rule: `a | b` now."]


def test_an_exponent_does_not_become_a_digit_of_its_number() -> None:
    assert texts("<p>10<sup>6</sup> H<sub>2</sub>O, the 2<sup>nd</sup>.</p>") == [
        "10⁶ H₂O, the 2nd."
    ]


@pytest.mark.parametrize(
    "markup",
    [
        '<pre><code class="language-rust">fn main() {\n    run();\n}\n</code></pre>',
        '<div class="highlight-rust notranslate"><pre>fn main() {\n    run();\n}</pre></div>',
        '<div class="language-rust"><pre><code><span class="token-line">fn main() {<br></span>'
        '<span class="token-line">    run();<br></span><span>}</span></code>'
        "<button>Copy</button></pre></div>",
    ],
)
def test_code_becomes_a_fence_with_its_language(markup: str) -> None:
    assert texts(markup) == ["```rust\nfn main() {\n    run();\n}\n```"]


def test_line_numbers_beside_code_are_no_code() -> None:
    markup = (
        '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td>'
        '<td class="code"><pre>a = 1\nb = 2</pre></td></tr></table>'
    )
    assert texts(markup) == ["```\na = 1\nb = 2\n```"]


def test_a_table_becomes_a_pipe_table_with_its_spans_filled_in() -> None:
    markup = (
        "<table><caption>Prices</caption><thead><tr><th>Good<th>Price</thead>"
        "<tr><td rowspan=2>Tea<td>1 | 2<tr><td>3<tr><td colspan=99999>none</table>"
    )
    caption, table = blocks(markup)
    assert caption.text == "Prices"
    assert table.kind is BlockKind.TABLE
    assert table.text.split("\n") == [
        "| Good | Price |",
        "| --- | --- |",
        "| Tea | 1 \\| 2 |",
        "| Tea | 3 |",
        "| none |  |",
    ]


def test_lists_keep_their_marks_numbers_and_depth() -> None:
    items = blocks('<ul><li>a<ul><li><p>b</p></li></ul></li></ul><ol start="3"><li>c<li>d</ol>')
    assert [(item.text, item.level) for item in items] == [
        ("- a", 1),
        ("- b", 2),
        ("3. c", 1),
        ("4. d", 1),
    ]


def test_details_are_read_whether_open_or_not() -> None:
    assert texts("<details><summary>Answer</summary><p>42</p></details>") == ["Answer", "42"]


@pytest.mark.parametrize(
    ("markup", "formula"),
    [
        (
            '<span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi>'
            '<annotation encoding="application/x-tex">x^2</annotation></semantics></math></span>'
            '<span class="katex-html" aria-hidden="true">x2</span></span>',
            "$x^2$",
        ),
        ('<span class="MathJax">x2</span><script type="math/tex">x^2</script>', "$x^2$"),
        ('<math alttext="{\\displaystyle x^2}"><mi>x</mi></math>', "$x^2$"),
        ("<math><msup><mi>x</mi><mn>2</mn></msup></math>", "$x^{2}$"),
        ("<math><mfrac><mn>1</mn><mi>q</mi></mfrac></math>", "$\\frac{1}{q}$"),
        (
            '<span class="mwe-math-element"><span style="display:none"><math alttext="x^2"></math>'
            '</span><img class="mwe-math-fallback-image-inline" alt="x^2"></span>',
            "$x^2$",
        ),
    ],
)
def test_a_formula_is_read_once_as_tex(markup: str, formula: str) -> None:
    assert texts(f"<p>Let {markup} be.</p>") == [f"Let {formula} be."]


def test_a_displayed_formula_is_a_block() -> None:
    markup = '<p>So</p><script type="math/tex; mode=display">a = b</script>'
    assert blocks(markup)[1] == Block(BlockKind.FORMULA, "$$a = b$$")


def test_tex_in_the_text_counts_where_a_script_draws_it() -> None:
    page = "<main><p>Let \\(x\\) be.</p><div>\\[y\\]</div></main>"
    drawn = f'<script src="https://cdn.example/mathjax.js"></script>{page}'
    assert [block.text for block in parse_html(drawn).blocks] == ["Let $x$ be.", "$$y$$"]
    assert parse_html(page).blocks[0].text == "Let \\(x\\) be."


@pytest.mark.parametrize(
    "markup",
    [
        '<p style="display: none">SECRET</p>',
        '<p style="DISPLAY:NONE !important">SECRET</p>',
        '<p style="visibility:hidden">SECRET</p>',
        '<p style="font-size:0">SECRET</p>',
        '<p style="font-size:0.01em">SECRET</p>',
        '<p style="opacity:0">SECRET</p>',
        "<p hidden>SECRET</p>",
        '<p style="color:#fff">SECRET</p>',
        '<p style="color:white;background:#fefefe">SECRET</p>',
        '<div style="background:#111"><p style="color:#121212">SECRET</p></div>',
        '<p style="color:transparent">SECRET</p>',
        '<font color="#FFFFFF">SECRET</font>',
        '<p style="position:absolute;left:-9999px">SECRET</p>',
        '<p style="text-indent:-9999px">SECRET</p>',
        '<p style="position:absolute;clip:rect(0,0,0,0)">SECRET</p>',
        '<p style="height:0;overflow:hidden">SECRET</p>',
        '<p class="sr-only">SECRET</p>',
        "<!-- SECRET -->",
        "<template>SECRET</template>",
        "<noscript>SECRET</noscript>",
        '<img alt="SECRET">',
        '<a title="SECRET">seen</a>',
        '<pre>seen<span style="display:none">SECRET</span></pre>',
        "<table><tr><td>seen<td hidden>SECRET</table>",
        "<svg><text>SECRET</text></svg>",
    ],
)
def test_hidden_text_is_left_out(markup: str) -> None:
    assert "SECRET" not in "\n".join(texts(f"<p>seen</p>{markup}"))


def test_white_text_on_a_dark_ground_is_kept() -> None:
    markup = '<div style="background-color:rgb(10, 10, 40)"><p style="color:#fff">seen</p></div>'
    assert texts(markup) == ["seen"]


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Demand - The Book</title>", "Demand"),
        ("<title>The Book</title><meta property='og:title' content='On demand'>", "On demand"),
        ("<title>The Book</title>", "The Book"),
        ("", None),
    ],
)
def test_the_title_is_the_pages_own(head: str, title: str | None) -> None:
    assert parse_html(f"<head>{head}</head><body><h1>Demand</h1></body>").title == title


def test_the_language_is_told() -> None:
    assert parse_html('<html lang="de"><body>Hallo</body></html>').metadata == {"language": "de"}


def test_bytes_are_decoded_as_the_page_declares() -> None:
    page = '<meta charset="iso-8859-1"><p>Pâté</p>'.encode("latin-1")
    assert parse_html(page).blocks[0].text == "Pâté"


def test_a_defined_term_stands_before_its_definition() -> None:
    page = "<main><p>Words.</p><dl><dt>Fern</dt><dt>Bracken</dt><dd>A plant.</dd></dl></main>"
    assert [block.text for block in parse_html(page).blocks] == [
        "Words.",
        "Fern, Bracken: A plant.",
    ]


_SHEET = """<style>/* marks */ .up, b.up {vertical-align: super} @media print {.x {color: red}}
.down {font-size: .7em; vertical-align: sub} .old:not(.new) {text-decoration: line-through red}
p::selection, {vertical-align: super}</style>"""


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("<p>10<sup>-3</sup> s</p>", "10⁻³ s"),
        ("<p>x<sup>2,5</sup></p>", "x^(2,5)"),
        ("<p>v<sub>max</sub> and CO<sub>2</sub></p>", "v_(max) and CO₂"),
        ("<table><tr><td>10<sup>9</sup></table>", "| 10⁹ |\n| --- |"),
        ("<h2>The 10<sup>6</sup> club</h2>", "The 10⁶ club"),
        (f"{_SHEET}<p>10<i class=up>6</i> l of H<i class=down>2</i>O</p>", "10⁶ l of H₂O"),
        (f"{_SHEET}<p>The fee is <i class=old>40</i> 50.</p>", "The fee is 50."),
        ('<p>Wa<span role="doc-pagebreak">12</span>ter</p>', "Water"),
    ],
)
def test_raised_and_lowered_text_keeps_its_meaning(markup: str, shown: str) -> None:
    assert texts(markup) == [shown]


@pytest.mark.parametrize(
    "struck",
    [
        "<s>40 euros</s>",
        "<del>40 euros</del>",
        "<strike>40 euros</strike>",
        '<span style="color:red; text-decoration: line-through">40 euros</span>',
    ],
)
def test_struck_text_is_left_out_and_counted(struck: str) -> None:
    document = parse_html(f"<main><h1>Fees</h1><p>The fee is {struck} 30 euros.</p></main>")
    assert document.blocks[1].text == "The fee is 30 euros."
    assert document.left_out == (Omission("struck text", 'under "Fees"', 2),)


def test_struck_code_is_left_out_too() -> None:
    assert texts("<pre>a = 1\n<del>b = 2\n</del>c = 3</pre>") == ["```\na = 1\nc = 3\n```"]


@pytest.mark.parametrize(
    "panel",
    [
        '<div role="tabpanel" hidden><p>Panel</p></div>',
        '<div class="tab-pane fade" style="display:none"><p>Panel</p></div>',
        '<div hidden="until-found"><p>Panel</p></div>',
        '<button aria-controls="x">Open</button><div id="x" hidden><p>Panel</p></div>',
        '<h3><button aria-expanded="false">Open</button></h3><div hidden><p>Panel</p></div>',
        '<details><summary>Open</summary><div><div style="display:none;height:0"><p>Panel</p>'
        "</div></div></details>",
        '<a data-bs-toggle="collapse" href="#y">Open</a><div id="y" style="height:0;'
        'overflow:hidden"><p>Panel</p></div>',
        "<button onclick=\"show(event, 'z')\">Open</button>"
        '<div id="z" style="display: none"><p>Panel</p></div>',
    ],
)
def test_what_a_click_unfolds_is_read(panel: str) -> None:
    assert "Panel" in texts(panel)


def test_a_tab_stands_above_its_panel() -> None:
    tabs = (
        '<ul role="tablist"><li role="tab">Linux</li><li role="tab">Windows</li></ul>'
        '<div><div role="tabpanel">apt install kit</div>'
        '<div role="tabpanel" hidden>kit-setup.exe</div></div>'
    )
    assert texts(tabs) == ["Linux", "apt install kit", "Windows", "kit-setup.exe"]
    named = (
        '<div role="tablist"><button role="tab" aria-controls="b">B</button>'
        '<button role="tab" aria-controls="a">A</button></div>'
        '<div id="a" role="tabpanel">first</div><div id="b" role="tabpanel" hidden>second</div>'
    )
    assert texts(named) == ["A", "first", "B", "second"]


def test_a_tab_without_a_panel_is_not_lost() -> None:
    assert texts('<ul role="tablist"><li role="tab">Linux</li></ul><p>Text.</p>') == [
        "- Linux",
        "Text.",
    ]


def test_what_is_not_read_is_counted_by_kind() -> None:
    page = (
        '<main><h1>Kit</h1><p hidden>two words</p><iframe src="x"></iframe><video></video>'
        '<img src="a.png"><img src="line.png" alt=""><canvas></canvas><input type="text">'
        "<svg><text>axis</text></svg><svg><path/></svg></main>"
    )
    found = [(one.kind, one.words) for one in parse_html(page).left_out]
    assert found == [
        ("hidden text", 2),
        ("embedded page", 0),
        ("video or sound", 0),
        ("picture", 0),
        ("drawing", 0),
        ("form control", 0),
        ("drawing", 1),
    ]


@pytest.mark.parametrize(
    ("markup", "labels"),
    [
        ('<ol type="a"><li>x<li>y</ol>', ["a. x", "b. y"]),
        ('<ol type="I" start="4"><li>x<li>y</ol>', ["IV. x", "V. y"]),
        ('<ol style="list-style-type: lower-roman"><li>x</ol>', ["i. x"]),
        ("<ol reversed><li>x<li>y</ol>", ["2. x", "1. y"]),
        ('<ol><li>x<li value="7">y<li>z</ol>', ["1. x", "7. y", "8. z"]),
    ],
)
def test_lists_have_the_labels_that_a_reader_sees(markup: str, labels: list[str]) -> None:
    assert texts(markup) == labels


def test_a_note_and_its_mark_lead_to_each_other() -> None:
    markup = (
        '<p>Silt<sup><a id="r1" href="#n1">1</a></sup> sinks; see <a href="#s">below</a>.</p>'
        '<p id="n1"><a href="#r1">1</a> Finer than sand.</p><h2 id="s">Below</h2>'
    )
    assert texts(markup) == ["Silt[1] sinks; see below.", "[1] Finer than sand.", "Below"]


def test_the_sources_of_an_encyclopedia_are_not_marked_in_its_text() -> None:
    markup = (
        '<p>Silt<sup id="c1" class="reference"><a href="#n1">[1]</a></sup> sinks.</p>'
        '<ol><li id="n1"><a href="#c1">^</a> Reed 1953.</li></ol>'
    )
    assert texts(markup)[0] == "Silt sinks."
