"""What of a passage somebody planted there, as the stages tell one another."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.text.sentences import Span


@dataclass(frozen=True, slots=True)
class Planted:
    """The parts of a passage that may not be cited, in order."""

    spans: tuple[Span, ...] = ()
    sure: tuple[Span, ...] = ()
    """Of these, what reads like an instruction to a machine beyond doubt."""

    def touches(self, start: int, end: int) -> bool:
        """Return whether any of it lies between two positions."""
        return _touches(self.spans, start, end)

    def surely_touches(self, start: int, end: int) -> bool:
        """Return whether any of what is beyond doubt lies between two positions."""
        return _touches(self.sure, start, end)


NOTHING_PLANTED = Planted()


def _touches(spans: Sequence[Span], start: int, end: int) -> bool:
    return any(span.start < end and span.end > start for span in spans)
