"""Refits the product's thresholds and confidence, and prints how well they carry over.

Run `python -m tests.bench.calibrate --corpora ../shared/corpora`. The first run ingests three
books; the whole takes about six minutes on two cores, every later run about four.
"""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from bot.services import Services
from bot.settings import Settings
from bot.wiring import open_services
from core.answering import assurance as shipped
from core.domain import MAX_QUESTION
from core.retrieval.calibration import (
    Asked,
    QuestionEvidence,
    QuestionWithFiles,
    below_answerable,
    best_trials,
    look_up,
    mean_refused,
    relevant_below_usable,
)
from core.retrieval.ranking import ScoreScale, scale_for
from tests.bench.corpora import ECONOMICS, RUST, SQUAD2, Corpus, ingest, read_corpora
from tests.bench.fit_confidence import (
    Answered,
    answer_all,
    fit,
    predict,
    predict_across_folds,
    quality,
)

_SHOWN_TRIALS = 8
_MASS = {ECONOMICS: 1.0, SQUAD2: 0.5, RUST: 1.0}
"""What each book counts for the confidence: one of separate paragraphs less than textbooks."""


def main(arguments: Sequence[str]) -> int:
    """Print constants and figures, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.calibrate", description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--data", type=Path, default=Path(".glossator/bench"))
    options = parser.parse_args(arguments)
    corpora = read_corpora(options.corpora)
    if corpora is None:
        print(f"The corpora are not in {options.corpora}: there is nothing to calibrate on.")
        return 0
    asyncio.run(_calibrate(corpora, Settings(data_dir=options.data)))
    return 0


async def _calibrate(corpora: Mapping[str, Corpus], settings: Settings) -> None:
    async with open_services(settings, announce=print) as opened:
        for corpus in corpora.values():
            print(f"reading {corpus.name}", flush=True)
            await ingest(opened, corpus)
        await _calibrate_scale(opened, corpora)
        await _calibrate_confidence(opened, corpora)


async def _calibrate_scale(opened: Services, corpora: Mapping[str, Corpus]) -> None:
    """Fit on squad2 and every other economics question; confirm on the rest and rust-book."""
    found = {
        (asked, book): await _ask(opened, book, corpora[asked])
        for asked, book in product(corpora, corpora)
    }
    fitted, held_out = _halves(found[ECONOMICS, ECONOMICS])
    abroad, _ = _halves(found[ECONOMICS, SQUAD2])
    answerable = {"squad2": found[SQUAD2, SQUAD2], "economics, fitted": fitted}
    off_topic = {"squad2 of economics": found[SQUAD2, ECONOMICS], "economics of squad2": abroad}
    confirmed = {"economics, held out": held_out, "rust-book": found[RUST, RUST]}
    refused = {
        f"{asked} of {book}": found[asked, book]
        for asked, book in found
        if asked != book and RUST in {asked, book}
    }
    print("\nsimilarity_score: weights of cosine, BM25, coverage; marks 0.3 and 0.5")
    for trial in best_trials(answerable, off_topic, _SHOWN_TRIALS):
        _print_scale("fitted", trial.scale, off_topic, refused)
    scale = scale_for(opened.local.name)
    _print_scale("shipped", scale, off_topic, refused)
    _print_marks(scale, {**answerable, **confirmed}, {**off_topic, **refused})


async def _ask(opened: Services, book: str, corpus: Corpus) -> list[QuestionEvidence]:
    shelf = await opened.retriever.opened(book)
    rows = corpus.questions
    placed = [QuestionWithFiles(row.question[:MAX_QUESTION], row.relevant) for row in rows]
    return await look_up(opened.index, shelf, placed)


def _halves(
    found: Sequence[QuestionEvidence],
) -> tuple[Sequence[QuestionEvidence], Sequence[QuestionEvidence]]:
    return found[::2], found[1::2]


def _print_scale(name: str, scale: ScoreScale, fitted: Asked, held_out: Asked) -> None:
    print(
        f"  {name:8} {scale.cosine:.2f} {scale.bm25:.2f} {scale.coverage:.2f}  "
        f"{scale.usable_at:.3f} {scale.answerable_at:.3f}  off topic refused: "
        f"{mean_refused(scale, fitted):.1%}, held out {mean_refused(scale, held_out):.1%}"
    )


def _print_marks(scale: ScoreScale, answerable: Asked, off_topic: Asked) -> None:
    for name, found in answerable.items():
        lost, refused = relevant_below_usable(scale, found), below_answerable(scale, found)
        print(f"  {name:34} relevant below 0.3: {lost:.1%}; best below 0.5: {refused:.1%}")
    for name, found in off_topic.items():
        print(f"  {name:34} best below 0.5: {below_answerable(scale, found):.1%}")


async def _calibrate_confidence(opened: Services, corpora: Mapping[str, Corpus]) -> None:
    answered = {
        name: await answer_all(opened, name, corpus.questions) for name, corpus in corpora.items()
    }
    economics = answered[ECONOMICS]
    others = [(answered[name], _MASS[name]) for name in (SQUAD2, RUST)]
    print("\nconfidence: weights of share and coverage, offset")
    print(f"  fitted on all: {np.round(fit([(economics, _MASS[ECONOMICS]), *others]), 2)}")
    print(f"  shipped: {shipped.SHARE} {shipped.COVERAGE} {shipped.OFFSET}")
    _print_quality("economics, 5-fold", predict_across_folds(economics), economics)
    _print_quality("economics, fitted without it", predict(fit(others), economics), economics)
    for name, answers in answered.items():
        _print_quality(f"{name}, shipped", answers.confidence, answers)


def _print_quality(name: str, confidence: np.ndarray, answered: Answered) -> None:
    error, area = quality(confidence, answered)
    print(
        f"  {name:34} calibration error {error:.3f}, AUROC {area:.3f}, "
        f"right {answered.right.mean():.1%}, refused {answered.refused.mean():.1%}"
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
