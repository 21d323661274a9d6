"""Prints what is shown, and what is offered, of answers that staff verified."""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np

from core.answering.verified import fold
from core.domain.text_features import Logistic, probability
from core.index.terms import Bm25Encoder, TermStatistics
from core.teaching.matching import ALONE, FILE, OFFERED_FROM, Wording, figures, head, read_wordings
from tests.bench.books import opened
from tests.bench.logistic_fit import fit
from tests.bench.verified.pairs import COURSES, Group, groups_of

_BATCH = 64
_SAME = ("same", "far")
_NEAREST = 4
"""Verified questions that each question is compared with."""
_LONGEST_QUESTION = 300
_OFTEN = 12
"""Questions in which a word has to stand alone before it is learnt from."""
_WANTED = 0.935
"""Share of true paraphrases that are to be offered, of those that a fit did not see."""
_RIDGE = 40.0
"""Chosen by what is offered wrongly where `_WANTED` are offered, over `_FOLDS` folds."""
_FOLDS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """A question of somebody's, compared with one that staff answered."""

    course: str
    text: str
    kind: str
    held_back: bool
    verified: str
    group: str
    """The verified question that it was written for; its own text where there is none."""
    is_same: bool
    is_exact: bool
    figures: dict[str, float]


async def rows_of(data_dir: Path, corpora: Path, course: str) -> list[Row]:
    """Return every question of a course, compared with the nearest verified ones."""
    groups = groups_of(course)
    rest = _others(corpora / course, {fold(group.question) for group in groups})
    encode = Bm25Encoder("en").terms
    paragraphs = [
        part
        for file in sorted((corpora / course / "book").rglob("*.md"))
        for part in file.read_text("utf-8").split("\n\n")
    ]
    statistics = TermStatistics.count([encode(part) for part in paragraphs if part.strip()])
    texts = [g.question for g in groups] + [a.text for g in groups for a in g.asked] + rest
    read = dict[str, Wording]()
    async with opened(data_dir) as services:
        for start in range(0, len(texts), _BATCH):
            batch = list(dict.fromkeys(texts[start : start + _BATCH]))
            wordings = await read_wordings(batch, services.local, encode)
            read.update(zip(batch, wordings, strict=True))
    verified = [read[group.question] for group in groups]
    found = list[Row]()
    for text, kind, held_back, own in _asked(groups, rest):
        asked = read[text]
        cosines = np.array([float(asked.vector @ one.vector) for one in verified])
        near = {*np.argsort(-cosines)[:_NEAREST].tolist(), *([own] if own is not None else [])}
        for place in sorted(near):
            found.append(
                Row(
                    course,
                    text,
                    kind,
                    held_back,
                    verified[place].text,
                    text if own is None else verified[own].text,
                    is_same=kind in _SAME and place == own,
                    is_exact=fold(text) == fold(verified[place].text),
                    figures=figures(asked, verified[place], statistics),
                )
            )
    return found


def _asked(groups: Sequence[Group], rest: Sequence[str]) -> list[tuple[str, str, bool, int | None]]:
    asked: list[tuple[str, str, bool, int | None]] = [
        (one.text, one.kind, group.held_back, n)
        for n, group in enumerate(groups)
        for one in group.asked
    ]
    return [*asked, *((text, "other", n % 3 == 2, None) for n, text in enumerate(rest))]


def _others(corpus: Path, answered: Collection[str]) -> list[str]:
    """Return what the corpus asks of the book, but for what staff answered word for word."""
    file = corpus / "questions.jsonl"
    if not file.exists():
        return []
    lines = file.read_text("utf-8").splitlines()
    asked = [str(json.loads(line)["question"]) for line in lines]
    return [text for text in asked if len(text) <= _LONGEST_QUESTION and fold(text) not in answered]


def fitted(rows: Sequence[Row]) -> Logistic:
    """Return the regression of some rows."""
    wanted = np.array([float(row.is_same) for row in rows])
    telling = [row for row in rows if row.is_same or row.kind not in (*_SAME, "other")]
    uses = Counter(name for row in telling for name in row.figures if name.startswith(ALONE))
    common = [name for name, count in uses.items() if count >= _OFTEN]
    names = [name for name in rows[0].figures if not name.startswith(ALONE)] + sorted(common)
    given = [{name: row.figures.get(name, 0.0) for name in names} for row in rows]
    return fit(given, wanted, np.ones(len(rows)), ridge=_RIDGE)


def chance_of(row: Row, regression: Logistic) -> float:
    """Return the likeness of a row."""
    return probability(regression.log_odds(dict.fromkeys(regression.names, 0.0) | row.figures))


Scored = Sequence[tuple[float, Row]]


def report(part: str, scored: Scored, mark: float) -> None:
    """Print the shares of a part by kind."""
    best: dict[tuple[str, str], tuple[float, Row]] = {}
    for chance, row in scored:
        key = (row.course, row.text)
        if key not in best or chance > best[key][0]:
            best[key] = (chance, row)
    by_kind: dict[str, list[tuple[float, Row]]] = {}
    for chance, row in best.values():
        by_kind.setdefault(row.kind, []).append((chance, row))
    print(part)
    exact = sum(row.is_exact and not row.is_same for _, row in scored)
    print(f"  shown wrongly without a model      {exact} of {len(best)}")
    for kind, name in (("same", "true paraphrases offered"), ("far", "in quite other words")):
        same = by_kind.pop(kind)
        right = sum(chance >= mark and row.is_same for chance, row in same)
        print(f"  {name:34} {right / len(same):6.1%} of {len(same)}")
    unserved = [entry for entries in by_kind.values() for entry in entries]
    wrong = sum(chance >= mark for chance, _ in unserved)
    print(f"  offers where none serves           {wrong / len(unserved):6.1%} of {len(unserved)}")
    for kind, entries in sorted(by_kind.items()):
        share = sum(chance >= mark for chance, _ in entries) / len(entries)
        print(f"    {kind:32} {share:6.1%} of {len(entries)}")


def scored_by(regression: Logistic, rows: Sequence[Row]) -> Scored:
    """Return rows with their likeness."""
    return [(chance_of(row, regression), row) for row in rows]


def scored_unseen(rows: Sequence[Row]) -> Scored:
    """Return rows with their likeness, each by a fit that saw nothing of its group."""
    scored = list[tuple[float, Row]]()
    for fold_number in range(_FOLDS):
        regression = fitted([row for row in rows if _fold_of(row) != fold_number])
        scored += scored_by(regression, [row for row in rows if _fold_of(row) == fold_number])
    return scored


def mark_of(scored: Scored) -> float:
    """Return the likeness that enough paraphrases reach."""
    chances = [chance for chance, row in scored if row.kind == "same" and row.is_same]
    return float(np.quantile(chances, 1 - _WANTED))


def _fold_of(row: Row) -> int:
    return crc32(f"{row.course} {row.group}".encode()) % _FOLDS


def main() -> None:
    """Fit when asked to, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.verified", description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path("build/bench-verified"))
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--fit", action="store_true", help="write the weights that are shipped")
    options = parser.parse_args()
    options.data_dir.mkdir(parents=True, exist_ok=True)
    rows = list[Row]()
    for course in COURSES:
        rows += asyncio.run(rows_of(options.data_dir, options.corpora, course))
    known = [row for row in rows if not row.held_back]
    mark = OFFERED_FROM
    if options.fit:
        unseen = scored_unseen(known)
        mark = mark_of(unseen)
        print(f"mark for {_WANTED:.1%} of those that a fit did not see: {mark:.3f}")
        report("each by a fit without it", unseen, mark)
    regression = fitted(known) if options.fit else head()
    if options.fit:
        regression.save(FILE)
    report("fitted on", scored_by(regression, known), mark)
    untouched = [row for row in rows if row.held_back]
    report("held back", scored_by(regression, untouched), mark)


main()
