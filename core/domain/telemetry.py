"""What a running bot counts and times, for its operators."""

import asyncio
import ipaddress
import re
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from core.domain.response import AgentResponse


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


_LAST_PORT = 65_535
_NO_AUTHORITY = re.compile(r"[\s/?#@\\]")
_NO_PORT = f"the port must be a number from 0 to {_LAST_PORT:,}"


def check_host(host: str) -> str:
    """Return the host.

    Raises:
        ValueError: when no host can be called so; the text quotes nothing.
    """
    try:
        host.encode("idna")
    except UnicodeError:
        raise ValueError("a part of the host's name is empty or too long") from None
    return host


def is_port(port: int) -> bool:
    """Return whether there is such a port."""
    return 0 <= port <= _LAST_PORT


def check_port(port: int) -> None:
    """Raise ValueError when there is no such port; the text quotes nothing."""
    if not is_port(port):
        raise ValueError(_NO_PORT)


def check_authority(authority: str) -> str:
    """Return `host` or `host:port`, as it stands in a URL.

    Raises:
        ValueError: when one of the two cannot be; the text quotes nothing.
    """
    if not authority or _NO_AUTHORITY.search(authority):
        raise ValueError(
            "a host is written without http:// and without a path, as host or host:port"
        )
    check_url(f"//{authority}")
    return authority


_OWN_ENDINGS = (".local", ".localhost", ".lan", ".internal", ".home.arpa")


def is_nearby(url: str | None) -> bool:
    """Return whether a URL is one of this machine or its own network, as far as its host says."""
    host = (urlsplit(url or "").hostname or "").rstrip(".")
    if not host:
        return False
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_OWN_ENDINGS)


def check_url(url: str) -> str:
    """Return the URL.

    Raises:
        ValueError: when its host or port cannot be; the text quotes nothing.
    """
    parts = urlsplit(url)
    check_host(parts.hostname or "")
    try:
        _ = parts.port
    except ValueError:
        raise ValueError(_NO_PORT) from None
    return url


REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
"""The key of the event that is being worked on here; tasks begun meanwhile inherit it."""
SAID_IN_ANSWER: Mapping[str, object] = {"is_said_in_answer": True}
"""The `extra` of a line about what the answer itself says to the asker."""


_SLICE = 0.01
"""Seconds of work between two pauses."""


class Pauses:
    """Gives the event loop its turn once enough time has passed since the last pause."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    async def take_one_if_due(self) -> None:
        """Let other tasks run, unless they ran a moment ago."""
        if time.monotonic() - self._last >= _SLICE:
            await asyncio.sleep(0)
            self._last = time.monotonic()


_MILLISECONDS = 1_000


def measure(meter: Meter, response: AgentResponse) -> None:
    """Record in the meter all that is counted and timed of an answer."""
    course, model = response.course_id, response.model_name
    meter.count(ANSWERED, course, model, response.outcome or "none")
    meter.count(TOKENS, course, model, "read", amount=response.query_tokens)
    meter.count(TOKENS, course, model, "written", amount=response.response_tokens)
    dropped = response.claims_dropped
    meter.count(CLAIMS, model, "kept", amount=response.claims_written - dropped)
    meter.count(CLAIMS, model, "dropped", amount=dropped)
    meter.time(FIRST_WORDS, model, seconds=response.first_token_ms / _MILLISECONDS)
    if response.retrieval_success:
        meter.time(RETRIEVING, course, seconds=response.retrieval_time_ms / _MILLISECONDS)
