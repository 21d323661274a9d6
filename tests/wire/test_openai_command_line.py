"""The command line with a model of one's own, before the local chat completions."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from core.answering.writers.prompt import smallest_context
from core.domain import AgentResponse, Outcome, i18n
from tests.books import COVERED, COVERED_FACT
from tests.command_line import ROOT, CommandLine, Finished
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_shell import book_shell, describing, finished, finished_here
from tests.wire.openai_calls import OpenAICall
from tests.wire.openai_server import ChatReply, OpenAIServer
from tests.wire.scripted_models import honest

pytestmark = pytest.mark.costly

SECRET = "sk-a-secret-key"
MODEL = "local-model"


@pytest.fixture(scope="module")
def arden(models: Path, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return book_shell(tmp_path_factory.mktemp("arden"), models)


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(api_key=SECRET) as server:
        server.answer_with(as_honest)
        server.judge = lambda _: ChatReply("yes", logprobs=({"yes": -0.01},))
        yield server


def as_honest(call: OpenAICall) -> ChatReply:
    """Answer as the honest model of the local Gemini does, which reads the same prompt."""
    last = call.messages[-1]["content"]
    if isinstance(last, str) and last.startswith("Say hello"):  # it is checked, or measured
        return ChatReply("Hello.")
    contents = [
        {"role": "model" if said["role"] == "assistant" else "user", "parts": [{"text": text}]}
        for said in call.messages
        if said["role"] != "system" and (text := said["content"])
    ]
    answer = honest(GeminiCall("generateContent", MODEL, "v1", {"contents": contents}))
    assert isinstance(answer, Reply)
    return ChatReply(answer.text)


def toml(server: OpenAIServer, **more: Any) -> str:
    fields = {"kind": "openai", "model": MODEL, "base_url": server.url, **more}
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    return "\n".join(["[models.own]", *lines, "[courses.arden]", 'sources = ["arden"]', ""])


@pytest.fixture
def with_model(arden: CommandLine, server: OpenAIServer) -> Callable[..., CommandLine]:
    def described(course: str = "", **more: Any) -> CommandLine:
        shell = describing(arden, toml(server, **more) + course)
        return shell.setting(MODELS__OWN__API_KEY=SECRET)

    return described


async def answer_of(command_line: CommandLine, *arguments: str) -> AgentResponse:
    done = await finished_here(
        command_line, "ask", COVERED, "--course", "arden", "--json", *arguments
    )
    assert done.code == 0, done.err
    assert SECRET not in done.out + done.err
    return AgentResponse.model_validate_json(done.out)


def findings(done: Finished) -> dict[str, str]:
    lines = [line.split(maxsplit=2) for line in done.out.splitlines()]
    return {subject: f"{mark} {text}" for mark, subject, text in lines}


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_a_model_of_ones_own_answers_and_every_sentence_is_cited(
    with_model: Callable[..., CommandLine], server: OpenAIServer, stream: bool
) -> None:
    command_line = with_model(stream=stream, input_price=1, output_price=2)
    answer = await answer_of(command_line.setting(GENERATOR="own"))
    assert (answer.model_name, answer.outcome) == (MODEL, Outcome.ANSWERED)
    assert COVERED_FACT in answer.response_text
    assert answer.citations
    assert answer.tokens_used > 100
    assert answer.estimated_cost
    assert {call.streams for call in server.requests} == {stream}


async def test_a_course_names_its_writer_and_others_keep_the_books_words(
    with_model: Callable[..., CommandLine], server: OpenAIServer
) -> None:
    assert (await answer_of(with_model('generator = "own"\n'))).model_name == MODEL
    assert (await answer_of(with_model())).model_name == "extractive"
    assert (await answer_of(with_model(), "--generator", "own")).model_name == MODEL
    asked = len(server.requests)
    answer = await answer_of(with_model('generator = "own"\n'), "--generator", "extractive")
    assert answer.model_name == "extractive"
    assert len(server.requests) == asked


async def test_a_small_context_caps_what_a_call_holds(
    with_model: Callable[..., CommandLine], server: OpenAIServer
) -> None:
    await answer_of(with_model(context=4_096).setting(GENERATOR="own"))
    [call] = server.requests
    assert call.limit == 1_024


async def test_a_question_that_is_longer_than_the_context_is_answered_without_the_model(
    with_model: Callable[..., CommandLine],
    server: OpenAIServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    command_line = with_model(context=3_000).setting(GENERATOR="own")
    quote = "I read the whole chapter of it twice and did not understand it. " * 120
    done = await finished_here(
        command_line, "ask", COVERED, "--course", "arden", "--json", "--quote", quote
    )
    answer = AgentResponse.model_validate_json(done.out)
    assert answer.model_name == "extractive"
    assert "exceed the 3000 tokens that the model reads and writes" in caplog.text
    assert server.requests == []


async def test_a_context_that_holds_no_passage_is_refused_at_the_start(
    with_model: Callable[..., CommandLine], server: OpenAIServer
) -> None:
    command_line = with_model(context=1_024).setting(GENERATOR="own")
    done = await finished_here(command_line, "ask", COVERED, "--course", "arden")
    assert done.code != 0
    least = f"one passage and an answer need {smallest_context(None):,}"
    assert "models.own.context is 1,024" in done.err
    assert least in done.err
    assert least in (await finished_here(command_line, "doctor")).out
    assert "2,500" in least
    unused = with_model(context=1_024)
    assert (await finished_here(unused, "ask", COVERED, "--course", "arden")).code == 0


async def test_a_model_that_is_gone_leaves_the_books_own_words(
    with_model: Callable[..., CommandLine], server: OpenAIServer
) -> None:
    await server.stop()
    answer = await answer_of(with_model().setting(GENERATOR="own"))
    assert (answer.model_name, answer.outcome) == ("extractive", Outcome.ANSWERED)
    assert answer.notices


_SLOWLY = """\
import sys, time


class Slowly:
    def find_spec(self, name, path=None, target=None):
        if name == "openai":
            time.sleep(9.0)


sys.meta_path.insert(0, Slowly())
"""
"""Lets the library of the provider load for longer than a model may take for its first words."""


@pytest.mark.parametrize("command", ["ask", "chat"])
async def test_the_time_of_a_model_begins_once_it_can_be_asked(
    with_model: Callable[..., CommandLine], tmp_path: Path, command: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(_SLOWLY)
    slow = with_model().setting(GENERATOR="own").knowing(PYTHONPATH=f"{ROOT}:{tmp_path}")
    words = [COVERED] if command == "ask" else []
    done = await finished(slow, command, *words, "--course", "arden", stdin=f"{COVERED}\n")
    assert done.code == 0, done.err
    assert COVERED_FACT in done.out
    assert i18n.text("notice-model-failed") not in done.out
    assert "(sure, " in done.out


async def test_the_doctor_says_what_to_do_about_a_server_that_is_gone(
    with_model: Callable[..., CommandLine], server: OpenAIServer
) -> None:
    await server.stop()
    done = await finished_here(with_model().setting(GENERATOR="own"), "doctor")
    found = findings(done)["generator"]
    assert found.startswith(f"FAIL {MODEL} cannot be reached: ")
    assert found.endswith("does its server run, and is models.own.base_url its address?")


async def test_the_doctor_asks_the_model_and_the_length_of_its_context(
    with_model: Callable[..., CommandLine], server: OpenAIServer
) -> None:
    server.about = {"/props": {"default_generation_settings": {"n_ctx": 4_096}}}
    done = await finished_here(with_model(context=8_192).setting(GENERATOR="own"), "doctor")
    assert done.code == 0, done.out
    found = findings(done)
    assert (
        found["generator"] == f"ok own: {MODEL} answers; reached at 127.0.0.1 (models.own.base_url)"
    )
    assert found["context"] == (
        f"WARN the server gives {MODEL} 4,096 tokens and 8,192 are set: what is longer may be cut "
        "without a word; set models.own.context to 4096"
    )
    assert "context" not in findings(
        await finished_here(with_model(context=4_096).setting(GENERATOR="own"), "doctor")
    )


@pytest.mark.parametrize(
    ("more", "variables", "words"),
    [
        ({}, {"MODELS__OWN__API_KEY": "sk-wrong"}, ["401", "GLOSSATOR_MODELS__OWN__API_KEY"]),
        ({"model": "no-such"}, {}, ["404", "models.own.model", "models.own.base_url"]),
        ({}, {"GENERATOR": "owm"}, ["GLOSSATOR_GENERATOR", "own"]),
    ],
    ids=["key", "model", "name"],
)
async def test_the_doctor_names_what_is_wrong_with_a_model(
    with_model: Callable[..., CommandLine],
    more: dict[str, str],
    variables: dict[str, str],
    words: list[str],
) -> None:
    command_line = with_model(**more).setting(**{"GENERATOR": "own", **variables})
    done = await finished_here(command_line, "doctor")
    assert done.code == 78
    found = findings(done)["generator"]
    assert found.startswith("FAIL ")
    assert all(word in found for word in words), found
    assert "sk-wrong" not in done.out + done.err


async def test_what_a_model_used_is_counted_with_its_price(
    with_model: Callable[..., CommandLine],
) -> None:
    command_line = with_model(input_price=1, output_price=2).setting(GENERATOR="own")
    await answer_of(command_line)
    done = await finished_here(command_line, "usage", "--json")
    [*_, total] = json.loads(done.out)
    assert total["estimated_cost"] > 0
