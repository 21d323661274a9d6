"""The answers that are written from the evidence's own sentences."""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from core.answering.writers.base import (
    Claim,
    DraftPart,
    GenerationTask,
    NotCovered,
    QuotedWords,
    TaskPart,
)
from core.answering.writers.extractive import ExtractiveGenerator
from core.answering.writers.pieces import cut, is_citable, leans_on_previous
from core.answering.writers.windows import MOST_WORDS
from core.domain import (
    EXPLAIN_QUOTE,
    Again,
    AgentResponse,
    AnswerLength,
    ChunkBlock,
    Citation,
    ConversationTurn,
    Outcome,
    QuoteLocation,
    QuoteStatus,
    ResponseState,
    RetrievedChunk,
    ThreadMessage,
    now,
)
from core.domain.errors import EmbeddingError, GenerationError
from core.domain.sentences import sentences
from core.index.terms import Bm25Encoder, TermStatistics
from core.providers.embeddings.base import Vectors
from tests.embedding import HashingEmbedder

_BM25 = Bm25Encoder()
_GENERATION = uuid4()

TIDES = (
    "A tide is the slow rise and fall of the sea along a coast. Most harbours see two high "
    "tides a day. Fishermen mend their nets on the quay in winter. Tides happen because the "
    "moon pulls the water nearest to it more strongly than the rest."
)


def encode_terms(text: str) -> Sequence[int]:
    return _BM25.query(text).indices


def chunk(
    text: str,
    *,
    document: UUID | None = None,
    index: int = 0,
    start: int = 0,
    score: float = 0.6,
    headings: tuple[str, ...] = ("The Sea",),
    blocks: tuple[ChunkBlock, ...] = (),
) -> RetrievedChunk:
    return RetrievedChunk(
        chunk_id=uuid4(),
        course_id="sea",
        document_id=document or uuid4(),
        generation=_GENERATION,
        content_text=text,
        source_file="sea.md",
        page_title="The Sea",
        headings=headings,
        chunk_index=index,
        total_chunks=index + 1,
        token_count=len(text) // 4,
        char_start=start,
        char_end=start + len(text),
        similarity_score=score,
        blocks=blocks,
    )


def with_list(text: str, items: str) -> RetrievedChunk:
    start = text.index(items)
    return chunk(text, blocks=(ChunkBlock("list", start, start + len(items)),))


async def answer(
    question: str, *evidence: RetrievedChunk | str, max_words: int = 160, **task: Any
) -> list[Claim]:
    chunks = [chunk(e) if isinstance(e, str) else e for e in evidence]
    limits = dict.fromkeys(AnswerLength, max_words)
    generator = ExtractiveGenerator(embedder=HashingEmbedder(), most_words=limits)
    statistics = TermStatistics.count(encode_terms(c.content_text) for c in chunks)
    written = GenerationTask(
        question, chunks, statistics=statistics, encode_terms=encode_terms, **task
    )
    claims = [part async for part in generator.generate(written) if isinstance(part, Claim)]
    for claim in claims:
        [quote] = claim.quotes
        assert quote.text in chunks[quote.chunk_number].content_text
        assert claim.text.replace("**", "").split() == quote.text.split()
    return claims


def chunk_numbers(claims: Sequence[Claim]) -> list[int]:
    return [claim.quotes[0].chunk_number for claim in claims]


async def texts(question: str, *evidence: RetrievedChunk | str, **options: Any) -> list[str]:
    return [claim.text for claim in await answer(question, *evidence, **options)]


async def test_a_question_that_needs_its_thread_is_answered_for_it() -> None:
    thread = (ThreadMessage(text="Why do tides happen?"), ThreadMessage(text="No idea."))
    [found] = await texts("Can you answer that?", TIDES, thread=thread, leans=True, max_words=1)
    assert "the moon pulls" in found


async def test_a_pronoun_is_answered_for_the_section_that_was_asked_for() -> None:
    text = "It was a calm day in June. Varroa reached Germany in 1977. Bees rise early."
    assert await texts(
        "When did it get here?", text, section="Varroa", leans=True, max_words=1
    ) == ["Varroa reached Germany in 1977."]


def turn(question: str, source: RetrievedChunk, quote: str) -> ConversationTurn:
    start = source.content_text.index(quote)
    citation = Citation(
        marker=1,
        chunk_id=source.chunk_id,
        quote=quote,
        char_start=start,
        char_end=start + len(quote),
    )
    response = AgentResponse(
        query_id=uuid4(),
        query_text=question,
        response_text=f"{quote} [1]",
        outcome=Outcome.ANSWERED,
        state=ResponseState.COMPLETED,
        grounding_chunks=(source,),
        citations=(citation,),
        conversation_id=uuid4(),
        course_id="sea",
        model_name="extractive",
        requested_at=now(),
    )
    return ConversationTurn(
        turn_number=1,
        request_id=uuid4(),
        user_id="reader",
        outcome=Outcome.ANSWERED,
        user_input=question,
        agent_response=response,
    )


def located(source: RetrievedChunk, quote: str) -> QuoteLocation:
    start = source.char_start + source.content_text.index(quote)
    return QuoteLocation(
        status=QuoteStatus.VERBATIM,
        chunk_ids=(source.chunk_id,),
        document_id=source.document_id,
        char_start=start,
        char_end=start + len(quote),
        score=1.0,
    )


async def test_what_is_x_is_answered_by_the_sentence_that_defines_x() -> None:
    first = await texts("What is a tide?", TIDES, max_words=1)
    assert first == ["A tide is the slow rise and fall of the sea along a coast."]


async def test_why_is_answered_by_the_sentence_that_gives_the_reason() -> None:
    first = await texts("Why do tides happen?", TIDES, max_words=1)
    assert first[0].startswith("Tides happen because the moon")


async def test_how_many_is_answered_by_a_sentence_with_a_number() -> None:
    text = "The harbour counts its boats each year. The harbour has 40 boats. The boats are old."
    assert await texts("How many boats has the harbour?", text, max_words=1) == [
        "The harbour has 40 boats."
    ]


async def test_an_answer_is_in_reading_order_within_the_best_document_first() -> None:
    document = uuid4()
    late = chunk("Low tide comes at noon here.", document=document, index=2, start=900)
    early = chunk("High tide comes when the moon is overhead.", document=document)
    other = chunk("A spring tide comes once in every month.")
    claims = await answer("When does the tide come?", late, other, early)
    assert chunk_numbers(claims) == [2, 0]


@pytest.mark.parametrize("limit", [8, 16, 50])
async def test_an_answer_has_at_most_as_many_words_as_allowed(limit: int) -> None:
    text = " ".join(f"The tide of {day} was {n} feet high." for n, day in enumerate("abcdefgh"))
    [found] = await texts("How high was the tide?", text, max_words=limit)
    assert 8 <= len(found.split()) <= limit


async def test_the_same_sentence_elsewhere_is_not_quoted_twice() -> None:
    again = "A tide is the slow rise and fall of the sea, along a coast."
    found = await texts("What is a tide?", TIDES, again)
    assert sum("slow rise" in text for text in found) == 1


async def test_a_short_sentence_does_not_shut_out_a_longer_one_about_the_same() -> None:
    text = "Tides matter. Tides matter to every sailor who must cross the shallow bar at dusk."
    assert len(await answer("Why do tides matter to a sailor?", f"{text} Bakers rise early.")) >= 1
    assert any("shallow bar" in t for t in await texts("Do tides matter?", text))


async def test_a_sentence_far_below_the_best_is_left_out() -> None:
    tide, bakers = "A tide is the rise and fall of the sea.", "Bakers light their ovens early."
    assert await texts("What is a tide?", tide, bakers) == [tide]


@pytest.mark.parametrize(
    "sentence",
    [
        "See Figure 3.",
        "See Figure 3 for the heights of the tide.",
        "Figure 4.2 The height of the tide at noon.",
        "(Credit: “Tide” by A. Sailor, CC BY.)",
        "What makes the tide rise?",
        "In this chapter, you will learn about the tide.",
        "Later we will discuss the tide in detail.",
        "the rise of the tide at noon.",
        "The rise of the tide",
        "(The tide, as sailors say, is late.",
        "Too short.",
    ],
)
def test_what_says_nothing_by_itself_is_not_citable(sentence: str) -> None:
    assert not is_citable(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["The tide rises twice a day.", "潮は一日に二度満ちる。", "Die Flut kommt zweimal am Tag."],
)
def test_a_plain_sentence_is_citable_in_any_language(sentence: str) -> None:
    assert is_citable(sentence)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("pH is a measure of how acid a liquid is. Pure water has seven.", True),
        ("pandas is a library for tables of numbers. It reads files.", True),
        ("(formerly Saigon) lies on a river near the sea. It is large.", True),
        ("git stash puts your changes aside. It keeps them on a stack.", True),
        ("van Leeuwenhoek saw bacteria in 1676. He ground his own lenses.", True),
        ("The tide rises.\n\nmRNA carries the message to the ribosome.", True),
        ("shows the height of the tide at noon. It rises twice a day.", False),
        ("where the second term is the height of the tide. It is small.", False),
        ("(a) shows the height of the tide at noon. It rises twice a day.", False),
        ("The tide rises with the\n\nmoon that stands above the sea.", False),
    ],
)
def test_a_small_first_letter_begins_a_paragraph_that_is_whole(text: str, says: bool) -> None:
    pieces = cut([chunk(text)])
    of_small = next(one for one in pieces if re.match(r"\(?[a-z]", one.quote))
    assert of_small.citable is says


def test_what_goes_on_after_a_formula_says_nothing_by_itself() -> None:
    text = "The force is\n\n$$F = ma$$\n\nof which the mass of the body is one half."
    formula = ChunkBlock(start=text.index("$$"), end=text.rindex("$$") + 2, kind="formula")
    assert not cut([chunk(text, blocks=(formula,))])[-1].citable


def test_nothing_under_a_heading_of_exercises_is_citable() -> None:
    of_exercises = chunk(TIDES, headings=("The Sea", "Review Questions"))
    assert not any(piece.citable for piece in cut([of_exercises]))
    below = chunk(TIDES, headings=("Exercises", "What does the tide do?"))
    assert not any(piece.citable for piece in cut([below]))
    assert all(piece.citable for piece in cut([chunk(TIDES, headings=("The Sea", "Borrowing"))]))


@pytest.mark.parametrize(
    "headings",
    [("Frequently asked questions",), ("Frequently Asked Questions", "Why are there two tides?")],
)
def test_the_answers_to_questions_that_are_headings_are_citable(headings: tuple[str, ...]) -> None:
    assert all(piece.citable for piece in cut([chunk(TIDES, headings=headings)]))


async def test_lines_of_slides_are_citable_without_full_stops() -> None:
    slide = "The tide rises twice a day\n\nThe moon pulls the water"
    assert await texts("What does the moon pull?", slide, max_words=1) == [
        "The moon pulls the water"
    ]


@pytest.mark.parametrize(
    ("sentence", "leans"),
    [
        ("It rises twice a day.", True),
        ("These currents are strong.", True),
        ("However, sailors wait.", True),
        ("If a tide rises, it floods the wall.", False),
        ("When the moon pulls, tides rise.", False),
        ("As sailors know, tides rise.", False),
        ("Italy has small tides.", False),
    ],
)
def test_a_sentence_leans_on_the_one_that_explains_its_pronoun(sentence: str, leans: bool) -> None:
    assert leans_on_previous(sentence) is leans


async def test_a_leaning_sentence_comes_with_the_one_before_it() -> None:
    text = "Bakers rise early. The spring tide is well known. It floods the lower harbour wall."
    found = await texts("What floods the lower harbour wall?", text, max_words=1)
    assert found == ["The spring tide is well known. **It floods the lower harbour wall.**"]


async def test_the_sentence_before_may_end_the_previous_chunk() -> None:
    document = uuid4()
    before = chunk("The spring tide is well known.", document=document)
    after = chunk("It floods the lower harbour wall.", document=document, index=1, start=40)
    found = await answer("What floods the lower harbour wall?", after, before, max_words=1)
    assert chunk_numbers(found) == [1, 0]


@pytest.mark.parametrize("has_blocks", [True, False])
async def test_a_list_is_quoted_with_its_lead_in(has_blocks: bool) -> None:
    items = "- the moon\n- the sun\n- the wind"
    text = f"Three things move the tide:\n\n{items}\n\nBakers rise early."
    source = with_list(text, items) if has_blocks else chunk(text)
    claims = await answer("What moves the tide?", source, max_words=1)
    assert claims[0].text == "Three things move the tide:\n\n- the moon\n- the sun\n- the wind"


@pytest.mark.parametrize("has_blocks", [True, False])
async def test_a_list_is_never_cut(has_blocks: bool) -> None:
    text = "1. Close the lock.\n2. Wait for the tide.\n3. Open the lock."
    whole = f"Locks matter.\n\n{text}"
    source = with_list(whole, text) if has_blocks else chunk(whole)
    found = await texts("What do I wait for?", source, max_words=1)
    assert [one.replace("**", "") for one in found] == [text]


async def test_the_sentence_that_answers_is_bold_among_others() -> None:
    [found] = await texts("Why do tides happen?", TIDES)
    assert "**Tides happen because the moon pulls" in found
    assert "**Fishermen" not in found
    [alone] = await texts("Why do tides happen?", TIDES, max_words=1)
    assert "**" not in alone


async def test_marks_inside_code_keep_no_sentence_from_being_marked() -> None:
    text = (
        "Tides happen because the moon pulls, as `pull_of(moon)` reckons it. "
        "Fishermen follow the moon every night, and mend their nets by day."
    )
    (found,) = await texts("Why do tides happen?", text)
    assert found.startswith(
        "**Tides happen because the moon pulls, as `pull_of(moon)` reckons it.**"
    )
    emphasised = text.replace("pulls,", "pulls *hard*,")
    (found,) = await texts("Why do tides happen?", emphasised)
    assert "**" not in found


async def test_what_has_marks_of_its_own_gets_none_of_ours() -> None:
    [found] = await texts(
        "What is a tide?", "The seas are wide and deep. A *tide* is the rise of the sea."
    )
    assert found == "The seas are wide and deep. A *tide* is the rise of the sea."


async def test_each_section_has_its_heading_once() -> None:
    document = uuid4()
    one = chunk(TIDES, document=document, headings=("The Sea", "Tides"))
    other = chunk("A spring tide is the highest tide.", headings=("The Moon",))
    claims = await answer("What is a tide?", one, other)
    assert sorted(filter(None, (claim.heading for claim in claims))) == [
        "The Moon",
        "Tides",
    ]


CODE = "A loop repeats its body. A loop is written like this:\n\n```c\nfor (;;) { loop(); }\n```"
TABLE = "A loop repeats its body.\n\n| loop | body |\n| --- | --- |\n| for | counted |"


async def test_code_is_quoted_whole_when_the_syntax_is_asked_for() -> None:
    found = await texts("Show me the syntax of a loop.", CODE)
    assert found[-1].endswith("```c\nfor (;;) { loop(); }\n```")
    assert "A loop is written like this:" in found[-1]


async def test_code_comes_whole_with_the_sentence_that_answers() -> None:
    [found] = await texts("What does a loop repeat?", CODE)
    assert found.startswith("**A loop repeats its body.**")
    assert found.endswith("```c\nfor (;;) { loop(); }\n```")
    short = await texts("What does a loop repeat?", CODE, max_words=8)
    assert short == ["A loop repeats its body."]


async def test_a_table_comes_whole_with_the_sentence_that_answers() -> None:
    [found] = await texts("What does a loop repeat?", TABLE)
    assert found.replace("**", "") == TABLE


DUTIES = "| Duty | Who has it |\n| --- | --- |\n| lamp | the keeper |\n| fog bell | the mate |"


@pytest.mark.parametrize("heading", ["Watches", "Duties with the fog bell"])
async def test_a_table_with_more_of_the_questions_words_comes_before_prose(heading: str) -> None:
    table = chunk(
        DUTIES, headings=(heading,), blocks=(ChunkBlock("table", 0, len(DUTIES)),), score=0.5
    )
    prose = chunk("The bell of the harbour is old. It was cast in 1802.", headings=("The harbour",))
    claims = await answer("Who has the duty with the fog bell?", prose, table)
    assert chunk_numbers(claims)[0] == 1
    assert claims[0].text.replace("**", "") == DUTIES
    assert claims[0].text.endswith("| **fog bell** | **the mate** |")


async def test_a_table_with_fewer_of_the_questions_words_does_not_stand_alone() -> None:
    table = chunk(DUTIES, blocks=(ChunkBlock("table", 0, len(DUTIES)),))
    [found] = await texts("When was the bell of the harbour cast?", HARBOUR_BELL, table)
    assert found == HARBOUR_BELL


async def test_the_words_of_a_table_count_row_by_row() -> None:
    rows = "| lamp | the keeper |\n| rope | the harbour |\n| oil | cast iron bell |"
    table = f"| Thing | Of |\n| --- | --- |\n{rows}"
    whole = chunk(table, blocks=(ChunkBlock("table", 0, len(table)),))
    claims = await answer("When was the bell of the harbour cast?", HARBOUR_BELL, whole)
    assert chunk_numbers(claims)[0] == 0


HARBOUR_BELL = "The bell of the harbour was cast in 1802."
SECTION = (
    "Cool a small burn under running water. Use no ice. Use no flour. "
    "A large burn needs a doctor. Then come back."
)


async def test_a_passage_begins_where_its_short_section_begins() -> None:
    [found] = await texts("Which burn needs a doctor?", SECTION)
    assert found.startswith("Cool a small burn")
    assert "**A large burn needs a doctor.**" in found


async def test_a_passage_does_not_begin_with_what_leans_on_a_chunk_that_is_not_read() -> None:
    later = chunk(SECTION.replace("Cool a small burn", "It cools a small burn"), index=1)
    [found] = await texts("Which burn needs a doctor?", later)
    assert not found.startswith("It cools")


@pytest.mark.parametrize("rule", ["| --- | --- |\n", ""])
async def test_a_table_answers_by_any_of_its_rows(rule: str) -> None:
    table = f"| Duty | Who has it |\n{rule}| lamp | the keeper |\n| fog bell | the mate |"
    source = chunk(table, blocks=(ChunkBlock("table", 0, len(table)),), score=0.5)
    [found] = await answer("Who has the duty with the lamp?", HARBOUR_BELL, source)
    assert found.text.replace("**", "") == table
    assert found.first == ("| Duty | Who has it |\n|---|---|\n| lamp | the keeper |")


@pytest.mark.parametrize(("words", "before"), [(16, "A large burn"), (26, "Cool a small burn")])
async def test_the_beginning_of_a_section_needs_room(words: int, before: str) -> None:
    [found] = await texts("Which burn needs a doctor?", SECTION, max_words=words)
    assert found.startswith(before)


async def test_code_too_long_to_read_is_not_quoted() -> None:
    code = "```c\n" + "loop();\n" * 40 + "```"
    found = await texts("Give an example of a loop.", "A loop repeats its body.\n\n" + code)
    assert found == ["A loop repeats its body."]


async def test_a_follow_up_is_about_the_turn_before_and_does_not_repeat_it() -> None:
    source = chunk(TIDES)
    said = turn("What is a tide?", source, TIDES.split(". ")[0] + ".")
    found = await texts("And why?", source, history=[said], leans=True)
    assert not any("slow rise" in text for text in found)
    assert any("because the moon" in text for text in found)


HARBOUR = (
    "The ferry to Skerry sails at 9 and the ferry to Holm sails at 14. Gulls follow the ferry. "
    "A ticket is sold on the quay."
)


@pytest.mark.parametrize(
    "follow_up", ["And to Holm?", "What about the Holm ferry?", "And the 14 one?"]
)
async def test_a_sentence_is_shown_again_for_what_the_follow_up_names(follow_up: str) -> None:
    source = chunk(HARBOUR)
    said = turn("When does the ferry to Skerry sail?", source, HARBOUR.split(" Gulls")[0])
    found = await texts(follow_up, source, history=[said], leans=True)
    assert any("Holm sails at 14" in text for text in found)


@pytest.mark.parametrize("follow_up", ["And the gulls?", "Tell me more.", "Go on."])
async def test_a_sentence_is_not_shown_again_where_the_follow_up_does_not_name_it(
    follow_up: str,
) -> None:
    source = chunk(HARBOUR)
    said = turn("When does the ferry to Skerry sail?", source, HARBOUR.split(" Gulls")[0])
    found = await texts(follow_up, source, history=[said], leans=True)
    assert found
    assert not any("Holm sails" in text for text in found)


FLAGELLANTS = (
    "Bands of flagellants crossed Germany in 1349. The pope condemned them, because they preached "
    "without licence. They sang hymns in the market places."
)


async def test_what_was_just_shown_is_looked_at_before_another_section() -> None:
    shown = chunk(FLAGELLANTS, headings=("Flagellants",), score=0.9)
    other = chunk(
        "The peasants made twelve demands. Luther condemned the rebels in May.",
        headings=("The peasants",),
        score=0.4,
    )
    said = turn("What did the flagellants do?", shown, FLAGELLANTS)
    [first, *_] = await texts("Why were they condemned?", shown, other, history=[said], leans=True)
    assert "**The pope condemned them, because they preached without licence.**" in first


async def test_what_was_just_shown_does_not_win_by_the_question_before() -> None:
    text = (
        "Conversations are kept for 180 days, or until they are deleted. "
        "The janitor deletes old conversations once an hour. A backup keeps what was in it."
    )
    source = chunk(text)
    said = turn("How long are conversations kept?", source, text)
    found = await texts("And who deletes them then?", source, history=[said], leans=True)
    assert "**The janitor deletes old conversations once an hour.**" in found[0]
    assert "**Conversations are kept" not in found[0]


async def test_a_new_sentence_is_shown_with_a_known_one_that_explains_its_pronoun() -> None:
    text = "The ferry to Holm sails at 14. It carries forty cars and a mail van. Gulls follow it."
    source = chunk(text)
    said = turn("When does the ferry sail?", source, text.split(" It")[0])
    found = await texts("How many cars?", source, history=[said], leans=True)
    assert found[0].startswith("The ferry to Holm sails at 14. **It carries forty cars")


async def test_a_question_of_its_own_may_be_answered_with_the_same_sentence_again() -> None:
    source = chunk(TIDES)
    said = turn("What is a tide?", source, TIDES.split(". ")[0] + ".")
    found = await texts("What is a tide?", source, history=[said])
    assert found[0].startswith("**A tide is the slow rise")


async def test_a_quote_is_explained_from_its_own_place() -> None:
    quote = "Neap tides are the smallest tides."
    source = chunk(
        f"Sailors know four kinds of tides. {quote} Sun and moon then pull at right angles.",
        score=0.5,
    )
    elsewhere = chunk("Sailors fear tides. Sun and moon rise over the harbour.", score=0.5)
    found = await answer(
        EXPLAIN_QUOTE,
        elsewhere,
        source,
        selected_text=quote,
        quote_location=located(source, quote),
        max_words=1,
    )
    assert set(chunk_numbers(found)) == {1}
    assert quote not in [claim.text for claim in found]


async def test_a_question_about_a_quote_may_be_answered_by_the_quote() -> None:
    quote = "Neap tides are the smallest tides."
    source = chunk(f"Sailors know four kinds of tides. {quote}")
    found = await texts(
        "What are neap tides?", source, selected_text=quote, quote_location=located(source, quote)
    )
    assert any(quote in text for text in found)


async def test_a_passage_that_is_all_there_is_explains_itself() -> None:
    found = await texts(EXPLAIN_QUOTE, TIDES, selected_text=TIDES)
    assert found


async def test_a_quote_from_elsewhere_is_answered_by_its_key_words() -> None:
    text = "Bakers rise early. The moon pulls the water of every ocean."
    found = await texts(
        EXPLAIN_QUOTE,
        text,
        selected_text="The ocean follows the moon.",
        quote_location=QuoteLocation(status=QuoteStatus.NOT_FOUND, score=0.1),
        max_words=1,
    )
    assert found == ["The moon pulls the water of every ocean."]


async def test_without_anything_to_show_there_is_no_answer() -> None:
    assert await texts("What is a tide?") == []
    assert await texts("What is a tide?", "See Figure 3.") == []


async def test_another_language_needs_no_word_lists() -> None:
    text = "Bäcker stehen früh auf. Gezeiten entstehen durch die Anziehung des Mondes."
    found = await texts("Wodurch entstehen Gezeiten?", text, max_words=1, language="de")
    assert found == ["Gezeiten entstehen durch die Anziehung des Mondes."]


async def test_only_a_few_sentences_are_embedded() -> None:
    embedder = HashingEmbedder()
    generator = ExtractiveGenerator(embedder=embedder)
    text = " ".join(f"The tide of day {n} was {n} feet high." for n in range(100))
    task = GenerationTask(
        "How high was the tide of day 7?", [chunk(text)], encode_terms=encode_terms
    )
    assert [claim async for claim in generator.generate(task)]
    assert embedder.embedded <= 16


class BrokenEmbedder(HashingEmbedder):
    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise EmbeddingError(f"cannot embed {len(texts)} texts")


async def test_a_failing_embedder_is_told_as_a_failure_to_write() -> None:
    generator = ExtractiveGenerator(embedder=BrokenEmbedder())
    with pytest.raises(GenerationError):
        await anext(
            generator.generate(
                GenerationTask("What is a tide?", [chunk(TIDES)], encode_terms=encode_terms)
            )
        )


async def test_the_hashing_embedder_tells_like_texts_from_unlike_ones() -> None:
    vectors = await HashingEmbedder().embed_passages(["the high tide", "high tide", "a baker"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


@pytest.mark.parametrize(("length", "most"), MOST_WORDS.items())
async def test_an_answer_has_the_length_that_was_asked_for(length: AnswerLength, most: int) -> None:
    facts = (f"Off kar{n} the tide of mel{n} may rise as bos{n} or dun{n} do." for n in range(100))
    generator = ExtractiveGenerator(embedder=HashingEmbedder())
    asked = GenerationTask(
        question="When may the tide rise?",
        evidence=[chunk(" ".join(facts))],
        encode_terms=encode_terms,
        length=length,
    )
    said = [part.text async for part in generator.generate(asked) if isinstance(part, Claim)]
    assert 0.5 * most < sum(len(text.split()) for text in said) <= most


# --- a question in parts --------------------------------------------------------------------

NETS = "Nets are made of hemp. A net lasts two winters when it is dried after each use."


def _part(question: str, *numbers: int) -> TaskPart:
    return TaskPart(question, question, numbers)


async def _in_parts(*parts: TaskPart, max_words: int = 160) -> list[DraftPart]:
    limits = dict.fromkeys(AnswerLength, max_words)
    generator = ExtractiveGenerator(embedder=HashingEmbedder(), most_words=limits)
    chunks = [chunk(TIDES), chunk(NETS)]
    statistics = TermStatistics.count(encode_terms(c.content_text) for c in chunks)
    asked = " ".join(part.question for part in parts)
    written = GenerationTask(
        asked, chunks, parts=parts, statistics=statistics, encode_terms=encode_terms
    )
    return [part async for part in generator.generate(written)]


async def test_each_part_has_its_own_claims_and_chunks() -> None:
    tides, nets = await _in_parts(_part("Why do tides happen?", 0), _part("What are nets of?", 1))
    assert isinstance(tides, Claim)
    assert isinstance(nets, Claim)
    assert (tides.part, nets.part) == ("Why do tides happen?", "What are nets of?")
    assert chunk_numbers([tides, nets]) == [0, 1]
    assert "hemp" in nets.text


async def test_a_part_without_evidence_is_told_where_it_stands() -> None:
    found = await _in_parts(_part("What is a ribosome?"), _part("What are nets of?", 1))
    assert found[0] == NotCovered("What is a ribosome?")
    assert isinstance(found[1], Claim)


async def test_parts_that_one_sentence_answers_are_answered_as_a_whole() -> None:
    found = await _in_parts(_part("Why do tides happen?", 0), _part("What does the moon pull?", 0))
    assert found
    assert all(isinstance(one, Claim) and one.part is None for one in found)


@pytest.mark.parametrize("most", [20, 40, 160])
async def test_all_parts_together_have_the_words_of_one_answer(most: int) -> None:
    parts = [_part("Why do tides happen?", 0), _part("How long does a net last?", 1)]
    found = await _in_parts(*parts, max_words=most)
    shown = [len(one.text.split()) for one in found if isinstance(one, Claim)]
    longest = max(len(one.split()) for one in (*sentences(TIDES), *sentences(NETS)))
    assert sum(shown) <= max(most * 1.11, 2 * longest)


# --- an answer that is wanted again ---------------------------------------------------------

QUAY = "The quay is built of oak. It was repaired twice after storms."


def _cited(claims: Sequence[Claim], chunks: Sequence[RetrievedChunk]) -> list[Citation]:
    return [
        Citation(
            marker=number,
            chunk_id=chunks[quote.chunk_number].chunk_id,
            quote=quote.text,
            char_start=quote.start or 0,
            char_end=(quote.start or 0) + len(quote.text),
        )
        for number, claim in enumerate(claims, 1)
        for quote in claim.quotes
    ]


async def _again(kind: Again | None, shown: Sequence[Sequence[Citation]] = ()) -> list[Claim]:
    generator = ExtractiveGenerator(embedder=HashingEmbedder())
    statistics = TermStatistics.count(encode_terms(c.content_text) for c in _SEA)
    written = GenerationTask(
        "Why do tides happen?",
        _SEA,
        again=kind,
        shown=shown,
        statistics=statistics,
        encode_terms=encode_terms,
    )
    return [part async for part in generator.generate(written) if isinstance(part, Claim)]


_SEA = [chunk(f"{TIDES} {TIDES.replace('tide', 'current')} " + "Tides shape the coast. " * 12)]


def _words_of(claims: Sequence[Claim]) -> int:
    return sum(len(quote.text.split()) for claim in claims for quote in claim.quotes)


async def test_shorter_is_shorter_until_one_sentence_is_left() -> None:
    first = await _again(None)
    shown = [_cited(first, _SEA)]
    lengths = [_words_of(first)]
    for _ in range(5):
        claims = await _again(Again.SHORTER, shown)
        if "nothing shorter" in claims[0].text:
            break
        lengths.append(_words_of(claims))
        shown.append(_cited(claims, _SEA))
    assert len(lengths) > 1
    assert lengths == sorted({*lengths}, reverse=True)
    assert "The Sea" in claims[0].text
    assert claims[0].quotes


async def test_longer_shows_nothing_that_was_shown_and_ends_with_a_sentence() -> None:
    first = await _again(Again.SHORTER, [_cited(await _again(None), _SEA)])
    shown = [_cited(first, _SEA)]
    longer = await _again(Again.LONGER, shown)
    spans = [(c.char_start, c.char_end) for c in shown[0]]
    for claim in longer:
        [quote] = claim.quotes
        assert all(end <= quote.start or quote.start + len(quote.text) <= s for s, end in spans)
    everything = [_cited([Claim("", (QuotedWords(0, _SEA[0].content_text, 0),))], _SEA)]
    [nothing] = await _again(Again.LONGER, everything)
    assert "no more on this" in nothing.text


async def test_the_place_is_told_alone() -> None:
    [place] = await _again(Again.WHERE, [_cited(await _again(None), _SEA)])
    assert place.text == "That stands in “The Sea”."
    assert place.quotes


async def test_what_is_no_longer_in_the_book_is_answered_anew() -> None:
    gone = [chunk(QUAY)]
    cited = _cited([Claim("", (QuotedWords(0, QUAY, 0),))], gone)
    assert "pulls" in " ".join(claim.text for claim in await _again(Again.WHERE, [cited]))


# --- what stands first ----------------------------------------------------------------------


async def test_the_sentence_that_answers_stands_alone_above_its_passage() -> None:
    [found] = await answer("Why do tides happen?", TIDES)
    assert found.first is not None
    assert found.first.startswith("> Tides happen because the moon pulls")
    [alone] = await answer("Why do tides happen?", TIDES, max_words=1)
    assert alone.first is None


async def test_the_item_that_answers_stands_alone_above_its_list() -> None:
    items = "- The moon pulls at noon\n- The keeper trims the wick\n- Bakers rise early"
    [found] = await answer("Who trims the wick?", with_list(items, items))
    assert found.first == "> The keeper trims the wick"
    assert "- **The keeper trims the wick**" in found.text


async def test_no_row_stands_first_where_none_is_clearly_nearer() -> None:
    table = chunk(DUTIES, blocks=(ChunkBlock("table", 0, len(DUTIES)),))
    [found] = await answer("Which duties are there, and who has them?", table)
    assert found.first is None
    assert found.text == DUTIES
