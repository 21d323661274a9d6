"""How much of a reference answer is shown: what counts as shown, and over which rows."""

import json
from typing import Any

import pytest

from core.domain import AgentResponse, Outcome
from core.index.terms import Bm25Encoder
from core.teaching.evaluation.report import (
    GoldQuestion,
    Referred,
    referred,
    shown_text,
    summarise_references,
)
from tests.unit.core.teaching.answering import HEAP, TRIE, abstention, answer, passage

terms = Bm25Encoder("en").terms


def row(question: str, *answers: str, kind: str = "free") -> GoldQuestion:
    return GoldQuestion(id="1", question=question, answers=answers, kind=kind)


def quoting(text: str = HEAP, before: str = "", **more: Any) -> AgentResponse:
    known = passage(text)
    return answer(f"{before}{text} [1]", (known, text), **more)


def test_markers_and_lines_that_name_a_cited_section_are_not_shown() -> None:
    heading = passage().headings[-1]
    for place in (f"**{heading}**", f"From {heading}:", f"The closest the book comes: _{heading}_"):
        assert shown_text(quoting(before=f"{place}\n\n")) == HEAP


def test_a_line_that_says_more_than_where_it_stands_is_shown() -> None:
    heading = passage().headings[-1]
    line = f"{heading} is the first of seven things that every student of the subject meets."
    assert shown_text(quoting(before=f"{line}\n\n")).startswith(line)


def test_a_number_in_code_is_no_marker() -> None:
    text = "Take the first one with `heap [1]` and call it the root."
    assert shown_text(quoting(text)) == text


@pytest.mark.parametrize(
    ("reference", "share"),
    [
        ("The root of a complete tree.", 1.0),
        ("The root of a sorted list.", 1 / 3),
        ("A heap.", None),
    ],
)
def test_words_of_the_question_do_not_count(reference: str, share: float | None) -> None:
    found = referred(row("What is a heap?", reference), quoting(), terms)
    assert found.share == (None if share is None else pytest.approx(share))
    assert found.words == len(HEAP.split())


def test_the_reference_that_is_shown_best_counts() -> None:
    known = row("What is a heap?", "A sorted list.", "A binary tree, complete.")
    assert referred(known, quoting(), terms).share == 1.0


def test_a_refusal_shows_nothing() -> None:
    refused = referred(row("What is a heap?", "The book covers trees."), abstention(), terms)
    assert refused == Referred("free", 0.0, None, None)
    spanned = referred(row("What is a heap?", "book", kind="span"), abstention(), terms)
    assert spanned.span is False


def test_a_row_without_a_reference_still_counts_its_words() -> None:
    assert referred(row("What is a heap?"), quoting(), terms).words == len(HEAP.split())
    unknown = referred(row("What is a heap?", kind="span"), quoting(), terms)
    assert (unknown.share, unknown.span) == (None, None)


def test_a_gold_span_is_looked_for_in_all_that_is_shown() -> None:
    first, second = passage(HEAP), passage(TRIE, "tries.md")
    both = answer(f"{HEAP} [1] {TRIE} [2]", (first, HEAP), (second, TRIE))
    assert referred(row("How long?", "5 steps", kind="span"), both, terms).span is True
    assert referred(row("How long?", "6 steps", kind="span"), both, terms).span is False


def test_the_block_has_all_rows_and_each_kind_and_is_json() -> None:
    rows = [
        Referred("free", 0.2, None, 100),
        Referred("free", 0.4, None, 50),
        Referred("span", None, True, None),
    ]
    block = json.loads(json.dumps(summarise_references(rows), allow_nan=False))
    assert (block["n"], block["references"]) == (3, 2)
    assert (block["reference_share"], block["words_shown"]) == (0.3, 75.0)
    low, high = block["reference_share_ci95"]
    assert 0.2 <= low <= 0.3 <= high <= 0.4
    assert list(block["by_kind"]) == ["free", "span"]
    free, span = block["by_kind"].values()
    assert (free["span_shown"], free["span_shown_ci95"]) == (None, None)
    assert (span["reference_share"], span["span_shown"], span["words_shown"]) == (None, 1.0, None)


def test_no_rows_give_no_figures() -> None:
    block = summarise_references([])
    assert (block["n"], block["by_kind"]) == (0, {})
    assert block["reference_share"] is None


def test_an_answer_with_doubt_is_shown() -> None:
    assert shown_text(quoting(outcome=Outcome.PARTIAL)) == HEAP
