"""Fits the confidence that decides how an answer without a model is told.

Run `python -m tests.bench.fit_words`; with `--write` it also ships the weights. Fitted on questions
whose answers are known: paragraphs of Wikipedia, a textbook and its glossary, the Rust book, those
of the Rust book asked of the textbook, half of those near the topics of two books, and half of
those about small documents. Of a reference in other words, the share of it that is shown says how
right an answer is.
"""

import asyncio
import logging
import random
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.answering import assurance
from core.domain import AgentConfiguration, Outcome
from core.domain.text_features import Logistic, probability
from core.teaching.evaluation.report import (
    GoldQuestion,
    auroc,
    contains_answer,
    read_questions,
    referred,
    shown_text,
)
from tests.bench.asked import Asked, Marked, arguments, ask_all, corpora_of, marked_rows
from tests.bench.corpora import ECONOMICS, RUST, SQUAD2, Corpus
from tests.bench.logistic_fit import fit
from tests.bench.near_topic import ROWS as NEAR
from tests.bench.small.__main__ import told

MASS: Mapping[str, float] = {
    "squad2": 250,
    "squad2, no answer": 15,
    "economics, free": 117,
    "economics, terms": 150,
    "rust-book": 100,
    "near a topic, fit": 55,
    "near a topic, untouched": 0,
    "another book": 15,
    "small, fit": 100,
    "small, untouched": 0,
}
"""What the questions of each kind count together: about one in ten has no answer."""
_RIDGE = 1.0
_SAMPLE = 700
"""Questions of squad2, and a third as many without an answer."""
_LEAST, _FREE, _TERM = 0.05, 0.4, 0.6
"""The share of a reference that any answer shows, and what a good one shows beyond it."""
_BEST_FREE = 0.9
_RIGHT_FILE = 0.8
"""What an answer is taken for of which only the file is known to be the right one."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question with what its answer is told by."""

    kind: str
    figures: dict[str, float]
    right: float
    """How right and whole the answer is, 0 to 1."""


class _Overheard(logging.Handler):
    """Keeps the figures that the program last worked a confidence out from."""

    figures: dict[str, float] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.figures = getattr(record, "figures", self.figures)

    def taken(self) -> dict[str, float] | None:
        """Return them once; None: no answer was drafted since."""
        found, self.figures = self.figures, None
        return found


def _listen() -> _Overheard:
    heard = _Overheard()
    assurance.logger.addHandler(heard)
    assurance.logger.setLevel(logging.DEBUG)
    assurance.logger.propagate = False
    return heard


def _questions(corpora: Mapping[str, Corpus]) -> list[tuple[str, GoldQuestion]]:
    """Return (course, question) of all kinds but the small documents'."""
    lot = random.Random(1)
    squad = lot.sample(corpora[SQUAD2].questions, _SAMPLE)
    every = read_questions(corpora[SQUAD2].book.parent / "questions.jsonl")
    unknown = lot.sample([row for row in every if not row.answerable], _SAMPLE // 3)
    return [
        *((SQUAD2, row) for row in (*squad, *unknown)),
        *((ECONOMICS, row) for row in corpora[ECONOMICS].questions),
        *((RUST, row) for row in corpora[RUST].questions),
        *((row.course, row) for row in marked_rows(NEAR)),
        *((ECONOMICS, row) for row in corpora[RUST].questions),
    ]


def _row(asked: Asked, figures: dict[str, float]) -> Row | None:
    """Return what is known of an answer; None: nothing is."""
    row, response = asked.row, asked.response
    if isinstance(row, Marked):
        return Row(f"near a topic, {row.split}", figures, 0.0)
    if not row.answerable:
        return Row("squad2, no answer", figures, 0.0)
    if asked.course == SQUAD2:
        is_shown = contains_answer(shown_text(response), row.answers)
        return Row("squad2", figures, float(is_shown))
    first = [chunk.source_file in row.relevant for chunk in response.grounding_chunks[:1]]
    if asked.course == RUST:
        return Row("rust-book", figures, _RIGHT_FILE * sum(first))
    if row.id.startswith(RUST.partition("-")[0]):
        return Row("another book", figures, 0.0)
    share = referred(row, response, asked.retrieval.encode_terms).share
    if share is None:
        return None
    is_free = row.kind == "free"
    right = min(max((share - _LEAST) / (_FREE if is_free else _TERM), 0.0), 1.0)
    kind = "economics, free" if is_free else "economics, terms"
    return Row(kind, figures, right * (_BEST_FREE if is_free else 1.0))


async def gathered(corpora: Mapping[str, Corpus], data: Path) -> list[Row]:
    """Ask all questions of the program as it is."""
    heard, rows = _listen(), list[Row]()
    async for asked in ask_all(data, corpora.values(), _questions(corpora)):
        figures, is_shown = heard.taken(), asked.response.outcome is not Outcome.ABSTAINED
        if figures is not None and is_shown and (row := _row(asked, figures)) is not None:
            rows.append(row)
    with tempfile.TemporaryDirectory(prefix="glossator-small-") as folder:
        async for one in told(Path(folder)):
            if (figures := heard.taken()) is not None:
                rows.append(Row(f"small, {one.split}", figures, float(one.is_shown)))
    return rows


def fitted(rows: Sequence[Row]) -> Logistic:
    """Return the confidence that the rows give, each kind with its mass."""
    known = [row for row in rows if MASS[row.kind]]
    sizes = Counter(row.kind for row in known)
    mass = np.array([MASS[row.kind] / sizes[row.kind] for row in known])
    right = np.array([row.right for row in known])
    return fit([row.figures for row in known], right, mass, ridge=_RIDGE)


def report(rows: Sequence[Row], head: Logistic) -> Iterator[str]:
    """Yield of each kind how right its answers are, and what they would be told with."""
    marks = AgentConfiguration()
    for kind in MASS:
        if not (own := [row for row in rows if row.kind == kind]):
            continue
        sure = np.array([probability(head.log_odds(row.figures)) for row in own])
        right = np.array([row.right for row in own])
        plain, low = sure >= marks.answered_from, sure < marks.partial_from
        area = f"{auroc(sure.tolist(), (right > 0.5).tolist()):.2f}" if right.sum() > 0 else "-"
        yield (
            f"{kind:<24} n {len(own):4}  right {right.mean():.2f}  AUROC {area}  "
            f"plain {plain.mean():.2f} (right {right[plain].mean() if plain.any() else 0:.2f})  "
            f"below {low.mean():.2f} (right {right[low].mean() if low.any() else 0:.2f})"
        )


async def _run(corpora: Mapping[str, Corpus], options: Namespace) -> None:
    rows = await gathered(corpora, options.data)
    head = fitted(rows)
    print(dict(zip(head.names, np.round(head.weights, 2).tolist(), strict=True)))
    print("\n".join(report(rows, head)))
    if options.write:
        head.save(assurance.WEIGHTS)


def main() -> int:
    """Fit, and return the exit code."""
    parser = arguments("tests.bench.fit_words", __doc__)
    parser.add_argument("--write", action="store_true", help="ship the weights")
    options = parser.parse_args()
    if (corpora := corpora_of(options)) is not None:
        asyncio.run(_run(corpora, options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
