"""Fits how much a question leans on the one before it, and prints how well that is seen.

Run `python -m tests.bench.fit_leaning` after `tests.bench.followups`; with `--write` it also writes
the weights. Fitted on the split "fit", and on questions asked after one of another topic.
"""

import asyncio
import json
import random
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bot.services import Services
from bot.settings import Settings
from bot.wiring import open_services
from core.domain import MAX_QUESTION, RetrievalToolInput
from core.domain.text_features import probability
from core.retrieval.questions import FOLLOWUPS_WEIGHTS as WEIGHTS
from core.retrieval.questions import leaning_figures
from core.retrieval.ranking import USABLE
from core.retrieval.searching import search
from core.teaching.evaluation.report import auroc
from tests.bench.corpora import ECONOMICS, Corpus, ingest, read_corpora
from tests.bench.logistic_fit import fit

ROWS = Path(__file__).with_name("followups.jsonl")
_WANTED = {"leaning": 1.0, "corrected": 0.5}
_ALONE = "alone"
_QUESTIONS = 200
_TOP_K = 5


def rows_of(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Yield the conversations, and questions that stand alone after one of another topic."""
    yield from (json.loads(line) for line in ROWS.read_text("utf-8").splitlines())
    free = [row.question[:MAX_QUESTION] for row in corpus.questions if row.kind == "free"]
    random.Random(1).shuffle(free)
    for n, question in enumerate(free[:_QUESTIONS]):
        before = [{"role": "user", "text": free[(n + 7) % len(free)]}]
        split = "untouched" if n % 3 == 2 else "fit"
        yield {"question": question, "history": before, "kind": _ALONE, "split": split}


async def _figures(opened: Services, row: dict[str, Any]) -> dict[str, float]:
    shelf = await opened.retriever.opened(ECONOMICS)
    before = [turn["text"] for turn in row["history"] if turn["role"] == "user"]
    texts = [row["question"], "\n".join([*before[-2:], row["question"]])]
    vectors = await opened.local.embed_queries([row["question"], before[-1]])
    asked = RetrievalToolInput(query_text=row["question"], score_threshold=USABLE, top_k=_TOP_K)
    alone, together = [
        await search(opened.index, shelf, asked.model_copy(update={"query_text": text}))
        for text in texts
    ]
    return leaning_figures(
        alone.found.scored,
        together.found.scored,
        vectors,
        len(alone.weights),
    )


async def _run(corpus: Corpus, data: Path, *, write: bool) -> None:
    rows = list(rows_of(corpus))
    async with open_services(Settings(data_dir=data), announce=print) as opened:
        await ingest(opened, corpus)
        figures = [await _figures(opened, row) for row in rows]
    used = [n for n, row in enumerate(rows) if row["split"] == "fit"]
    wanted = np.array([_WANTED.get(rows[n]["kind"], 0.0) for n in used])
    head = fit([figures[n] for n in used], wanted, np.ones(len(used)))
    held = [n for n, row in enumerate(rows) if row["split"] != "fit"]
    leans = {n: probability(head.log_odds(figures[n])) for n in held}
    for kind in sorted({row["kind"] for row in rows}):
        values = [leans[n] for n in held if rows[n]["kind"] == kind]
        print(f"untouched, {kind:10} {len(values):4}  leans: mean {np.mean(values):.2f}")
    clear = [n for n in held if rows[n]["kind"] != "corrected"]
    area = auroc([leans[n] for n in clear], [rows[n]["kind"] == "leaning" for n in clear])
    print(f"untouched, leaning against the others: AUROC {area:.3f}")
    if write:
        head.save(WEIGHTS)


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = ArgumentParser(prog="python -m tests.bench.fit_leaning", description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--data", type=Path, default=Path(".glossator/bench"))
    parser.add_argument("--write", action="store_true", help="ship the weights")
    options = parser.parse_args()
    corpora = read_corpora(options.corpora)
    if corpora is None:
        print(f"The corpora are not in {options.corpora}: there is nothing to fit on.")
        return 0
    asyncio.run(_run(corpora[ECONOMICS], options.data, write=options.write))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
