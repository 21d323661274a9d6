"""Counts for Prometheus what the parts of a running bot tell."""

from collections.abc import Iterable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from core.telemetry.metering import COUNTED, COURSE, TIMED, Measure

PREFIX = "glossator"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds in seconds: from an acknowledgement to a question that waited its turn."""


class Levels:
    """What is read when the page is asked for, and not counted as it happens."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str, labels: Iterable[str] = ()) -> Gauge:
            return Gauge(f"{PREFIX}_{name}", text, labels, registry=registry)

        self.queued = gauge("queued_events", "Events that wait to be answered.")
        self.oldest = gauge(
            "queue_age_seconds",
            "Age of the oldest event that has not ended: it waits, is answered, or is tried again.",
        )
        self.in_flight = gauge("answers_in_flight", "Events being answered by this process.")
        self.breaker = gauge("breaker_open", "1 while a service is not asked.", ["service"])
        self.disk_free = gauge(
            "disk_free_bytes", "Room on the disk of a folder that is written to.", ["folder"]
        )
        self.disk_share = gauge(
            "disk_free_ratio", "The free part of that disk, from 0 to 1.", ["folder"]
        )
        self.connected = gauge("platform_connected", "1 while connected.", ["platform"])
        self.clock = gauge(
            "clock_behind_seconds",
            "By how much this machine's clock is behind a platform's, from a minute on.",
            ["platform"],
        )


class PrometheusMeter:
    """A Meter whose counts a Prometheus server can read; one for each process."""

    def __init__(self, *, names_courses: bool = False) -> None:
        """Begin to count.

        Args:
            names_courses: Whether courses are counted apart, by their ids; else all as one.
        """
        self._names_courses = names_courses
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._counters = {
            measure: Counter(
                f"{PREFIX}_{measure.name}", measure.help, measure.labels, registry=self._registry
            )
            for measure in COUNTED
        }
        self._histograms = {
            measure: Histogram(
                f"{PREFIX}_{measure.name}",
                measure.help,
                measure.labels,
                registry=self._registry,
                buckets=_BUCKETS,
            )
            for measure in TIMED
        }
        self.levels = Levels(self._registry)

    def count(self, measure: Measure, *labels: str, amount: float = 1.0) -> None:
        """Add to a counter."""
        self._counters[measure].labels(*self._shown(measure, labels)).inc(amount)

    def time(self, measure: Measure, *labels: str, seconds: float) -> None:
        """Note a duration."""
        self._histograms[measure].labels(*self._shown(measure, labels)).observe(seconds)

    def _shown(self, measure: Measure, labels: Sequence[str]) -> list[str]:
        pairs = zip(measure.labels, labels, strict=True)
        return ["" if name == COURSE and not self._names_courses else it for name, it in pairs]

    def exposition(self) -> bytes:
        """Return everything in Prometheus's text format."""
        return generate_latest(self._registry)
