"""`glossator doctor` with Gemini over HTTP: what works, what is refused, what is hardly meant."""

import math
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.command_line import CommandLine, Finished
from tests.wire.gemini_faults import STALL_SILENT
from tests.wire.gemini_server import COUNT, GeminiServer
from tests.wire.gemini_shell import SECRET, book_shell, describing, finished_here, speaking_to

pytestmark = pytest.mark.costly

MODEL, OTHER_MODEL = "gemini-3.8-flash", "gemini-3.5-flash-lite"


@pytest.fixture(scope="module")
def arden(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    return book_shell(tmp_path_factory.mktemp("arden"), models)


@pytest.fixture
async def server() -> AsyncIterator[GeminiServer]:
    async with GeminiServer(api_key=SECRET) as server:
        yield server


def findings(done: Finished) -> dict[str, str]:
    lines = [line.split(maxsplit=2) for line in done.out.splitlines()]
    return {subject: f"{mark} {text}" for mark, subject, text in lines}


async def test_the_doctor_tells_models_budgets_and_embeddings(
    arden: CommandLine, server: GeminiServer
) -> None:
    toml = f"""
    [courses.arden]
    embedding = "gemini_embedding"
    [courses.arden.answers]
    model = "{OTHER_MODEL}"
    """
    command_line = describing(speaking_to(server, arden), toml).setting(
        BUDGET__USER_TOKENS="20000", BUDGET__TOTAL_TOKENS="900000"
    )
    done = await finished_here(command_line, "doctor")
    assert (done.code, done.err) == (0, "")
    found = findings(done)
    assert list(found) == [
        *("settings", "data", "disk", "database", "keys", "model", "generator", "budgets"),
        *("embedding", "index", "course", "files", "git", "scans", "pandoc", "sandbox"),
    ]
    assert found["generator"] == (
        f"ok gemini: {MODEL}, {OTHER_MODEL} answer; reached at 127.0.0.1 (models.gemini.base_url)"
    )
    assert "20,000 a user, 900,000 in all a day" in found["budgets"]
    assert found["embedding"] == "ok gemini-embedding-2 answers with 768 dimensions"
    assert {call.model for call in server.requests if call.method in COUNT} == {MODEL, OTHER_MODEL}


async def test_the_doctor_warns_of_what_works_and_is_hardly_meant(
    arden: CommandLine, server: GeminiServer
) -> None:
    toml = '[courses.arden]\nsources = ["arden"]\nembedding = "gemini_embedding"\n'
    command_line = describing(speaking_to(server, arden), toml).setting(
        BUDGET__REQUEST_TOKENS="2000",
        MODELS__GEMINI__MODEL=OTHER_MODEL,
        MODELS__GEMINI_EMBEDDING__INPUT_PRICE="2",
    )
    done = await finished_here(command_line, "doctor")
    assert (done.code, done.err) == (0, "")
    found = findings(done)
    assert {subject for subject, text in found.items() if text.startswith("WARN ")} == {
        *("budgets", "prices", "course")
    }
    assert "of which max_tokens is 2,048" in found["budgets"]
    assert "GLOSSATOR_BUDGET__REQUEST_TOKENS" in found["budgets"]
    assert f"no price of {OTHER_MODEL}: set input_price and output_price" in found["prices"]
    assert found["course"].endswith(
        "not with gemini-embedding-2/768 as is configured: run 'glossator ingest --course arden'"
    )


async def test_the_doctor_tells_no_more_of_an_address_than_its_host(
    arden: CommandLine, server: GeminiServer
) -> None:
    secret = server.url.replace("://", "://ann:hunter2@") + "/hunter3?key=hunter4"
    await server.stop()
    for command_line in (
        speaking_to(server, arden).setting(MODELS__GEMINI__BASE_URL=secret),
        speaking_to(server, arden).setting(MODELS__GEMINI__BASE_URL=secret, LOG_LEVEL="DEBUG"),
    ):
        done = await finished_here(command_line, "doctor")
        assert findings(done)["generator"].startswith("FAIL ")
        assert "hunter" not in done.out + done.err


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        (
            {"MODELS__GEMINI__API_KEY": "wrong-key"},
            ["API_KEY_INVALID", "GLOSSATOR_MODELS__GEMINI__API_KEY"],
        ),
        ({"MODELS__GEMINI__MODEL": "gemini-0.1-dim"}, ["gemini-0.1-dim", "models.gemini.model"]),
    ],
    ids=["key", "model"],
)
async def test_the_doctor_names_what_gemini_refuses(
    arden: CommandLine, server: GeminiServer, variables: dict[str, str], words: list[str]
) -> None:
    done = await finished_here(speaking_to(server, arden).setting(**variables), "doctor")
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
    done = await finished_here(speaking_to(server, arden), "doctor")
    assert done.code == 69
    assert findings(done)["generator"].startswith("FAIL ")
    assert findings(done)["course"].startswith("ok ")
