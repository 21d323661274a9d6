"""Where the answer to an event belongs, read from the row that the event left."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from adapters.features.staff.replying import PINGS
from adapters.intake.incoming_message import TITLED
from core.inbox.base import Job
from core.models import now

COMMANDED = "commanded"
"""In an arrival's address: whether a slash command asked, which Slack acknowledged visibly."""
LOOKED_AT = "looked_at"
"""In an arrival's address: the title of the course that was chosen by what its asker looked at."""
_MARGIN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Response:
    """The way to answer a command or a press without a token, as long as it lives."""

    url: str
    expires_at: datetime
    replaces: bool = False
    """Whether a response takes the place of the one before. After a press it would take the place
    of the message with the button, which others may read."""

    @property
    def is_over(self) -> bool:
        """Whether the address is dead, or might die before the answer is there."""
        return now() >= self.expires_at - _MARGIN


@dataclass(frozen=True, slots=True)
class Address:
    """Where an answer belongs."""

    team: str
    enterprise: str | None
    channel: str
    root: str | None
    """The first message of the thread; None: there is none yet, or no thread at all."""
    thread: str | None
    """The thread in which it was asked."""
    question: str | None
    """The message that asks; None for a command and for an answer that is shared."""
    asker: str
    ephemeral: bool
    posts_question: bool
    """Whether the bot posts the question first, and answers below it."""
    response: Response | None
    looked_at: str | None = None
    """The title of the course, where it was chosen by what the asker looked at."""
    titled: str | None = None
    """The digest of the title that its session has, if nobody has changed that."""
    pings: bool = False
    """Whether the answer notifies its asker, who has asked for it."""

    @property
    def has_thread(self) -> bool:
        """Whether all that the asker is told stands in a thread that is there already."""
        return self.thread is not None or self.channel.startswith("D")

    @property
    def is_private(self) -> bool:
        """Whether no one but the asker sees the answer."""
        return self.ephemeral or self.channel.startswith("D")

    @classmethod
    def of(cls, job: Job) -> "Address":
        """Return where the answer to a job belongs."""
        arrival, address = job.arrival, job.arrival.address
        response = None
        if arrival.token and arrival.token_expires_at:
            replaces = address.get(COMMANDED, False)
            response = Response(arrival.token, arrival.token_expires_at, replaces)
        posts_question = address.get("post_question", False)
        asked_in = address.get("thread") or address.get("message")
        return cls(
            team=address["team"],
            enterprise=address.get("enterprise"),
            channel=address["channel"],
            root=job.posted.thread if posts_question else asked_in,
            thread=address.get("thread"),
            question=address.get("message"),
            asker=address["asker"],
            ephemeral=address.get("ephemeral", False),
            posts_question=posts_question,
            response=response,
            looked_at=address.get(LOOKED_AT),
            titled=address.get(TITLED),
            pings=address.get(PINGS, False),
        )
