"""The rows of the benchmark's table, and the machine that they were measured on."""

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

import numpy as np

_WIDTHS = (46, 18, 17)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `ratio` compares with `beside`, measured in the same run."""

    what: str
    figure: str
    ratio: str = ""
    beside: str = ""


def machine() -> str:
    """Return the line that says where and when."""
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"{platform.system()}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, load average {load}"
    )


def line(row: Row) -> str:
    """Return the row with its columns below one another."""
    columns = zip((row.what, row.figure, row.ratio), _WIDTHS, strict=True)
    return ("".join(f"{text:<{width}}" for text, width in columns) + row.beside).rstrip()


def milliseconds(seconds: Sequence[float]) -> str:
    """Return median and 95th percentile."""
    return f"{1e3 * percentile(seconds, 50):.1f} / {1e3 * percentile(seconds, 95):.1f} ms"


def ratios(seconds: Sequence[float], beside: Sequence[float]) -> str:
    """Return how many times as long it takes, at the median and at the 95th percentile."""
    times = (percentile(seconds, q) / percentile(beside, q) for q in (50, 95))
    return " / ".join(f"{value:.2f}x" for value in times)


def percentile(values: Sequence[float], q: float) -> float:
    """Return the q-th percentile, 0 to 100."""
    return float(np.percentile(np.asarray(values), q))


def seconds_of(work: Callable[[], object], times: int = 1) -> float:
    """Return the median of how long `work` takes."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return median(taken)
