"""What reaches the log of a running bot."""

import logging

import pytest

from bot.log import _is_for_operators


@pytest.mark.parametrize(
    ("logger", "level", "is_shown"),
    [
        ("core.agent", logging.INFO, True),
        ("adapters.worker", logging.INFO, True),
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
