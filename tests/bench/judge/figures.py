"""Counts what a judge did with labelled claims, with intervals."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.teaching.evaluation.report import auroc, percentile
from tests.bench.judge.claims import LABELS, LabelledClaim

_SURE = 1.959964
"""Standard deviations on both sides of 95 %."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, the probability that a judge gave it, and whether it held."""

    claim: LabelledClaim
    probability: float
    """0 to 1; of a claim with a certain flaw 0."""
    holds: bool
    milliseconds: float
    """NaN: it was judged in a run before."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some claims, with the 95 % interval of Wilson (1927)."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """The share, 0 to 1; NaN of nothing."""
        return self.count / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds, 0 to 1; NaN of nothing."""
        if not self.of:
            return math.nan, math.nan
        n, p, z = self.of, self.value, _SURE
        middle = p + z * z / (2 * n)
        spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        whole = 1 + z * z / n
        return (middle - spread) / whole, (middle + spread) / whole


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one judge on some claims."""

    dropped: Share
    """True claims that did not hold."""
    passed: Share
    """False claims that held."""
    overreaching: Share
    """Claims with a tail of their own that held."""
    auc: float
    """The chance that a true claim is likelier than a false one; NaN where one is missing."""
    milliseconds: tuple[float, float]
    """A claim: median and 95th percentile."""


def summary(judged: Sequence[Judged]) -> Summary:
    """Return the figures of some verdicts."""
    by_label = {label: [j for j in judged if j.claim.label == label] for label in LABELS}
    decided = by_label["true"] + by_label["false"]
    times = [j.milliseconds for j in judged if not math.isnan(j.milliseconds)]
    return Summary(
        _share([not j.holds for j in by_label["true"]]),
        _share([j.holds for j in by_label["false"]]),
        _share([j.holds for j in by_label["over"]]),
        auroc([j.probability for j in decided], [j.claim.label == "true" for j in decided]),
        (percentile(times, 50), percentile(times, 95)),
    )


def as_json(found: Summary) -> dict[str, object]:
    """Return the figures for `--json`; an unknown one is null."""
    shares = {"dropped": found.dropped, "passed": found.passed, "over_passed": found.overreaching}
    counted: dict[str, object] = {
        name: {
            "count": share.count,
            "of": share.of,
            "share": _known(share.value),
            "interval": [_known(bound) for bound in share.interval],
        }
        for name, share in shares.items()
    }
    median, late = found.milliseconds
    times = {"median": _known(median), "p95": _known(late)}
    return {**counted, "auc": _known(found.auc), "milliseconds": times}


def lines(found: Summary) -> Iterator[str]:
    """Yield the figures a line each."""
    yield f"true claims dropped        {_text(found.dropped)}"
    yield f"false claims passed        {_text(found.passed)}"
    yield f"overreaching claims passed {_text(found.overreaching)}"
    yield f"AUC, true over false       {found.auc:.3f}"
    median, late = found.milliseconds
    yield f"milliseconds a claim       median {median:.2f}, 95 % {late:.2f}"


def _share(hits: Sequence[bool]) -> Share:
    return Share(sum(hits), len(hits))


def _text(share: Share) -> str:
    low, high = share.interval
    return f"{share.count:>3} of {share.of:<3} {share.value:6.1%}  [{low:.1%}, {high:.1%}]"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)
