"""What can be wrong with a network: after Toxiproxy, whose names these are."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Latency:
    """Everything arrives `seconds` later, more or less `jitter`."""

    seconds: float = 0.2
    jitter: float = 0.1


@dataclass(frozen=True)
class Bandwidth:
    """No more than so many bytes pass in a second."""

    bytes_a_second: int = 20_000


@dataclass(frozen=True)
class SlowClose:
    """A connection that one side ends stays open to the other for some seconds."""

    seconds: float = 1.0


@dataclass(frozen=True)
class Timeout:
    """Nothing passes any more, and after some seconds the connection ends."""

    seconds: float = 1.0


@dataclass(frozen=True)
class Reset:
    """The connection is reset after some seconds, whatever is on its way."""

    seconds: float = 0.2


@dataclass(frozen=True)
class Slicer:
    """What is sent arrives in small pieces with a pause between them."""

    size: int = 200
    pause: float = 0.002


@dataclass(frozen=True)
class Limit:
    """The connection ends when so many bytes have passed."""

    bytes: int = 3_000


Toxic = Latency | Bandwidth | SlowClose | Timeout | Reset | Slicer | Limit
"""`down` is no toxic but a state of the proxy: connections are refused."""
