"""What the logs of a run say that nobody foresaw, and what is sent on purpose."""

from types import SimpleNamespace
from typing import Any

from tests.chaos.fleet import Fleet
from tests.wire.bot_process import PASSED_OVER

LOG = f"""\
INFO adapters.chat.delivery.worker: all is well
ERROR adapters.chat.acceptor: an event {PASSED_OVER}: message, 7
Traceback (most recent call last):
  File "inbound.py", line 7, in read
    number = int(value)
ValueError: odd
WARNING adapters.chat.acceptor: an event waits
ERROR adapters.chat.delivery.worker: it failed in a way that nobody foresaw
Traceback (most recent call last):
  File "worker.py", line 7, in work
    raise KeyError("key")
KeyError: 'key'
CRITICAL bot: no more
"""


def test_an_event_that_cannot_be_read_is_no_alarm_and_all_else_is() -> None:
    bot: Any = SimpleNamespace(log=LOG)
    assert Fleet([bot], 1).alarms() == [
        "ERROR adapters.chat.delivery.worker: it failed in a way that nobody foresaw",
        "KeyError: 'key'",
        "CRITICAL bot: no more",
    ]
