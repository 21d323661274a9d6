"""How long a question takes, and a quote, once everything is loaded."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean

from bot.services import Services
from core.domain import Chunk, RetrievalToolInput
from core.index.terms import Bm25Encoder
from core.retrieval.quotes import BookText
from tests.bench.bare import BareEmbedder, BareEngine
from tests.bench.books import (
    Book,
    book_documents,
    chunks_of,
    collection_folder,
    collection_of,
    opened,
    questions_about,
    request,
)
from tests.bench.figures import Row, milliseconds, ratios, seconds_of

QUESTIONS = 240
_QUOTES = 40
_LENGTHS = (400, 8_000)


@dataclass(slots=True)
class _Times:
    """Seconds, one entry a question."""

    bare: list[float] = field(default_factory=list)
    retrieval: list[float] = field(default_factory=list)
    answer: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """Of an answer to a question that was not asked before, on all processors."""


async def ask_all(data_dir: Path, book: Book, bare: BareEmbedder) -> list[Row]:
    """Ask many questions, each of the bare parts, of the retriever and of the agent in turn."""
    async with opened(data_dir) as services:
        chunks = await chunks_of(services, book)
        questions = questions_about(book, chunks, QUESTIONS)
        others = [q for q in questions_about(book, chunks, 2 * QUESTIONS) if q not in questions]
        folder = collection_folder(services, await collection_of(services, book))
        engine = BareEngine(folder)
        times = await _times(services, book, questions, bare, engine)
        engine.close()
        times.cpu += await _cpu(services, book, others or questions)
    return [
        Row(
            f"query, p50 / p95 of {len(questions)}",
            milliseconds(times.retrieval),
            ratios(times.retrieval, times.bare),
            f"bare embedder and engine {milliseconds(times.bare)}",
        ),
        Row(
            "answer, p50 / p95",
            milliseconds(times.answer),
            ratios(times.answer, times.bare),
            "the same",
        ),
        Row(
            f"answer, CPU, mean of {len(times.cpu)}{' others' if others else ''}",
            f"{1e3 * mean(times.cpu):.1f} ms",
            "",
            f"{1 / mean(times.cpu):.0f} answers for each second of one processor",
        ),
        *_quote_rows(chunks),
    ]


async def _times(
    services: Services,
    book: Book,
    questions: Sequence[str],
    bare: BareEmbedder,
    engine: BareEngine,
) -> _Times:
    retriever, agent, encoder = services.retriever, services.agent("extractive"), Bm25Encoder()
    for question in questions:
        await retriever.retrieve(book.name, RetrievalToolInput(query_text=question))
    times = _Times()
    for question in questions:
        started = time.perf_counter()
        engine.search(bare.embed([question])[0], encoder.query(question))
        times.bare.append(time.perf_counter() - started)
        started = time.perf_counter()
        await retriever.retrieve(book.name, RetrievalToolInput(query_text=question))
        times.retrieval.append(time.perf_counter() - started)
        started = time.perf_counter()
        await agent.rehearse(request(book, question))
        times.answer.append(time.perf_counter() - started)
    return times


async def _cpu(services: Services, book: Book, questions: Sequence[str]) -> list[float]:
    agent, taken = services.agent("extractive"), list[float]()
    for question in questions:
        started = time.process_time()
        await agent.rehearse(request(book, question))
        taken.append(time.process_time() - started)
    return taken


def _quote_rows(chunks: Sequence[Chunk]) -> list[Row]:
    documents = book_documents(chunks)
    text = BookText(documents)
    whole = " ".join(document for _, document in documents)
    return [
        Row(
            f"locating an altered quote of {length:,} characters",
            milliseconds([seconds_of(partial(text.locate, quote)) for quote in quotes]),
        )
        for length in _LENGTHS
        if (quotes := _altered_quotes(whole, length))
    ]


def _altered_quotes(whole: str, length: int) -> list[str]:
    """Return stretches of the book with every tenth word or so left out."""
    chance = random.Random(length)
    starts = [chance.randrange(max(1, len(whole) - length)) for _ in range(_QUOTES)]
    words = [whole[start : start + length].split(" ") for start in starts]
    return [" ".join(word for word in quote if chance.random() > 0.1) for quote in words]
