"""How long something could be seen that must not stay: a second answer, a placeholder left over."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tests.chaos.history import History, Life

GONE_WITHIN = 60.0
"""Seconds for which either may be seen, not counting those in which a fault held."""

Span = tuple[float, float]


@dataclass(frozen=True)
class Stay:
    """A time in which something could be seen that must not stay.

    A fault holds while the network to a platform or the database is spoiled, a process is stopped
    or the database is down, wherever that is: such seconds are not counted, since what could have
    cleaned up may have been the very thing that was hit. What follows a kill counts in full.
    """

    key: str | None
    place: str
    seconds: float
    is_over: bool
    """Whether it was gone before the end of the run."""


def second_answers(history: History) -> Iterator[Stay]:
    """Yield the times in which two finished messages for one question could be seen."""
    for key, lives in _by_key(history).items():
        if key is None:
            continue
        for one, other in combinations(lives, 2):
            both = _common(_spans(one, history, False), _spans(other, history, False))
            yield from _stays(other, both, history)


def orphans(history: History) -> Iterator[Stay]:
    """Yield the times in which a message looked unfinished though its question had its end.

    It has its end while another message shows its answer, and from when the inbox was first seen
    to be done with it. What nobody asked has no end to wait for.
    """
    done = {one.key: one.done_at for one in history.asked if one.done_at is not None}
    for key, lives in _by_key(history).items():
        for one in lives:
            others = [other for other in lives if other is not one]
            shown = [span for other in others for span in _spans(other, history, False)]
            begun = one.looks[0].at if key is None else done.get(key, history.ended_at)
            ended = _union([*shown, (begun, history.ended_at)])
            yield from _stays(one, _common(_spans(one, history, True), ended), history)


def longest(stays: Iterable[Stay]) -> float:
    """Return the seconds of the longest one, 0 without any."""
    return max((stay.seconds for stay in stays), default=0.0)


def _by_key(history: History) -> Mapping[str | None, Sequence[Life]]:
    found = defaultdict[str | None, list[Life]](list)
    for life in history.lives:
        found[life.key].append(life)
    return found


def _stays(life: Life, spans: Iterable[Span], history: History) -> Iterator[Stay]:
    for span in spans:
        held = _common([span], _union(history.disturbed))
        is_over = span[1] < history.ended_at
        yield Stay(life.key, life.place, _length([span]) - _length(held), is_over)


def _spans(life: Life, history: History, unfinished: bool) -> list[Span]:
    """Return when a message looked unfinished, or finished, in order."""
    ends = [*(look.at for look in life.looks[1:]), history.ended_at]
    return [
        (look.at, end)
        for look, end in zip(life.looks, ends, strict=True)
        if look.unfinished is unfinished and end > look.at
    ]


def _common(some: Iterable[Span], others: Sequence[Span]) -> list[Span]:
    """Return what two sets of spans have in common; those of one set are apart."""
    found = [(max(a, c), min(b, d)) for a, b in some for c, d in others]
    return [(begun, ended) for begun, ended in found if begun < ended]


def _union(spans: Iterable[Span]) -> list[Span]:
    """Return the same spans, those that overlap made one."""
    found = list[Span]()
    for begun, ended in sorted(spans):
        if found and begun <= found[-1][1]:
            found[-1] = (found[-1][0], max(ended, found[-1][1]))
        else:
            found.append((begun, ended))
    return found


def _length(spans: Iterable[Span]) -> float:
    return sum(ended - begun for begun, ended in spans)
