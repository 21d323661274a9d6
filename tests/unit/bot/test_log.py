"""What reaches the log of a running bot."""

import json
import logging
from collections.abc import Iterator

import pytest

from bot.log import _is_for_operators, configure_logging
from bot.settings import LogFormat
from core.domain.telemetry import REQUEST, SAID_IN_ANSWER
from tests.command_line import CommandLine


class Log:
    """What a process writes to stderr once its logging is configured."""

    def __init__(self, captured: pytest.CaptureFixture[str]) -> None:
        self._captured = captured

    def configure(self, level: str, written_as: LogFormat = "text", **options: bool) -> None:
        logging.getLogger().handlers = []  # the test runner's own would be kept instead
        configure_logging(level, written_as, **options)

    @property
    def lines(self) -> list[str]:
        return self._captured.readouterr().err.splitlines()


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> Iterator[Log]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield Log(capsys)
    root.handlers = handlers
    root.setLevel(level)


@pytest.fixture
def request_key() -> Iterator[str]:
    token = REQUEST.set("slack:T1:C1:1.0")
    yield "slack:T1:C1:1.0"
    REQUEST.reset(token)


def _fail_with(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        logging.getLogger("core.answering.agent").exception("that failed")


def test_what_is_told_is_json_where_the_log_is(glossator: CommandLine) -> None:
    shell = glossator.setting(LOG_FORMAT="json")
    for more, code in (({}, 78), ({"LOG_LEVEL": "LOUD"}, 78), ({"DISCORD__TOKN": "x"}, 78)):
        done = shell.setting(**more).here("run")
        assert done.code == code
        [line] = map(json.loads, done.err.splitlines())
        assert (line["level"], line["logger"]) == ("ERROR", "bot")
        assert line["message"].startswith("glossator: ")
    assert CommandLine(glossator.folder).here("run").err.startswith("glossator: ")


def test_a_json_line_tells_what_it_is_about(log: Log, request_key: str) -> None:
    log.configure("INFO", "json")
    logging.getLogger("core.answering.agent").info("said\nINFO bot: forged")
    _fail_with("no\u2028good")
    said, failed = map(json.loads, log.lines)
    assert said["message"] == "said\nINFO bot: forged"
    assert (said["level"], said["logger"]) == ("INFO", "core.answering.agent")
    assert said["request"] == request_key
    assert said["time"].endswith("+00:00")
    assert "traceback" not in said
    assert "ValueError: no\u2028good" in failed["traceback"]


def test_a_text_line_cannot_be_forged(log: Log) -> None:
    log.configure("INFO", with_tracebacks=True)
    logging.getLogger("core.answering.agent").info("said\nERROR bot: forged\x1b[31m\u2028")
    _fail_with("bad\nERROR bot: forged")
    first, second, *rest = log.lines
    assert first == r"INFO core.answering.agent: said\nERROR bot: forged\x1b[31m\u2028"
    assert second == r"ERROR core.answering.agent: that failed (ValueError: bad\nERROR bot: forged)"
    assert rest
    assert all(line.startswith("    ") for line in rest)


def test_a_text_line_names_its_request_once(log: Log, request_key: str) -> None:
    log.configure("INFO")
    logging.getLogger("core.answering.agent").info("answered")
    logging.getLogger("adapters.chat.delivery.worker").info("%s is done", request_key)
    _fail_with("bad")
    assert log.lines == [
        "INFO core.answering.agent: answered [slack:T1:C1:1.0]",
        "INFO adapters.chat.delivery.worker: slack:T1:C1:1.0 is done",
        "ERROR core.answering.agent: that failed [slack:T1:C1:1.0] (ValueError: bad)",
    ]


@pytest.mark.parametrize(
    ("level", "beside_answers", "lines"),
    [
        ("WARNING", True, 1),
        ("INFO", True, 2),
        ("WARNING", False, 2),
        ("INFO", False, 2),
    ],
)
def test_an_asker_is_not_also_shown_the_line_about_what_an_answer_says(
    log: Log, level: str, beside_answers: bool, lines: int
) -> None:
    log.configure(level, beside_answers=beside_answers)
    logging.getLogger("core.answering.draft").warning("left out", extra=SAID_IN_ANSWER)
    logging.getLogger("core.answering.draft").warning("the model failed")
    *others, last = log.lines
    assert last == "WARNING core.answering.draft: the model failed"
    assert len(others) == lines - 1


@pytest.mark.parametrize(
    ("logger", "level", "is_shown"),
    [
        ("core.answering.agent", logging.INFO, True),
        ("adapters.chat.delivery.worker", logging.INFO, True),
        ("discord.gateway", logging.INFO, False),
        ("discord.gateway", logging.WARNING, True),
        ("corellia", logging.INFO, False),
    ],
)
def test_other_libraries_are_heard_from_warnings_on(
    logger: str, level: int, is_shown: bool
) -> None:
    record = logging.LogRecord(logger, level, "file.py", 1, "said", (), None)
    assert _is_for_operators(record) is is_shown


def test_what_libraries_send_and_store_is_told_at_no_level(log: Log) -> None:
    log.configure("DEBUG")
    logging.getLogger("discord.gateway").debug("received the words of a student")
    logging.getLogger("core.answering.agent").debug("begun")
    assert log.lines == ["DEBUG core.answering.agent: begun"]
