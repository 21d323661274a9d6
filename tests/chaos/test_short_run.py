"""A run of about a minute: two replicas are killed and stopped, the database crashes."""

import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.chaos.figures import TOTALS, is_clean, table
from tests.chaos.part import UNSETTLED, Part, run_part
from tests.chaos.settlements import Settlement
from tests.chaos.templates import Templates
from tests.postgres import postgres_server

pytestmark = [
    pytest.mark.costly,
    pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL"),
    pytest.mark.xdist_group("chaos"),
    pytest.mark.postgres,
]

QUESTIONS, SEED = 40, 9


async def test_each_question_is_answered_once_while_things_break(
    models: Path, tmp_path: Path
) -> None:
    part = Part(seed=SEED, replicas=2, on_postgres=True, stand_ins=True, questions=QUESTIONS)
    with ExitStack() as opened:
        try:
            server = opened.enter_context(postgres_server())
        except RuntimeError as reason:
            pytest.skip(str(reason))
        templates = Templates(tmp_path / "templates", models, server)
        outcome = await run_part(part, tmp_path / "part", templates, server)
    assert is_clean([outcome]), table([outcome])
    print(table([outcome]))  # with `pytest -s`
    settled = Counter[str]()
    for counted in outcome.settled.values():
        settled.update(counted)
    assert settled.total() == QUESTIONS, "each question has one settlement"
    assert not settled[UNSETTLED], table([outcome])
    # Whether a limit is met depends on a crowd that finds the bot connected: long runs show that.
    for kind in (Settlement.ANSWERED, Settlement.POINTED):
        assert settled[kind] >= 1, table([outcome])
    rows = [line.rsplit(maxsplit=3) for line in table([outcome]).splitlines()]
    for total in TOTALS:
        assert [total, "0", "0", "0"] in rows, table([outcome])
    for never in ("apologies", "not found in the book", "exits of its own", "ends without 0"):
        assert not outcome.counts.get(never), table([outcome])
    faults = (
        "SIGKILL",
        "SIGSTOP",
        "database crashes",
        "network faults",
        "calls spoiled",
        "server outages",
    )
    happened = [fault for fault in faults if outcome.counts.get(fault)]
    assert len(happened) >= len(faults) - 1, table([outcome])  # a short run may miss one
