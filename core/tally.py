"""How one draft of an answer fared."""

from dataclasses import dataclass, field
from uuid import UUID


@dataclass
class DraftTally:
    """How a draft fared."""

    written: int = 0
    """Claims that the writer offered."""
    released: int = 0
    """Claims that passed, at once or on the second try."""
    not_covered: bool = False
    """The writer said that the passages do not answer the question, or a part of it."""
    cut_short: bool = False
    translated: bool = False
    """A claim is in another language than its quotes."""
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
