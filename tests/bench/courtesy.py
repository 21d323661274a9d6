"""Fits the heads that know courtesy, and prints how they do; `--write` also writes the weights.

The lines in `courtesy.txt` are written for the purpose; what is no courtesy are the parts of
questions about the shared books as well. That a message is courtesy alone is also learned from the
made-up chats and from wishes to see an answer again, and that a single word of a question, also
with a slip in it, is none. Every fourth line is not fitted on.
"""

import asyncio
import re
from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adapters.chat.speaking import Intent
from core.retrieval.questions import ALONE, AROUND, courtesy
from core.retrieval.questions import COURTESY_SURE as SURE
from core.retrieval.questions import COURTESY_WEIGHTS as WEIGHTS
from tests.bench.again import kinds_of_lines, labelled
from tests.bench.asked import marked_rows
from tests.bench.corpora import read_corpora
from tests.bench.followups import ROWS
from tests.bench.pointing.__main__ import Floats, embedded, fit
from tests.bench.speaking.labelled import TRAIN, labelled_in

LINES = Path(__file__).with_name("courtesy.txt")
_PARTS = re.compile(r"(?<=[.!?,:;])\s+")
_WORD = re.compile(r"\b[^\W\d_]{4,}\b")
_EVERY_WORD = 40
_MOST_WORDS = 8


async def _run(corpora_folder: Path, models: Path, *, write: bool) -> None:
    corpora = read_corpora(corpora_folder)
    if corpora is None:
        print(f"The corpora are not in {corpora_folder}: there is nothing to fit on.")
        return
    asked = [row.question for corpus in corpora.values() for row in corpus.questions]
    parts = {part for text in asked for part in _PARTS.split(text)}
    plain = sorted(part for part in parts if 0 < len(part.split()) <= _MOST_WORDS)[::2]
    lines = kinds_of_lines(LINES)
    around = await _fitted([*lines["greeting"], *lines["plea"]], plain, models)
    heads = {AROUND: around, ALONE: await _alone(lines, [*plain, *_words(asked)], models)}
    if write:
        np.save(WEIGHTS, np.array([heads[AROUND], heads[ALONE]], np.float16))


def _words(asked: list[str]) -> list[str]:
    """Return some words of the questions, and some without one of their letters."""
    known = {word for text in asked for word in _WORD.findall(text)}
    drawn = sorted(known)[::_EVERY_WORD]
    return [*drawn, *(word[: len(word) // 2] + word[len(word) // 2 + 1 :] for word in drawn[::2])]


async def _alone(lines: dict[str, list[str]], plain: list[str], models: Path) -> Floats:
    """Return the head that knows a message which asks nothing at all."""
    chats = [one for one in labelled_in(TRAIN) if len(one.line.text.split()) <= _MOST_WORDS]
    thanks = [one.line.text for one in chats if one.intent is Intent.THANKS]
    polite = [*lines["greeting"], *lines["closing"], *thanks]
    said = {line.casefold().strip("!. ") for line in polite}
    others = [one.line.text for one in chats if one.intent.is_for_the_bot]
    others += [line for line, _ in labelled()] + lines["question"]
    others += [row.question for row in marked_rows(ROWS)]
    others = [line for line in others if len(line.split()) <= _MOST_WORDS]
    others = [line for line in others if line.casefold().strip("!. ") not in said]
    return await _fitted(polite, [*lines["plea"], *others, *plain], models)


async def _fitted(polite: list[str], plain: list[str], models: Path) -> Floats:
    """Return the weights fitted on all lines, after the figures of every fourth were printed."""
    vectors = await embedded([*polite, *plain], models)
    labels = np.array([1.0] * len(polite) + [0.0] * len(plain))
    held = np.arange(len(labels)) % 4 == 3
    sure = _is_sure(vectors, fit(vectors[~held], labels[~held]))
    is_polite = labels == 1
    print(
        f"held back: {sure[held & is_polite].mean():.2f} of {(held & is_polite).sum()} lines "
        f"known, {sure[held & ~is_polite].sum()} of {(held & ~is_polite).sum()} others taken "
        "for courtesy"
    )
    print("taken:", [plain[n - len(polite)] for n in np.flatnonzero(sure & ~is_polite)][:20])
    return fit(vectors, labels)


def _is_sure(vectors: Floats, head: Floats) -> npt.NDArray[np.bool_]:
    chances = courtesy(vectors.astype(np.float32), head.astype(np.float32))
    return np.array(chances) >= SURE


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = ArgumentParser(prog="python -m tests.bench.courtesy", description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--data", type=Path, default=Path(".glossator/bench"))
    parser.add_argument("--write", action="store_true", help="ship the weights")
    options = parser.parse_args()
    asyncio.run(_run(options.corpora, options.data / "models", write=options.write))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
