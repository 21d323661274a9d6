"""Where code stands, and that nothing that is done to prose is done to it."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from core.answering.grounding.citations import presentable
from core.answering.writers.base import ClaimKind
from core.answering.writers.reader import ClaimLayout
from core.domain.links import (
    beginning,
    code_span,
    fenced,
    lasting,
    one_line,
    prose_without_links,
    shown_prose,
    without_links,
)
from core.domain.markdown import (
    CodeKind,
    code_in,
    code_spans,
    fence_opened_by,
    is_closed,
    is_closing,
    masked,
    outside_code,
    parser,
    without_code,
)
from core.domain.sentences import sentence_spans
from tests.answered import documents, letters, visible_letters, without_blanks

pytestmark = pytest.mark.costly

EXAMPLES = int(os.environ.get("CODE_EXAMPLES", "100"))
"""Of each property; a run before a release tries thousands."""
PIECES = (
    *("`", "``", "```", "````", "~~~", "\n", "\n\n", " ", "    ", "a", "b c", "- ", "1. ", "> "),
    *("# ", "|", "\n|---|---|\n", "[x](", "]", "(", ")", "<http://a", "<https://x.y>", ">", "\\"),
    *("![", "*", "**", "_", "x=1", "http://e.x/a?b", "\t", "\\|", "&lt;", "\r\n", "é", "\0", "[7]"),
)
soup = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)
texts = st.one_of(soup, documents)
CORPORA = Path(__file__).parents[5] / "shared" / "corpora"
tried = settings(deadline=None, max_examples=EXAMPLES)


def contents(text: str) -> list[str]:
    return [code.content for code in code_in(text)]


@tried
@given(texts)
def test_code_is_what_the_parser_says_and_stands_where_it_is_said_to(text: str) -> None:
    found = code_in(text)
    assert [code.content for code in found] == list(_parsed(text))
    for code in found:
        written = text[code.start : code.end]
        if code.kind is CodeKind.SPAN:
            assert written[0] == written[-1] == "`"
        elif code.kind is CodeKind.FENCE:
            assert written.startswith(("```", "~~~"))
        first = code.content.partition("\n")[0]
        assert _plain(first) in _plain(written), (code, written)


def _plain(text: str) -> str:
    """Return a text as the parser reads it in a table, without blanks."""
    return without_blanks(text.replace("\\|", "|").replace("\0", "\ufffd"))


def _parsed(text: str) -> "list[str]":
    def inner(tokens: object) -> list[str]:
        return [
            content
            for token in tokens or ()  # type: ignore[attr-defined]
            for content in (
                [token.content] if token.type == "code_inline" else inner(token.children)
            )
        ]

    found = []
    for token in parser().parse(text):
        if token.type == "inline":
            found += inner(token.children)
        elif token.type == "code_block" or (
            token.type == "fence" and (token.content.strip() or is_closed(token))
        ):
            found.append(token.content.removesuffix("\n"))
    return found


@tried
@given(texts)
def test_a_change_of_prose_leaves_code_and_no_change_leaves_all(text: str) -> None:
    assert outside_code(text, str) == text
    assert len(masked(text)) == len(text)
    assert outside_code(text, lambda _: "") == "".join(
        text[code.start : code.end] for code in code_in(text)
    )
    assert without_code(text, "") == outside_code(text, str) if not code_in(text) else True


@tried
@given(texts)
def test_what_is_presentable_keeps_its_code_and_leaves_none_open(text: str) -> None:
    shown = presentable(text)
    assert [c.rstrip() for c in contents(shown)] == [c.rstrip() for c in contents(text)]
    assert all(code.closed for code in code_in(shown))
    assert contents(f"{shown}\n\nThen `q`")[-1] == "q"
    assert presentable(shown) == shown


@tried
@given(texts)
def test_what_is_presentable_has_lost_nothing_but_targets(text: str) -> None:
    kept = visible_letters(prose_without_links(text))
    assert not kept - letters(presentable(text))


@tried
@given(texts)
def test_prose_alone_loses_its_links(text: str) -> None:
    named = prose_without_links(text)
    shown = shown_prose(named)
    assume(contents(shown) == contents(named))  # else what was code stands in prose now
    prose = without_code(shown, "")
    assert without_links(prose) == prose


@tried
@given(documents)
def test_no_sentence_tears_code(text: str) -> None:
    assume(all(code.kind is not CodeKind.INDENTED for code in code_in(text)))  # of passages
    spans = sentence_spans(text)
    for code in code_in(text):
        if code.kind is CodeKind.FENCE and code.top:
            assert not any(code.start < span.end < code.end for span in spans), text
        elif code.kind is CodeKind.SPAN:
            inner = [span for span in spans if code.start < span.end < code.end]
            assert not inner, (text, [text[s.start : s.end] for s in inner])


@tried
@given(documents)
def test_claims_of_a_draft_hold_its_code(text: str) -> None:
    parts = list(ClaimLayout().claims(text, ClaimKind.FACT, ()))
    told = [without_blanks(c) for part in parts for c in contents(presentable(part.text))]
    for code in code_in(text):
        is_shown = code.kind is not CodeKind.INDENTED  # a deep item of a list looks the same
        if is_shown and any(character.isalnum() for character in code.content):
            assert any(without_blanks(code.content) in one for one in told), (code, told)


@tried
@given(st.text(alphabet="`~ ab\\|<>[]()*_#\n", min_size=1, max_size=30))
def test_code_that_is_written_is_read_as_it_was(code: str) -> None:
    [read] = code_in(fenced(code, "py"))
    assert (read.content, read.info) == (code, "py")
    line = code.replace("\n", " ")
    if line.strip():
        assert contents(f"Use {code_span(line)} now") == [line]


@tried
@given(texts)
def test_one_line_is_one_line_with_its_spans(text: str) -> None:
    line = one_line(text)
    assert "\n" not in line
    spans = [code.content for code in code_in(text) if code.kind is CodeKind.SPAN]
    if len(spans) == len(code_in(text)) and "|" not in text:
        assert contents(line) == spans


@tried
@given(texts, st.integers(4, 60))
@example("Use `std::vector<int> of ints` here", 20)
def test_the_beginning_of_a_line_has_no_code_but_what_is_whole(text: str, longest: int) -> None:
    line = one_line(text)
    short = beginning(line, longest)
    assert len(short) <= longest
    assert line.startswith(short.removesuffix("…").rstrip(" "))
    if short != line and "~" not in text and "|" not in text:
        assert contents(short) == contents(line)[: len(contents(short))]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Run `git clone https://github.com/example/course.git` now.",) * 2,
        ("`curl https://api.example.org/v1/users?active=true`",) * 2,
        ("Open `sqlite:///path` [3].", "Open `sqlite:///path` (3)."),
        ("````md\n```py\nx = [1]\n```\n````",) * 2,
        ("~~~\nhttps://a.example/b\n~~~",) * 2,
        ("`` a ` https://a.example/b ``",) * 2,
        ("```cpp\nstd::vector<int>& v = a && b;\n```",) * 2,
        ("See https://a.example/b: `https://a.example/b`", "See a.example: `https://a.example/b`"),
        ("```sh\ncurl https://a.example/b", "```sh\ncurl https://a.example/b\n```"),
        ("    ls https://a.example", "```\nls https://a.example\n```"),
        ("```js click https://a.example\nx\n```", "```js\nx\n```"),
        ("A ` stray https://a.example/b", "A ‘ stray a.example"),
        ("``` not code https://a.example/b", "‘‘‘ not code a.example"),
    ],
)
def test_code_is_shown_byte_for_byte_and_prose_without_links(text: str, shown: str) -> None:
    assert presentable(text) == shown


@st.composite
def nested(draw: st.DrawFn, depth: int = 0) -> str:
    """Return blocks of which some are lists and quotes with blocks of their own, or fences."""
    deepest = depth == 3
    kinds = ["prose", "fence", "fence", "soup"] + ([] if deepest else ["-", "12.", ">", "md"])
    blocks = [_block(draw, depth, draw(st.sampled_from(kinds))) for _ in range(draw(SIZES))]
    return draw(st.sampled_from(["\n\n", "\n"])).join(blocks)


def _block(draw: st.DrawFn, depth: int, kind: str) -> str:
    if kind == "prose":
        return draw(st.sampled_from(["Say a. B $$", "b __c__. D", "| a | b. C |", "e `f. G` $$"]))
    if kind == "soup":
        return draw(soup)
    if kind == "fence":
        marks = draw(st.sampled_from(["```", "~~~", "````"]))
        lines = draw(st.lists(st.sampled_from(CODE_LINES), max_size=4))
        closing = draw(st.sampled_from([marks, marks, f"{marks}`", f"   {marks}", ""]))
        return "\n".join([draw(st.sampled_from([marks, f"{marks}py"])), *lines, closing])
    inner = draw(nested(depth + 1))
    if kind == "md":
        return f"`````md\n{inner}\n`````"
    first = f"{kind} "
    rest = first if kind == ">" else " " * len(first)
    return first + inner.replace("\n", f"\n{rest}")


SIZES = st.integers(1, 3)
CODE_LINES = ("x. Y", "", "    ```", "    ~~~ ", "> ```", "- ```", "``", "| a. B", "$$", "  in. D")
nested_texts = st.one_of(nested(), nested(), texts)
WRAPPED = (
    "```md\n- item\n\n    ```py\n    x = __a__\n    ```\n\n- second __b__. Third "
    "http://c.example/d\n```\n\nReal prose."
)


def fence_torn(text: str) -> str | None:
    """Return a fence of the text that a sentence ends in, or that is of two sentences."""
    spans = sentence_spans(text)
    for code in code_in(text):
        is_whole = any((code.start, code.end) == (span.start, span.end) for span in spans)
        if code.kind is CodeKind.FENCE and not is_whole:
            return text[code.start : code.end]
    return None


@tried
@given(nested_texts)
@example(WRAPPED)
@example("a $$ b\n\n```\n$$\n```")
@example("> ```\n> a\n> ```\n> b")
@example("- ~~~\n  a\n\nAfter it. More.")
def test_a_fence_is_one_sentence(text: str) -> None:
    assert fence_torn(text) is None


def test_a_fence_of_a_book_is_one_sentence() -> None:
    pages = sorted(CORPORA.rglob("*.md"))[::9]
    if not pages:
        pytest.skip("the corpora are not next to the project")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert fence_torn(text) is None, page
        _assert_read_alike(text)


@tried
@given(nested_texts)
@example(WRAPPED)
@example("```\n> ```\n```")
@example("- \n  \n  ```\n     ```\n  \n  Say a.")
def test_the_quick_readers_agree_with_the_parser(text: str) -> None:
    _assert_read_alike(text)


def _assert_read_alike(text: str) -> None:
    """Assert that the lines of each fence open, hold and close it, as the parser says."""
    for code in code_in(text):
        if code.kind is not CodeKind.FENCE:
            continue
        before, within = re.split(r"[\r\n]", text[: code.start])[-1], text[code.start : code.end]
        opening, *inner = re.split(r"\r\n|[\r\n]", before + within)
        fence = fence_opened_by(opening)
        assert fence is not None, opening
        assert fence.info == code.info or "&" in code.info or "\\" in code.info
        assert within.startswith(fence.marks)
        closings = [is_closing(line, fence) for line in inner]
        if not (code.top and before):  # one line cannot tell it from an item's, further left
            assert not any(closings[:-1]), (text, within)
        assert not code.closed or closings[-1], (text, within)


@tried
@given(nested_texts)
@example(WRAPPED)
def test_a_draft_that_is_cut_keeps_its_fences(text: str) -> None:
    parts = list(ClaimLayout().claims(text, ClaimKind.FACT, ()))
    shown = [without_blanks(c) for part in parts for c in contents(presentable(part.text))]
    for code in code_in(text):
        if code.kind is CodeKind.FENCE and any(map(str.isalnum, code.content)):
            assert without_blanks(code.content) in shown


@tried
@given(
    st.lists(st.sampled_from([*"ab `\\\n", "``", "```", "<http://a`b>"]), max_size=14).map("".join)
)
@example("a ``b")
@example("```x``` y")
def test_spans_of_a_paragraph_are_the_parsers(text: str) -> None:
    found = code_in(text)
    assume(all(code.kind is CodeKind.SPAN for code in found) and not re.search(r"\n[ >]*\n", text))
    assume(not re.search(r"(?m)^ *```", text))
    spans = [(code.start, code.end) for code in found]
    assert [tuple(span) for span in code_spans(text, 0, len(text))] == spans


def test_code_of_a_draft_stays_where_lists_and_quotes_stand_around_it() -> None:
    text = (
        "Do this:\n\n- Run\n\n      ls https://a.example\n\n- ```sh\n  # a comment\n  ls\n  ```\n"
    )
    assert [part.text for part in ClaimLayout().claims(text, ClaimKind.FACT, ())] == [text.strip()]


def test_lasting_text_is_closed_where_its_list_is() -> None:
    assert lasting("- ```sh\n  ls") == "- ```sh\n  ls\n  ```"
