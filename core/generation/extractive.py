"""Answers without a language model: the evidence's own sentences, word for word."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from core.embeddings.base import Embedder
from core.errors import EmbeddingError, GenerationError
from core.generation.base import Claim, DraftPart, GenerationTask, Rejected
from core.generation.excerpts import Excerpt, cut_excerpts
from core.generation.inquiry import Inquiry, read_inquiry, says_again
from core.generation.ranking import rank
from core.generation.selection import select
from core.models import AnswerLength

MOST_SENTENCES: Mapping[AnswerLength, int] = MappingProxyType(
    {AnswerLength.SHORT: 2, AnswerLength.NORMAL: 3, AnswerLength.LONG: 5}
)


class ExtractiveGenerator:
    """Quotes the few sentences of the evidence that answer the question best."""

    name = "extractive"

    def __init__(
        self, *, embedder: Embedder, most_sentences: Mapping[AnswerLength, int] = MOST_SENTENCES
    ) -> None:
        """Choose by `embedder`'s cosines; `most_sentences` limits an answer by its length."""
        self._embedder = embedder
        self._most_sentences = most_sentences

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield each quoted passage as a claim, in reading order.

        Raises:
            GenerationError: when the sentences cannot be embedded.
        """
        inquiry = read_inquiry(task, task.encode_terms)
        excerpts = _without_given(task, _readable(task), inquiry)
        try:
            ranked = await rank(excerpts, task, inquiry, task.encode_terms, self._embedder)
        except EmbeddingError as error:
            raise GenerationError("the evidence's sentences could not be embedded") from error
        for excerpt in select(excerpts, ranked, inquiry, self._most_sentences[task.length]):
            yield Claim.quoting(excerpt.text, excerpt.chunk_number, excerpt.quote)

    async def repair(
        self, task: GenerationTask, rejected: Sequence[Rejected]
    ) -> AsyncGenerator[DraftPart, None]:
        """Yield nothing: what the book says word for word needs no second try."""
        return
        yield


def _readable(task: GenerationTask) -> list[Excerpt]:
    """Return all excerpts; what lies outside of the parts to be read is not citable."""
    excerpts = cut_excerpts(task.evidence)
    if not task.reads:
        return excerpts
    return [
        excerpt
        if _lies_in(excerpt, task.reads[excerpt.chunk_number])
        else replace(excerpt, citable=False)
        for excerpt in excerpts
    ]


def _lies_in(excerpt: Excerpt, part: tuple[int, int]) -> bool:
    return part[0] <= excerpt.start and excerpt.end <= part[1]


def _without_given(
    task: GenerationTask, excerpts: Sequence[Excerpt], inquiry: Inquiry
) -> list[Excerpt]:
    """Make what the reader has before them not citable, unless there is nothing else."""
    if not inquiry.given:
        return list(excerpts)
    fresh = [
        replace(excerpt, citable=False)
        if says_again(frozenset(task.encode_terms(excerpt.quote)), inquiry.given)
        else excerpt
        for excerpt in excerpts
    ]
    return fresh if any(excerpt.citable for excerpt in fresh) else list(excerpts)
