"""What happened in a run, as the checker reads it: asked, stored, shown."""

from dataclasses import dataclass, field
from uuid import UUID


@dataclass
class Asked:
    """A question that somebody asked; moments are seconds of one clock."""

    key: str
    """The inbox key of its message."""
    name: str
    """What it asks about; no two questions of a run ask about the same."""
    conversation: int
    """The questions of one are asked in one thread, one after the other."""
    said_at: float = 0.0
    seen_at: float | None = None
    """When the database was first seen to hold it."""
    done_at: float | None = None
    """When it was first seen to be done with."""
    acknowledged: bool = False
    """Whether the platform was told that we have it; Discord has no such word for messages."""


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
    unfinished: bool = False
    """A placeholder, or an answer that looks as if it were still growing."""
    revisions: tuple[str, ...] = ()
    """All that it ever showed, the first one first."""


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
    late: list[str] = field(default_factory=list)
    """What did not come about in the time that there is for it."""
    waiting: frozenset[str] = frozenset()
    """Keys that the inbox has not done with."""
    tells_all: bool = True
    """Whether answers tell of every name that their writer was told of."""
