"""`glossator usage`: what the language models used, and about what that cost."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from adapters.markdown.printable import on_one_line
from bot.cli.context import services
from bot.cli.exits import Exit
from bot.providers.models import models_in_use, prices
from core.storage.budgets.store import TokenBudgets, TokenLimits, Tokens, Usage

_TITLES = ("day", "course", "for", "calls", "tokens in", "cached", "tokens out", "cost")
_SIDES = "<<<>>>>>"

Cost = Callable[[int, int], float | None]
"""Tells what tokens read and written cost at most: which model used them is not kept."""


async def usage(days: int, *, as_json: bool) -> int:
    """Print tokens and cost by day and course, for the last `days` UTC days."""
    today = datetime.now(UTC).date()
    async with services(needs_room=False) as opened:
        budgets = TokenBudgets(opened.engine, limits=TokenLimits())
        used = await budgets.used(today - timedelta(days=days - 1), today)
    settings, tables = opened.settings, opened.models.tables
    in_use = models_in_use(settings, tables, opened.course_file, opened.chosen_generator())
    cost = partial(prices(tables).most, in_use)
    if as_json:
        print(json.dumps([_object(entry, cost) for entry in used], indent=2))
    elif used:
        rows = [row for entry in used for row in _rows(entry, cost)]
        _print_table([_TITLES, *rows])
    else:
        period = "today" if days == 1 else f"in the last {days} days"
        print(f"No language model was called {period}.")
    return Exit.OK


def _object(entry: Usage, cost: Cost) -> dict[str, Any]:
    return {
        "day": entry.day.isoformat(),
        "course_id": entry.course_id,
        "calls": entry.calls,
        "query_tokens": entry.query_tokens,
        "cached_tokens": entry.cached_tokens,
        "response_tokens": entry.response_tokens,
        "tokens_used": entry.query_tokens + entry.response_tokens,
        "estimated_cost": cost(entry.query_tokens, entry.response_tokens),
        "judging": {
            "calls": entry.judging.calls,
            "query_tokens": entry.judging.query,
            "response_tokens": entry.judging.response,
            "estimated_cost": cost(entry.judging.query, entry.judging.response),
        },
    }


def _rows(entry: Usage, cost: Cost) -> Iterator[Sequence[str]]:
    """Yield what writing used, and below it what judging did."""
    judging = entry.judging
    written = Tokens(
        entry.query_tokens - judging.query,
        entry.response_tokens - judging.response,
        entry.calls - judging.calls,
    )
    course = entry.course_id or "all courses"
    yield _cells(entry.day.isoformat(), course, "writing", written, entry.cached_tokens, cost)
    if judging.calls:
        yield _cells("", "", "judging", judging, None, cost)


def _cells(
    day: str, course: str, purpose: str, used: Tokens, cached: int | None, cost: Cost
) -> Sequence[str]:
    estimate = cost(used.query, used.response)
    return (
        day,
        course,
        purpose,
        f"{used.calls:,}",
        f"{used.query:,}",
        "" if cached is None else f"{cached:,}",
        f"{used.response:,}",
        "-" if estimate is None else f"{estimate:,.4f}",
    )


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, _SIDES, widths, strict=True)
        print(on_one_line("  ".join(f"{cell:{side}{width}}" for cell, side, width in cells)))
