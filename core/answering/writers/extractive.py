"""Answers without a language model: the book's own passages, word for word."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from core.answering.writers.base import Claim, DraftPart, GenerationTask, NotCovered, TaskPart
from core.answering.writers.pieces import Piece, cut
from core.answering.writers.scoring import Inquiry, rank, read_inquiry, says_again
from core.answering.writers.windows import (
    MOST_WORDS,
    Window,
    beginning,
    choose,
    claims_of,
    instead,
    most_words_of,
    without_shown,
)
from core.domain import AnswerLength
from core.domain.errors import EmbeddingError, GenerationError
from core.providers.embeddings.base import Embedder


class ExtractiveGenerator:
    """Shows the few passages of the evidence that answer the question best."""

    name = "extractive"

    def __init__(
        self,
        *,
        embedder: Embedder,
        most_words: Mapping[AnswerLength, int] = MOST_WORDS,
    ) -> None:
        """Choose by `embedder`'s cosines; `most_words` limits an answer by its length."""
        self._embedder = embedder
        self._most_words = most_words

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield each passage as a claim.

        Raises:
            GenerationError: when the sentences cannot be embedded.
        """
        most = most_words_of(task, self._most_words)
        try:
            written = await self._in_parts(task, most)
            if not written:
                windows = await self._choose(task, most)
                written = [*claims_of(windows, task.evidence)]
        except EmbeddingError as error:
            raise GenerationError("the evidence's sentences could not be embedded") from error
        if again := instead(task, written):
            written = [*again]
        for one in written:
            yield one

    async def _in_parts(self, task: GenerationTask, room: int) -> list[DraftPart]:
        """Return the answers to the parts of a question; none where two share a sentence."""
        drafts: list[DraftPart] = []
        shown = set[tuple[UUID, int]]()
        for place, part in enumerate(task.parts):
            left = sum(bool(other.numbers) for other in task.parts[place:])
            own = _of_part(task, place)
            windows = await self._choose(own, room // max(left, 1))
            pieces = [piece for window in windows for piece in window.pieces]
            if shown & {piece.place for piece in pieces}:
                return []
            shown |= {piece.place for piece in pieces}
            room -= sum(piece.words for piece in pieces)
            drafts += _answers(part, claims_of(windows, own.evidence))
        return drafts

    async def _choose(self, task: GenerationTask, most: int) -> list[Window]:
        """Return what answers best; of a section that was asked for, its beginning."""
        inquiry = read_inquiry(task)
        pieces = without_shown(task, _readable(task, inquiry))
        if task.in_order:
            return beginning(pieces, most)
        return choose(pieces, await rank(pieces, task, inquiry, self._embedder), most)


def _of_part(task: GenerationTask, place: int) -> GenerationTask:
    """Return the task of answering one part; only the first may lean on what was said before."""
    part = task.parts[place]
    own = replace(
        task,
        question=part.question,
        evidence=[task.evidence[number] for number in part.numbers],
        reads=(),
        leans=task.leans if place == 0 else part.before is not None,
    )
    return own if place == 0 else replace(own, history=(), thread=(), section=part.before)


def _answers(part: TaskPart, claims: Iterable[Claim]) -> Iterator[DraftPart]:
    """Yield the claims below the part's words, its chunks numbered as in the whole task."""
    words: str | None = part.words
    for claim in claims:
        quotes = (replace(q, chunk_number=part.numbers[q.chunk_number]) for q in claim.quotes)
        yield replace(claim, quotes=tuple(quotes), part=words)
        words = None
    if words is not None:
        yield NotCovered(words)


def _readable(task: GenerationTask, inquiry: Inquiry) -> list[Piece]:
    """Return all pieces; what is not to be read, or what the quote says, is hidden.

    What the quote says is shown again where there is nothing else; what the answer before said
    may be shown again, and is marked as known.
    """
    pieces = cut(task.evidence)
    if task.in_order:
        return _as_it_stands(task, pieces)
    told = inquiry.given or inquiry.known
    if not told:
        return pieces
    again = [says_again(frozenset(task.encode_terms(piece.quote)), told) for piece in pieces]
    if inquiry.known:
        return [replace(p, known=said) for p, said in zip(pieces, again, strict=True)]
    fresh = [p.hidden() if said else p for p, said in zip(pieces, again, strict=True)]
    return fresh if any(piece.citable for piece in fresh) else pieces


def _as_it_stands(task: GenerationTask, pieces: Sequence[Piece]) -> list[Piece]:
    """Return what is to be read of a section, whatever it says where nothing answers by itself."""
    reads = task.reads or [(0, len(chunk.content_text)) for chunk in task.evidence]
    spans = [reads[piece.chunk_number] for piece in pieces]
    inside = [s[0] <= p.start and p.end <= s[1] for p, s in zip(pieces, spans, strict=True)]
    rows = list(zip(pieces, inside, strict=True))
    answers = any(piece.citable for piece, is_read in rows if is_read)
    return [p if i and answers else replace(p, citable=i, shown=i) for p, i in rows]
