"""What is shown of an answer while it is made."""

from dataclasses import dataclass

from core.models import AgentResponse


@dataclass(frozen=True, slots=True)
class Answerable:
    """The request is not refused: that it is being answered may be shown to all who read it.

    It may come before anything is generated, so the answer may still fail or be stopped. Then what
    was shown since is removed or replaced, and the asker is notified instead.
    """


@dataclass(frozen=True, slots=True)
class SectionsFound:
    """The search is over, and these parts of the book are read now."""

    headings: tuple[str, ...]
    """Their headings, best first, each once; one at least."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Some more of the answer, in the order it is to be read."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWithdrawn:
    """What was streamed of the answer so far no longer holds."""


AnswerEvent = TextDelta | TextWithdrawn | AgentResponse
"""Of the writing: text, text that is taken back, and last the finished answer."""
AgentEvent = Answerable | SectionsFound | AnswerEvent
