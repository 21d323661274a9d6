"""How long an answer may take: one budget, which everything that waits takes its limits from."""

from dataclasses import dataclass

_TOKEN_SHARE = 0.75
"""Of the time for the first sentence: it leaves room for a second try."""
_SILENCE_SHARE = 0.375


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """Seconds that a question may take a model, before the book's own words take its place."""

    first_sentence: float = 8.0
    """From taking the question up to the first sentence that is shown."""
    whole: float = 40.0
    """For all that a model writes, its searches included."""

    @property
    def first_token(self) -> float:
        """What a model may take for its first words, where it has no limit of its own."""
        return self.first_sentence * _TOKEN_SHARE

    @property
    def silence(self) -> float:
        """How long a model may pause, where it has no limit of its own."""
        return self.first_sentence * _SILENCE_SHARE


DEFAULT_TIMES = AnswerTimes()
