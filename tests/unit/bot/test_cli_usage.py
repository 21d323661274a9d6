"""`glossator usage`: the tokens that models used are told, and a user's are forgotten."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from bot.cli.context import terminal_user
from bot.keys import Keys
from core.storage.budgets import TokenBudgets, TokenLimits, Tokens
from core.storage.database import create_engine
from tests.command_line import CommandLine

pytestmark = pytest.mark.costly


def day(days_ago: int = 0) -> str:
    """Return a UTC day as it is printed."""
    return f"{datetime.now(UTC) - timedelta(days=days_ago):%Y-%m-%d}"


def count(
    shell: CommandLine,
    *calls: tuple[str, str, int, int],
    days_ago: int = 0,
    cached: int = 0,
    judging: Tokens | None = None,
) -> None:
    """Count calls of a model: who asked, about which course, tokens in and out.

    Of each call, `cached` tokens had been kept by the service.
    """

    async def count_all() -> None:
        engine = create_engine(f"sqlite:///{shell.data / 'glossator.db'}")
        budgets = TokenBudgets(engine, limits=TokenLimits())
        moment = datetime.now(UTC) - timedelta(days=days_ago)
        for user, course, read, written in calls:
            used = {
                "query_tokens": read,
                "response_tokens": written,
                "cached_tokens": cached,
            }
            await budgets.add(user, course, **used, judging=judging, moment=moment)
        await engine.dispose()

    asyncio.run(count_all())


@pytest.fixture
def prepared(glossator: CommandLine) -> CommandLine:
    """A shell with an empty database."""
    assert glossator.here("db", "upgrade").code == 0
    return glossator


def test_without_a_model_call_one_sentence_says_so(glossator: CommandLine) -> None:
    done = glossator.here("usage")
    assert (done.code, done.err) == (0, "")
    assert done.out == "No language model was called in the last 7 days.\n"
    assert glossator.here("usage", "--days", "1").out == "No language model was called today.\n"
    assert glossator.here("usage", "--json").json == []


def test_every_day_has_a_line_for_each_course_and_one_for_all(prepared: CommandLine) -> None:
    count(prepared, ("ann", "biology", 1_200, 340), ("ben", "biology", 800, 60), cached=450)
    count(prepared, ("ann", "algebra", 100, 20))
    count(prepared, ("ann", "algebra", 5, 5), days_ago=6)
    count(prepared, ("ann", "algebra", 7, 7), days_ago=7)
    done = prepared.here("usage")
    assert (done.code, done.err) == (0, "")
    today, earlier = day(), day(6)
    assert done.out.splitlines() == [
        "day         course       for      calls  tokens in  cached  tokens out  cost",
        f"{earlier}  algebra      writing      1          5       0           5     -",
        f"{earlier}  all courses  writing      1          5       0           5     -",
        f"{today}  algebra      writing      1        100       0          20     -",
        f"{today}  biology      writing      2      2,000     900         400     -",
        f"{today}  all courses  writing      3      2,100     900         420     -",
    ]
    assert len(prepared.here("usage", "--days", "1").out.splitlines()) == 4
    assert len(prepared.here("usage", "--days", "8").out.splitlines()) == 8


def test_what_judging_used_stands_apart(prepared: CommandLine) -> None:
    count(prepared, ("ann", "biology", 1_200, 340), judging=Tokens(200, 40, 1))
    lines = prepared.here("usage").out.splitlines()
    assert lines[1].split()[2:] == ["writing", "0", "1,000", "0", "300", "-"]
    assert lines[2].split() == ["judging", "1", "200", "40", "-"]
    judging = prepared.here("usage", "--json").json[0]["judging"]
    assert (judging["calls"], judging["query_tokens"], judging["response_tokens"]) == (1, 200, 40)


def test_prices_turn_tokens_into_an_estimate(prepared: CommandLine) -> None:
    count(prepared, ("ann", "biology", 1_000_000, 200_000))
    priced = prepared.knowing(GEMINI_API_KEY="a-key").setting(
        MODELS__GEMINI__INPUT_PRICE="0.5", MODELS__GEMINI__OUTPUT_PRICE="3"
    )
    assert priced.here("usage").out.count("  1.1000\n") == 2
    course, total = priced.here("usage", "--json").json
    assert course == {
        "day": day(),
        "course_id": "biology",
        "calls": 1,
        "query_tokens": 1_000_000,
        "cached_tokens": 0,
        "response_tokens": 200_000,
        "tokens_used": 1_200_000,
        "estimated_cost": pytest.approx(1.1),
        "judging": {
            "calls": 0,
            "query_tokens": 0,
            "response_tokens": 0,
            "estimated_cost": 0.0,
        },
    }
    assert total == {**course, "course_id": None}
    assert prepared.here("usage", "--json").json[0]["estimated_cost"] is None


@pytest.mark.parametrize("days", ["0", "-1", "1000000000", "many"])
def test_a_period_that_makes_no_sense_is_wrong_usage(glossator: CommandLine, days: str) -> None:
    done = glossator.here("usage", "--days", days)
    assert done.code == 2
    assert "--days" in done.sentence


@pytest.mark.costly
def test_forgetting_all_of_a_user_leaves_the_tokens_of_today_alone(prepared: CommandLine) -> None:
    prepared.here("sessions", "export")  # makes the key
    key = (prepared.data / "pseudonym.key").read_bytes()
    ann = terminal_user(Keys(key, ()))
    count(prepared, (ann, "biology", 100, 20), ("ben", "biology", 50, 5))
    count(prepared, (ann, "biology", 10, 2), days_ago=1)
    reported = prepared.here("usage").out
    assert prepared.here("sessions", "forget", "--all", "--yes").code == 0
    with closing(sqlite3.connect(prepared.data / "glossator.db")) as database:
        users = database.execute(
            "SELECT subject, day, query_tokens, calls FROM token_usage WHERE scope = 'user'"
        )
        assert set(users) == {(ann, day(), 100, 0), ("ben", day(), 50, 1)}
    assert prepared.here("usage").out == reported


@pytest.mark.costly
def test_models_at_different_prices_are_told_at_the_dearest(prepared: CommandLine) -> None:
    count(prepared, ("ann", "biology", 1_000_000, 0))
    priced = prepared.knowing(GEMINI_API_KEY="a-key").setting(
        MODELS__GEMINI__INPUT_PRICE="0.5",
        MODELS__GEMINI__OUTPUT_PRICE="3",
        MODELS__DEAR__KIND="gemini",
        MODELS__DEAR__MODEL="dear",
        MODELS__DEAR__INPUT_PRICE="9",
        MODELS__DEAR__OUTPUT_PRICE="9",
    )
    assert priced.here("usage", "--json").json[0]["estimated_cost"] == pytest.approx(0.5)
    dear = priced.setting(JUDGE="dear")
    assert dear.here("usage", "--json").json[0]["estimated_cost"] == pytest.approx(9)
