"""Texts become the tokens that the embedding model was trained on.

What is expected was computed with the library `tokenizers` 0.23.3 from the same tokenizer.json.
"""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.embedders import TOKENIZER, installed_model
from core.providers.embeddings.local import WordPiece

BEGIN, UNKNOWN, END = 101, 100, 102
EXPECTED: list[tuple[str, list[int], list[tuple[int, int]]]] = [
    (
        "The keeper trims the wick.",
        [1996, 10684, 12241, 2015, 1996, 15536, 3600, 1012],
        [(0, 3), (4, 10), (11, 15), (15, 16), (17, 20), (21, 23), (23, 25), (25, 26)],
    ),
    (
        "unaffable Photosynthesis-driven",
        [14477, 20961, 3468, 7760, 6038, 25078, 1011, 5533],
        [(0, 3), (3, 6), (6, 9), (10, 16), (16, 18), (18, 24), (24, 25), (25, 31)],
    ),
    (
        "Café naïve İstanbul ΣΑΣ ß",
        [7668, 15743, 9960, 1173, 14608, 29733, 1096],
        [(0, 4), (5, 10), (11, 19), (20, 21), (21, 22), (22, 23), (24, 25)],
    ),
    (
        "e\u0301tude cafe\u0301",
        [3802, 12672, 7668],
        [(0, 3), (3, 6), (7, 11)],
    ),
    (
        "x²+y₂≤ﬁ",
        [1060, 10701, 1009, 1061, 8229, 30135, 30510],
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)],
    ),
    (
        "日本語 text 漢字",
        [1864, 1876, 1950, 3793, 1904, UNKNOWN],
        [(0, 1), (1, 2), (2, 3), (4, 8), (9, 10), (10, 11)],
    ),
    (
        "“quoted” — dash… 'tis",
        [1523, 9339, 1524, 1517, 11454, 1529, 1005, 22320],
        [(0, 1), (1, 7), (7, 8), (9, 10), (11, 15), (15, 16), (17, 18), (18, 21)],
    ),
    ("a\0b\u200bc\xa0d\ue000e", [5925, 2139], [(0, 5), (6, 9)]),
    (
        "[CLS] mid[SEP]dle [mask]",
        [BEGIN, 3054, END, 21469, 2063, 1031, 7308, 1033],
        [(0, 5), (6, 9), (9, 14), (14, 16), (16, 17), (18, 19), (19, 23), (23, 24)],
    ),
    ("", [], []),
    ("   \n\t ", [], []),
    ("a" * 101 + " ok", [UNKNOWN, 7929], [(0, 101), (102, 104)]),
    ("🙂 smile 🙂ok", [UNKNOWN, 2868, UNKNOWN], [(0, 1), (2, 7), (8, 11)]),
    (
        "हिन्दी ไทย",
        [1339, 29877, 29863, 29861, 29878, UNKNOWN],
        [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (7, 10)],
    ),
    (
        "f(x)=3.14e-10;",
        [1042, 1006, 1060, 1007, 1027, 1017, 1012, 2403, 2063, 1011, 2184, 1025],
        [*((i, i + 1) for i in range(7)), (7, 9), (9, 10), (10, 11), (11, 13), (13, 14)],
    ),
]


@pytest.fixture(scope="module")
def tokens() -> WordPiece:
    return WordPiece((installed_model() / TOKENIZER).read_text("utf-8"), max_tokens=512)


@pytest.mark.parametrize(("text", "ids", "offsets"), EXPECTED)
def test_a_text_has_the_tokens_of_the_model_at_their_places(
    tokens: WordPiece, text: str, ids: list[int], offsets: list[tuple[int, int]]
) -> None:
    found = tokens.encode(text)
    assert [*found.ids] == [BEGIN, *ids, END]
    assert [*found.offsets] == [(0, 0), *offsets, (0, 0)]


@pytest.mark.parametrize("words", [300, 510, 511, 2_000])
def test_what_is_beyond_the_longest_input_is_cut(tokens: WordPiece, words: int) -> None:
    found = tokens.encode("word " * words)
    assert len(found.ids) == len(found.offsets) == min(512, words + 2)
    assert found.ids[-1] == END


@given(st.text())
def test_tokens_follow_one_another_and_leave_out_nothing_that_is_read(
    tokens: WordPiece, text: str
) -> None:
    _, *places, _ = tokens.encode(text).offsets
    seen: set[int] = set()
    last = 0
    for start, end in places:
        assert last <= start < end <= len(text) or start == last - 1
        last = end
        seen.update(range(start, end))
    left_out = {character for place, character in enumerate(text) if place not in seen}
    if len(places) < 510:
        kinds = {unicodedata.category(character) for character in left_out}
        assert kinds <= {"Cc", "Cf", "Co", "Cs", "Mn", "Zs", "Zl", "Zp"} or left_out == {"\ufffd"}


@given(st.text(st.sampled_from("aé日[CLS]. \n"), max_size=60))
def test_each_run_without_a_space_is_read_by_itself(tokens: WordPiece, text: str) -> None:
    whole = tokens.encode(text).ids[1:-1]
    parts = [tokens.encode(run).ids[1:-1] for run in re.findall(r"[^ \n]+", text)]
    assert [*whole] == [token for part in parts for token in part]
