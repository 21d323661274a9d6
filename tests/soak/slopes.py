"""How fast each figure grows with the number of questions, as a table."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.soak.samples import Sample

PER = 10_000
"""Questions that a slope is told for."""
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Figure:
    """Something that must not grow."""

    name: str
    unit: str
    of: Callable[[Sample], float]
    most: float | None
    """The steepest slope that passes; None: it is only told."""


FIGURES = (
    Figure("memory", "MB", lambda s: s.memory / _MEGABYTE, 1.0),
    Figure("descriptors", "", lambda s: s.descriptors, 1.0),
    Figure("tasks", "", lambda s: s.tasks, 1.0),
    Figure("threads", "", lambda s: s.threads, 1.0),
    Figure("connections", "", lambda s: s.connections, 1.0),
    Figure("write-ahead log", "MB", lambda s: s.wal / _MEGABYTE, None),
    Figure("log", "MB", lambda s: s.log / _MEGABYTE, None),
)


def warm(samples: Sequence[Sample], warm_up: int) -> list[Sample]:
    """Return the samples without the first questions of each life."""
    began: dict[int, int] = {}
    for sample in samples:
        began.setdefault(sample.life, sample.questions)
    return [s for s in samples if s.questions >= began[s.life] + warm_up]


def slope(samples: Sequence[Sample], figure: Figure) -> float:
    """Return how much a figure grows in 10,000 questions, by least squares.

    All lives have one slope, and each its own beginning.
    """
    lives = defaultdict[int, list[Sample]](list)
    for sample in samples:
        lives[sample.life].append(sample)
    together, spread = 0.0, 0.0
    for life in lives.values():
        middle = statistics.fmean(s.questions for s in life)
        usual = statistics.fmean(figure.of(s) for s in life)
        together += sum((s.questions - middle) * (figure.of(s) - usual) for s in life)
        spread += sum((s.questions - middle) ** 2 for s in life)
    return together / spread * PER if spread else 0.0


def table(samples: Sequence[Sample], warm_up: int) -> Iterator[str]:
    """Yield the lines of a table of all figures."""
    counted = warm(samples, warm_up)
    yield f"{'':18} {'first':>10} {'last':>10} {'most':>10} {'per 10,000 questions':>22}"
    for figure in FIGURES:
        values = [figure.of(sample) for sample in counted]
        if values:
            shown = " ".join(f"{v:10,.1f}" for v in (values[0], values[-1], max(values)))
            yield f"{figure.name:15} {figure.unit:2} {shown} {slope(counted, figure):+22.2f}"


def too_steep(samples: Sequence[Sample], warm_up: int) -> list[str]:
    """Return the figures that grow more than they may."""
    counted = warm(samples, warm_up)
    limited = [(f, f.most) for f in FIGURES if f.most is not None]
    return [f.name for f, most in limited if slope(counted, f) > most]
