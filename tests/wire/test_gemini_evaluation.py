"""`glossator eval --answers` with Gemini over HTTP: honest, careless and failing models."""

import asyncio
import json
import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.books import COVERED, LIGHTHOUSE, UNCOVERED, write_files
from tests.command_line import CommandLine, shell
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_faults import UNAVAILABLE
from tests.wire.gemini_judging import denying
from tests.wire.gemini_prompts import read_prompt
from tests.wire.gemini_replies import Answer, Reply
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import answer, claim, honest

pytestmark = pytest.mark.costly

ROWS = (
    {"question": COVERED, "relevant": ["lamp.md"]},
    {
        "question": "And from what was it cast?",
        "history": [{"role": "user", "text": "What does the fog bell of Arden weigh?"}],
        "relevant": ["keepers/duties.md"],
    },
    {"question": UNCOVERED, "answerable": False},
)
SOOT = "An untrimmed wick smokes"


@pytest.fixture(scope="module")
def arden(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    """A shell with the lighthouse book and questions on it."""
    command_line = shell(tmp_path_factory.mktemp("arden"), models)
    rows = "\n".join(json.dumps(row) for row in ROWS)
    write_files(command_line.folder, {"questions.jsonl": rows})
    write_files(command_line.folder / "arden", LIGHTHOUSE)
    done = command_line.run("ingest", "arden")
    assert done.code == 0, done.err
    return command_line


@pytest.fixture
async def server() -> AsyncIterator[GeminiServer]:
    async with GeminiServer() as server:
        server.answer_with(honest)
        yield server


async def figures(server: GeminiServer, command_line: CommandLine, *options: str) -> Any:
    """Return the `answers` of a report that Gemini wrote the answers for."""
    speaking = command_line.knowing(GEMINI_API_KEY=server.api_key).setting(
        MODELS__GEMINI__BASE_URL=server.url,
        MODELS__GEMINI__INPUT_PRICE="2",
        MODELS__GEMINI__OUTPUT_PRICE="10",
    )
    arguments = ("eval", "questions.jsonl", "--answers", "--json", *options)
    done = await asyncio.to_thread(speaking.run, *arguments)
    assert done.code == 0, done.err
    assert (done.json["n"], done.json["failed"]) == (3, 0)
    return done.json["answers"]


async def test_an_honest_model_is_carried_by_what_it_cites(
    arden: CommandLine, server: GeminiServer
) -> None:
    found = await figures(server, arden, "--generator", "gemini")
    assert found["sentences"] >= 2
    assert (found["citation_precision"], found["citation_recall"]) == (1.0, 1.0)
    assert (found["dropped_claims"], found["fallback_share"]) == (0.0, 0.0)
    assert (found["refusal_precision"], found["refusal_recall"]) == (1.0, 1.0)
    assert found["follow_ups"]["source_recall"] == 1.0
    [follow_up] = [p for p in map(read_prompt, server.requests) if "And from" in p.question]
    assert any("fog bell" in said for said in follow_up.history)
    assert found["tokens_used"] > 0
    assert found["estimated_cost"] > 0


async def test_what_a_careless_model_invents_is_counted_as_dropped(
    arden: CommandLine, server: GeminiServer
) -> None:
    def careless(call: GeminiCall) -> Answer:
        true = honest(call)
        assert isinstance(true, Reply)
        written = json.loads(true.text)["claims"]
        if not written:
            return true
        numbers = written[0]["sentences"]
        lies = [claim("The keeper trims the wick every nine hours.", *numbers)]
        return answer(*written, *lies, claim("The keeper is paid in gold."))

    server.answer_with(careless)
    server.judge = denying("nine hours")
    found = await figures(server, arden)
    assert 0 < found["dropped_claims"] < 1
    assert found["unsupported_claims"] == 0.0


async def test_when_gemini_fails_in_mid_run_the_fallback_is_measured_and_told(
    arden: CommandLine, server: GeminiServer
) -> None:
    def failing_from_then_on(call: GeminiCall) -> Answer:
        server.fail(UNAVAILABLE, math.inf)
        return honest(call)

    server.answer_with(failing_from_then_on)
    found = await figures(server, arden)
    assert found["fallback_share"] == 0.5
    assert (found["citation_precision"], found["citation_recall"]) == (1.0, 1.0)
    assert found["tokens_used"] > 0


async def test_who_asks_for_the_books_own_words_has_nothing_to_fall_back_to(
    arden: CommandLine, server: GeminiServer
) -> None:
    found = await figures(server, arden, "--generator", "extractive")
    assert (found["fallback_share"], found["tokens_used"]) == (None, 0)
    assert server.requests == []
