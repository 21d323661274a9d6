"""ModelGenerator before the local Gemini: what becomes of every fault, streamed and not."""

import logging
import math
from dataclasses import replace

import pytest

from core.answering.writers.base import CutShort, DraftPart
from core.domain.errors import GenerationError
from tests.wire import gemini_faults as faults
from tests.wire.gemini_failures import Fault
from tests.wire.gemini_server import GeminiServer
from tests.wire.gemini_writer import (
    ANSWER,
    CLAIMS,
    PATIENT,
    QUESTION,
    QUICK,
    STREAMS,
    TASK,
    TREE,
    chain,
    claims,
    nothing_found,
    parts_of,
    writer,
)

ONCE, TWICE = "answered at once", "answered the second time"
OUTCOMES: list[tuple[Fault, str, str]] = [
    (faults.BAD_REQUEST, TWICE, TWICE),
    (
        faults.UNAUTHENTICATED,
        "401 .*GLOSSATOR_MODELS__GEMINI__API_KEY",
        "GLOSSATOR_MODELS__GEMINI__API_KEY",
    ),
    (
        faults.FORBIDDEN,
        "403 .*GLOSSATOR_MODELS__GEMINI__API_KEY",
        "GLOSSATOR_MODELS__GEMINI__API_KEY",
    ),
    (
        faults.NOT_FOUND,
        "404 .*models.gemini.model",
        "404 .*models.gemini.model",
    ),
    (faults.QUOTA_RETRY_AFTER, TWICE, TWICE),
    (faults.QUOTA_RETRY_INFO, TWICE, TWICE),
    (faults.QUOTA_LONG, "429 RESOURCE_EXHAUSTED", "429 RESOURCE_EXHAUSTED"),
    (faults.INTERNAL, TWICE, TWICE),
    (faults.UNAVAILABLE, TWICE, TWICE),
    (faults.HTML_502, TWICE, TWICE),
    (faults.DROP_BEFORE, TWICE, TWICE),
    (faults.DROP_INSIDE, "connection .* broke", TWICE),
    (faults.MALFORMED_JSON, "cannot be read", "cannot be read"),
    (faults.ERROR_IN_STREAM, "503 UNAVAILABLE", "broke off"),
    (faults.STALL_SILENT, TWICE, TWICE),
    (faults.STALL_AFTER_HEADERS, TWICE, TWICE),
    (faults.TRUNCATED, "broke off", "broke off"),
    (faults.MALFORMED_EVENT, "cannot be read", "cannot be read"),
    (faults.STALL_INSIDE, "said nothing for 0.2 s", TWICE),
    (faults.TRICKLE, "said nothing for 0.2 s", TWICE),
    (faults.EMPTY_CANDIDATES, "broke off", "broke off"),
    (faults.PROMPT_BLOCKED, r"refused the prompt \(PROHIBITED_CONTENT\)", "PROHIBITED_CONTENT"),
    (faults.STOP_WITHOUT_TEXT, "nothing that can be used", "nothing that can be used"),
    (faults.SAFETY, r"stopped \(SAFETY\)", r"stopped \(SAFETY\)"),
    (faults.RECITATION, r"stopped \(RECITATION\)", r"stopped \(RECITATION\)"),
    (faults.MAX_TOKENS, ONCE, ONCE),
    (faults.MAX_TOKENS_IN_THOUGHT, "nothing that can be used", "nothing that can be used"),
    (faults.MALFORMED_CALL, "MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
    (faults.UNKNOWN_TOOL, TWICE, TWICE),
    (faults.WRONG_ARGUMENTS, TWICE, TWICE),
    (faults.ARGUMENTS_NO_OBJECT, "cannot be read", "cannot be read"),
]
SILENT = {
    faults.STALL_SILENT,
    faults.STALL_AFTER_HEADERS,
    faults.STALL_INSIDE,
    faults.TRICKLE,
}
"""What only a limit of time ends; everything else is told by the server itself."""
EVERY_FAULT = pytest.mark.parametrize(
    ("fault", "streamed", "whole"), OUTCOMES, ids=[str(fault) for fault, _, _ in OUTCOMES]
)


@pytest.fixture(autouse=True)
def _answers(gemini: GeminiServer) -> None:
    gemini.answer_with(lambda call: ANSWER)


def test_every_fault_has_an_outcome() -> None:
    assert {fault.name for fault, _, _ in OUTCOMES} == {f.name for f in faults.GENERATION_FAULTS}


@pytest.mark.costly
@EVERY_FAULT
@STREAMS
async def test_a_fault_ends_in_an_answer_or_in_an_error_that_says_why(
    gemini: GeminiServer,
    fault: Fault,
    streamed: str,
    whole: str,
    stream: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    expected = streamed if stream else whole
    gemini.fail(fault)
    task = replace(TASK, search=nothing_found)
    timeouts = QUICK if fault in SILENT else PATIENT
    async with writer(gemini, stream=stream, timeouts=timeouts) as generator:
        if expected in {ONCE, TWICE}:
            parts = await parts_of(generator.generate(task))
            assert claims(parts)[0] == CLAIMS[0]
            assert (CutShort() in parts) == (fault is faults.MAX_TOKENS)
        else:
            with pytest.raises(GenerationError, match=expected) as caught:
                await parts_of(generator.generate(task))
            assert gemini.api_key not in chain(caught.value)
            assert QUESTION not in chain(caught.value)
            assert TREE not in chain(caught.value)
    assert len(gemini.requests) == (2 if expected == TWICE else 1)
    # Who catches the error logs it, once.
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []


@STREAMS
@pytest.mark.parametrize(
    "fault", [faults.UNAVAILABLE, faults.DROP_BEFORE, faults.STALL_SILENT], ids=str
)
async def test_a_fault_that_lasts_is_tried_twice(
    gemini: GeminiServer, fault: Fault, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="core")
    gemini.fail(fault, times=math.inf)
    timeouts = QUICK if fault in SILENT else PATIENT
    async with writer(gemini, stream=stream, timeouts=timeouts) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(TASK))
    assert len(gemini.requests) == 2
    [told] = [r for r in caplog.records if r.name.startswith("core")]
    assert "trying again in" in told.getMessage()


async def test_a_server_that_is_not_there_is_tried_twice(gemini: GeminiServer) -> None:
    await gemini.stop()
    async with writer(gemini) as generator:
        with pytest.raises(GenerationError, match=r"models\.gemini\.base_url"):
            await parts_of(generator.generate(TASK))


async def test_nothing_is_tried_again_once_words_have_come(gemini: GeminiServer) -> None:
    gemini.fail(faults.DROP_INSIDE)
    parts: list[DraftPart] = []
    async with writer(gemini) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(TASK), parts)
    assert len(gemini.requests) == 1
    [used] = generator.used
    assert used.query_tokens > 100
    assert used.response_tokens > 10


@STREAMS
@pytest.mark.parametrize("fault", [faults.SAFETY, faults.PROMPT_BLOCKED], ids=str)
async def test_what_a_refused_answer_used_is_told(
    gemini: GeminiServer, fault: Fault, stream: bool
) -> None:
    gemini.fail(fault)
    parts: list[DraftPart] = []
    async with writer(gemini, stream=stream) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(TASK), parts)
    assert generator.used[0].query_tokens > 100


async def test_a_wrong_key_is_told_without_the_key(gemini: GeminiServer) -> None:
    async with writer(gemini, key="AIza-not-this-one") as generator:
        with pytest.raises(GenerationError, match=r"API_KEY_INVALID.*check GLOSSATOR") as caught:
            await parts_of(generator.generate(TASK))
    assert "AIza" not in chain(caught.value)
    assert len(gemini.refusals) == 1


async def test_a_model_that_does_not_exist_is_told_with_its_name(gemini: GeminiServer) -> None:
    async with writer(gemini, model="gemini-0-none") as generator:
        with pytest.raises(GenerationError, match="gemini-0-none answered 404"):
            await parts_of(generator.generate(TASK))
    assert len(gemini.refusals) == 1
