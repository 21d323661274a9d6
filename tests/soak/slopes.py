"""How fast each figure grows with the number of questions, as a table."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.soak.samples import Sample

PER = 10_000
"""Questions that a slope is told for."""
WARM_UP = 360.0
"""Seconds: discord.py keeps what it knows of a channel's rate limit for 300."""
_LEG = 200
_FEWEST = 2_000
"""Questions after the warm-up from which on a slope is more than noise."""
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


def warm(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples without each life's warm-up."""
    return [sample for sample in samples if sample.seconds >= WARM_UP]


def slope(samples: Sequence[Sample], figure: Figure) -> float:
    """Return how much a figure grows in 10,000 questions, by least squares.

    All lives have one slope, and each its own beginning. Of every 200 questions the least counts,
    which is what is there while nobody waits for an answer.
    """
    lives = defaultdict[int, list[Sample]](list)
    for sample in _least(samples, figure):
        lives[sample.life].append(sample)
    together, spread = 0.0, 0.0
    for life in lives.values():
        middle = statistics.fmean(s.questions for s in life)
        usual = statistics.fmean(figure.of(s) for s in life)
        together += sum((s.questions - middle) * (figure.of(s) - usual) for s in life)
        spread += sum((s.questions - middle) ** 2 for s in life)
    return together / spread * PER if spread else 0.0


def _least(samples: Sequence[Sample], figure: Figure) -> Iterable[Sample]:
    found: dict[tuple[int, int], Sample] = {}
    for sample in samples:
        leg = (sample.life, sample.questions // _LEG)
        if leg not in found or figure.of(sample) < figure.of(found[leg]):
            found[leg] = sample
    return found.values()


def table(samples: Sequence[Sample]) -> Iterator[str]:
    """Yield the lines of a table of all figures."""
    counted = warm(samples)
    yield f"{'':18} {'first':>10} {'last':>10} {'most':>10} {'per 10,000 questions':>22}"
    for figure in FIGURES:
        values = [figure.of(sample) for sample in counted]
        if values:
            shown = " ".join(f"{v:10,.1f}" for v in (values[0], values[-1], max(values)))
            yield f"{figure.name:15} {figure.unit:2} {shown} {slope(counted, figure):+22.2f}"


def tells_enough(samples: Sequence[Sample]) -> bool:
    """Return whether a run was long enough for its slopes to be believed."""
    numbers = [sample.questions for sample in warm(samples)]
    return bool(numbers) and max(numbers) - min(numbers) >= _FEWEST


def too_steep(samples: Sequence[Sample]) -> list[str]:
    """Return the figures that grow more than they may."""
    counted = warm(samples)
    limited = [(f, f.most) for f in FIGURES if f.most is not None]
    return [f.name for f, most in limited if slope(counted, f) > most]
