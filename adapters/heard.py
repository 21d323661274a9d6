"""What a platform said, in no platform's words, before anybody decides about it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from core.channels.store import Place
from core.inbox.base import lane_for

_QUOTED = re.compile(r"^ {0,3}>(?:>>)? ?(.*)$")
_FEWEST_WORDS = 3
DIRECT_THREAD = "dm"
"""Stands for the thread in a direct message, which has none."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A message or command that may be a question."""

    key: str
    """As `Arrival.key`."""
    platform: str
    workspace: str
    channel: str
    places: tuple[str, ...]
    """Where rules may be set for, narrowest first: thread, channel, category, workspace."""
    position: int
    """As `Arrival.position`."""
    user: str
    """The asker's id on the platform."""
    text: str
    """Plain text, the quoted lines and the mention of the bot taken out."""
    address: Mapping[str, Any]
    """As `Arrival.address`."""
    message: str | None = None
    """The message's id; none for a command."""
    thread: str | None = None
    """The thread it was said in."""
    quote: str | None = None
    section: str | None = None
    course: str | None = None
    """The course that is asked where the place has none, or the handbook, asked anywhere."""
    answers: str | None = None
    """The id of the bot's message that this one replies to."""
    addressed: bool = False
    """Whether it mentions the bot, replies to it, or is a command."""
    to_others: bool = False
    """Whether it mentions or replies to somebody else."""
    direct: bool = False
    begins: bool = False
    """Whether it is the first message of a forum's post, or of what may become a thread."""
    private: bool = False
    """Whether only the asker is to see the answer."""
    staff: bool = False
    outsider: bool = False
    """Whether somebody of another organisation, or another app, said it."""
    locale: str | None = None
    sent_at: datetime | None = None
    listening_since: datetime | None = None
    """Of what was found in the history: since when the bot listens again; None: it was heard
    when it was said."""
    token: str | None = None
    token_expires_at: datetime | None = None

    @property
    def command(self) -> bool:
        """Whether the platform waits for a response of ours."""
        return self.token is not None

    @property
    def conversation(self) -> str | None:
        """The thread that it belongs to, as far as it is known."""
        if self.thread is not None:
            return self.thread
        if self.private:
            return self.key  # nobody else sees it: a conversation of its own
        return DIRECT_THREAD if self.direct else self.message

    @property
    def lane(self) -> str:
        """As `Arrival.lane`."""
        thread = self.conversation or self.key
        return lane_for(self.platform, self.workspace, self.channel, thread)

    @property
    def place(self) -> Place | None:
        """Where people may talk to each other; none outside of threads."""
        if self.thread is None:
            return None
        return Place(self.platform, self.workspace, self.thread)

    @property
    def may_be_small_talk(self) -> bool:
        """Whether it is too little to count as a question where nobody addressed the bot."""
        return "?" not in self.text and len(self.text.split()) < _FEWEST_WORDS and not self.quote

    def as_edit(self, edited_at: str, position: int) -> "Heard":
        """Return an edited message as an event of its own."""
        return replace(self, key=f"{self.key}:edit:{edited_at}", position=position)


def apart_from_quotes(text: str) -> tuple[str, str | None]:
    """Return a message without its lines quoted by `>`, and these without their marks."""
    said, quoted = list[str](), list[str]()
    lines = iter(text.splitlines())
    for line in lines:
        match = _QUOTED.match(line)
        if match is None:
            said.append(line)
            continue
        quoted.append(match[1])
        if line.lstrip().startswith(">>>"):
            quoted += lines  # `>>>` quotes all that follows
    return "\n".join(said).strip(), "\n".join(quoted).strip() or None
