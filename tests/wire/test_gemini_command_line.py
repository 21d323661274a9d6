"""The command line with Gemini over HTTP: keys, models, budgets, outages and the doctor."""

import asyncio
import math
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain import Outcome
from core.domain.i18n import text
from tests.books import COVERED, COVERED_FACT
from tests.command_line import CommandLine, Finished, shell
from tests.wire.gemini_faults import UNAVAILABLE
from tests.wire.gemini_server import GENERATE, GeminiServer
from tests.wire.gemini_shell import (
    SECRET,
    answered,
    book_shell,
    describing,
    finished,
    finished_here,
    speaking_to,
)
from tests.wire.scripted_models import honest

pytestmark = pytest.mark.costly

MODEL, OTHER_MODEL = "gemini-3.8-flash", "gemini-3.5-flash-lite"
WICK = "The keeper trims the wick of the lamp every four hours."


@pytest.fixture(scope="module")
def arden(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    return book_shell(tmp_path_factory.mktemp("arden"), models)


@pytest.fixture
async def server() -> AsyncIterator[GeminiServer]:
    async with GeminiServer(api_key=SECRET) as server:
        server.answer_with(honest)
        yield server


# --- who answers --------------------------------------------------------------------------


async def test_with_a_key_gemini_answers_and_the_answer_tells_what_it_cost(
    arden: CommandLine, server: GeminiServer
) -> None:
    priced = {"MODELS__GEMINI__INPUT_PRICE": "2", "MODELS__GEMINI__OUTPUT_PRICE": "10"}
    answer = await answered(speaking_to(server, arden).setting(**priced))
    assert COVERED_FACT in answer.response_text
    assert (answer.outcome, answer.model_name) == (Outcome.ANSWERED, MODEL)
    expected = (answer.query_tokens * 2 + answer.response_tokens * 10) / 1_000_000
    assert answer.estimated_cost == pytest.approx(expected)
    assert expected > 0
    [call] = server.requests
    assert (call.method, call.model, call.api_version) == (GENERATE[1], MODEL, "v1beta")


async def test_piped_output_is_the_finished_answer_alone(
    arden: CommandLine, server: GeminiServer
) -> None:
    done = await finished(speaking_to(server, arden), "ask", COVERED)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{WICK} [1]")
    assert done.out.count(WICK) == 1
    assert "\x1b" not in done.out


async def test_a_key_in_the_env_file_under_another_programs_name_is_enough(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    command_line = shell(tmp_path, models).setting(MODELS__GEMINI__BASE_URL=server.url)
    (tmp_path / ".env").write_text(f"GOOGLE_API_KEY={SECRET}\n", encoding="utf-8")
    done = await finished_here(command_line, "doctor")
    assert (done.code, server.refusals) == (0, [])
    assert [call.method for call in server.requests] == ["countTokens"]


@pytest.mark.parametrize("how", ["option", "setting", "course"])
async def test_whoever_wants_the_books_own_words_gets_them_although_there_is_a_key(
    arden: CommandLine, server: GeminiServer, how: str
) -> None:
    command_line, arguments = speaking_to(server, arden), []
    if how == "option":
        arguments = ["--generator", "extractive"]
    elif how == "setting":
        command_line = command_line.setting(GENERATOR="extractive")
    else:
        toml = '[courses.arden.answers]\nmodel = "extractive"\n'
        command_line = describing(command_line, toml)
    answer = await answered(command_line, *arguments)
    assert (answer.model_name, answer.tokens_used, answer.notices) == ("extractive", 0, ())
    assert COVERED_FACT in answer.response_text
    assert server.requests == []


async def test_the_option_asks_gemini_although_the_setting_does_not(
    arden: CommandLine, server: GeminiServer
) -> None:
    command_line = speaking_to(server, arden).setting(GENERATOR="extractive")
    answer = await answered(command_line, "--generator", "gemini")
    assert answer.model_name == MODEL


async def test_the_option_asks_gemini_although_the_course_does_not(
    arden: CommandLine, server: GeminiServer
) -> None:
    toml = '[courses.arden.answers]\nmodel = "extractive"\n'
    command_line = describing(speaking_to(server, arden), toml)
    answer = await answered(command_line, "--generator", "gemini")
    assert answer.model_name == MODEL
    configured = command_line.setting(GENERATOR="gemini")
    assert (await answered(configured)).model_name == "extractive"


async def test_each_model_has_its_price(arden: CommandLine, server: GeminiServer) -> None:
    toml = f"""
    [courses.arden.answers]
    model = "{OTHER_MODEL}"
    [models.other]
    kind = "gemini"
    model = "{OTHER_MODEL}"
    base_url = "{server.url}"
    input_price = 1
    output_price = 5
    """
    prices = {"MODELS__GEMINI__INPUT_PRICE": "2", "MODELS__GEMINI__OUTPUT_PRICE": "10"}
    answer = await answered(describing(speaking_to(server, arden), toml).setting(**prices))
    expected = (answer.query_tokens * 1 + answer.response_tokens * 5) / 1_000_000
    assert answer.estimated_cost == pytest.approx(expected)


async def test_a_courses_own_model_streams_as_its_own_table_says(
    arden: CommandLine, server: GeminiServer
) -> None:
    toml = f"""
    [models.own]
    kind = "gemini"
    model = "{OTHER_MODEL}"
    base_url = "{server.url}"
    stream = false
    [courses.arden]
    generator = "own"
    """
    answer = await answered(describing(speaking_to(server, arden), toml))
    assert answer.model_name == OTHER_MODEL
    assert {(call.model, call.method) for call in server.requests} == {
        (OTHER_MODEL, "generateContent")
    }
    assert all("temperature" not in call.config for call in server.requests)


async def test_settings_and_course_decide_what_is_asked_of_the_model(
    arden: CommandLine, server: GeminiServer
) -> None:
    toml = f"""
    [courses.arden.answers]
    model = "{OTHER_MODEL}"
    temperature = 0.25
    max_tokens = 500
    system_prompt = "You teach beginners."
    """
    command_line = describing(speaking_to(server, arden), toml).setting(
        MODELS__GEMINI__STREAM="false",
        MODELS__GEMINI__THINKING="high",
        MODELS__GEMINI__API_VERSION="v1",
    )
    answer = await answered(command_line)
    assert answer.model_name == OTHER_MODEL
    [call] = server.requests
    assert (call.method, call.model, call.api_version) == (GENERATE[0], OTHER_MODEL, "v1")
    assert (call.config["temperature"], call.config["maxOutputTokens"]) == (0.25, 500)
    assert call.config["thinkingConfig"]["thinkingLevel"] == "HIGH"
    assert "You teach beginners." in call.system_text


async def test_a_thinking_level_of_none_is_not_sent(
    arden: CommandLine, server: GeminiServer
) -> None:
    await answered(speaking_to(server, arden).setting(MODELS__GEMINI__THINKING="none"))
    [call] = server.requests
    assert "thinkingConfig" not in call.config


async def test_a_conversation_keeps_to_gemini_and_knows_what_was_said(
    arden: CommandLine, server: GeminiServer
) -> None:
    lines = f"{COVERED}\nAnd what darkens the prisms?\n"
    done = await finished(speaking_to(server, arden), "chat", stdin=lines)
    assert done.code == 0
    assert WICK in done.out
    assert len(server.requests) == 2
    assert COVERED in server.requests[1].text


# --- budgets ------------------------------------------------------------------------------


async def test_a_spent_budget_is_told_and_answered_in_the_books_own_words(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    command_line = await asyncio.to_thread(book_shell, tmp_path, models)
    command_line = speaking_to(server, command_line)
    first = await answered(command_line.setting(BUDGET__TOTAL_TOKENS="50"))
    assert (first.model_name, first.notices) == (MODEL, ())
    assert first.tokens_used > 50
    for budget in ("USER_TOKENS", "COURSE_TOKENS", "TOTAL_TOKENS"):
        again = await answered(command_line.setting(**{f"BUDGET__{budget}": "50"}))
        assert (again.model_name, again.tokens_used) == ("extractive", 0)
        assert text("notice-budget-spent") in again.notices
    assert len(server.requests) == 1


async def test_a_question_that_would_cost_more_than_one_may_is_not_sent(
    arden: CommandLine, server: GeminiServer
) -> None:
    answer = await answered(speaking_to(server, arden).setting(BUDGET__REQUEST_TOKENS="100"))
    assert answer.model_name == "extractive"
    assert COVERED_FACT in answer.response_text
    assert server.requests == []


# --- outages ------------------------------------------------------------------------------


async def test_when_gemini_is_down_the_book_answers_with_a_notice_and_one_line_in_the_log(
    arden: CommandLine, server: GeminiServer
) -> None:
    server.fail(UNAVAILABLE, math.inf)
    done = await finished(speaking_to(server, arden), "ask", COVERED)
    assert done.code == 0
    assert COVERED_FACT in done.out
    assert text("notice-model-failed") in done.out
    [line] = done.err.splitlines()
    assert line.startswith("WARNING")
    assert "503" in line


async def test_a_refused_key_is_told_in_the_log_and_the_book_answers(
    arden: CommandLine, server: GeminiServer
) -> None:
    wrong = speaking_to(server, arden).knowing(GEMINI_API_KEY="another-secret-key")
    done = await finished(wrong, "ask", COVERED)
    assert done.code == 0
    assert COVERED_FACT in done.out
    [line] = done.err.splitlines()
    assert "GLOSSATOR_MODELS__GEMINI__API_KEY" in line
    assert "another-secret-key" not in line


# --- the demo -----------------------------------------------------------------------------


@pytest.mark.costly
async def test_the_demo_stays_offline_and_extractive_whatever_the_environment_says(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    command_line = speaking_to(server, shell(tmp_path, models))
    (command_line.data / "demo").mkdir(mode=0o700)
    (command_line.data / "demo" / "models").symlink_to(models, target_is_directory=True)
    command_line = describing(
        command_line.setting(GENERATOR="gemini", EMBEDDING__PROVIDER="gemini_embedding"),
        '[courses.tides]\nembedding = "gemini_embedding"\n',
    )
    done = await asyncio.to_thread(demonstrated, command_line)
    assert (done.code, done.err) == (0, "")
    assert "answered offline" in done.out
    answers = re.split(r"\n\d\. ", done.out)[1:]
    facts = (
        "What the weather adds is called a surge.",
        "A surge that arrives with high water at springs is the most dangerous one.",
        "its water swings by itself about once in 13 hours",
        "| Avonmouth, England | Bristol Channel | 9.6 |",
        "Their height is drawn about ten million times too large",
        "The book doesn't cover this.",
    )
    for answer, fact in zip(answers, facts, strict=True):
        assert fact in answer
    assert "Understood as: “And when is a surge most dangerous?”" in answers[1]
    for answer in answers[:-1]:
        assert re.search(r"^From \[1\].*\.md$", answer, re.M)
    assert text("notice-model-failed") not in done.out
    assert server.requests == []


def demonstrated(command_line: CommandLine) -> Finished:
    done = subprocess.run(
        [sys.executable, "-m", "bot", "demo"],
        cwd=command_line.folder,
        env=command_line.environment(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())
