"""Where the answer to an event belongs, read from the row that the event left."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from adapters.features.staff.replying import PINGS
from core.inbox.base import Job, Posted
from core.models import now

_MARGIN = timedelta(minutes=1)
_ACKNOWLEDGED_WITHIN = timedelta(seconds=5)
EARLY_PAUSE = 0.5
"""Seconds between two tries to use a response that is not there yet."""
MOST_EARLY = 10
"""How often that is tried, whatever the clocks show."""


@dataclass(frozen=True, slots=True)
class Response:
    """The way to answer an interaction, as long as its token lives."""

    application: int
    token: str
    expires_at: datetime
    accepted_at: datetime
    """When the interaction was accepted, by this machine's clock as all times here."""

    @property
    def is_over(self) -> bool:
        """Whether the token is dead, or might die before the answer is complete."""
        return now() >= self.expires_at - _MARGIN

    @property
    def may_be_early(self) -> bool:
        """Whether the interaction is so young that it may not be acknowledged yet."""
        return now() - self.accepted_at < _ACKNOWLEDGED_WITHIN


@dataclass(frozen=True, slots=True)
class Address:
    """Where an answer belongs."""

    channel: int
    asker: int
    question: int | None
    """The message that asks; none for an interaction, and for an answer that is shared."""
    of_interaction: bool
    opens_thread: bool
    ephemeral: bool
    response: Response | None
    """None for a message, and where the token is not there any more."""
    is_hidden: bool
    """Whether the asker alone sees the response to the interaction."""
    pings: int | None
    """Whom the answer notifies: its asker, who has asked for it; None: no one."""
    apart: bool
    """Whether its asker was sent something meanwhile, and the answer stands in the channel."""

    @classmethod
    def of(cls, job: Job) -> "Address":
        """Return where the answer to a job belongs."""
        arrival, address = job.arrival, job.arrival.address
        of_interaction = address["route"] == "interaction"
        response = None
        ephemeral, notice = address.get("ephemeral", False), address.get("apart", False)
        waited = of_interaction and arrival.told_to_wait and not ephemeral
        if of_interaction and arrival.token and arrival.token_expires_at:
            response = Response(
                address["application"],
                arrival.token,
                arrival.token_expires_at,
                job.accepted_at,
            )
        return cls(
            channel=address["channel"],
            asker=address["asker"],
            question=address.get("message"),
            of_interaction=of_interaction,
            opens_thread=address["open_thread"],
            ephemeral=ephemeral,
            response=response,
            is_hidden=ephemeral or notice or arrival.refusal is not None,
            pings=address["asker"] if address.get(PINGS) else None,
            apart=notice or waited,
        )

    def stands_in_thread(self, part: int) -> bool:
        """Return whether a part stands in the thread; one on our own message is after it."""
        return part > 0 or self.question is not None

    def channel_of(self, part: int, posted: Posted) -> int:
        """Return where a part that is known stands."""
        in_thread = posted.thread is not None and self.stands_in_thread(part)
        return int(posted.thread) if posted.thread and in_thread else self.channel
