"""Messages of a platform's length: nothing torn, nothing lost, nothing too long."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from wcwidth import iter_graphemes

from adapters.chat.markdown.layout import pack, pieces, split, utf16_length

ROOT = Path(__file__).parents[4]
RUST_BOOK = ROOT.parent / "shared" / "corpora" / "rust-book" / "book"
LIMIT = 2_000
PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])

CODE = "".join(f"    let value_{n} = {n};\n" for n in range(200))
FENCE = f"```rust\nfn main() {{\n{CODE}}}\n```\n"
TABLE = "| Key | Value |\n|---|---|\n" + "".join(f"| k{n} | v{n} |\n" for n in range(300))


def torn_fences(message: str) -> int:
    """Return how many fences of a message are not closed by the message itself."""
    lines = message.split("\n")
    return sum(
        set(lines[token.map[1] - 1].strip(" >")) != {token.markup[0]}
        or token.map[1] - token.map[0] < 2
        for token in PARSER.parse(message)
        if token.type == "fence" and token.map
    )


def code_of(text: str) -> str:
    """Return all code of a text without blanks."""
    return "".join(
        "".join(token.content.split()) for token in PARSER.parse(text) if token.type == "fence"
    )


def passages(path: Path) -> list[str]:
    """Return a page as answers of several sizes, each ending between blocks of the page."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    ends = [
        token.map[1] for token in PARSER.parse(text) if token.level == 0 and token.map is not None
    ]
    found: list[str] = []
    for size in (1_200, 2_500, 5_000, 12_000):
        start = 0
        for end in ends:
            passage = "".join(lines[start:end])
            if len(passage) >= size or end == ends[-1]:
                found.append(passage)
                start = end
    return found


def check(text: str, limit: int) -> None:
    parts = pieces(text, limit)
    assert "".join(part.body for part in parts) == text
    messages = [part.text for part in parts if part.text]
    assert all(0 < len(message) <= limit for message in messages)
    assert sum(map(torn_fences, messages)) == 0
    assert "".join(map(code_of, messages)) == code_of(text)


def markdown_passages() -> list[str]:
    pages = sorted((ROOT / "docs").glob("*.md"))
    assert pages
    if RUST_BOOK.is_dir():
        pages += sorted(RUST_BOOK.glob("*.md"))
    return [passage for page in pages for passage in passages(page)]


@pytest.mark.costly
def test_no_passage_of_our_own_pages_is_torn_too_long_or_lost() -> None:
    for page in sorted((ROOT / "docs").glob("*.md")):
        for passage in [page.read_text(encoding="utf-8"), *passages(page)]:
            check(passage, LIMIT)


@pytest.mark.slow
def test_no_passage_of_a_whole_book_is_torn_too_long_or_lost() -> None:
    if not RUST_BOOK.is_dir():
        pytest.skip("the Rust book is not beside the project")
    found = markdown_passages()
    assert len(found) >= 1_473
    for passage in found:
        check(passage, LIMIT)


def test_code_that_is_cut_is_closed_and_opened_again_with_its_language() -> None:
    messages = split(FENCE, LIMIT)
    assert len(messages) > 1
    assert all(message.startswith("```rust\n") for message in messages)
    assert all(message.endswith("\n```") for message in messages)


def test_code_near_the_end_of_a_message_begins_the_next_one() -> None:
    prose = "Some words about it. " * 75
    first, second, *_ = split(f"{prose}\n{FENCE}", LIMIT)
    assert "```" not in first
    assert second.startswith("```rust\nfn main() {")


def test_code_in_a_list_or_a_quote_stays_code() -> None:
    for prefix in ("    ", "> "):
        quoted = "".join(prefix + line for line in FENCE.splitlines(keepends=True))
        text = quoted if prefix == "> " else f"1.  An item\n\n{quoted}\n    More of it.\n"
        messages = split(text, LIMIT)
        assert len(messages) > 1
        assert sum(map(torn_fences, messages)) == 0
        code = "".join(map(code_of, messages))
        assert code == "".join(FENCE[7:-4].split())


def test_a_table_repeats_its_header() -> None:
    messages = split(TABLE, LIMIT)
    assert len(messages) > 1
    assert all(message.startswith("| Key | Value |\n|---|---|\n| k") for message in messages)


def test_a_drawn_table_repeats_its_header_inside_its_fence() -> None:
    rows = "".join(f"k{n} │ v{n}\n" for n in range(300))
    messages = split(f"```\nKey │ Value\n────┼──────\n{rows}```", LIMIT)
    assert len(messages) > 1
    assert all(m.startswith("```\nKey │ Value\n────┼──────\nk") for m in messages)


@pytest.mark.parametrize(
    "construct",
    [
        "[a label of a link](https://book.example.org/page)",
        "`code with blanks in it`",
        "$a + b = c$",
        "$$\na + b\n= c\n$$",
        r"\[ a + b = c \]",
        "**words that matter a lot**",
        "*some words* [3]",
        "_other words here_",
        "~~words struck out~~",
        "👩\u200d👩\u200d👧",
        "e\u0301",
    ],
)
def test_what_belongs_together_stays_in_one_message(construct: str) -> None:
    for length in range(60, 110):
        text = "x" * 3 + " word" * (length // 5) + "." * (length % 5) + f" {construct} and more."
        messages = split(text, 100)
        assert any(construct in message for message in messages)


def test_a_citation_marker_stays_with_its_sentence() -> None:
    for words in range(10, 60):
        text = "word " * words + "end. [1] [2] " + "Another sentence follows here. [3] " * 3
        for message in split(text, 100):
            assert not message.startswith("[")


def test_emphasis_longer_than_a_message_is_closed_and_opened_again() -> None:
    first, *_, last = split(f"**{'word ' * 100}end**", 100)
    assert first.startswith("**word")
    assert first.endswith("word**")
    assert last.startswith("**word")


def test_a_heading_is_not_left_behind_at_the_end_of_a_message() -> None:
    for words in range(5, 25):
        text = f"{'word ' * words}.\n\n## A heading\n\nIts text has some words, too."
        assert not split(text, 80)[0].endswith("heading")


def test_sentences_are_kept_before_words() -> None:
    assert split("One two three. Four five six. Seven eight nine.", 32) == [
        "One two three. Four five six.",
        "Seven eight nine.",
    ]


def test_utf16_counts_what_lies_outside_the_basic_plane_twice() -> None:
    text = "🙂" * 90
    assert utf16_length(text) == 180
    messages = split(text, 50, count=utf16_length)
    assert max(map(utf16_length, messages)) <= 50
    assert "".join(messages) == text


def test_blank_text_makes_no_message() -> None:
    assert split("", LIMIT) == split(" \n\n ", LIMIT) == []


# --- footnotes ----------------------------------------------------------------------------


def test_footnotes_stand_below_the_last_words_never_alone() -> None:
    notes = "\n".join(f"[{n}] A place in the book" for n in range(1, 6))
    for sentences in range(1, 40):
        text = "A sentence of some words. [1] " * sentences
        parts = pack(text.strip(), notes, 300)
        assert parts[-1][0].startswith("A sentence")
        assert [below for _, below in parts] == [""] * (len(parts) - 1) + [notes]
        assert max(map(length, parts)) <= 300
        assert "".join("".join(map("".join, parts)).split()) == "".join((text + notes).split())


def test_code_at_the_end_is_cut_for_the_footnotes_and_stays_whole() -> None:
    notes = "\n".join(f"[{n}] A place in the book" for n in range(1, 12))
    parts = pack(FENCE[: LIMIT - 200] + "\n```", notes, LIMIT)
    assert sum(torn_fences(words) for words, _ in parts) == 0
    assert parts[-1][0].startswith("```rust\n")
    assert parts[-1][1] == notes


def test_endless_footnotes_go_on_in_messages_of_their_own() -> None:
    lines = [f"[{n}] A place in the book" for n in range(1, 100)]
    parts = pack("An answer [1].", "\n".join(lines), 500)
    assert [words for words, _ in parts] == ["An answer [1]."] + [""] * (len(parts) - 1)
    assert [line for _, below in parts for line in below.splitlines()] == lines
    assert max(map(length, parts)) <= 500


def test_no_footnotes_and_no_text_are_fine() -> None:
    assert pack("An answer.", "", 100) == [("An answer.", "")]
    assert pack("", "[1] A place", 100) == [("", "[1] A place")]


def length(part: tuple[str, str]) -> int:
    """Return how long a message is, with a blank line between its words and footnotes."""
    return len("\n\n".join(filter(None, part)))


# --- any text -----------------------------------------------------------------------------

SNIPPETS = st.sampled_from(
    "word |sentence. |\n|\n\n|```rust\n|```\n|~~~\n|- |1. |> |    |# |`|``|**|*|_|~~|[3]|[a](b)|$|"
    "$$|"
    "\\|<|@|🙂|e\u0301|👩\u200d👧|中文。|https://a.b/c|---|\t|\r\n|\r|&lt;|===|![x](y)".split("|")
) | st.just("| a | b |\n|---|---|\n| 1 | 2 |\n")
DOCUMENTS = st.lists(SNIPPETS | st.text(max_size=12), max_size=80).map("".join)


@pytest.mark.costly
@settings(deadline=None, max_examples=300)
@given(DOCUMENTS, st.integers(40, 200))
def test_of_any_text_nothing_is_lost_and_nothing_is_too_long(text: str, limit: int) -> None:
    parts = pieces(text, limit)
    assert "".join(part.body for part in parts) == text
    assert all(len(part.text) <= limit for part in parts)
    for part in parts:
        kept = re.sub(r"\s", "", part.opening + part.body + part.closing)
        assert re.sub(r"\s", "", part.text) in {kept, ""}


@pytest.mark.costly
@settings(deadline=None, max_examples=200)
@given(DOCUMENTS, st.integers(60, 200))
def test_no_grapheme_of_any_text_is_torn(text: str, limit: int) -> None:
    ends, position = set(), 0
    for grapheme in iter_graphemes(text):
        position += len(grapheme)
        ends.add(position)
    position = 0
    for part in pieces(text, limit):
        position += len(part.body)
        assert position in ends or any(len(g) > limit // 2 for g in iter_graphemes(text))


@pytest.mark.costly
@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=70).filter(
            lambda line: "```" not in line
        ),
        max_size=40,
    ),
    st.integers(60, 300),
)
def test_no_fence_is_torn_whatever_its_code(lines: list[str], limit: int) -> None:
    code = "\n".join(lines)
    text = f"Some words.\n\n```python\n{code}\n```\n\nMore words."
    messages = split(text, limit)
    assert sum(map(torn_fences, messages)) == 0
    assert all(len(message) <= limit for message in messages)
    assert "".join(map(code_of, messages)) == code_of(text)
