"""Questions while Gemini fails in every way there is: what a student gets, and the log tells."""

import logging
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from core.answering.context import AgentEvent, TextDelta, TextWithdrawn
from core.domain import AgentResponse, Outcome, i18n
from tests.books import COVERED, COVERED_FACT, LIGHTHOUSE
from tests.wire import gemini_faults as faults
from tests.wire.answering import asking, open_house
from tests.wire.gemini_failures import Stall, Trickle
from tests.wire.gemini_faults import GENERATION_FAULTS, Fault
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import honest

pytestmark = pytest.mark.costly

MODEL = "gemini-3.8-flash"
_SILENT = r"said nothing for \d\.\d s|ran out of time for its answer, silent for the last \d\.\d s"
_KEY = "check GLOSSATOR_MODELS__GEMINI__API_KEY and what it may use"
_UNREADABLE = r"the answer of <model> cannot be read: \w+Error"
_BROKEN = "the connection to <model> broke: RemoteProtocolError"
_USELESS = "<model> wrote nothing that can be used"
LOG: Mapping[Fault, str] = {
    faults.BAD_REQUEST: "<model> answered 400 INVALID_ARGUMENT: it does not accept the request",
    faults.UNAUTHENTICATED: f"<model> answered 401 UNAUTHENTICATED: {_KEY}",
    faults.FORBIDDEN: f"<model> answered 403 PERMISSION_DENIED: {_KEY}",
    faults.NOT_FOUND: "<model> answered 404 NOT_FOUND: there is no such model; check "
    "models.gemini.model and models.gemini.api_version",
    faults.QUOTA_RETRY_AFTER: "<model> answered 429 RESOURCE_EXHAUSTED",
    faults.QUOTA_RETRY_INFO: "<model> answered 429 RESOURCE_EXHAUSTED",
    faults.QUOTA_LONG: "<model> answered 429 RESOURCE_EXHAUSTED",
    faults.INTERNAL: "<model> answered 500 INTERNAL",
    faults.UNAVAILABLE: "<model> answered 503 UNAVAILABLE",
    faults.HTML_502: "<model> answered 502 Bad Gateway",
    faults.DROP_BEFORE: _BROKEN,
    faults.DROP_INSIDE: _BROKEN,
    faults.MALFORMED_JSON: _UNREADABLE,
    faults.ERROR_IN_STREAM: "<model> (answered 503 UNAVAILABLE|broke off its answer)",
    faults.STALL_SILENT: f"<model> ({_SILENT})",
    faults.STALL_AFTER_HEADERS: f"<model> ({_SILENT})",
    faults.TRUNCATED: "<model> broke off its answer",
    faults.MALFORMED_EVENT: _UNREADABLE,
    faults.STALL_INSIDE: f"<model> ({_SILENT})",
    faults.TRICKLE: f"<model> ({_SILENT})",
    faults.EMPTY_CANDIDATES: "<model> broke off its answer",
    faults.PROMPT_BLOCKED: r"<model> refused the prompt \(PROHIBITED_CONTENT\)",
    faults.STOP_WITHOUT_TEXT: _USELESS,
    faults.SAFETY: r"<model> stopped \(SAFETY\)",
    faults.RECITATION: r"<model> stopped \(RECITATION\)",
    faults.MAX_TOKENS: "nothing held",
    faults.MAX_TOKENS_IN_THOUGHT: _USELESS,
    faults.MALFORMED_CALL: r"<model> stopped \(MALFORMED_FUNCTION_CALL\)",
    faults.UNKNOWN_TOOL: _USELESS,
    faults.WRONG_ARGUMENTS: _USELESS,
    faults.ARGUMENTS_NO_OBJECT: _UNREADABLE,
}
"""What the one line of the log says of each, as a pattern; streamed or not."""
HANGING = [fault for fault in GENERATION_FAULTS if isinstance(fault, Stall | Trickle)]
EVERY_FAULT = pytest.mark.parametrize("fault", GENERATION_FAULTS, ids=str)
BOTH_WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outages")


def test_it_is_known_what_the_log_says_of_every_fault() -> None:
    assert list(LOG) == GENERATION_FAULTS


@BOTH_WAYS
@EVERY_FAULT
async def test_whatever_fails_the_reader_gets_an_answer_and_the_log_one_line(
    folder: Path,
    models: Path,
    fault: Fault,
    stream: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    limits: dict[str, Any] = {}
    if fault in HANGING:  # the product waits longer for what never comes
        limits = {"first_token_timeout": 0.6, "silence_timeout": 0.3}
        limits["answer"] = {"first_sentence": 2.0}
    seen = await _asked_in_spite_of(fault, folder, models, stream=stream, **limits)
    assert _the_books_own_answer(seen).model_name == "extractive"
    [line] = _lines_in(caplog)
    assert _line_about(fault).fullmatch(line), line


@pytest.mark.slow
@BOTH_WAYS
@EVERY_FAULT
async def test_with_the_limits_of_the_product_there_is_an_answer(
    folder: Path, models: Path, fault: Fault, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    seen = await _asked_in_spite_of(fault, folder, models, stream=stream)
    assert _the_books_own_answer(seen).model_name == "extractive"
    [line] = _lines_in(caplog)
    assert _line_about(fault).fullmatch(line), line


@pytest.mark.slow
@BOTH_WAYS
@EVERY_FAULT
async def test_after_a_single_fault_the_answer_is_right_whoever_writes_it(
    folder: Path, models: Path, fault: Fault, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    seen = await _asked_in_spite_of(fault, folder, models, times=1, stream=stream)
    lines = _lines_in(caplog)
    if _answer_in(seen).model_name == MODEL:
        assert COVERED_FACT in _answer_in(seen).response_text
        assert lines == []
        assert _left_standing(seen) == _answer_in(seen).response_text
    else:
        assert _the_books_own_answer(seen).model_name == "extractive"
        [line] = lines
        assert _line_about(fault).fullmatch(line), line


async def _asked_in_spite_of(
    fault: Fault, folder: Path, models: Path, *, times: float = math.inf, **gemini: Any
) -> list[AgentEvent]:
    """Return what a reader sees when so many calls meet the fault."""
    async with GeminiServer() as server:
        server.answer_with(honest)
        async with open_house(folder, models, server, LIGHTHOUSE, **gemini) as house:
            await house.services.local.warm_up()
            await house.services.models.chat(
                "gemini"
            ).open()  # loads the library, as a bot has long done
            server.fail(fault, times=times)
            async with aclosing(house.agent.stream(asking(COVERED))) as events:
                return [event async for event in events]


async def test_when_gemini_is_gone_the_reader_gets_an_answer(folder: Path, models: Path) -> None:
    async with (
        GeminiServer() as server,
        open_house(folder, models, server, LIGHTHOUSE) as house,
    ):
        await server.stop()
        answer = await house.agent.answer(asking(COVERED))
    assert (answer.model_name, answer.notices[0]) == (
        "extractive",
        i18n.text("notice-model-failed"),
    )
    assert COVERED_FACT in answer.response_text
    assert any(COVERED_FACT in citation.quote for citation in answer.citations)


async def test_a_model_that_is_left_alone_for_a_while_adds_no_line_to_the_log(
    folder: Path, models: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with GeminiServer() as server:
        await server.stop()
        async with open_house(folder, models, server, LIGHTHOUSE) as house:
            for _ in range(6):
                await house.agent.answer(asking(COVERED))
            await server.start()
            server.answer_with(honest)
            answer = await house.agent.answer(asking(COVERED))
            assert server.requests == []
    assert answer.model_name == "extractive"
    *_, last = told = _lines_in(caplog)
    assert len(told) == 7
    assert last.endswith(f": {MODEL} failed too often and is left alone for a while")


def _answer_in(seen: Sequence[AgentEvent]) -> AgentResponse:
    assert isinstance(seen[-1], AgentResponse)
    return seen[-1]


def _the_books_own_answer(seen: Sequence[AgentEvent]) -> AgentResponse:
    """Return the answer, once it is checked that it says so and is all that stands."""
    answer = _answer_in(seen)
    assert answer.outcome in {Outcome.ANSWERED, Outcome.PARTIAL}
    assert answer.notices[0] in {
        i18n.text("notice-model-failed"),
        i18n.text("notice-nothing-held"),
    }
    assert COVERED_FACT in answer.response_text
    assert any(COVERED_FACT in citation.quote for citation in answer.citations)
    assert "Traceback" not in answer.model_dump_json()
    assert _left_standing(seen) == answer.response_text
    return answer


def _lines_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what an operator reads who has set nothing; tracebacks fail the test."""
    shown = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert {record.levelname for record in shown} <= {"WARNING"}
    assert not any(record.exc_info or record.exc_text for record in shown)
    assert "test-key" not in caplog.text
    return [record.getMessage() for record in shown]


def _line_about(fault: Fault) -> re.Pattern[str]:
    expected = LOG[fault].replace("<model>", MODEL)
    return re.compile(f"the model {MODEL} failed, the book's own sentences stand in: {expected}")


def _left_standing(seen: Sequence[AgentEvent]) -> str:
    """Return what was streamed since the last withdrawal."""
    text = ""
    for event in seen:
        if isinstance(event, TextWithdrawn):
            text = ""
        elif isinstance(event, TextDelta):
            text += event.text
    return text
