"""`glossator init` writes two files that Glossator reads, and overwrites none."""

import asyncio
import os
import pty
import select
import stat
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from bot.cli.setup import _ollama_address
from bot.course_file import read_course_file
from core.providers.services import OLLAMA
from tests.command_line import CommandLine
from tests.wire.gemini_server import GeminiServer
from tests.wire.openai_server import OpenAIServer

NAMED = ("--course", "biology", "--title", 'Cells "and" more', "--source", "my book")
SLACK = {"SLACK__BOT_TOKEN": "xoxb-1-secret", "SLACK__APP_TOKEN": "xapp-1-secret"}


@pytest.fixture
def empty(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_what_is_written_is_a_course_file_and_tokens_for_their_owner_alone(
    empty: CommandLine,
) -> None:
    shell = empty.setting(**SLACK)
    done = shell.here("init", *NAMED, "--platform", "slack")
    assert (done.code, done.err) == (0, "")
    assert "secret" not in done.out
    assert "no file or folder my book yet" in done.out
    written = (empty.folder / ".env").read_text()
    assert "GLOSSATOR_SLACK__BOT_TOKEN=xoxb-1-secret\n" in written
    assert stat.S_IMODE((empty.folder / ".env").stat().st_mode) == 0o600
    course_file = read_course_file(empty.folder / "glossator.toml", required=True)
    assert course_file.sources("biology") == [str(empty.folder / "my book")]
    assert course_file.tables["biology"].title == 'Cells "and" more'


@pytest.mark.parametrize("name", ["glossator.toml", ".env"])
def test_no_file_that_is_there_is_overwritten(empty: CommandLine, name: str) -> None:
    (empty.folder / name).write_text("# mine\n")
    done = empty.here("init", *NAMED, "--platform", "terminal")
    assert done.code == 2
    assert f"{name} is there already" in done.sentence
    assert [file.name for file in empty.folder.iterdir()] == [name]
    assert (empty.folder / name).read_text() == "# mine\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Give --course"),
        (("--course", "biology"), "Give --source"),
        (("--course", "Biology 101", "--source", "book"), "such as biology-101"),
        ((*NAMED, "--generator", "claude"), "claude is none of these: none, gemini, ollama, or"),
        ((*NAMED, "--generator", "gemini"), "GEMINI_API_KEY is not set"),
        ((*NAMED, "--generator", "http://127.0.0.1:9"), "Give --model"),
        ((*NAMED, "--platform", "irc"), "There is no platform irc"),
        ((*NAMED, "--platform", "discord"), "GLOSSATOR_DISCORD__TOKEN is not set"),
    ],
)
def test_without_a_terminal_what_is_missing_is_named_and_nothing_is_written(
    empty: CommandLine, words: tuple[str, ...], said: str
) -> None:
    done = empty.here("init", *words)
    assert done.code == 2
    assert said in done.sentence
    assert not [*empty.folder.iterdir()]


def test_without_a_terminal_all_mistakes_are_named_at_once(empty: CommandLine) -> None:
    done = empty.here("init", "--course", "BIO 201", "--platform", "discord", "--generator", "x")
    assert done.code == 2
    for said in ("bio-201", "Give --source", "GLOSSATOR_DISCORD__TOKEN", "x is none of these"):
        assert said in done.sentence
    assert not [*empty.folder.iterdir()]


# --- at a terminal --------------------------------------------------------------------------

AT_TERMINAL = pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
_SECONDS = 30.0
LISTED = {"object": "list", "data": [{"id": "local-model"}, {"id": "another"}]}
NO_OLLAMA = {"OLLAMA_HOST": "127.0.0.1:9"}
_COURSE = [("Id of the course", "biology"), ("Title", "Cells"), ("Folder", "book")]
_WRITER = "Who writes the answers"


def answering(
    shell: CommandLine, answers: Sequence[tuple[str, str]], *words: str
) -> tuple[int, str]:
    """Run `init` at a terminal, and give each answer once its question stands there."""
    ours, theirs = pty.openpty()
    pipes = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with shell.start("init", *words, start_new_session=True, **pipes) as process:
        os.close(theirs)
        try:
            shown = _conversation(ours, answers)
        except BaseException:
            process.kill()
            raise
        finally:
            os.close(ours)
    return process.returncode, shown


def _conversation(ours: int, answers: Sequence[tuple[str, str]]) -> str:
    """Return all that was shown, once the program has closed its end."""
    shown, answered, until = "", 0, monotonic() + _SECONDS
    for question, answer in [*answers, ("", "")]:
        # What is typed before the blank at the end is lost where nothing is shown of it.
        while not (question and question in shown[answered:] and shown.endswith(": ")):
            left = until - monotonic()
            if left <= 0:
                pytest.fail(f"{question!r} was not asked: {shown}")
            if not select.select([ours], [], [], left)[0]:
                continue
            try:
                said = os.read(ours, 65_536)
            except OSError:  # how Linux says that the other end is closed
                said = b""
            if not said:
                assert not question, f"{question!r} was not asked: {shown}"
                return shown
            shown += said.decode()
        answered = len(shown)
        os.write(ours, f"{answer}\n".encode())
    raise AssertionError(shown)


def written(shell: CommandLine) -> tuple[dict[str, Any], str]:
    file, variables = (shell.folder / name for name in ("glossator.toml", ".env"))
    return tomllib.loads(file.read_text("utf-8")), variables.read_text("utf-8")


@AT_TERMINAL
def test_after_a_mistake_the_question_is_asked_again_and_all_answers_are_kept(
    empty: CommandLine,
) -> None:
    code, shown = answering(
        empty.knowing(**NO_OLLAMA),
        [
            ("Id of the course [biology]", "BIO 201"),
            ("Id of the course [bio-201]", ""),
            ("Title of the course [BIO 201]", ""),
            ("Folder, file or URL of the book", "my book"),
            ("Platforms", "irc"),
            ("Platforms", "discord"),
            ("Token of the Discord bot (Enter: later)", ""),
            (_WRITER, "claude"),
            (f"{_WRITER}", "none"),
        ],
    )
    assert code == 0, shown
    assert "'BIO 201' is no course's id" in shown
    assert "There is no platform irc" in shown
    assert "claude is none of these" in shown
    assert "Still to be filled in, in .env: GLOSSATOR_DISCORD__TOKEN." in shown
    file, variables = written(empty)
    assert file == {"courses": {"bio-201": {"title": "BIO 201", "sources": ["my book"]}}}
    assert variables == "# GLOSSATOR_DISCORD__TOKEN=\n"


@AT_TERMINAL
async def test_a_running_ollama_is_found_with_its_models_and_tried(empty: CommandLine) -> None:
    about: dict[str, Any] = {
        "/v1/models": LISTED,
        "/api/ps": {"models": [{"name": "local-model", "context_length": 8192}]},
    }
    async with OpenAIServer("none", about=about) as server:
        server.answer_with(lambda call: "Hello.")
        shell = empty.knowing(OLLAMA_HOST=server.origin.removeprefix("http://"))
        answers = [
            *_COURSE,
            ("Platforms", ""),
            (_WRITER, "ollama"),
            ("Its model [local-model]", ""),
        ]
        code, shown = await asyncio.to_thread(answering, shell, answers)
        assert len(server.requests) == 1
    assert code == 0, shown
    assert "Ollama runs on this machine, with local-model, another." in shown
    assert "It answers." in shown
    file, variables = written(empty)
    model = {"kind": "ollama", "model": "local-model", "base_url": server.url, "context": 8192}
    assert file["models"] == {"ollama": model}
    assert file["courses"]["biology"]["generator"] == "ollama"
    assert variables == ""
    assert read_course_file(empty.folder / "glossator.toml").models["ollama"].kind == "openai"


@AT_TERMINAL
async def test_a_key_is_tried_at_once_and_asked_for_again_when_it_is_refused(
    empty: CommandLine,
) -> None:
    async with GeminiServer(api_key="right-key") as server:
        shell = empty.setting(MODELS__GEMINI__BASE_URL=server.url).knowing(**NO_OLLAMA)
        answers = [
            *_COURSE,
            ("Platforms", ""),
            (_WRITER, "gemini"),
            ("Key for Gemini (Enter: later)", "wrong-key"),
            ("Keep it all the same?", "n"),
            (_WRITER, "gemini"),
            ("Key for Gemini", "right-key"),
        ]
        code, shown = await asyncio.to_thread(answering, shell, answers)
    assert code == 0, shown
    assert "right-key" not in shown
    assert "wrong-key" not in shown
    assert shown.count("Trying gemini ...") == 2
    assert "It answers." in shown
    assert written(empty)[1] == "GEMINI_API_KEY=right-key\n"


@AT_TERMINAL
async def test_a_service_is_reached_though_its_address_lacks_the_end(empty: CommandLine) -> None:
    async with OpenAIServer("its-key", about={"/v1/models": LISTED}) as server:
        server.answer_with(lambda call: "Hello.")
        answers = [
            *_COURSE,
            ("Platforms", ""),
            (_WRITER, server.origin.removeprefix("http://")),
            (f"[{server.origin}]", ""),
            ("Its key", "its-key"),
            ("Its model [local-model]", ""),
        ]
        code, shown = await asyncio.to_thread(answering, empty.knowing(**NO_OLLAMA), answers)
    assert code == 0, shown
    assert "It has local-model, another." in shown
    assert "It answers." in shown
    file, variables = written(empty)
    model = {"kind": "openai", "model": "local-model", "base_url": server.url}
    assert file["models"] == {"house": model}
    assert variables == "GLOSSATOR_MODELS__HOUSE__API_KEY=its-key\n"


def test_without_a_terminal_a_model_that_does_not_answer_is_kept_and_named(
    empty: CommandLine,
) -> None:
    shell = empty.knowing(GEMINI_API_KEY="a-key").setting(
        MODELS__GEMINI__BASE_URL="http://127.0.0.1:9"
    )
    done = shell.here("init", *NAMED, "--generator", "gemini")
    assert done.code == 0
    assert "cannot be reached" in done.out
    assert "'glossator doctor' tries it again" in done.out
    assert written(empty)[1] == "GEMINI_API_KEY=a-key\n"
    (empty.folder / "glossator.toml").unlink()
    (empty.folder / ".env").unlink()
    done = empty.here("init", *NAMED, "--generator", OLLAMA, "--model", "a-model")
    assert done.code == 0
    assert written(empty)[0]["models"]["house"]["base_url"] == OLLAMA


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ("", OLLAMA),
        ("0.0.0.0", OLLAMA),
        (":12000", "http://127.0.0.1:12000/v1"),
        ("gpu.example.org", "http://gpu.example.org:11434/v1"),
        ("https://[::1]:8443/", "https://[::1]:8443/v1"),
        ("host:port", OLLAMA),
    ],
)
def test_where_ollama_is_stands_in_its_own_variable(named: str, address: str) -> None:
    assert _ollama_address({"OLLAMA_HOST": named}) == address
