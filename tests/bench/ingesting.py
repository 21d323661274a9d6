"""How fast a book goes in, beside the embedder alone on the same texts."""

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from bot.embedders import installed_model
from core.providers.embeddings.local import GRAPH_VERSION
from tests.bench.bare import BareEmbedder
from tests.bench.books import Book, embedded_texts, ingest, opened, parsed_chunks
from tests.bench.figures import Row, seconds_of
from tests.bench.processes import command, environment, output_of

_AGAIN = 3


async def first_ingest(data_dir: Path, book: Book, bare: BareEmbedder) -> Row:
    """Ingest the book into an empty course, the embedder alone running before and after."""
    texts = embedded_texts(await parsed_chunks(book))
    async with opened(data_dir) as services:
        await services.local.warm_up()
        before = seconds_of(lambda: bare.embed(texts))
        started = time.perf_counter()
        report = await ingest(services, book)
        taken = time.perf_counter() - started
    alone = min(before, seconds_of(lambda: bare.embed(texts)))
    assert report.embedded == len(texts), f"{report.embedded} of {len(texts)} were embedded"
    speed, best = len(texts) / taken, len(texts) / alone
    return Row(
        f"ingest, {report.chunks} chunks",
        f"{speed:.1f} chunks/s",
        f"{speed / best:.2f}x",
        f"bare embedder {best:.1f} chunks/s",
    )


def second_ingest(data_dir: Path, book: Book) -> Row:
    """Ingest the unchanged book in processes of their own."""
    words = ["ingest", str(book.folder), "--course", book.name, "--json"]
    taken, embedded = [], 0
    for _ in range(_AGAIN):
        started = time.perf_counter()
        printed = output_of(command(*words), data_dir)
        taken.append(time.perf_counter() - started)
        embedded += json.loads(printed)["embedded"]
    model = "model loaded" if _loads_the_model(data_dir, words) else "model not loaded"
    beside = f"{embedded} embedded, {model}"
    return Row("ingest again, unchanged", f"{median(taken):.2f} s", "", beside)


def _loads_the_model(data_dir: Path, words: list[str]) -> bool:
    """Return whether the command imports what runs the model."""
    _, *module = command(*words)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *module],
        env=environment(data_dir),
        cwd=data_dir,
        check=True,
        capture_output=True,
    )
    return b"onnxruntime" in done.stderr


async def bare_embedder(data_dir: Path) -> BareEmbedder:
    """Return the product's model without the product; its graph is built where missing."""
    async with opened(data_dir) as services:
        await services.local.warm_up()
    return BareEmbedder(data_dir / "models" / f"{GRAPH_VERSION}.onnx", installed_model())
