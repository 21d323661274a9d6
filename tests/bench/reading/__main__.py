"""Answers that people read: drawn blind, and labelled.

`python -m tests.bench.reading draw FOLDER` adds 75 answers of each of the three books to
FOLDER/answers.jsonl, and what they stand for to FOLDER/key.jsonl. Each reader gets the first file
and writes a JSONL file of labels: `{"id", "label", "place", "reader"}`, where `label` is one of
right-and-whole, right-but-not-whole, wrong-or-beside, rightly-refused and wrongly-refused, and
`place` is true or false, absent for a refusal. `take FOLDER ONE.jsonl TWO.jsonl` prints how far
the readers agree; with `--write` it keeps ids, digests and labels in the repository.
"""

import asyncio
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping
from pathlib import Path

from tests.bench.asked import arguments, ask_all, corpora_of
from tests.bench.corpora import Corpus
from tests.bench.reading import labels
from tests.bench.reading.drawing import add, drawn, read_keys


async def _draw(corpora: Mapping[str, Corpus], options: Namespace) -> int:
    rows = drawn(corpora.values(), options.number, options.seed)
    asked = [one async for one in ask_all(options.data, corpora.values(), rows)]
    held = add(options.folder, asked, options.program)
    print(f"{len(asked)} answers were drawn; {options.folder / 'answers.jsonl'} holds {held}.")
    return 0


def _take(options: Namespace) -> int:
    keys = read_keys(options.folder / "key.jsonl")
    try:
        readers = [labels.read_labels(path, keys) for path in options.labels]
    except (labels.LabelsRefused, OSError) as error:
        print(error)
        return 65
    judged = labels.together(readers, keys)
    print("\n".join(labels.report(judged)))
    if options.write:
        labels.write(judged)
        print(f"written to {labels.LABELS}")
    return 0


def main() -> int:
    """Draw or take up labels; return the exit code."""
    parser = arguments("tests.bench.reading", __doc__)
    parser.formatter_class = RawDescriptionHelpFormatter
    steps = parser.add_subparsers(dest="step", required=True)
    draw = steps.add_parser("draw", help="draw answers of the program as it is")
    draw.add_argument("folder", type=Path)
    draw.add_argument("--number", type=int, default=75, help="how many of each book")
    draw.add_argument("--seed", type=int, default=0)
    draw.add_argument("--program", default="main", help="what the key calls this program")
    take = steps.add_parser("take", help="take up the labels of one or two readers")
    take.add_argument("folder", type=Path)
    take.add_argument("labels", type=Path, nargs="+", help="a reader's file each")
    take.add_argument("--write", action="store_true", help="keep the labels in the repository")
    options = parser.parse_args()
    if options.step == "take":
        return _take(options)
    corpora = corpora_of(options)
    if corpora is None:
        return 0
    return asyncio.run(_draw(corpora, options))


if __name__ == "__main__":
    raise SystemExit(main())
