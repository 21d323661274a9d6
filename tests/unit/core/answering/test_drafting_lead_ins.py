"""A line such as `For example:` is shown with what stands behind it, and never without."""

from collections.abc import AsyncGenerator, Sequence

import pytest

from core.answering.answer import Composition
from core.answering.drafting import Drafting
from core.generation.base import Claim, DraftPart, GenerationTask, QuotedWords
from core.models import EvidenceSignals, RetrievalToolOutput, RetrievedChunk
from core.retrieval.retrieval import Retrieval, whole
from tests.samples import chunk

BOOK = "A closure has no name. It may capture its surroundings. Closures are cheap to call."
LEAD_IN = Claim("For example:")
CODE = "```rust\nlet f = |x| x;\n```"


def carried(text: str, lead: str | None = None) -> Claim:
    return Claim(text, (QuotedWords(0, "A closure has no name.", 0),), lead)


def invented(text: str, lead: str | None = None) -> Claim:
    return Claim(text, (), lead, cites_unknown=True)


class Scripted:
    """Writes the claims that it was given."""

    name = "scripted"

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._claims = claims

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        for claim in self._claims:
            yield claim


def composition(book: RetrievedChunk) -> Composition:
    output = RetrievalToolOutput(
        retrieved_chunks=(book,),
        query_embedding=(),
        search_time_ms=1.0,
        total_candidates=1,
        success=True,
    )
    signals = EvidenceSignals(best_score=0.9, document_share=0.9, coverage=0.9)
    return Composition(
        Retrieval(
            output=output,
            context=None,
            evidence=(whole(book),),
            signals=signals,
            generation=book.generation,
        )
    )


async def written(*claims: Claim) -> tuple[str, Composition]:
    """Return the text that a draft of these claims becomes."""
    book = chunk(content_text=BOOK, char_end=len(BOOK))
    answer = composition(book)
    drafting = Drafting(Scripted(claims), None, answer)
    task = GenerationTask("What is a closure?", [book])
    return "".join([delta.text async for delta in drafting.write(task)]), answer


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
