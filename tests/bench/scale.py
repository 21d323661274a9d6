"""What a course's size costs: `python -m tests.bench.scale`, or `make bench SCALE=1`.

Each figure is CPU time of a process of its own, so that the load of the machine does not count, and
a ratio to the bare parts in the same process.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable
from functools import partial
from pathlib import Path
from typing import TypeVar

from bot.runner import leave_in_peace
from bot.services import Services
from core.domain import AgentRequest, Course, RetrievalToolInput
from core.index.base import SearchQuery
from core.index.terms import Bm25Encoder
from core.ingestion.changes import CourseChanges
from core.ingestion.pipeline import Ingestion
from core.ingestion.plan import ingest_lock
from core.retrieval.ranking import weighted
from core.storage.ingest_accounts import IngestAccounts
from tests.bench.bare import BareEngine
from tests.bench.books import opened
from tests.bench.figures import machine, percentile
from tests.bench.footprint import peak, resident
from tests.bench.processes import environment
from tests.bench.scale_books import CHUNKS_A_PAGE, MadeBook, MadeVectors, page, questions

COURSE = Course(course_id="made", title="Made")
SIZES = (1_000, 10_000, 100_000)
_QUESTIONS = 60
_MEGABYTE = 1e6

Result = TypeVar("Result")
Figures = dict[str, float]


async def build(services: Services, pages: int) -> Figures:
    """Ingest the book, and return what that takes."""
    started = time.process_time()
    report = await _ingestion(services).run(COURSE, [MadeBook(range(pages))])
    return {"chunks": report.chunks, "build": time.process_time() - started}


async def add_page(services: Services, pages: int) -> Figures:
    """Ingest one page more, in a process that has done nothing else."""
    before, started = resident(), time.process_time()
    book = MadeBook([pages], name="another")
    report = await _ingestion(services).run(COURSE, [book])
    assert len(report.added) == 1
    return {
        "page": time.process_time() - started,
        "page memory": (peak() - before) / _MEGABYTE,
    }


async def unchanged(services: Services, pages: int) -> Figures:
    """Ingest the same book again."""
    started = time.process_time()
    report = await _ingestion(services).run(COURSE, [MadeBook(range(pages))])
    assert not report.added
    return {"unchanged": time.process_time() - started}


async def quote(services: Services, pages: int) -> Figures:
    """Locate a quote, in a process that has answered one question before."""
    await _retrieve(services, questions(1)[0])
    words = page(pages // 2).blocks[3].text.split()
    before, started = resident(), time.process_time()
    asked = RetrievalToolInput(
        query_text="What does this mean?", selected_text=" ".join(words[4:40])
    )
    found = await services.retriever.retrieve(COURSE.course_id, asked)
    taken = time.process_time() - started
    assert found.quote_location is not None
    assert found.quote_location.chunk_ids
    return {"quote": taken, "quote memory": (resident() - before) / _MEGABYTE}


async def ask(services: Services, pages: int) -> Figures:
    """Ask many questions, of the bare parts, of the index, the retriever and the agent in turn."""
    agent = services.agent("extractive")
    before = resident()
    await _retrieve(services, questions(1)[0])
    held = (resident() - before) / _MEGABYTE
    shelf = await services.retriever.opened(COURSE.course_id)
    folder = services.settings.data_dir / "index" / shelf.edition.segments[0].collection
    engine = BareEngine(folder)
    times: dict[str, list[float]] = {}
    asked = questions(_QUESTIONS)
    for question in asked[:10]:
        await agent.rehearse(_request(question))
    leave_in_peace()
    for question in asked:
        dense = (await _timed(times, "embed", services.local.embed_passages([question])))[0]
        words = shelf.encoder.query(question)
        query = SearchQuery(dense, weighted(shelf.terms, words))
        await _timed(times, "engine", _bare(engine, query))
        await _timed(times, "search", services.index.search(shelf.parts, query))
        await _timed(times, "retrieve", _retrieve(services, question))
        await _timed(times, "answer", agent.rehearse(_request(question)))
    engine.close()
    floor = [a + b for a, b in zip(times["embed"], times["engine"], strict=True)]
    size = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    return {
        "engine": 1e3 * percentile(times["engine"], 50),
        "search": 1e3 * percentile(times["search"], 50),
        "search ratio": percentile(times["search"], 50) / percentile(times["engine"], 50),
        "retrieval": 1e3 * percentile(times["retrieve"], 50),
        "retrieval ratio": percentile(times["retrieve"], 50) / percentile(floor, 50),
        "retrieval ratio p95": percentile(times["retrieve"], 95) / percentile(floor, 95),
        "answer": 1e3 * percentile(times["answer"], 50),
        "memory": held,
        "disk": size / _MEGABYTE,
    }


async def _timed(times: dict[str, list[float]], what: str, work: Awaitable[Result]) -> Result:
    started = time.process_time()
    found = await work
    times.setdefault(what, []).append(time.process_time() - started)
    return found


async def _bare(engine: BareEngine, query: SearchQuery) -> None:
    engine.search(query.dense, query.words)


async def _retrieve(services: Services, question: str) -> object:
    asked = RetrievalToolInput(query_text=question)
    return await services.retriever.retrieve(COURSE.course_id, asked)


def _request(question: str) -> AgentRequest:
    return AgentRequest(course_id=COURSE.course_id, query_text=question, user_id="bench")


def _ingestion(services: Services) -> Ingestion:
    vectors = MadeVectors(services.local)
    return Ingestion(
        catalogue=services.catalogue,
        accounts=IngestAccounts(services.engine),
        changes=CourseChanges(services.engine),
        index=services.index,
        embedder=vectors,
        sentence_embedder=vectors,
        encode_sparse=lambda language, texts: Bm25Encoder(language).passages(texts),
        lock=partial(ingest_lock, services.engine, services.settings.data_dir),
    )


STEPS = {"build": build, "ask": ask, "quote": quote, "unchanged": unchanged, "page": add_page}


async def _step(name: str, data_dir: Path, pages: int) -> None:
    """Take one step in this process, and print its figures."""
    async with opened(data_dir) as services:
        print(json.dumps(await STEPS[name](services, pages)))


def measure(data_dir: Path, chunks: int) -> Figures:
    """Return the figures of one size, each step in a process of its own."""
    figures: Figures = {}
    for name in STEPS:
        pages = str(max(1, chunks // CHUNKS_A_PAGE))
        words = [sys.executable, "-m", "tests.bench.scale", "--step", name, str(data_dir), pages]
        done = subprocess.run(
            words, env=environment(data_dir), check=True, stdout=subprocess.PIPE, cwd=data_dir
        )
        figures |= json.loads(done.stdout.splitlines()[-1])
    return figures


def main(sizes: list[int], target: Path | None) -> None:
    """Print the table, a row a figure, and keep the figures for the picture."""
    print(machine(), flush=True)
    found: dict[int, Figures] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="glossator-scale-") as folder:
            found[size] = measure(Path(folder), size)
            print(size, json.dumps(found[size]), flush=True)
    print(f"{'':<22}" + "".join(f"{size:>12,}" for size in sizes))
    for name in found[sizes[0]]:
        print(f"{name:<22}" + "".join(f"{found[size][name]:>12.2f}" for size in sizes))
    if target is not None:
        from tests.bench.curves import draw

        target.write_text(draw(found), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--picture", type=Path, metavar="FILE", help="an SVG of the curves")
    parser.add_argument("--step", nargs=3, metavar=("NAME", "FOLDER", "PAGES"))
    options = parser.parse_args()
    if options.step:
        asyncio.run(_step(options.step[0], Path(options.step[1]), int(options.step[2])))
    else:
        main(options.sizes, options.picture)
