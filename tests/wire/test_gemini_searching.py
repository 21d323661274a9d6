"""ModelGenerator before the local Gemini: a model that searches before it writes."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.answering.writers.base import (
    Claim,
    CutShort,
    DraftPart,
    GenerationTask,
    NotCovered,
    Passage,
    QuotedWords,
)
from core.domain import RetrievalToolInput, RetrievedChunk
from core.domain.errors import GenerationError, UnknownSection
from tests.samples import chunk
from tests.wire import gemini_faults as faults
from tests.wire.gemini_replies import Reply, ToolCall
from tests.wire.gemini_server import GeminiServer
from tests.wire.gemini_writer import (
    ANSWER,
    CLAIMS,
    CUT,
    FIRST,
    QUESTION,
    ROOT,
    STREAMS,
    TASK,
    claims,
    parts_of,
    writer,
)
from tests.wire.scripted_models import NOT_COVERED, answer, claim

LEAF = "A leaf has no child."
LOOK = ToolCall("retrieve", {"query_text": "what is a leaf"})
FOUND = answer(claim(LEAF, 3))
LEAVES = [Claim(LEAF, (QuotedWords(1, LEAF, 0),))]


class Library:
    """A search that finds one more passage, whatever is asked."""

    def __init__(self) -> None:
        self.evidence: list[RetrievedChunk] = [chunk()]
        self.asked: list[RetrievalToolInput] = []

    async def __call__(self, asked: RetrievalToolInput) -> Sequence[Passage]:
        self.asked.append(asked)
        self.evidence.append(chunk(content_text=LEAF))
        return [Passage(len(self.evidence) - 1, self.evidence[-1], LEAF)]

    @property
    def task(self) -> GenerationTask:
        return replace(TASK, evidence=self.evidence, search=self)


@pytest.fixture
def library() -> Library:
    return Library()


@STREAMS
async def test_what_a_search_finds_may_be_cited(
    gemini: GeminiServer, library: Library, stream: bool
) -> None:
    gemini.script(Reply(tool_calls=(LOOK,)), FOUND)
    async with writer(gemini, stream=stream) as generator:
        parts = await parts_of(generator.generate(library.task))
    assert claims(parts) == LEAVES
    passages, found = [call.context for call in generator.used]
    assert "[1] " in passages
    assert LEAF not in passages
    assert QUESTION not in passages
    assert LEAF in found
    assert library.asked == [RetrievalToolInput(query_text="what is a leaf")]
    first, second = gemini.requests
    assert [tool["name"] for tool in first.declared_tools] == ["retrieve"]
    assert second.contents[: len(first.contents)] == first.contents
    [result] = second.tool_results
    assert result["name"] == "retrieve"
    assert "[3] " in result["response"]["output"]
    assert LEAF in result["response"]["output"]


async def test_a_call_is_shown_again_as_the_model_made_it(
    gemini: GeminiServer, library: Library
) -> None:
    gemini.script(Reply("Let me see.", thoughts="Hm.", tool_calls=(LOOK, LOOK)), FOUND)
    async with writer(gemini) as generator:
        await parts_of(generator.generate(library.task))
    assert gemini.refusals == []
    shown = gemini.requests[1].contents[-2]
    assert shown["role"] == "model"
    signed = [part["thoughtSignature"] for part in shown["parts"] if "functionCall" in part]
    assert len(set(signed)) == 2
    results = gemini.requests[1].tool_results
    called = [part["functionCall"] for part in shown["parts"] if "functionCall" in part]
    assert [result["id"] for result in results] == [call["id"] for call in called]


async def test_cited_words_before_a_search_are_claims_and_others_are_not(
    gemini: GeminiServer, library: Library
) -> None:
    gemini.script(
        Reply(f"{FIRST}\n\nI will search for more.", tool_calls=(LOOK,)), answer(claim(ROOT, 2))
    )
    async with writer(gemini) as generator:
        parts = await parts_of(generator.generate(library.task))
    assert [claim.text for claim in claims(parts)] == [claim.text for claim in CLAIMS]
    assert all(claim.quotes for claim in claims(parts))


async def test_a_model_that_says_no_and_then_searches_has_said_nothing(
    gemini: GeminiServer, library: Library
) -> None:
    gemini.script(Reply(NOT_COVERED, tool_calls=(LOOK,)), FOUND)
    async with writer(gemini) as generator:
        parts = await parts_of(generator.generate(library.task))
    assert NotCovered() not in parts
    assert claims(parts) == LEAVES


async def test_the_third_call_has_to_do_without_the_tool(
    gemini: GeminiServer, library: Library
) -> None:
    gemini.answer_with(
        lambda call: Reply(tool_calls=(LOOK,)) if call.declared_tools else Reply(ANSWER)
    )
    async with writer(gemini) as generator:
        parts = await parts_of(generator.generate(library.task))
    assert claims(parts) == CLAIMS
    assert [bool(call.declared_tools) for call in gemini.requests] == [True, True, False]
    assert len(library.asked) == 2


async def test_a_model_that_never_stops_searching_has_no_answer(
    gemini: GeminiServer, library: Library
) -> None:
    gemini.answer_with(lambda call: Reply(tool_calls=(LOOK,)))
    parts: list[DraftPart] = []
    async with writer(gemini) as generator:
        with pytest.raises(GenerationError, match="nothing that can be used"):
            await parts_of(generator.generate(library.task), parts)
    assert len(gemini.requests) == len(generator.used) == 3


async def test_mistakes_are_told_to_the_model_and_not_searched_for(
    gemini: GeminiServer, library: Library
) -> None:
    wrong = (
        ToolCall("delete_everything"),
        ToolCall("retrieve", {"query_text": ["no", "text"], "top_k": "many"}),
        LOOK,
    )
    gemini.script(Reply(tool_calls=wrong), FOUND)
    async with writer(gemini) as generator:
        parts = await parts_of(generator.generate(library.task))
    assert claims(parts) == LEAVES
    kinds = [list(result["response"]) for result in gemini.requests[1].tool_results]
    assert kinds == [["error"], ["error"], ["output"]]
    assert len(library.asked) == 1


async def test_a_search_that_fails_is_told_to_the_model(
    gemini: GeminiServer, library: Library
) -> None:
    async def fail(_: RetrievalToolInput) -> Sequence[Passage]:
        raise UnknownSection("Trees", ["Heaps"])

    gemini.script(Reply(tool_calls=(LOOK,)), ANSWER)
    async with writer(gemini) as generator:
        parts = await parts_of(generator.generate(replace(library.task, search=fail)))
    assert claims(parts) == CLAIMS
    [result] = gemini.requests[1].tool_results
    assert "The nearest are: Heaps." in result["response"]["error"]


async def test_a_search_cannot_take_the_time_of_the_first_claim(gemini: GeminiServer) -> None:
    async def wait(_: RetrievalToolInput) -> Sequence[Passage]:
        await asyncio.Event().wait()
        return []

    gemini.script(Reply(tool_calls=(LOOK,)))
    task = replace(TASK, search=wait, deadline=time.monotonic() + 3.0)
    async with writer(gemini) as generator:
        with pytest.raises(GenerationError, match="took too long"):
            await parts_of(generator.generate(task))


async def test_a_fault_after_a_search_is_tried_again(
    gemini: GeminiServer, library: Library
) -> None:
    def look_and_fail(_: object) -> Reply:
        gemini.fail(faults.UNAVAILABLE)
        return Reply(tool_calls=(LOOK,))

    gemini.script(look_and_fail, FOUND)
    async with writer(gemini) as generator:
        parts = await parts_of(generator.generate(library.task))
    assert claims(parts) == LEAVES
    assert len(gemini.requests) == 3
    assert len(library.asked) == 1


async def test_the_tool_is_not_offered_when_a_second_call_cannot_be_paid(
    gemini: GeminiServer, library: Library
) -> None:
    gemini.answer_with(lambda call: ANSWER)
    async with writer(gemini) as generator:
        await parts_of(generator.generate(library.task))
        await parts_of(generator.generate(replace(library.task, token_limit=3_500)))
    rich, poor = gemini.requests
    assert rich.declared_tools
    assert "`retrieve`" in rich.system_text
    assert not poor.declared_tools
    assert "`retrieve`" not in poor.system_text


async def test_what_was_used_limits_the_calls_that_follow(
    gemini: GeminiServer, library: Library
) -> None:
    gemini.script(Reply(FIRST, tool_calls=(LOOK,), thought_tokens=900))
    limit = replace(library.task, token_limit=5_000, max_tokens=1_000)
    async with writer(gemini) as generator:
        parts = await parts_of(generator.generate(limit))
    assert claims(parts) == CLAIMS[:1]
    assert parts[-1] == CutShort()
    assert len(gemini.requests) == 1


async def test_an_answer_that_is_cut_short_says_so(gemini: GeminiServer, library: Library) -> None:
    gemini.script(Reply(CUT, finish_reason="MAX_TOKENS"))
    async with writer(gemini) as generator:
        parts = await parts_of(generator.generate(library.task))
    assert claims(parts) == CLAIMS[:1]
    assert parts[-1] == CutShort()
    assert QUESTION in gemini.requests[0].text
