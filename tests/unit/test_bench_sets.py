"""The question sets that the program is measured with: whole, apart, and true of their books."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.bench import followups, near_topic
from tests.bench.asked import Marked, marked_rows
from tests.bench.corpora import ECONOMICS, RUST

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
needs_corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="the corpora are not at hand")
SETS = (followups.ROWS, near_topic.ROWS)


def texts(course: str) -> dict[str, str]:
    folder = CORPORA / course / "book"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_each_row_is_there_once_and_of_one_part(path: Path) -> None:
    rows = marked_rows(path)
    assert len({row.id for row in rows}) == len(rows)
    asked = {(row.course, *row.earlier_questions, row.question) for row in rows}
    assert len(asked) == len(rows)
    assert {row.split for row in rows} == {"fit", "untouched"}


def test_a_third_of_the_conversations_is_untouched() -> None:
    rows = marked_rows(followups.ROWS)
    parts = Counter(row.split for row in rows)
    assert len(rows) >= 200
    assert parts["untouched"] >= len(rows) // 3
    assert all(len(row.earlier_questions) == 1 and row.relevant for row in rows)
    assert {row.kind for row in rows} == {"leaning", "dropped", "corrected"}


def test_near_questions_are_many_of_each_book_and_part() -> None:
    rows = marked_rows(near_topic.ROWS)
    assert not any(row.answerable for row in rows)
    assert min(Counter((row.course, row.split) for row in rows).values()) >= 30
    assert {row.course for row in rows} == {ECONOMICS, RUST}


@needs_corpora
def test_each_place_lies_in_the_book_and_begins_with_a_heading() -> None:
    book = texts(ECONOMICS)
    for row in marked_rows(followups.ROWS):
        assert {place.file for place in row.places} == set(row.relevant)
        for place in row.places:
            text = book[place.file]
            assert 0 <= place.start < place.end <= len(text)
            assert text[place.start] == "#"


def known(row: Marked, book: dict[str, str]) -> int:
    pattern = re.compile(row.looked_for, re.IGNORECASE)
    return sum(1 for text in book.values() for _ in pattern.finditer(text))


@pytest.mark.costly
@needs_corpora
@pytest.mark.parametrize("course", [ECONOMICS, RUST])
def test_what_was_looked_for_is_seldom_in_the_book(course: str) -> None:
    rows = [row for row in marked_rows(near_topic.ROWS) if row.course == course]
    book = texts(course)
    absent = [row for row in rows if known(row, book) == 0]
    assert len(absent) >= 0.7 * len(rows)  # the hits of the others were read, and do not answer
