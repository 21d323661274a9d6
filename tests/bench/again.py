"""Fits the heads that know a wish to see an answer again, and prints how they do.

The lines in `again.txt` are written for the purpose; the made-up chats of `tests.bench.speaking`,
and the short ones of the questions about the shared books and of their follow-ups, are read as
well. Every fourth line is not fitted on, and no line of the chats that are held out. `--write` fits
on all others and ships the weights.
"""

import asyncio
from argparse import ArgumentParser
from pathlib import Path

import numpy as np

from adapters.chat.speaking import Intent
from core.domain import Again
from core.providers.embeddings.base import Vectors
from core.retrieval.questions import MOST_WORDS, SURE_OF_AGAIN, WEIGHTS, probabilities
from tests.bench.asked import marked_rows
from tests.bench.corpora import read_corpora
from tests.bench.followups import ROWS
from tests.bench.pointing.__main__ import Floats, embedded, fit
from tests.bench.speaking.labelled import HELD_OUT, TRAIN, labelled_in

LINES = Path(__file__).with_name("again.txt")
NONE = "none"
_RIDGE = 0.3
_KINDS = {
    Intent.SHORTER: str(Again.SHORTER),
    Intent.SIMPLER: str(Again.SHORTER),
    Intent.WHERE: str(Again.WHERE),
}


def kinds_of_lines(path: Path) -> dict[str, list[str]]:
    """Return the lines of a file by their kind, which stands in brackets above them."""
    found: dict[str, list[str]] = {}
    kind = NONE
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(kind, []).append(line)
    return found


def labelled() -> list[tuple[str, str]]:
    """Return the written lines with their kinds, one of `Again` or `NONE`."""
    return [(line, kind) for kind, lines in kinds_of_lines(LINES).items() for line in lines]


def chatted(folder: Path) -> list[tuple[str, str]]:
    """Return the short lines of made-up chats with their kinds."""
    lines = [(one.line.text, _KINDS.get(one.intent, NONE)) for one in labelled_in(folder)]
    return [line for line in dict.fromkeys(lines) if 0 < len(line[0].split()) <= MOST_WORDS]


def read_as(vectors: Vectors, heads: Vectors) -> list[str]:
    """Return the kind that each text is read as."""
    chances = probabilities(vectors, heads)
    names = [str(one) for one in Again]
    return [names[int(row.argmax())] if row.max() >= SURE_OF_AGAIN else NONE for row in chances]


async def _run(corpora_folder: Path, models: Path, *, write: bool) -> None:
    corpora = read_corpora(corpora_folder)
    if corpora is None:
        print(f"The corpora are not in {corpora_folder}: there is nothing to fit on.")
        return
    asked = [row.question for corpus in corpora.values() for row in corpus.questions]
    asked += [row.question for row in marked_rows(ROWS)]
    short = sorted({text for text in asked if len(text.split()) <= MOST_WORDS})
    known = [*labelled(), *chatted(TRAIN), *((text, NONE) for text in short)]
    untouched = chatted(HELD_OUT)
    texts = [text for text, _ in [*known, *untouched]]
    kinds = [kind for _, kind in [*known, *untouched]]
    vectors = await embedded(texts, models)
    labels = np.array([[float(kind == one) for one in Again] for kind in kinds])
    place = np.arange(len(texts))
    held, chats = (place % 4 == 3) & (place < len(known)), place >= len(known)
    heads = _fitted(vectors[~held & ~chats], labels[~held & ~chats])
    read = read_as(vectors.astype(np.float32), heads)
    for name, part in (("every fourth line", held), ("untouched chats", chats)):
        rows = [(texts[n], kinds[n], read[n]) for n in np.flatnonzero(part)]
        for kind in [*map(str, Again), NONE]:
            those = [(text, got) for text, own, got in rows if own == kind]
            wrong = [f"{text} ({got})" for text, got in those if got != kind]
            print(f"{name}, {kind}: {len(those) - len(wrong)} of {len(those)}; not: {wrong[:30]}")
    shipped = _fitted(vectors[~chats], labels[~chats])
    read = read_as(vectors.astype(np.float32), shipped)
    alarms = [text for text, got in zip(texts, read, strict=True) if got != NONE and text in short]
    print(f"the books: {len(alarms)} false alarms in {len(asked)} questions: {alarms}")
    if write:
        np.save(WEIGHTS, shipped.astype(np.float16))


def _fitted(vectors: Floats, labels: Floats) -> Vectors:
    return np.stack([fit(vectors, row, _RIDGE) for row in labels.T]).astype(np.float32)


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = ArgumentParser(prog="python -m tests.bench.again", description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--data", type=Path, default=Path(".glossator/bench"))
    parser.add_argument("--write", action="store_true", help="ship the weights")
    options = parser.parse_args()
    asyncio.run(_run(options.corpora, options.data / "models", write=options.write))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
