"""Checks the citations of a staff answer against the live edition of the book."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from core.index.base import VectorIndex
from core.models import Chunk
from core.storage.catalogue import Catalogue
from core.verified_answers.base import ChangedPassage, Draft, VerifiedCitation
from core.verified_answers.editions import compare, section_print


class CitedPassages:
    """Compares citations with the edition that is live now."""

    def __init__(self, catalogue: Catalogue, index: VectorIndex) -> None:
        self._catalogue = catalogue
        self._index = index

    async def checked(self, draft: Draft) -> tuple[Draft, list[ChangedPassage]]:
        """Return a draft as of the live edition, and which of its passages do not stand there.

        Raises:
            StoreError, VectorIndexError: when a service fails.
        """
        live = await self._catalogue.live(draft.course_id)
        if live is None:
            return replace(draft, generation=None), []
        documents = {one.document for one in draft.citations}
        texts = {name: await self._chunks(live.generation, name) for name in documents}
        changed = [compare(one, texts[one.document]) for one in draft.citations]
        printed = tuple(_printed(one, texts[one.document]) for one in draft.citations)
        fresh = replace(draft, citations=printed, generation=live.generation)
        return fresh, [one for one in changed if one is not None]

    async def _chunks(self, generation: UUID, source_file: str) -> Sequence[Chunk]:
        for place, record in await self._catalogue.placed(generation):
            if record.source_file == source_file:
                found = self._index.scroll(place.collection, document_id=record.document_id)
                return [chunk async for chunk in found]
        return ()


def _printed(citation: VerifiedCitation, chunks: Sequence[Chunk]) -> VerifiedCitation:
    own = [chunk for chunk in chunks if chunk.headings == citation.headings]
    return replace(citation, section_print=section_print(own) if own else None)
