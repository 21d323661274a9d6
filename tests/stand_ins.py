"""Stands in for the models: real, quick, and the same in every process.

It lies beside the tests and not in the product, so that an installation cannot use it.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterable

from core.answering.writers.base import Claim, DraftPart, GenerationTask, Passage, QuotedWords
from core.domain import RetrievalToolInput
from tests.embedding import HashingEmbedder

_SENTENCE = re.compile(r"[A-Z][^.?!\n]*\.")
_NAME = re.compile(r"\b[A-Z]+\d+\b")
_THINKING = 0.03
"""Seconds before each sentence."""


def open_embedder() -> "Embedder":
    return Embedder()


def open_generator() -> "TellsAll":
    return TellsAll()


class Embedder(HashingEmbedder):
    """The hashing embedder as the bot opens it; so wide that few texts are akin by chance."""

    def __init__(self) -> None:
        super().__init__(dimensions=256)

    async def warm_up(self) -> None:
        """There is nothing to load."""

    def close(self) -> None:
        """There is nothing to let go of."""


class TellsAll:
    """Quotes what the book says of every name it was told, also of those in the history.

    Whatever of another conversation came into its task would therefore be seen in its answer.
    A name has capitals and digits, such as `K0417`.
    """

    name = "scripted"

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        texts = [task.question, task.selected_text or ""]
        texts += [turn.user_input for turn in task.history]
        told = {name: text for text in reversed(texts) for name in _NAME.findall(text)}
        for name, text in reversed(told.items()):
            await asyncio.sleep(_THINKING)
            if (claim := await _about(name, text, task)) is not None:
                yield claim


async def _about(name: str, told: str, task: GenerationTask) -> Claim | None:
    """Return what the book says of a name: as it was found when somebody told the name."""
    claim = _quoted(name, task.passages())
    if claim is None and task.search is not None:
        wanted = RetrievalToolInput(query_text=told, top_k=20, score_threshold=0.0)
        claim = _quoted(name, await task.search(wanted))
    return claim


def _quoted(name: str, passages: Iterable[Passage]) -> Claim | None:
    for passage in passages:
        for sentence in _SENTENCE.findall(passage.text):
            if name in sentence:
                start = passage.chunk.content_text.index(sentence)
                return Claim(sentence, (QuotedWords(passage.chunk_number, sentence, start),))
    return None
