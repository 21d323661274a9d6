"""Included files: mdBook links, MkDocs snippets and MDX partials."""

from core.ingestion.document import ParsedDocument
from core.ingestion.formats.markdown import parse_markdown

RUST = """\
use std::fs;
// ANCHOR: main
fn main() {
# hidden();
    shown();
    ## escaped
    #[allow(dead_code)]
}
// ANCHOR_END: main
"""


def parsed(text: str, dialect: str, files: dict[str, str] | None = None) -> ParsedDocument:
    return parse_markdown(text, dialect=dialect, read_include=(files or {}).get)


def texts(text: str, dialect: str, files: dict[str, str] | None = None) -> list[str]:
    return [block.text for block in parsed(text, dialect, files).blocks]


def test_mdbook_includes_a_file_by_anchor_without_its_hidden_lines() -> None:
    page = "```rust\n{{#rustdoc_include ../src/main.rs:main}}\n```"
    (code,) = texts(page, "mdbook", {"../src/main.rs": RUST})
    assert code == (
        "```rust\nfn main() {\n    shown();\n    # escaped\n    #[allow(dead_code)]\n}\n```"
    )


def test_mdbook_includes_lines_by_number() -> None:
    files = {"a.txt": "1\n2\n3\n4\n5\n"}
    for part, expected in {
        "": "1\n2\n3\n4\n5",
        ":2": "2",
        ":2:3": "2\n3",
        "::2": "1\n2",
        ":4:": "4\n5",
        ":9": "",
    }.items():
        page = f"```\n{{{{#include a.txt{part}}}}}\n```"
        assert texts(page, "mdbook", files) == ([f"```\n{expected}\n```"] if expected else [])


def test_mdbook_playgrounds_become_code_and_titles_the_title() -> None:
    page = parsed("{{#title Own}}\n{{#playground a.rs editable}}", "mdbook", {"a.rs": "fn a() {}"})
    assert page.title == "Own"
    assert [block.text for block in page.blocks] == ["```rust\nfn a() {}\n```"]


def test_an_escaped_mdbook_link_is_shown_as_it_is() -> None:
    assert texts("\\{{#include a.md}}", "mdbook") == ["{{#include a.md}}"]


def test_hidden_lines_belong_to_rust_in_mdbook_only() -> None:
    page = "```{}\n# comment\nx\n```"
    assert texts(page.format("python"), "mdbook") == ["```python\n# comment\nx\n```"]
    assert texts(page.format("rust"), "mkdocs") == ["```rust\n# comment\nx\n```"]
    assert texts(page.format("rust,ignore"), "mdbook") == ["```rust\nx\n```"]


def test_included_text_stands_for_the_line_that_included_it() -> None:
    page = parsed("one\n\n{{#include a.md}}\n\nlast", "mdbook", {"a.md": "# A\n\nb\n\nc\n"})
    found = [(block.text, block.locator["line_start"]) for block in page.blocks]
    assert found == [("one", 1), ("A", 3), ("b", 3), ("c", 3), ("last", 5)]


def test_nested_includes_count_from_the_file_they_stand_in() -> None:
    files = {"parts/a.md": "{{#include b.md}}", "parts/b.md": "deep"}
    assert texts("{{#include parts/a.md}}", "mdbook", files) == ["deep"]


def test_a_missing_include_is_a_warning_that_names_it() -> None:
    page = parsed("a\n\n{{#include gone.md}}\n\nb {{#include gone.md}}", "mdbook")
    assert [block.text for block in page.blocks] == ["a", "b"]
    assert page.warnings == ("The included file gone.md is missing.",)


def test_an_unknown_anchor_is_a_warning() -> None:
    page = parsed("a {{#include a.rs:nope}}", "mdbook", {"a.rs": "x"})
    assert page.warnings == ("The included file a.rs has no part called nope.",)


def test_cycles_end_with_a_warning() -> None:
    files = {"a.md": "A\n\n{{#include b.md}}", "b.md": "B\n\n{{#include a.md}}"}
    page = parsed("{{#include a.md}}", "mdbook", files)
    assert [block.text for block in page.blocks] == ["A", "B"]
    assert page.warnings == ("The file a.md includes itself and was left out there.",)


def test_depth_and_length_of_includes_are_limited() -> None:
    chain = {f"{n}.md": f"{{{{#include {n + 1}.md}}}}" for n in range(50)}
    assert "too deeply" in parsed("{{#include 0.md}}", "mdbook", chain).warnings[0]
    bomb = {f"{n}.md": f"{{{{#include {n + 1}.md}}}}" * 60 for n in range(7)}
    page = parsed("{{#include 0.md}}", "mdbook", {**bomb, "7.md": "ha" * 500})
    assert any("too long" in warning for warning in page.warnings)


def test_listing_tags_give_their_words() -> None:
    page = (
        '<Listing number="4-1" file-name="src/main.rs" caption="An `Option<T>` in use">\n\n'
        "```rust\nfn main() {}\n```\n\n</Listing>\n\nafter"
    )
    assert texts(page, "mdbook") == [
        "Filename: src/main.rs",
        "```rust\nfn main() {}\n```",
        "Listing 4-1: An `Option<T>` in use",
        "after",
    ]


def test_mkdocs_splices_snippets_with_sections_lines_and_indentation() -> None:
    files = {
        "a.md": "no\n<!-- --8<-- [start:s] -->\n*yes*\n<!-- --8<-- [end:s] -->\nno",
        "b.py": "1\n2\n3",
        "c.md": 'c\n\n--8<-- "b.py:3:3"',
    }
    page = (
        '- item\n\n    --8<-- "a.md:s"\n\n```py\n--8<-- "b.py:2:3"\n```\n\n'
        '--8<--\nc.md\n--8<--\n\n;--8<-- "b.py"\n'
    )
    assert texts(page, "mkdocs", files) == [
        "- item",
        "yes",
        "```py\n2\n3\n```",
        "c",
        "3",
        '--8<-- "b.py"',
    ]


def test_missing_snippets_and_snippet_cycles_are_warnings() -> None:
    page = parsed('--8<-- "x.md"\n--8<-- "me.md"', "mkdocs", {"me.md": '--8<-- "me.md"\nme'})
    assert [block.text for block in page.blocks] == ["me"]
    assert page.warnings == (
        "The included file x.md is missing.",
        "The file me.md includes itself and was left out there.",
    )


def test_mdx_partials_stand_in_for_their_tags() -> None:
    page = "import Part from './parts/_a.mdx';\n\n# Head\n\n<Part level={2} />\n\nafter"
    files = {
        "parts/_a.mdx": "---\nx: 1\n---\nimport B from './_b.md'\n\nPart **text** {1}\n\n<B/>",
        "parts/_b.md": "inner",
    }
    document = parsed(page, "docusaurus", files)
    found = [(block.text, block.locator["line_start"]) for block in document.blocks]
    assert found == [("Head", 3), ("Part text 1", 5), ("inner", 5), ("after", 7)]


def test_a_missing_partial_is_a_warning() -> None:
    page = parsed("import P from '@site/docs/_p.mdx'\n\n<P/>\n\ntext", "docusaurus")
    assert page.warnings == ("The included file @site/docs/_p.mdx is missing.",)
    assert [block.text for block in page.blocks] == ["text"]
