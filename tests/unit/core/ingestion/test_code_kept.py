"""Code of a page is code of its passages, byte for byte, however long it is and where it stands."""

import os
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.domain.links import code_span, fenced
from core.domain.markdown import code_in
from tests.answered import chunks_of, documents, without_blanks

pytestmark = pytest.mark.costly

EXAMPLES = int(os.environ.get("CODE_EXAMPLES", "60"))
CORPORA = Path(__file__).parents[5] / "shared" / "corpora"
DOCS = Path(__file__).parents[4] / "docs"

LINE = "    value = compute(alpha, beta)  # see https://example.org/a?b=c\n"
STANZAS = (
    *("", "    ", "def one():\n" + 4 * LINE, "class Two:\n\n\n" + 6 * LINE, "```sh", "a  b"),
    *("x = '" + "word, " * 400 + "'", "key = '" + "abcd1234" * 200 + "'", 30 * LINE),
)
listings = st.lists(st.sampled_from(STANZAS), min_size=2, max_size=8).map("\n\n".join)
SHORT = ("a  b", "  indented", "x | y", "printf('%s\t')", "a ` b", "\u00a0", "git  log", "    ")
short = st.sampled_from(SHORT)
blocks = st.one_of(
    st.builds(fenced, listings, st.sampled_from(["", "py"])),
    listings.map(lambda code: "\n".join(f"    {line}" for line in code.split("\n"))),
    st.lists(short, min_size=1, max_size=40).map(
        lambda codes: "Run " + ", ".join(f"{code_span(code)} or so" for code in codes) + "."
    ),
    st.builds(lambda code: f"Say {code_span(code.replace(chr(10), ' '))}.", listings),
    st.lists(short, min_size=1, max_size=9).map(
        lambda codes: (
            "| code | what |\n|---|---|\n"
            + "\n".join(f"| {code_span(code).replace('|', chr(92) + '|')} | it |" for code in codes)
        )
    ),
)
pages = st.lists(st.one_of(blocks, documents), min_size=1, max_size=4).map(
    lambda parts: "# Page\n\nText.\n\n" + "\n\nText.\n\n".join(parts)
)


def check(page: str) -> None:
    """Check that passages have the page's code, and no other."""
    there = [code.content for code in code_in(page)]
    kept = [code.content for chunk in chunks_of(page) for code in code_in(chunk.content_text)]
    for one in kept:
        assert any(one in code for code in there), one
    together = without_blanks("".join(kept))
    for code in there:
        assert without_blanks(code) in together, code


@settings(deadline=None, max_examples=EXAMPLES)
@given(pages)
def test_code_of_a_page_is_code_of_its_passages(page: str) -> None:
    assume(not any(line.startswith("#") and "`" in line for line in page.split("\n")[1:]))
    check(page)


@pytest.mark.parametrize("book", ["docs", "rust-book"])
def test_code_of_real_pages_is_code_of_their_passages(book: str) -> None:
    folder = DOCS if book == "docs" else CORPORA / book
    if not folder.is_dir():
        pytest.skip("the corpora are not next to the project")
    for path in sorted(folder.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        there = {code.content for code in code_in(page)}
        if "<pre" in page or "{{#" in page:
            continue  # its code is not that of Markdown alone
        for chunk in chunks_of(page):
            for code in code_in(chunk.content_text):
                assert any(code.content in one for one in there), (path.name, code.content)
