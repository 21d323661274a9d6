"""Fits the head that knows a wish to have a task done, and prints how it does.

`python -m tests.bench.hints.fit_solving` prints; `--write` ships the weights. Every fourth written
line is not fitted on. The questions about the shared books count as questions that want to learn.
"""

import argparse
import asyncio
from pathlib import Path

import numpy as np

from core.teaching.policy import SURE, WEIGHTS, probability
from tests.bench.corpora import read_corpora
from tests.bench.pointing.__main__ import embedded, fit

LINES = Path(__file__).with_name("solving.txt")
_RIDGE = 0.3


def labelled() -> list[tuple[str, bool]]:
    """Return the written lines, and whether each wants a task done."""
    found: list[tuple[str, bool]] = []
    wants = False
    for line in LINES.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            wants = line == "[solve]"
        elif line and not line.startswith("#"):
            found.append((line, wants))
    return found


async def _run(corpora_folder: Path, models: Path, *, write: bool) -> None:
    corpora = read_corpora(corpora_folder) or {}
    asked = [row.question for corpus in corpora.values() for row in corpus.questions]
    known = [*labelled(), *((text, False) for text in asked)]
    texts = [text for text, _ in known]
    labels = np.array([float(wants) for _, wants in known])
    vectors = await embedded(texts, models)
    held = np.arange(len(texts)) % 4 == 3
    head = fit(vectors[~held], labels[~held], _RIDGE).astype(np.float32)
    for name, wanted in (("solve", True), ("learn", False)):
        those = [n for n in np.flatnonzero(held) if labels[n] == wanted]
        wrong = [n for n in those if (probability(vectors[n], head) >= SURE) != wanted]
        shown = [texts[n] for n in wrong][:20]
        print(f"untouched, {name}: {len(those) - len(wrong)} of {len(those)}; not: {shown}")
    if write:
        np.save(WEIGHTS, fit(vectors, labels, _RIDGE).astype(np.float16))


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hints.fit_solving")
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--data", type=Path, default=Path(".glossator/bench"))
    parser.add_argument("--write", action="store_true", help="ship the weights")
    options = parser.parse_args()
    asyncio.run(_run(options.corpora, options.data / "models", write=options.write))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
