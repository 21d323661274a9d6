"""A line such as `For example:` is shown with what stands behind it, and never without."""

from uuid import uuid4

import pytest

from core.answering.answer import AnswerDraft
from core.answering.checks import DraftChecks
from core.answering.context import AnswerContext
from core.generation.base import Claim, GenerationTask, QuotedWords
from core.grounding.support import SupportChecker
from core.models import (
    AgentConfiguration,
    AgentResponse,
    EvidenceSignals,
    RetrievalToolOutput,
    RetrievedChunk,
)
from core.retrieval.retrieval import Retrieval, whole
from tests.samples import chunk, request

BOOK = "A closure has no name. It may capture its surroundings. Closures are cheap to call."
LEAD_IN = Claim("For example:")
CODE = "```rust\nlet f = |x| x;\n```"


def carried(text: str, lead: str | None = None) -> Claim:
    return Claim(text, (QuotedWords(0, "A closure has no name.", 0),), lead)


def invented(text: str, lead: str | None = None) -> Claim:
    return Claim(text, (), lead, cites_unknown=True)


def draft(book: RetrievedChunk) -> AnswerDraft:
    output = RetrievalToolOutput(
        retrieved_chunks=(book,),
        query_embedding=(),
        search_time_ms=1.0,
        total_candidates=1,
        success=True,
    )
    signals = EvidenceSignals(best_score=0.9, document_share=0.9, coverage=0.9)
    return AnswerDraft(
        Retrieval(
            output=output,
            context=None,
            evidence=(whole(book),),
            signals=signals,
            generation=book.generation,
        )
    )


async def written(*claims: Claim, checker: SupportChecker | None = None) -> tuple[str, AnswerDraft]:
    """Return the text that a draft of these claims becomes."""
    book, asked = chunk(content_text=BOOK, char_end=len(BOOK)), request()
    answer = draft(book)
    pending = AgentResponse(
        query_id=asked.request_id,
        query_text=asked.query_text,
        response_text="...",
        conversation_id=uuid4(),
        course_id=asked.course_id,
        model_name="scripted",
        requested_at=asked.created_at,
    )
    context = AnswerContext(asked, AgentConfiguration(), pending)
    checks = DraftChecks(context, answer, GenerationTask("What is a closure?", [book]), checker)
    for claim in claims:
        await checks.take(claim)
    return answer.text, answer


async def test_the_line_stands_in_front_of_the_code_that_stands() -> None:
    text, answer = await written(carried("One."), LEAD_IN, carried(CODE, "\n\n"))
    assert text == f"One. [1] For example:\n\n{CODE}\n[1]"
    assert (answer.tally.written, answer.tally.released) == (2, 2)


async def test_the_line_may_open_the_answer_and_a_paragraph() -> None:
    text, _ = await written(LEAD_IN, carried("One.", "\n- "), carried("Two.", "\n- "))
    assert text == "For example:\n- One. [1]\n- Two. [1]"
    text, _ = await written(carried("One."), Claim("For example:", (), "\n\n"), carried(CODE))
    assert text == f"One. [1]\n\nFor example:\n\n{CODE}\n[1]"


async def test_the_line_falls_with_the_code_that_falls() -> None:
    text, _ = await written(carried("One."), LEAD_IN, invented(CODE, "\n\n"), carried("Two."))
    assert text == "One. [1] Two. [1]"


async def test_the_line_waits_for_the_first_item_of_a_list_that_stands() -> None:
    text, _ = await written(LEAD_IN, invented("One.", "\n- "), carried("Two.", "\n- "))
    assert text == "For example:\n- Two. [1]"


@pytest.mark.parametrize("line", ["Closures are slow:", "There are 3 kinds:"])
async def test_a_line_that_states_a_fact_needs_its_own_source(line: str) -> None:
    text, _ = await written(carried("One."), Claim(line), carried("Two."))
    assert line not in text


async def test_a_sentence_that_leans_on_one_that_is_not_shown_falls_with_it() -> None:
    own, leans = carried("A closure has no name."), carried("It has no name, a closure.")
    text, _ = await written(own, leans, checker=SupportChecker())
    assert text == "A closure has no name. [1] It has no name, a closure. [1]"
    text, answer = await written(own, invented("Traits are free."), leans, checker=SupportChecker())
    assert text == "A closure has no name. [1]"
    assert (answer.tally.written, answer.tally.dropped) == (3, 2)
    text, _ = await written(invented("Traits are free."), leans, own, checker=SupportChecker())
    assert text == "A closure has no name. [1]"


async def test_a_first_sentence_may_begin_with_it_after_words_that_cite_nothing() -> None:
    leans = carried("It has no name, a closure.")
    text, _ = await written(Claim("Let me look."), leans, checker=SupportChecker())
    assert text == "It has no name, a closure. [1]"
