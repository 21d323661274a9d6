"""The command line with Gemini over HTTP: keys, models, budgets, embeddings and outages."""

import asyncio
import json
import math
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from core.grounding import wording
from core.models import AgentResponse, Outcome
from tests.books import COVERED, COVERED_FACT, LIGHTHOUSE, write_files
from tests.command_line import CommandLine, Finished, shell
from tests.wire.gemini_faults import STALL_SILENT, UNAVAILABLE
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_server import COUNT, EMBED, GENERATE, GeminiServer
from tests.wire.scripted_models import cite, honest

MODEL, OTHER_MODEL = "gemini-3.8-flash", "gemini-3.5-flash-lite"
WICK = "The keeper trims the wick of the lamp every four hours."
SOOT = (
    "An untrimmed wick smokes, and the soot darkens the prisms until ships no longer see the beam."
)
SECRET = "a-secret-key-of-gemini"
KEY_NAMES = ("GLOSSATOR_GEMINI__API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


@pytest.fixture(scope="module")
def arden(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    """A shell whose only course is the lighthouse book, embedded with the local model."""
    return with_book(shell(tmp_path_factory.mktemp("arden"), models))


@pytest.fixture
async def server() -> AsyncIterator[GeminiServer]:
    async with GeminiServer(api_key=SECRET) as server:
        server.answer_with(honest)
        yield server


def with_book(command_line: CommandLine) -> CommandLine:
    write_files(command_line.folder / "arden", LIGHTHOUSE)
    done = command_line.run("ingest", "arden")
    assert done.code == 0, done.err
    return command_line


def speaking_to(server: GeminiServer, command_line: CommandLine) -> CommandLine:
    return command_line.knowing(GEMINI_API_KEY=SECRET).setting(GEMINI__BASE_URL=server.url)


def describing(command_line: CommandLine, toml: str) -> CommandLine:
    """Return the same shell with a course file of its own."""
    path = command_line.folder / f"courses-{abs(hash(toml))}.toml"
    path.write_text(toml, encoding="utf-8")
    return command_line.setting(CONFIG=str(path))


async def finished(command_line: CommandLine, *arguments: str, stdin: str = "") -> Finished:
    """Run a command as a process while the server of this loop answers it."""
    done = await asyncio.to_thread(command_line.run, *arguments, stdin=stdin.encode())
    assert "Traceback" not in done.err
    assert SECRET not in done.out + done.err
    return done


async def answered(
    command_line: CommandLine, *arguments: str, question: str = COVERED
) -> AgentResponse:
    done = await finished(command_line, "ask", question, "--json", *arguments)
    assert done.code == 0, done.err
    return AgentResponse.model_validate_json(done.out)


def methods(server: GeminiServer) -> set[str]:
    return {call.method for call in server.requests}


# --- who answers --------------------------------------------------------------------------


async def test_with_a_key_gemini_answers_and_the_answer_tells_what_it_cost(
    arden: CommandLine, server: GeminiServer
) -> None:
    shop = speaking_to(server, arden).setting(
        GEMINI__INPUT_PRICE="2", GEMINI__OUTPUT_PRICE="10", GEMINI__STREAM="true"
    )
    answer = await answered(shop)
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


@pytest.mark.parametrize("name", KEY_NAMES)
@pytest.mark.parametrize("place", ["environment", "file"])
async def test_the_key_is_found_under_each_of_its_names(
    tmp_path: Path, models: Path, server: GeminiServer, name: str, place: str
) -> None:
    command_line = shell(tmp_path, models).setting(GEMINI__BASE_URL=server.url)
    if place == "file":
        (tmp_path / ".env").write_text(f"{name}={SECRET}\n", encoding="utf-8")
    else:
        command_line = command_line.knowing(**{name: SECRET})
    done = await finished(command_line, "doctor")
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
        GEMINI__STREAM="false",
        GEMINI__THINKING_LEVEL="high",
        GEMINI__API_VERSION="v1",
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
    await answered(speaking_to(server, arden).setting(GEMINI__THINKING_LEVEL="none"))
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


@pytest.mark.parametrize("budget", ["USER_TOKENS", "COURSE_TOKENS", "TOTAL_TOKENS"])
async def test_a_spent_budget_is_told_and_answered_in_the_books_own_words(
    tmp_path: Path, models: Path, server: GeminiServer, budget: str
) -> None:
    command_line = with_book_here(tmp_path, models)
    command_line = speaking_to(server, await command_line).setting(**{f"BUDGET__{budget}": "50"})
    first = await answered(command_line)
    assert (first.model_name, first.notices) == (MODEL, ())
    second = await answered(command_line)
    assert (second.model_name, second.tokens_used) == ("extractive", 0)
    assert wording.BUDGET_SPENT in second.notices
    assert len(server.requests) == 1


async def test_a_question_that_would_cost_more_than_one_may_is_not_sent(
    arden: CommandLine, server: GeminiServer
) -> None:
    answer = await answered(speaking_to(server, arden).setting(BUDGET__REQUEST_TOKENS="100"))
    assert answer.model_name == "extractive"
    assert COVERED_FACT in answer.response_text
    assert server.requests == []


async def with_book_here(folder: Path, models: Path) -> CommandLine:
    return await asyncio.to_thread(lambda: with_book(shell(folder, models)))


# --- outages ------------------------------------------------------------------------------


async def test_when_gemini_is_down_the_book_answers_with_a_notice_and_one_line_in_the_log(
    arden: CommandLine, server: GeminiServer
) -> None:
    server.fail(UNAVAILABLE, math.inf)
    began = time.monotonic()
    done = await finished(speaking_to(server, arden), "ask", COVERED)
    assert time.monotonic() - began < 15
    assert done.code == 0
    assert COVERED_FACT in done.out
    assert wording.MODEL_FAILED in done.out
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
    assert "GLOSSATOR_GEMINI__API_KEY" in line
    assert "another-secret-key" not in line


# --- the doctor ---------------------------------------------------------------------------


def findings(done: Finished) -> dict[str, str]:
    lines = [line.split(maxsplit=2) for line in done.out.splitlines()]
    return {subject: f"{mark} {text}" for mark, subject, text in lines}


async def test_the_doctor_tells_models_budgets_and_embeddings(
    arden: CommandLine, server: GeminiServer
) -> None:
    toml = f"""
    [courses.arden]
    embedding = "gemini"
    [courses.arden.answers]
    model = "{OTHER_MODEL}"
    """
    command_line = describing(speaking_to(server, arden), toml).setting(
        BUDGET__USER_TOKENS="20000", BUDGET__TOTAL_TOKENS="900000"
    )
    done = await finished(command_line, "doctor")
    assert (done.code, done.err) == (0, "")
    found = findings(done)
    assert list(found) == [
        *("settings", "database", "model", "generator", "budgets", "embedding", "index", "course")
    ]
    assert found["generator"] == f"ok gemini: {MODEL}, {OTHER_MODEL} answer at 127.0.0.1"
    assert "20,000 a user, 900,000 in all a day" in found["budgets"]
    assert found["embedding"] == "ok gemini-embedding-2 answers with 768 dimensions"
    assert {call.model for call in server.requests if call.method in COUNT} == {MODEL, OTHER_MODEL}


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"GEMINI__API_KEY": "wrong-key"}, ["API_KEY_INVALID", "GLOSSATOR_GEMINI__API_KEY"]),
        ({"GEMINI__MODEL": "gemini-0.1-dim"}, ["gemini-0.1-dim", "GLOSSATOR_GEMINI__MODEL"]),
        ({"GEMINI__REPAIR_MODEL": "gemini-0.1-dim"}, ["gemini-0.1-dim", "no such model"]),
    ],
    ids=["key", "model", "repair model"],
)
async def test_the_doctor_names_what_gemini_refuses(
    arden: CommandLine, server: GeminiServer, variables: dict[str, str], words: list[str]
) -> None:
    done = await finished(speaking_to(server, arden).setting(**variables), "doctor")
    assert done.code == 78
    found = findings(done)["generator"]
    assert found.startswith("FAIL ")
    assert all(word in found for word in words), found
    assert "wrong-key" not in done.out


@pytest.mark.parametrize("silent", [False, True], ids=["down", "silent"])
async def test_the_doctor_tells_that_gemini_does_not_answer_after_a_few_seconds(
    arden: CommandLine, server: GeminiServer, silent: bool
) -> None:
    if silent:
        server.fail(STALL_SILENT, math.inf, COUNT)
    else:
        await server.stop()
    began = time.monotonic()
    done = await finished(speaking_to(server, arden), "doctor")
    assert time.monotonic() - began < 15
    assert done.code == 69
    assert findings(done)["generator"].startswith("FAIL ")
    assert findings(done)["course"].startswith("ok ")


# --- embeddings ---------------------------------------------------------------------------


async def test_a_course_moves_to_geminis_embeddings_and_back(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    local = speaking_to(server, await with_book_here(tmp_path, models))
    local = local.setting(GENERATOR="extractive")
    remote = local.setting(EMBEDDING__PROVIDER="gemini", GEMINI__EMBEDDING_DIMENSIONS="256")

    async def ingested(command_line: CommandLine) -> tuple[Any, Any]:
        done = await finished(command_line, "ingest", "arden", "--json")
        assert done.code == 0, done.err
        return done.json["embedded"], done.json["chunks"]

    embedded, chunks = await ingested(remote)
    assert embedded == chunks > 0
    assert methods(server) == set(EMBED)
    assert await ingested(remote) == (0, chunks)

    server.requests.clear()
    for command_line in (remote, local):
        answer = await answered(command_line)
        assert COVERED_FACT in answer.response_text
        [*_, call] = server.requests
        [asked] = call.body["requests"]
        assert (asked["taskType"], asked["outputDimensionality"]) == ("RETRIEVAL_QUERY", 256)
    done = await finished(local, "courses", "--json")
    assert done.json[0]["edition"]["embedding_model"] == "gemini-embedding-2/256"

    server.requests.clear()
    assert await ingested(local) == (0, chunks)  # the local vectors are remembered
    assert COVERED_FACT in (await answered(local)).response_text
    assert server.requests == []


async def test_each_course_is_embedded_as_its_own_table_says(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    write_files(tmp_path / "arden", LIGHTHOUSE)
    command_line = describing(
        speaking_to(server, shell(tmp_path, models)),
        '[courses.near]\nsources = ["arden"]\nembedding = "local"\n'
        '[courses.far]\nsources = ["arden"]\nembedding = "gemini"\n',
    )
    done = await finished(command_line, "ingest")
    assert done.code == 0, done.err
    courses = json.loads((await finished(command_line, "courses", "--json")).out)
    models_by_course = {row["course_id"]: row["edition"]["embedding_model"] for row in courses}
    assert models_by_course == {"near": "all-MiniLM-L6-v2", "far": "gemini-embedding-2/768"}


async def test_without_geminis_embeddings_an_ingestion_ends_with_69_and_the_old_text_stays(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    command_line = speaking_to(server, await with_book_here(tmp_path, models))
    await server.stop()
    remote = command_line.setting(EMBEDDING__PROVIDER="gemini", GEMINI__BASE_URL=server.url)
    done = await finished(remote, "ingest", "arden")
    assert done.code == 69
    assert "gemini-embedding-2" in done.sentence
    answer = await answered(command_line, "--generator", "extractive")
    assert COVERED_FACT in answer.response_text


# --- at a terminal ------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
async def test_at_a_terminal_the_first_sentence_is_seen_before_the_last_is_written(
    arden: CommandLine, server: GeminiServer
) -> None:
    last_written = asyncio.Event()

    async def slow_model() -> AsyncIterator[str]:
        yield cite(WICK, 1, WICK) + "\n\n"
        await asyncio.wait_for(first_seen.wait(), 20)
        last_written.set()
        yield cite(SOOT, 1, SOOT)

    first_seen = asyncio.Event()
    server.script(slow_model())
    terminal = Terminal(speaking_to(server, arden), "ask", COVERED)
    await terminal.shows(lambda text: "wick of the lamp every four" in text)
    assert not last_written.is_set()
    assert "soot darkens" not in terminal.text
    first_seen.set()
    assert await terminal.ends() == 0
    assert "soot darkens" in terminal.text
    assert "Trimming the wick" in terminal.text
    assert terminal.text.rfind("\x1b[?25h") > terminal.text.rfind("\x1b[?25l")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
async def test_at_a_terminal_what_gemini_could_not_finish_gives_way_to_the_books_own_words(
    arden: CommandLine, server: GeminiServer
) -> None:
    server.script(Reply(f"{cite(SOOT, 1, SOOT)}\n\nAnd then", finish_reason=None))
    terminal = Terminal(speaking_to(server, arden), "ask", COVERED)
    assert await terminal.ends() == 0
    _, _, final = terminal.text.rpartition("\x1b[?25h")
    assert COVERED_FACT in final
    assert wording.MODEL_FAILED[:40] in final


class Terminal:
    """A command that runs at a pseudo-terminal of 100 columns."""

    def __init__(self, command_line: CommandLine, *arguments: str) -> None:
        self._master, slave = os.openpty()
        sized = command_line.knowing(TERM="xterm-256color", COLUMNS="100", LINES="40")
        self._process = sized.start(*arguments, stdout=slave, stderr=slave)
        os.close(slave)
        self.text = ""

    async def shows(self, condition: Callable[[str], bool]) -> None:
        """Read until the condition holds of all that was shown; fail at the end."""
        while not condition(self.text):
            assert await self._read(), self.text

    async def ends(self) -> int:
        """Read to the end and return the exit code."""
        while await self._read():
            pass
        os.close(self._master)
        return await asyncio.to_thread(self._process.wait, 30)

    async def _read(self) -> bool:
        try:
            piece = await asyncio.wait_for(asyncio.to_thread(os.read, self._master, 65_536), 30)
        except OSError:  # Linux's way to say that nobody writes any more
            return False
        self.text += piece.decode(errors="replace")
        return bool(piece)
