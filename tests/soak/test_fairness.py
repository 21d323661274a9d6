"""One who asks without end is told so once a minute, and everybody else is answered."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.templates import Templates
from tests.postgres import postgres_server
from tests.soak.bots import POSTGRESQL, SQLITE, running
from tests.soak.fairness import Fairness, Spammer, Waits, measure
from tests.wire.bot_process import NO_WAIT
from tests.wire.slack import Limits

SECONDS = 2.0
MANY = [0.2] * 90

FAIR = Fairness(
    first_sign=Waits(MANY, MANY),
    answer=Waits(MANY, MANY),
    asked=180,
    refused=0,
    lost=0,
    spammer=Spammer(asked=500, in_minutes=(300, 6, 194), answered=18, told=2),
    processor={False: 1.0, True: 2.0},
)


@pytest.mark.costly
@pytest.mark.xdist_group("fairness")
@pytest.mark.parametrize("database", [SQLITE, pytest.param(POSTGRESQL, marks=pytest.mark.postgres)])
async def test_beside_a_spammer_everybody_is_answered_and_the_spammer_told_once_a_minute(
    database: str, models: Path, tmp_path: Path
) -> None:
    with ExitStack() as opened:
        try:
            server = opened.enter_context(postgres_server()) if database == POSTGRESQL else None
        except RuntimeError as reason:
            pytest.skip(str(reason))
        templates = Templates(tmp_path / "templates", models, server)
        template = await templates.get(on_postgres=server is not None, stand_ins=True)
        async with running(
            template,
            tmp_path / "bot",
            server,
            settings=NO_WAIT,
            limits=Limits.relaxed(),
            by_oauth=True,
        ) as (trial, engine):
            fairness = await measure(trial, engine, SECONDS, pairs=1)
    assert (fairness.asked, fairness.refused, fairness.lost) == (12, 0, 0), fairness
    spammer = fairness.spammer
    assert spammer.asked == sum(spammer.in_minutes) == 33
    assert (spammer.answered, spammer.told) == (spammer.allowed, spammer.too_fast), fairness
    assert spammer.told >= 1


@pytest.mark.parametrize(("slow", "good"), [(0.23, True), (0.25, False)])
def test_the_slowest_of_twenty_may_wait_a_fifth_longer(slow: float, good: bool) -> None:
    assert replace(FAIR, answer=Waits(MANY, [*MANY, *[slow] * 10])).are_good is good


def test_few_that_wait_long_are_no_share_of_twenty() -> None:
    assert replace(FAIR, answer=Waits(MANY, [*MANY, 9.0, 9.0])).are_good


def test_one_that_is_refused_or_lost_is_too_many() -> None:
    assert not replace(FAIR, refused=1).are_good
    assert not replace(FAIR, lost=1).are_good


def test_the_spammer_may_be_told_once_in_each_minute_with_too_many_questions() -> None:
    assert FAIR.are_good
    assert FAIR.spammer.allowed == 18
    nagged = replace(FAIR.spammer, told=3)
    assert not replace(FAIR, spammer=nagged).are_good
