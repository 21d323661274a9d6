"""What happened in a run, as the checker reads it: asked, stored, shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class Way(StrEnum):
    """How a question was asked."""

    TALK = "in a conversation"
    CROWD = "in a crowd"
    COMMAND = "by a command"
    AWAY = "to a bot that is down"
    NEW_CHANNEL = "in a channel that is new"
    BARE = "by a mention that asks nothing"
    STAFF = "of what the staff are to answer"


@dataclass(frozen=True)
class Spot:
    """Who asked, and where, by the platform's ids."""

    user: str = ""
    channel: str = ""
    message: str = ""
    """Empty for a command."""
    thread: str = ""
    """The first message of the thread; empty where there is none yet."""


@dataclass
class Asked:
    """A question that somebody asked; moments are seconds of one clock."""

    key: str
    """The inbox key of its message."""
    name: str
    """What it asks about, by which an answer is known; empty: of nothing in the book."""
    conversation: int
    """The questions of one are asked in one thread, one after the other."""
    way: Way = Way.TALK
    spot: Spot = Spot()
    deed: Any = None
    """The platform's record of the command; None for a message."""
    is_private: bool = False
    """Whether its answer is for its asker alone."""
    replies_to: str = ""
    """Of what staff say to a question: its key. It has to be settled where that was asked."""
    said_at: float = 0.0
    seen_at: float | None = None
    """When the database was first seen to hold it."""
    waited_at: float = 0.0
    """When it was last seen not to be done with."""
    done_at: float | None = None
    """When it was first seen to be done with."""
    accepted_in: datetime | None = None
    """The minute in which the database took it, by the clock of who accepted it."""
    inbox_says: str | None = None
    """How the inbox says that it was settled; None: it does not, or does not have it."""
    told_to_wait: bool = False
    """Whether the inbox says that its asker was told that others come first."""
    failed: bool = False
    """Whether the platform told the asker that the bot does not respond."""
    acknowledged: bool = False
    """Whether the platform was told that we have it; Discord has no such word for messages."""

    @property
    def platform(self) -> str:
        """The platform on which it was asked."""
        return self.key.partition(":")[0]

    @property
    def is_reply(self) -> bool:
        """Whether it is no question, but what staff say to one."""
        return bool(self.replies_to)


@dataclass(frozen=True)
class Turn:
    """A stored turn."""

    request_id: UUID
    key: str | None
    """The question's; None: of a question that nobody asked."""
    session: UUID
    number: int
    text: str
    """The answer as stored."""
    failed: bool = False
    """Whether the stored answer is that a service failed."""
    whole: bool = True
    """Whether the writer had its say: nothing of its draft was dropped, and nobody stood in."""


@dataclass(frozen=True)
class Post:
    """A message of the bot's that can be seen."""

    key: str | None
    """The question it answers; None: one that nobody asked."""
    place: str
    """The thread in which it stands."""
    position: int
    """Rises with the time of posting."""
    text: str
    reader: str = ""
    """Who alone sees it; empty: everybody who reads the place."""
    is_direct: bool = False
    """Whether it stands in a direct conversation, which nobody but its person reads."""
    unfinished: bool = False
    """A placeholder, or an answer that looks as if it were still growing."""
    revisions: tuple[str, ...] = ()
    """All that it ever showed, the first one first."""


@dataclass(frozen=True)
class Sent:
    """A call to a platform; moments are seconds of the same clock as those of questions."""

    keys: frozenset[str]
    """The questions it may be about; more than one where it does not say of which it is."""
    begun: float
    ended: float
    in_doubt: bool = False
    """Whether a fault struck it, or no answer says whether it was done."""
    is_message: bool = False
    """Whether it posted, changed or deleted something, and no fault struck it; the bare deferral
    by which Discord is told that a command arrived does not."""
    name: str = ""
    """The method that was called, for who reads what went wrong."""


@dataclass(frozen=True)
class Look:
    """How a message looks from a moment on."""

    at: float
    unfinished: bool | None
    """None: it is gone."""


@dataclass(frozen=True)
class Life:
    """How a message of the bot's looked at all times; it may be gone."""

    key: str | None
    """The question it answers; None: one that nobody asked."""
    place: str
    looks: tuple[Look, ...]
    """One at least, in order."""


@dataclass
class History:
    """Everything that the checker needs to know of a run, when it is over."""

    asked: list[Asked] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    """What stands at the end."""
    lives: list[Life] = field(default_factory=list)
    """What stood at any time."""
    ended_at: float = 0.0
    disturbed: list[tuple[float, float]] = field(default_factory=list)
    """The beginning and the end of each fault."""
    halts: list[tuple[float, float]] = field(default_factory=list)
    """The beginning and the end of each kill or stop of a process."""
    spoiled: Mapping[str, list[tuple[float, float]]] = field(default_factory=dict)
    """By platform, when the way to it or the database was spoiled, so that calls were unclear."""
    calls: list[Sent] = field(default_factory=list)
    """Calls about a question."""
    late: list[str] = field(default_factory=list)
    """What did not come about in the time that there is for it."""
    waiting: frozenset[str] = frozenset()
    """Keys that the inbox has not done with."""
    user_per_minute: int = 0
    """How many questions one person may ask in a minute; 0: as many as they like."""
    tells_all: bool = True
    """Whether answers tell of every name that their writer was told of."""
