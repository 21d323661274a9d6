"""`glossator usage`: what the language models used, and about what that cost."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from adapters.markdown.printable import on_one_line
from bot.cli.context import services
from bot.cli.exits import Exit
from bot.providers.models import models_in_use, prices
from bot.providers.old_names import OLD, old_table
from core.models import EXTRACTIVE
from core.storage.budgets.store import TokenBudgets, TokenLimits, Usage

_TITLES = ("day", "course", "calls", "tokens in", "cached", "tokens out", "cost")
_SIDES = "<<>>>>>"

Cost = Callable[[int, int], float | None]
"""Tells what tokens read and written cost at most: which model used them is not kept."""


async def usage(days: int, *, as_json: bool) -> int:
    """Print tokens and cost by day and course, for the last `days` UTC days."""
    today = datetime.now(UTC).date()
    async with services(needs_room=False) as opened:
        budgets = TokenBudgets(opened.engine, limits=TokenLimits())
        used = await budgets.used(today - timedelta(days=days - 1), today)
    settings, tables = opened.settings, opened.models.tables
    chosen = opened.chosen_generator()
    if chosen == EXTRACTIVE:  # what was used before the key was taken away had its price
        tables, chosen = {OLD: old_table(settings), **tables}, OLD
    in_use = models_in_use(settings, tables, opened.course_file, chosen)
    cost = partial(prices(settings, tables).most, in_use)
    if as_json:
        print(json.dumps([_object(entry, cost) for entry in used], indent=2))
    elif used:
        _print_table([_TITLES, *(_cells(entry, cost) for entry in used)])
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
    }


def _cells(entry: Usage, cost: Cost) -> Sequence[str]:
    estimate = cost(entry.query_tokens, entry.response_tokens)
    return (
        entry.day.isoformat(),
        entry.course_id or "all courses",
        f"{entry.calls:,}",
        f"{entry.query_tokens:,}",
        f"{entry.cached_tokens:,}",
        f"{entry.response_tokens:,}",
        "-" if estimate is None else f"{estimate:,.4f}",
    )


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, _SIDES, widths, strict=True)
        print(on_one_line("  ".join(f"{cell:{side}{width}}" for cell, side, width in cells)))
