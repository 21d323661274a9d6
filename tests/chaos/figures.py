"""Adds up what came of the parts of a run, and prints it as a table."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from tests.chaos.checker import Kind
from tests.chaos.history import Way
from tests.chaos.part import REPLIES, REPLIES_ONCE, UNSETTLED, Outcome
from tests.chaos.settlements import Settlement

MUST_BE_NONE = tuple(Kind)
_PLATFORMS = ("discord", "slack")
TOTALS = {
    "lost": (Kind.LOST, Kind.UNHEARD),
    "doubled": (Kind.DOUBLE,),
    "calls of a limiter beyond what it stopped": (Kind.CALLED,),
}
"""What must be 0 in every run, with the anomalies that it is counted by."""
_NEVER = ("exits of its own", "ends without 0")
_TOO_EARLY = "calls into a closed window"
_ON_THE_WAY = 0.001
"""Share of all calls that may be too early: a refusal is not known before it has been noted."""
_SELDOM = ("apologies", "not found in the book")
_OF_QUESTIONS = 0.001
"""Share of all questions that each of these may be; a bot that has given up says nothing else."""
_AT_LEAST_ONCE = (
    Settlement.ANSWERED,
    Settlement.REFUSED,
    Settlement.NOTICED,
    Settlement.POINTED,
)
"""How some questions are settled in every run that is large enough, in a larger one on each
platform: a run that does not meet these shows nothing of them."""
_LARGE, _LARGE_ON_EACH = 100, 250
"""Questions of both platforms together, and of one."""
_EXCUSED, _FEW_EXCUSED = 0.02, 3
"""Share of a platform's questions, and so many in any case, of which a fault may be the excuse."""
_FEW_OF_STAFF = 4
"""Questions for staff of a run that shows at least one reply of theirs."""
_LONGEST = ("settled after", "longest stay of a second answer", "longest stay of an orphan")
"""Seconds, of which the most of all parts tells more than their sum."""
_SHOWN = (
    "accepted",
    *Way,
    REPLIES,
    REPLIES_ONCE,
    "apologies",
    "not found in the book",
    "SIGKILL",
    "SIGSTOP",
    "SIGSTOP for more than 10 s",
    "exits of its own",
    "ends without 0",
    "all processes away",
    "database crashes",
    "network faults",
    "server outages",
    "lost event streams",
    "events in an odd form",
    "failed deliveries tried again",
    "taken over",
    "events sent",
    "redeliveries by Slack",
    "given up by Slack",
    "calls",
    "calls spoiled",
    "calls answered 429",
    _TOO_EARLY,
    "the same while nothing else was wrong",
)


def table(outcomes: Sequence[Outcome]) -> str:
    """Return all figures of a run as lines of text."""
    total = Counter[str]()
    for one in outcomes:
        total.update(one.counts)
    return "\n".join(
        [
            *_parts(outcomes),
            "",
            *_settlements(outcomes),
            "",
            *(f"{name:46} {total[name]:10,.0f}" for name in _SHOWN),
            *(
                f"{name:46} {_most(outcomes, name):10,.1f} s, the most of all parts"
                for name in _LONGEST
            ),
            "",
            *_acks([seconds for one in outcomes for seconds in one.acks]),
            "",
            *_anomalies(outcomes, round(total["questions"])),
            "",
            *_remarks(outcomes),
        ]
    )


def is_clean(outcomes: Iterable[Outcome]) -> bool:
    """Return whether nothing went wrong that must not, and all was met that is to be shown."""
    outcomes = list(outcomes)
    total = Counter[str]()
    for one in outcomes:
        if one.anomalies or any(one.counts.get(name) for name in _NEVER):
            return False
        total.update(one.counts)
    if any(total[name] > _share(_OF_QUESTIONS, total["questions"]) for name in _SELDOM):
        return False
    if not outcomes or not _is_telling(_by_platform(outcomes)):
        return False
    if total[Way.STAFF] >= _FEW_OF_STAFF and not total[REPLIES_ONCE]:
        return False
    return total[_TOO_EARLY] <= _share(_ON_THE_WAY, total["calls"])


def _is_telling(found: Mapping[str, Counter[str]]) -> bool:
    """Return whether what is known of the questions shows how such are settled."""
    large = [settled for settled in found.values() if settled.total() >= _LARGE_ON_EACH]
    together = sum(found.values(), Counter[str]())
    if together.total() >= _LARGE:
        large.append(together)
    few = (max(_FEW_EXCUSED, _EXCUSED * settled.total()) for settled in found.values())
    excused = (settled[Settlement.ONCE] for settled in found.values())
    is_met = all(settled[kind] for settled in large for kind in _AT_LEAST_ONCE)
    return is_met and all(once <= most for once, most in zip(excused, few, strict=True))


def _by_platform(outcomes: Iterable[Outcome]) -> dict[str, Counter[str]]:
    """Return how many questions were settled in which way, by platform."""
    found = {platform: Counter[str]() for platform in _PLATFORMS}
    for one in outcomes:
        for platform, settled in one.settled.items():
            found[platform].update(settled)
    return found


def _share(part: float, whole: float) -> float:
    """Return a share of so many, one at least: a small run may have met the one of a large run."""
    return max(1.0, part * whole)


def _most(outcomes: Iterable[Outcome], name: str) -> float:
    return max((one.counts.get(name, 0.0) for one in outcomes), default=0.0)


def _parts(outcomes: Sequence[Outcome]) -> Iterator[str]:
    questions, seconds = Counter[str](), Counter[str]()
    wrong = Counter[str]()
    for one in outcomes:
        questions[one.name] += round(one.counts["questions"])
        seconds[one.name] += round(one.counts["seconds"])
        wrong[one.name] += len(one.anomalies)
    yield f"{'part':45} {'questions':>10} {'seconds':>8} {'anomalies':>10}"
    for name in questions:
        yield f"{name:45} {questions[name]:10,} {seconds[name]:8,} {wrong[name]:10,}"


def _settlements(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield how the questions were settled on each platform; each has one settlement."""
    found, told = _by_platform(outcomes), Counter[str]()
    for one in outcomes:
        told.update(one.told_of_limits)
    yield _row("settlement", *_PLATFORMS, "all")
    for name in (*Settlement, UNSETTLED):
        yield _row(name, *_and_sum([found[platform][name] for platform in _PLATFORMS]))
    yield _row("asked", *_and_sum([found[platform].total() for platform in _PLATFORMS]))
    yield _row("calls about what a limit stopped", *_and_sum([told[name] for name in _PLATFORMS]))
    for name, kinds in TOTALS.items():
        wrong = [_count(outcomes, kinds, platform) for platform in _PLATFORMS]
        yield _row(name, *_and_sum(wrong))
    for name in ("lost", "doubled"):
        wrong = [_count(outcomes, TOTALS[name], f"{one}:staff") for one in _PLATFORMS]
        yield _row(f"replies of the staff {name}", *_and_sum(wrong))


def _and_sum(figures: list[int]) -> list[int]:
    return [*figures, sum(figures)]


def _row(name: str, *cells: str | int) -> str:
    shown = (f"{cell:,}" if isinstance(cell, int) else cell for cell in cells)
    return f"{name:42} " + " ".join(f"{cell:>9}" for cell in shown)


def _count(outcomes: Sequence[Outcome], kinds: Collection[Kind], begins: str) -> int:
    """Return how many questions, or calls, have one of these anomalies.

    Args:
        begins: What their keys begin with: a platform, or a platform and more.
    """
    found = {
        (one.seed, anomaly["key"]): _weight(anomaly)
        for one in outcomes
        for anomaly in one.anomalies
        if anomaly["kind"] in kinds and f"{anomaly['key']}:".startswith(f"{begins}:")
    }
    return sum(found.values())


def _weight(anomaly: Mapping[str, str]) -> int:
    """Return how much an anomaly counts: of a limiter's calls each one, of a question one."""
    return int(anomaly["detail"].split()[0]) if anomaly["kind"] == Kind.CALLED else 1


def _acks(seconds: Sequence[float]) -> Iterator[str]:
    if len(seconds) < 2:
        return
    quantiles = statistics.quantiles(seconds, n=1_000, method="inclusive")
    figures = {
        "p50": quantiles[499],
        "p99": quantiles[989],
        "max": max(seconds),
    }
    told = ", ".join(f"{name} {figure * 1_000:,.0f} ms" for name, figure in figures.items())
    yield f"receipt to ack, faults included: {told} of {len(seconds):,}"


def _anomalies(outcomes: Sequence[Outcome], questions: int) -> Iterator[str]:
    found = Counter(anomaly["kind"] for one in outcomes for anomaly in one.anomalies)
    for kind in MUST_BE_NONE:
        yield f"{kind.value:42} {found[kind.value]:6}"
    if questions:
        yield (
            f"a kind that was seen 0 times in {questions:,} questions happens in fewer than "
            f"{3 / questions:.3%} of them (95 %: 3/n)"
        )


def _remarks(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for one in outcomes:
        for anomaly in one.anomalies:
            yield f"! seed {one.seed}: {anomaly['kind']}: {anomaly['key']}: {anomaly['detail']}"
    notes = Counter(note[:100] for one in outcomes for note in one.notes)
    for note, times in notes.most_common(12):
        yield f"said {times} times: {note}"
