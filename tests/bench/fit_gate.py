"""Fits when a question is refused, and prints how many of which kind are.

Run `python -m tests.bench.fit_gate`; with `--write` it also writes the weights. Every second row is
fitted on, and of the near-topic questions those of the split "fit".
"""

import asyncio
import json
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bot.settings import Settings
from bot.wiring import Services, open_services
from core.models import MAX_QUESTION
from core.retrieval.followups import Asked
from core.retrieval.gate import gate_figures
from core.retrieval.logistic import Logistic
from core.retrieval.scoring import ANSWERABLE
from core.retrieval.searching import search
from tests.bench.corpora import ECONOMICS, RUST, SQUAD2, Corpus, ingest, read_corpora
from tests.bench.logistic_fit import fit

NEAR = Path(__file__).with_name("near_topic.jsonl")
_ANSWERABLE, _NEAR, _OFF = "answerable", "near the topic", "off topic"
_MASS = {_ANSWERABLE: 900.0, _NEAR: 500.0, _OFF: 150.0}
_REFUSED, _CLOSE = 0.035, 0.2
"""Shares of the answerable questions that may be refused, and told as the closest."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question asked of a course."""

    course: str
    kind: str
    is_fitted_on: bool
    question: str
    score: float = 0.0
    figures: Mapping[str, float] | None = None


def rows_of(corpora: Mapping[str, Corpus]) -> list[Row]:
    """Return what is asked of each course."""
    rows = [
        Row(asked if asked == course else course, kind, n % 2 == 0, row.question[:MAX_QUESTION])
        for asked in corpora
        for course in corpora
        for kind in [_ANSWERABLE if asked == course else _OFF]
        for n, row in enumerate(corpora[asked].questions[:: 1 if asked == course else 4])
        if asked == course or asked != SQUAD2
    ]
    near = [json.loads(line) for line in NEAR.read_text("utf-8").splitlines()]
    return rows + [
        Row(one["course"], _NEAR, one["split"] == "fit", one["question"]) for one in near
    ]


async def _asked(opened: Services, row: Row) -> Row:
    shelf = await opened.retriever.shelf(row.course)
    found = await search(opened.index, shelf, Asked(row.question))
    if not found.scored:
        return row
    figures = gate_figures(found.scored, found.weights, shelf.terms_of, shelf.terms.chunks)
    return replace(row, score=found.signals.best_score, figures=figures)


def fitted(rows: list[Row]) -> Logistic:
    """Return the gate with its marks; each course's answerable questions count alike."""
    used = [row for row in rows if row.is_fitted_on and row.figures]
    groups = [(row.course if row.kind == _ANSWERABLE else "", row.kind) for row in used]
    shares = {_ANSWERABLE: len({course for course, kind in groups if kind == _ANSWERABLE})}
    mass = np.array(
        [_MASS[group[1]] / shares.get(group[1], 1) / groups.count(group) for group in groups]
    )
    wanted = np.array([float(row.kind == _ANSWERABLE) for row in used])
    gate = fit([row.figures or {} for row in used], wanted, mass)
    odds = {
        course: [
            gate.log_odds(row.figures or {})
            for row, g in zip(used, groups, strict=True)
            if g == (course, _ANSWERABLE)
        ]
        for course in (ECONOMICS, RUST, SQUAD2)
    }
    refused = min(float(np.quantile(values, _REFUSED)) for values in odds.values())
    close = float(np.mean([np.quantile(values, _CLOSE) for values in odds.values()]))
    return replace(gate, marks={"refused": refused, "close": max(close, refused)})


def report(gate: Logistic, rows: list[Row]) -> list[str]:
    """Return a line for each course and kind, of rows that were not fitted on."""
    lines = []
    for course, kind in sorted({(row.course, row.kind) for row in rows}):
        held = [r for r in rows if (r.course, r.kind) == (course, kind) and not r.is_fitted_on]
        odds = [gate.log_odds(row.figures) if row.figures else -99.0 for row in held]
        alone = np.mean([row.score < ANSWERABLE for row in held])
        refused = [
            row.score < ANSWERABLE or value < gate.marks["refused"]
            for row, value in zip(held, odds, strict=True)
        ]
        close = np.mean(
            [out or value < gate.marks["close"] for out, value in zip(refused, odds, strict=True)]
        )
        lines.append(
            f"{course:10} {kind:15} {len(held):4}  refused {np.mean(refused):.3f} (by the best "
            f"score alone {alone:.3f}), refused or told as the closest {close:.3f}"
        )
    return lines


async def _run(corpora: Mapping[str, Corpus], data: Path, *, write: bool) -> None:
    async with open_services(Settings(data_dir=data), announce=print) as opened:
        for corpus in corpora.values():
            await ingest(opened, corpus)
        rows = [await _asked(opened, row) for row in rows_of(corpora)]
    gate = fitted(rows)
    print("\n".join(report(gate, rows)))
    if write:
        gate.save("gate")


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = ArgumentParser(prog="python -m tests.bench.fit_gate", description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--data", type=Path, default=Path(".glossator/bench"))
    parser.add_argument("--write", action="store_true", help="ship the weights")
    options = parser.parse_args()
    corpora = read_corpora(options.corpora)
    if corpora is None:
        print(f"The corpora are not in {options.corpora}: there is nothing to fit on.")
        return 0
    asyncio.run(_run(corpora, options.data, write=options.write))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
