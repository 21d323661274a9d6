"""What a running bot counts and times, for its operators."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that happens again and again."""

    name: str
    """In the unit that Prometheus expects: `_seconds` where a duration is measured."""
    help: str
    labels: tuple[str, ...] = ()


COURSE = "course"
"""The label that holds a course's id."""
ACCEPTED = Measure(
    "events_accepted",
    "Events given to the inbox: new ones, those that were in it, and questions beyond a limit.",
    ("platform", "outcome"),
)
CLAIMED = Measure("events_claimed", "Events that a worker began to answer.", ("platform",))
ENDED = Measure(
    "events_ended",
    "Events whose work ended: done, tried again later, given up, or released while stopping.",
    ("platform", "outcome"),
)
LEASE_LOST = Measure("leases_lost", "Events that somebody else had taken over.", ("platform",))
AMBIGUOUS = Measure(
    "posts_ambiguous", "Messages of which nobody knew whether they were posted.", ("platform",)
)
HEALED = Measure("events_healed", "Events looked after by the janitor.", ("platform",))
BACKFILLED = Measure(
    "events_backfilled", "Events that were missed while not connected, and found.", ("platform",)
)
UNREADABLE = Measure(
    "events_unreadable",
    "Events that could not be read, and were passed over.",
    ("platform", "event"),
)
RESTARTED = Measure("parts_restarted", "Parts that failed and were started again.", ("part",))
ANSWERED = Measure("answers", "Finished answers.", (COURSE, "model", "outcome"))
TOKENS = Measure("tokens", "Tokens that models read and wrote.", (COURSE, "model", "direction"))
CLAIMS = Measure("claims", "Sentences that writers offered, kept or dropped.", ("model", "outcome"))
COUNTED = (
    ACCEPTED,
    CLAIMED,
    ENDED,
    LEASE_LOST,
    AMBIGUOUS,
    HEALED,
    BACKFILLED,
    UNREADABLE,
    RESTARTED,
    ANSWERED,
    TOKENS,
    CLAIMS,
)

ACCEPTING = Measure("accepting_seconds", "From an event's receipt to its commit.", ("platform",))
WAITING = Measure("waiting_seconds", "From an event's commit to its claim.", ("platform",))
DELIVERING = Measure("delivering_seconds", "From an event's commit to its end.", ("platform",))
FIRST_WORDS = Measure("first_words_seconds", "From a request to its first words.", ("model",))
RETRIEVING = Measure("retrieving_seconds", "Retrieval of one request.", (COURSE,))
TIMED = (ACCEPTING, WAITING, DELIVERING, FIRST_WORDS, RETRIEVING)


class Meter(Protocol):
    """Counts what happens; never fails, and never takes noticeable time."""

    def count(self, measure: Measure, *labels: str, amount: float = 1.0) -> None:
        """Add to one of COUNTED; `labels` in the measure's order."""
        ...

    def time(self, measure: Measure, *labels: str, seconds: float) -> None:
        """Note a duration of one of TIMED; `labels` in the measure's order."""
        ...


class NoMeter:
    """Counts nothing: no one watches."""

    def count(self, measure: Measure, *labels: str, amount: float = 1.0) -> None:
        """Do nothing."""

    def time(self, measure: Measure, *labels: str, seconds: float) -> None:
        """Do nothing."""


NO_METER = NoMeter()
"""What counts where no meter is given."""
