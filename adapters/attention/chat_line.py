"""One line of a chat, with what went before it: all that is known when it is decided about."""

from dataclasses import dataclass
from enum import Enum


class Before(Enum):
    """Who said the line before."""

    NONE = "none"
    """There is none, or none is known."""
    BOT = "bot"
    SAME = "same"
    """The same person as this line."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A line that a person wrote where the bot reads."""

    text: str
    """Plain text, the mention of the bot and what is quoted taken out."""
    staff: bool = False
    addressed: bool = False
    """Whether it mentions the bot, replies to it, or is a direct message."""
    begins: bool = False
    """Whether it is the first of its thread."""
    before: Before = Before.NONE
    before_text: str = ""
    """The line before; empty when none is known."""
    answer: str = ""
    """The bot's last answer in the thread; empty when there is none."""
    is_asker: bool = False
    """Whether the same person asked what the bot answered last, or what its thread began with."""
    since_answer: int = 0
    """Lines that people wrote since the bot's last answer."""
