"""Fits the mark below which passages are marked as the closest that the book comes.

Run `python -m tests.bench.fit_covered`; with `--write` it also ships the weights. Fitted on
questions near the topics of two books, and on the questions that these answer; the figures are of
two halves, each judged by what was fitted on the other.
"""

import asyncio
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.answering.assurance import COVERED, coverage_figures
from core.domain import Outcome
from core.domain.text_features import Logistic
from tests.bench.asked import Asked, Marked, arguments, ask_all, corpora_of
from tests.bench.corpora import Corpus
from tests.bench.logistic_fit import fit
from tests.bench.near_topic import rows_of
from tests.bench.shares import line

MARKED = 0.12
"""Share of the questions answered by the book that may be refused or marked."""
_MASS = 150.0
"""What the questions of a book count together, those that it answers and the others each."""
_ALL = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """A question as far as the mark looks at it."""

    course: str
    figures: dict[str, float]
    answerable: bool
    refused: bool
    half: bool
    """Whether it is of the part "fit", or one of every other answerable question."""


def labelled(asked: Sequence[Asked]) -> list[Row]:
    """Return the questions in two halves."""
    rows, seen = [], Counter[str]()
    for one in asked:
        seen[one.course] += one.row.answerable
        is_first = one.row.split == "fit" if isinstance(one.row, Marked) else seen[one.course] % 2
        refused = one.response.outcome is Outcome.ABSTAINED
        figures = coverage_figures(one.retrieval.signals)
        rows.append(Row(one.course, figures, one.row.answerable, refused, bool(is_first)))
    return rows


def fitted(rows: Sequence[Row]) -> Logistic:
    """Return the regression whose log odds are below 0 where an answer is to be marked."""
    sizes = Counter((row.course, row.answerable) for row in rows)
    mass = np.array([_MASS / sizes[row.course, row.answerable] for row in rows])
    wanted = np.array([float(row.answerable) for row in rows])
    head = fit([row.figures for row in rows], wanted, mass)
    known = [row for row in rows if row.answerable]
    odds = sorted(-np.inf if row.refused else head.log_odds(row.figures) for row in known)
    return replace(head, bias=head.bias - odds[int(MARKED * len(odds))])


def across_halves(rows: Sequence[Row]) -> list[tuple[Row, bool]]:
    """Return each question with whether it is refused or marked, fitted on the other half."""
    heads = {half: fitted([row for row in rows if row.half != half]) for half in (True, False)}
    return [(row, row.refused or heads[row.half].log_odds(row.figures) < 0) for row in rows]


def report(judged: Sequence[tuple[Row, bool]]) -> Iterator[str]:
    """Yield how many are refused or marked, of each book and kind."""
    for course in dict.fromkeys(row.course for row, _ in judged):
        for answerable in (False, True):
            kind = (course, answerable)
            own = [marked for row, marked in judged if (row.course, row.answerable) == kind]
            name = "answerable" if answerable else "near the topic"
            yield line(f"{course}, {name}: refused or marked", sum(own), len(own))


async def _run(corpora: Mapping[str, Corpus], options: Namespace) -> None:
    wanted = rows_of(corpora, ["fit", "untouched"], _ALL)
    books = [corpora[name] for name in dict.fromkeys(course for course, _ in wanted)]
    rows = labelled([one async for one in ask_all(options.data, books, wanted)])
    print("\n".join(report(across_halves(rows))))
    if options.write:
        fitted(rows).save(COVERED)


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = arguments("tests.bench.fit_covered", __doc__)
    parser.add_argument("--write", action="store_true", help="ship the weights")
    options = parser.parse_args()
    corpora = corpora_of(options)
    if corpora is not None:
        asyncio.run(_run(corpora, options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
