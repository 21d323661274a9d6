"""What of a passage may not be read or shown, as the stages hand it on."""

from dataclasses import dataclass

from core.text.sentences import Span


@dataclass(frozen=True, slots=True)
class Planted:
    """The parts of a passage that command a machine, in order."""

    spans: tuple[Span, ...] = ()

    def touches(self, start: int, end: int) -> bool:
        """Return whether any of it lies between two positions."""
        return any(span.start < end and span.end > start for span in self.spans)


NOTHING_PLANTED = Planted()
