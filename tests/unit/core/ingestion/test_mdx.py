"""MDX: components, expressions, imports and exports leave only what a reader sees."""

import pytest

from core.ingestion.document import Block
from core.ingestion.formats.markdown import parse_markdown


def blocks(text: str) -> list[Block]:
    document = parse_markdown(text, dialect="docusaurus", read_include=lambda path: None)
    return list(document.blocks)


def texts(text: str) -> list[str]:
    return [block.text for block in blocks(text)]


def test_imports_and_exports_are_dropped_and_lines_stay_right() -> None:
    page = (
        "import A from 'a'\nimport {\n  B,\n} from 'b'\n\n"
        "export const C = () => {\n\n  return <b>no</b>\n}\n\n# Head\n\ntext"
    )
    found = [(block.text, block.locator["line_start"]) for block in blocks(page)]
    assert found == [("Head", 11), ("text", 13)]


def test_prose_about_imports_is_kept() -> None:
    assert texts("import duties rise\n\nimport from abroad is cheap") == [
        "import duties rise",
        "import from abroad is cheap",
    ]


def test_component_tags_go_and_their_children_stay() -> None:
    page = (
        "<Tabs\n  groupId=\"os\"\n  values={[\n    {label: 'Mac', value: 'm'},\n  ]}>\n"
        '<TabItem value="w" label="Windows">\n\n    Run **this**.\n\n'
        "    ```sh\n    x {y}\n    ```\n"
        '</TabItem>\n<TabItem value="m" label="Mac">And *that*</TabItem>\n</Tabs>\n\nafter'
    )
    assert texts(page) == [
        "Windows",
        "Run this.",
        "```sh\nx {y}\n```",
        "Mac",
        "And that",
        "after",
    ]


def test_components_that_begin_on_one_line_show_their_titles_all() -> None:
    page = "<Tabs><TabItem value='a' label='Windows'>Run *it*</TabItem></Tabs>"
    assert texts(page) == ["Windows", "Run it"]


def test_admonition_components_and_details_keep_their_titles() -> None:
    page = (
        '<Admonition type="tip" title="My *tip*">\nBody\n</Admonition>\n\n'
        '<Admonition type="info">\nInfo body\n</Admonition>\n\n'
        "<details><summary>More</summary>\n\nHidden *below*\n</details>"
    )
    assert texts(page) == ["My *tip*", "Body", "Info", "Info body", "More", "Hidden below"]


def test_tags_inside_a_line_leave_the_line_whole() -> None:
    assert texts("Press <Key name={k}>A</Key> now, <>then</> <b>b</b> and <br/>c.") == [
        "Press A now, then b and\nc."
    ]


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("{props.name}", "{props.name}"),
        ("{/* a } comment */}", ""),
        ("{`template`}", "template"),
        ("{'*text*'}", "*text*"),
        ("{' '}", " "),
        ('{cond && <b title="}">x</b>}', ""),
        ("{a: {b: '}'}}", ""),
    ],
)
def test_expressions_are_dropped_but_plain_strings_and_names_stay(
    expression: str, shown: str
) -> None:
    assert texts(f"a{expression}b") == [f"a{shown}b"]


@pytest.mark.parametrize(
    "kept",
    [
        "`{code} <Tag/>`",
        "`` {a}`{b} ``",
        r"$\frac{a}{b}$",
        "an unclosed { brace",
        "a < b and c > d",
        "x <- y",
    ],
)
def test_code_formulas_and_stray_marks_are_untouched(kept: str) -> None:
    assert texts(f"See {kept}") == [f"See {kept}"]


def test_code_fences_are_never_touched() -> None:
    fence = "```jsx\nimport X from 'y'\n\n<X a={b}>{c}</X>\nexport default X\n```"
    assert texts(f"<X/>\n\n{fence}\n\n- item\n\n  ~~~\n  <a>{{b}}</a>\n  ~~~") == [
        fence,
        "- item",
        "```\n<a>{b}</a>\n```",
    ]


def test_highlight_comments_are_no_part_of_the_code() -> None:
    page = '```js title="a.js"\n// highlight-next-line\nx()\n/* highlight-end */\n```'
    assert texts(page) == ["a.js", "```js\nx()\n```"]


def test_heading_ids_are_anchors() -> None:
    heads = blocks("# A b\n\n## C {#own-id}\n\n## D {/* #other */}\n\n### `e` {/* x */}")
    assert [(head.text, head.anchor) for head in heads] == [
        ("A b", "a-b"),
        ("C", "own-id"),
        ("D", "other"),
        ("`e`", "e"),
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        "<div style={{display: 'none'}}>\n\nsecret\n\n</div>",
        "<Box hidden>\nsecret\n\n- *secret*\n</Box>",
        "<p hidden={true}>secret</p>",
        "<Head>\n<title>secret</title>\n</Head>",
    ],
)
def test_hidden_components_hide_their_children(hidden: str) -> None:
    assert texts(f"a\n\n{hidden}\n\nb") == ["a", "b"]


def test_what_is_not_hidden_after_all_stays() -> None:
    assert texts("<Box hidden={false}>\nshown\n</Box>") == ["shown"]


PAGE = """---
title: Head
---
import data from './v.json';

export const rate = 42;
export const room = "Hall 7";
export const hours = { open: 'nine', shut: ['ten'] };

"""


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It is {rate}, in {room}, {data.current}.", ["It is 42, in Hall 7, 3.1."]),
        ("At {hours.open} for {frontMatter.title}.", ["At nine for Head."]),
        ("A {`rate of ${rate}`} and {gone.x} and {f(1)}.", ["A rate of 42 and {gone.x} and ."]),
        (
            '<Card title="Fee" description="Paid" note="In nine days" className="a b" />',
            ["Fee. Paid. In nine days"],
        ),
        ("10<sup>6</sup> m, H<sub>2</sub>O, ~~old~~ new", ["10⁶ m, H₂O, new"]),
    ],
)
def test_constants_and_props_are_put_in(written: str, shown: list[str]) -> None:
    read = parse_markdown(
        PAGE + written, dialect="docusaurus", read_include={"v.json": '{"current": "3.1"}'}.get
    )
    assert [block.text for block in read.blocks] == shown


def test_what_a_page_computes_is_counted() -> None:
    page = (
        "{list.map(x => <li>two words</li>)} {/* a remark */}\n\n<Chart data={points} />\n\n"
        "<Quiz items={[{q: 'How deep is it?'}]}>Text.</Quiz>"
    )
    read = parse_markdown(page, dialect="docusaurus", read_include=lambda _: None)
    assert [(one.kind, one.words) for one in read.left_out] == [
        ("expression", 2),
        ("comment", 2),
        ("component Chart", 0),
        ("computed prop", 4),
    ]
