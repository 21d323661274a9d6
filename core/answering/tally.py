"""How one draft of an answer fared."""

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID


class Emptiness(StrEnum):
    """Why a model's draft came to nothing, so that the book's own passage is shown."""

    REFUSED = "refused"
    """It said that the passages do not answer the question."""
    NOTHING_HELD = "nothing held"
    """No claim of it passed, or it had none."""


@dataclass
class DraftTally:
    """How a draft fared."""

    written: int = 0
    """Claims that the writer offered."""
    released: int = 0
    """Claims that passed."""
    not_covered: bool = False
    """The writer said that the passages do not answer the question, or a part of it."""
    cut_short: bool = False
    instead_of: Emptiness | None = None
    """What came of the draft that this one is shown for; None: this is the first."""
    translated: bool = False
    """A claim is in another language than its quotes."""
    by_words_only: bool = False
    """The words decided about a claim that a model was to judge."""
    poisoned: set[UUID] = field(default_factory=set)
    """Ids of the chunks that something planted is left out of."""

    @property
    def supported_share(self) -> float:
        """The part of the claims that passed, 0 to 1; 1 when none was offered."""
        return min(self.released / self.written, 1.0) if self.written else 1.0

    @property
    def dropped(self) -> int:
        """Claims that did not pass."""
        return max(self.written - self.released, 0)

    @property
    def emptiness(self) -> Emptiness | None:
        """Why there is nothing to show of the draft; None: there is something."""
        if self.released:
            return None
        return Emptiness.REFUSED if self.not_covered else Emptiness.NOTHING_HELD
