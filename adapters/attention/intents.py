"""What a line of a chat may be, and what the bot may do about it."""

from enum import StrEnum


class Intent(StrEnum):
    """What a line is."""

    ASK = "ask"
    """A question for the bot that stands by itself."""
    FOLLOW_UP = "more"
    """A question that goes on with what the bot answered."""
    THANKS = "thanks"
    PEOPLE = "people"
    """People talk to one another."""
    STAFF = "staff"
    """A member of the staff states something."""
    SIMPLER = "meta.simpler"
    SHORTER = "meta.shorter"
    EXAMPLE = "meta.example"
    WHERE = "meta.where"
    """Where the last answer stands in the book."""
    SURE = "meta.sure"
    """Whether the last answer is certain."""
    LANGUAGE = "meta.language"
    """The answer in another language."""

    @property
    def is_meta(self) -> bool:
        """Whether it is about the last answer and not about the book."""
        return self.value.startswith("meta.")

    @property
    def is_for_the_bot(self) -> bool:
        """Whether the bot is to say something."""
        return self in (Intent.ASK, Intent.FOLLOW_UP) or self.is_meta


INTENTS = tuple(Intent)


class Band(StrEnum):
    """What the bot does about a line."""

    SPEAK = "speak"
    OFFER = "offer"
    """A reaction by which the author can have it answered."""
    REACT = "react"
    """A reaction to thanks, after which nothing follows."""

    @property
    def is_answer(self) -> bool:
        """Whether there is an answer, or an offer of one."""
        return self in (Band.SPEAK, Band.OFFER)

    @property
    def is_reaction(self) -> bool:
        """Whether a reaction is all that is shown."""
        return self in (Band.OFFER, Band.REACT)

    SILENT = "silent"
