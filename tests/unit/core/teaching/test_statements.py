"""How an answer is taken apart into sentences with their passages."""

import pytest

from core.domain import AgentResponse, QuoteLocation, QuoteStatus
from core.teaching.evaluation.answers import Statement, stands_in, statements_of
from tests.unit.core.teaching.answering import HEAP, TRIE, abstention, answer, passage

TREE, ROOT = "A heap is a complete binary tree.", "Its root is the largest key of the heap."
STRINGS = "A trie stores strings letter by letter."


def said(response: AgentResponse) -> list[tuple[str, list[str]]]:
    """Return each statement's text and quotes."""
    return [(one.text, [p.quote for p in one.passages]) for one in statements_of(response)]


def test_each_sentence_has_the_passage_that_its_marker_stands_for() -> None:
    heap, trie = passage(), passage(TRIE, "tries.md")
    response = answer(f"{TREE} [1] {STRINGS} [2]", (heap, TREE), (trie, STRINGS))
    assert said(response) == [(TREE, [TREE]), (STRINGS, [STRINGS])]


def test_a_run_of_markers_belongs_to_the_sentence_before_it_and_each_counts_once() -> None:
    heap = passage()
    response = answer("Heaps are trees. [1] [2][1] More.", (heap, TREE), (heap, ROOT))
    assert said(response) == [("Heaps are trees.", [TREE, ROOT]), ("More.", [])]


def test_a_marker_before_the_full_stop_belongs_to_its_sentence() -> None:
    response = answer("Heaps are trees [1].", (passage(), TREE))
    assert said(response) == [("Heaps are trees", [TREE])]


def test_a_sentence_before_the_marked_one_shares_its_quote_only_when_it_stands_in_it() -> None:
    heap = passage()
    both = answer(f"{TREE} {ROOT} [1]", (heap, HEAP))
    assert said(both) == [(TREE, [HEAP]), (ROOT, [HEAP])]
    one = answer(f"Heaps are fast. {ROOT} [1]", (heap, HEAP))
    assert said(one) == [("Heaps are fast.", []), (ROOT, [HEAP])]


def test_the_items_of_a_quoted_list_share_its_citation_and_lose_their_bullets() -> None:
    text = "- first comes the root\n- then come the leaves"
    response = answer(f"{text}\n[1]", (passage(text), text))
    assert said(response) == [("first comes the root", [text]), ("then come the leaves", [text])]


def test_what_looks_like_a_bullet_within_a_sentence_stays() -> None:
    response = answer("The area is F + G, from 1973) on. [1]", (passage(), TREE))
    assert [text for text, _ in said(response)] == ["The area is F + G, from 1973) on."]


def test_brackets_inside_of_code_are_no_markers() -> None:
    code = "```python\nroot = keys[1]\n```"
    response = answer(f"{code}\n[1] Read `keys[1]` first. [1]", (passage(code), code))
    assert said(response) == [(code, [code]), ("Read `keys[1]` first.", [code])]


def test_headings_are_a_part_of_what_a_passage_says() -> None:
    [statement] = statements_of(answer(f"{TREE} [1]", (passage(), TREE)))
    assert statement.passages[0].chunk == f"Heaps\n\nDefinition\n\n{HEAP}"


def test_an_abstention_says_nothing() -> None:
    assert statements_of(abstention()) == []


def test_where_a_quoted_passage_stands_is_our_own_sentence() -> None:
    heap = passage()
    found = QuoteLocation(
        status=QuoteStatus.VERBATIM,
        chunk_ids=(heap.chunk_id,),
        document_id=heap.document_id,
        char_start=0,
        char_end=len(TREE),
        score=1.0,
    )
    place = "This passage stands in “Heaps. And trees”."
    response = answer(
        f"{place} [1]\n\n{ROOT} [2]", (heap, TREE), (heap, ROOT), quote_location=found
    )
    assert said(response) == [(ROOT, [ROOT])]
    lost = response.model_copy(
        update={"quote_location": QuoteLocation(status=QuoteStatus.NOT_FOUND, score=0.1)}
    )
    assert len(statements_of(lost)) > 1


def test_a_statement_without_a_citation_has_no_passages() -> None:
    assert Statement("Nothing is cited.").passages == ()


def test_a_line_that_leads_in_to_what_is_cited_is_no_statement() -> None:
    code = "```python\nroot = keys[1]\n```"
    response = answer(f"For example:\n\n{code}\n[1]", (passage(code), code))
    assert said(response) == [(code, [code])]
    nothing_behind = answer(f"{TREE} [1] For example:", (passage(), TREE))
    assert said(nothing_behind)[-1] == ("For example:", [])


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("A tax falls on buyers.", "A *tax*\nfalls on “buyers”."),
        ("See example.org for more.", "See https://www.example.org/a?b=c for more."),
        ("Growth was −2.5% (in 2009).", "Growth was -2.5% [in 2009]."),
        ("x = a + b", "```\nx = a + b\n```"),
        ("Wood burns.", "It is dry. Wood burns. So it is warm."),
        ("See ch. 2. Wood burns.", "It is dry. See ch. 2. Wood burns."),
        ("wood burns", "1. wood burns\n2. stone does not"),
    ],
)
def test_layout_makes_no_difference_to_what_stands_in_a_text(sentence: str, text: str) -> None:
    assert stands_in(sentence, text)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("A tax falls on buyers.", "A tax falls mostly on buyers."),
        ("Prices fall.", "It is wrong that prices fall."),
        ("Growth was 2.5%.", "Growth was -2.5%."),
        ("x = a / b", "x = a + b"),
    ],
)
def test_any_other_word_or_sign_does(sentence: str, text: str) -> None:
    assert not stands_in(sentence, text)
