"""Prints the timings of Glossator as ratios to its bare parts: `python -m tests.bench`."""

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from tests.bench.books import Book
from tests.bench.figures import Row, line, machine
from tests.bench.ingesting import bare_embedder, first_ingest, second_ingest
from tests.bench.processes import ROOT, cold_start, install_size, memory
from tests.bench.queries import ask_all

_ECONOMICS = ROOT.parent / "shared" / "corpora" / "economics"
_A_QUESTION = "What is this book about?"


async def main(books: list[Book]) -> None:
    """Measure each book in a data folder of its own and print the table as it grows."""
    print(machine(), flush=True)
    print(line(Row("what", "measured", "ratio", "beside")), flush=True)
    with tempfile.TemporaryDirectory(prefix="glossator-bench-") as folder:
        data_dir = Path(folder)
        for book in books:
            print(f"\n{book.name}", flush=True)
            async for row in _rows(data_dir, book):
                print(line(row), flush=True)
    print(f"\n{line(install_size())}\n{machine()}")


async def _rows(data_dir: Path, book: Book) -> AsyncIterator[Row]:
    bare = await bare_embedder(data_dir)
    yield await first_ingest(data_dir, book, bare)
    yield second_ingest(data_dir, book)
    for row in await ask_all(data_dir, book, bare):
        yield row
    yield await cold_start(data_dir, book, _A_QUESTION)
    yield memory(data_dir, book, _A_QUESTION)


def _books(folder: Path | None, questions: Path | None) -> list[Book]:
    if folder is not None:
        return [Book("book", folder.resolve(), questions)]
    books = [Book("handbook", ROOT / "docs")]
    if _ECONOMICS.is_dir():
        books.append(Book("economics", _ECONOMICS / "book", _ECONOMICS / "questions.jsonl"))
    return books


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--book", type=Path, metavar="FOLDER", help="what to ingest")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="JSONL rows to ask it")
    options = parser.parse_args()
    asyncio.run(main(_books(options.book, options.questions)))
