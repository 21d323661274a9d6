"""What becomes of questions near a book's topic that it does not answer, and of answerable ones.

A question of kind `concept` names a thing that the book does not have; one of kind `detail` is
about things that it has, and asks what it does not say.
Run `python -m tests.bench.near_topic`. The first run ingests two books, which takes minutes. With
`--base-url`, a model judges whether each answer answers its question.
"""

import asyncio
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from core.domain import Outcome
from core.teaching.evaluation.report import GoldQuestion, auroc
from tests.bench.asked import Asked, Marked, arguments, ask_all, corpora_of, marked_rows
from tests.bench.books import judging
from tests.bench.corpora import Corpus
from tests.bench.shares import line

ROWS = Path(__file__).with_name("near_topic.jsonl")
_WORDS = {
    "refused": Outcome.ABSTAINED,
    "told as the closest": Outcome.PARTIAL,
    "told as an answer": Outcome.ANSWERED,
}


def _outcomes(asked: Sequence[Asked], name: str) -> Iterator[str]:
    counted = Counter(one.response.outcome for one in asked)
    for words, outcome in _WORDS.items():
        yield line(f"  {name}: {words}", counted[outcome], len(asked))


def report(near: Sequence[Asked], answerable: Sequence[Asked]) -> Iterator[str]:
    """Yield what became of the questions of one part of a set.

    The last line is the chance that an answerable question has a higher `best_score` than one
    near the topic.
    """
    for kind in sorted({one.row.kind for one in near}):
        yield from _outcomes([one for one in near if one.row.kind == kind], f"near, {kind}")
    yield from _outcomes(answerable, "answerable")
    both = [*near, *answerable]
    scores = [one.retrieval.signals.best_score for one in both]
    area = auroc(scores, [one.row.answerable for one in both])
    yield f"  AUROC of best_score {area:.3f}"


def rows_of(
    corpora: Mapping[str, Corpus], splits: Sequence[str], limit: int
) -> list[tuple[str, GoldQuestion]]:
    """Return the set's own rows, then as many of each book's answerable ones, evenly chosen."""
    near = [row for row in marked_rows(ROWS) if row.split in splits]
    chosen: list[tuple[str, GoldQuestion]] = [(row.course, row) for row in near]
    for name in dict.fromkeys(row.course for row in near):
        known = corpora[name].questions
        step = max(1, len(known) // limit)
        chosen += [(name, row) for row in known[::step][:limit]]
    return chosen


async def _run(corpora: Mapping[str, Corpus], splits: Sequence[str], options: Namespace) -> None:
    rows = rows_of(corpora, splits, options.answerable)
    books = [corpora[name] for name in dict.fromkeys(course for course, _ in rows)]
    settings = None
    if options.base_url is not None:
        settings = judging(options.data, options.base_url, options.model)
    asked = [one async for one in ask_all(options.data, books, rows, settings)]
    for course in (book.name for book in books):
        known = [one for one in asked if one.course == course and one.row.answerable]
        for split in splits:
            near = [one for one in asked if one.course == course and _is_of(one, split)]
            print(f"{course}, {split}: {len(near)} near the topic, {len(known)} answerable")
            print("\n".join(report(near, known)))
            if options.told:
                for one in near:
                    print(f"    {one.response.outcome} {one.row.id}: {one.row.question}")


def _is_of(asked: Asked, split: str) -> bool:
    return isinstance(asked.row, Marked) and asked.row.split == split


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = arguments("tests.bench.near_topic", __doc__)
    parser.add_argument("--split", choices=["fit", "untouched"], help="only this part")
    parser.add_argument("--answerable", type=int, default=200, help="how many a book at most")
    parser.add_argument("--base-url", help="the server of a model that judges, up to /v1")
    parser.add_argument("--model", default="local-model", help="its name there")
    parser.add_argument("--told", action="store_true", help="name each question with its outcome")
    options = parser.parse_args()
    corpora = corpora_of(options)
    if corpora is not None:
        splits = [options.split] if options.split else ["fit", "untouched"]
        asyncio.run(_run(corpora, splits, options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
