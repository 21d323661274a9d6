"""What an answer may be made of: the evidence of its search, and what is found later."""

from collections.abc import Iterator, Sequence
from uuid import NAMESPACE_URL, UUID, uuid5

from core.generation.base import Passage
from core.models import ChunkState, ConversationTurn, RetrievedChunk
from core.retrieval.evidence import Excerpt
from core.retrieval.retrieval import Retrieval
from core.text.characters import visible
from core.text.tokens import count_tokens


class Material:
    """The chunks that may be cited, each by a number that it keeps."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        excerpts = {e.chunk.chunk_id: e for e in retrieval.evidence}
        self.chunks = [excerpt.chunk for excerpt in excerpts.values()]
        """Best first; those of a second look follow."""
        self.reads = [(excerpt.start, excerpt.end) for excerpt in excerpts.values()]
        """The part of each chunk that a writer reads."""
        self.signals = retrieval.signals
        """Of the best search so far."""
        self.carried: set[UUID] = set()
        """Ids of the chunks that the turn before cited."""
        self._found = list(retrieval.output.retrieved_chunks)

    @property
    def text(self) -> str:
        """All that a writer reads of the course."""
        parts = zip(self.chunks, self.reads, strict=True)
        return "\n\n".join(
            chunk.content_text[start:end] for chunk, (start, end) in parts if not chunk.is_askers
        )

    def contents(self) -> Iterator[str]:
        """Yield the whole text of every chunk of the course that may be cited or was found."""
        chunks = (*self.chunks, *self._found)
        return (chunk.content_text for chunk in chunks if not chunk.is_askers)

    def take_given(self, words: str, place: str, course_id: str) -> Passage | None:
        """Take up what a person wrote, so that it may be cited; None: there is nothing to read.

        Args:
            words: The question, a quote, or pasted text.
            place: What it is called in a footnote.
            course_id: Of the course that it was asked in.
        """
        shown = visible(words).strip()
        if not shown:
            return None
        name = uuid5(NAMESPACE_URL, f"urn:glossator:asker:{course_id}:{shown}")
        chunk = RetrievedChunk(
            chunk_id=name,
            course_id=course_id,
            document_id=name,
            generation=self._retrieval.generation or UUID(int=0),
            content_text=shown,
            source_file=place,
            page_title=place,
            chunk_index=0,
            total_chunks=1,
            token_count=count_tokens(shown),
            char_start=0,
            char_end=len(shown),
            metadata={"asker": 1},
            similarity_score=1.0,
        )
        return Passage(self._take_up(chunk, 0, len(shown)), chunk, shown)

    def widen(self, excerpts: Sequence[Excerpt]) -> None:
        """Let a writer read more of what was found; what it has keeps its number."""
        for excerpt in excerpts:
            self._take_up(excerpt.chunk, excerpt.start, excerpt.end)

    def carry(self, turn: ConversationTurn) -> bool:
        """Keep what the turn before cited within reach; return whether this edition has any.

        What staff said is not kept: it may have been set aside since.
        """
        for chunk in turn.agent_response.grounding_chunks:
            is_current = chunk.generation == self._retrieval.generation
            if is_current and chunk.verified_on is None and not chunk.is_askers:
                kept = chunk.model_copy(update={"state": ChunkState.RETRIEVED})
                self._take_up(kept, 0, len(kept.content_text))
                self._found.append(kept)
                self.carried.add(kept.chunk_id)
        return bool(self.carried)

    def look_up(self, retrieval: Retrieval, excerpts: Sequence[Excerpt]) -> list[Passage]:
        """Take up what a second look found, and return it with the numbers to cite it by.

        Args:
            excerpts: What is read of it.
        """
        if retrieval.generation != self._retrieval.generation:
            return []  # the book was replaced in mid-answer: an answer has one edition
        self._found.extend(retrieval.output.retrieved_chunks)
        self.signals = max(self.signals, retrieval.signals, key=lambda s: s.best_score)
        passages = []
        for excerpt in excerpts:
            number = self._take_up(excerpt.chunk, excerpt.start, excerpt.end)
            passages.append(Passage(number, self.chunks[number], excerpt.text))
        return passages

    def retrieved(self, cited: Sequence[RetrievedChunk]) -> tuple[RetrievedChunk, ...]:
        """Return all chunks that were found or are cited, each once, in the order found."""
        known = {chunk.chunk_id: chunk for chunk in reversed([*self._found, *cited])}
        return tuple(chunk.told() for chunk in known.values())[::-1]

    def _take_up(self, chunk: RetrievedChunk, start: int, end: int) -> int:
        """Return the chunk's number; one that is known is read as far as both say."""
        for number, known in enumerate(self.chunks):
            if known.chunk_id == chunk.chunk_id:
                before = self.reads[number]
                self.reads[number] = (min(before[0], start), max(before[1], end))
                return number
        self.chunks.append(chunk)
        self.reads.append((start, end))
        return len(self.chunks) - 1
