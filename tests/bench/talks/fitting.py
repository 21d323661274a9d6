"""Fits the heads that tell whether a question stands alone, and prints how they do.

They are fitted on the lines of `standing.txt`, on the conversations of `tests.bench.followups` that
are for fitting, and on questions about the shared books. What goes with them, of what a question
finds, is fitted on these conversations and on questions asked after one of another topic.
"""

import random
from pathlib import Path
from typing import Any

import numpy as np

from bot.services import Services
from core.domain import AgentRequest, RetrievalToolInput
from core.domain.text_features import probability
from core.providers.embeddings.base import Vectors
from core.retrieval.questions import ACTS, SURE_OF_ACT, Act, courtesy
from core.retrieval.resolving import (
    HEADS,
    WEIGHTS,
    LastAnswer,
    Standing,
    figures_of,
    log_odds,
    readings,
    refers,
)
from core.teaching.evaluation.report import auroc
from tests.bench.again import kinds_of_lines
from tests.bench.asked import Marked, marked_rows
from tests.bench.books import opened
from tests.bench.corpora import ECONOMICS, Corpus, ingest
from tests.bench.followups import ROWS
from tests.bench.logistic_fit import fit as fit_figures
from tests.bench.pointing.__main__ import Floats, embedded, fit

ACT_LINES = Path(__file__).with_name("acts.txt")
LINES = Path(__file__).with_name("standing.txt")
ALONE, MISSING = "alone", "missing"
_DROPPED = "dropped"
_RIDGE = 0.3
_FREE, _AFTER_OTHERS = 900, 240
_FOLDS = 5
Line = tuple[str, str, str]
"""A question, how it stands, and its split."""


def lines_of(corpora: dict[str, Corpus], rows: list[Marked]) -> list[Line]:
    """Return all questions that the heads are fitted on and judged by."""
    written = [(line, kind, "fit") for kind, all_ in kinds_of_lines(LINES).items() for line in all_]
    follow = [
        (row.question, ALONE if row.kind == _DROPPED else row.kind, row.split) for row in rows
    ]
    first = [(row.earlier_questions[-1], ALONE, row.split) for row in rows]
    free = [row.question for corpus in corpora.values() for row in corpus.questions]
    random.Random(2).shuffle(free)
    asked = [(text, ALONE, _split(n)) for n, text in enumerate(free[:_FREE])]
    return [*written, *follow, *first, *asked]


async def fit_acts(corpora: dict[str, Corpus], data: Path, *, write: bool) -> None:
    """Fit the heads of what no book answers; every fourth line is judged by what it was not in."""
    acts = [(line, kind) for kind, all_ in kinds_of_lines(ACT_LINES).items() for line in all_]
    others = [one[0] for one in lines_of(corpora, marked_rows(ROWS)) if one[1] != MISSING]
    lines = [*acts, *((text, ALONE) for text in dict.fromkeys(others))]
    vectors = await embedded([text for text, _ in lines], data / "models")
    labels = np.array([[float(kind == str(act)) for act in Act] for _, kind in lines])
    held = np.arange(len(lines)) % 4 == 3
    heads = _act_heads(vectors[~held], labels[~held])
    small = vectors.astype(np.float32)
    read = dict[int, str]()
    for n in np.flatnonzero(held):
        chances = [courtesy(small[n : n + 1], head)[0] for head in heads]
        best = int(np.argmax(chances))
        read[int(n)] = str([*Act][best]) if chances[best] >= SURE_OF_ACT else ALONE
    for kind in [*map(str, Act), ALONE]:
        own = [n for n in read if lines[n][1] == kind]
        wrong = [f"{lines[n][0]} ({read[n]})" for n in own if read[n] != kind]
        print(f"every fourth line, {kind}: {len(own) - len(wrong)} of {len(own)}; not: {wrong}")
    if write:
        np.save(ACTS, _act_heads(vectors, labels).astype(np.float16))


def _act_heads(vectors: Floats, labels: Floats) -> Vectors:
    return np.stack([fit(vectors, row, _RIDGE) for row in labels.T]).astype(np.float32)


def _split(number: int) -> str:
    return "untouched" if number % 3 == 2 else "fit"


def _fitted(vectors: Floats, lines: list[Line]) -> Vectors:
    leaning = np.array([float(kind != ALONE) for _, kind, _ in lines])
    clear = np.array([kind in (ALONE, MISSING) for _, kind, _ in lines])
    both = fit(vectors, leaning, _RIDGE), fit(vectors[clear], leaning[clear], _RIDGE)
    return np.stack(both).astype(np.float32)


async def run(corpora: dict[str, Corpus], data: Path, *, write: bool) -> None:
    """Fit, print, and with `write` ship the is_contentts."""
    rows = marked_rows(ROWS)
    lines = lines_of(corpora, rows)
    vectors = await embedded([text for text, _, _ in lines], data / "models")
    used = np.array([split == "fit" for _, _, split in lines])
    heads = _fitted(vectors[used], [one for one in lines if one[2] == "fit"])
    if write:  # the answers before are given with them
        np.save(HEADS, heads.astype(np.float16))
    odds = _unseen_odds(vectors, lines, used)
    for kind in sorted({kind for _, kind, _ in lines}):
        own = [odds[text] for text, other, _ in lines if other == kind]
        says = np.mean([leans >= 0 for leans, _ in own]), np.mean([m >= 0 for _, m in own])
        print(f"{kind:10} {len(own):5}  leans {says[0]:.3f}  missing {says[1]:.3f}")
    figures = [one async for one in _figures(corpora[ECONOMICS], rows, data, heads, odds)]
    known = [one for one in figures if one[2] == "fit"]
    wanted = np.array([float(kind not in (ALONE, _DROPPED)) for _, kind, _ in known])
    head = fit_figures([one for one, _, _ in known], wanted, np.ones(len(known)))
    held = [one for one in figures if one[2] != "fit"]
    chances = [probability(head.log_odds(one)) for one, _, _ in held]
    leaning = [kind not in (ALONE, _DROPPED) for _, kind, _ in held]
    print(f"untouched: AUROC {auroc(chances, leaning):.3f}")
    for kind in sorted({kind for _, kind, _ in held}):
        said = [c >= 0.5 for c, (_, own, _) in zip(chances, held, strict=True) if own == kind]
        print(f"untouched, {kind:10} {sum(said)} of {len(said)} lean")
    if write:
        head.save(WEIGHTS)


def _unseen_odds(
    vectors: Floats, lines: list[Line], used: np.ndarray[Any, np.dtype[np.bool_]]
) -> dict[str, tuple[float, float]]:
    """Return what heads say of each question that were not fitted on it."""
    fold = np.arange(len(lines)) % _FOLDS
    found: dict[str, tuple[float, float]] = {}
    for part in range(_FOLDS):
        seen = used & (fold != part)
        heads = _fitted(vectors[seen], [lines[n] for n in np.flatnonzero(seen)])
        for n in np.flatnonzero(fold == part):
            found.setdefault(lines[n][0], log_odds(vectors[n].astype(np.float32), heads))
    return found


async def _figures(
    corpus: Corpus,
    rows: list[Marked],
    data: Path,
    heads: Vectors,
    odds: dict[str, tuple[float, float]],
) -> Any:
    """Yield the figures of each conversation, its kind and its split."""
    free = [*dict.fromkeys(row.question for row in corpus.questions if row.kind == "free")]
    random.Random(5).shuffle(free)
    asked = [(row.question, row.kind, row.split) for row in rows]
    asked += [(text, ALONE, _split(n)) for n, text in enumerate(free[:_AFTER_OTHERS])]
    async with opened(data) as services:
        await ingest(services, corpus)
        before = [await _last(services, row.earlier_questions[-1]) for row in rows]
        for n, (question, kind, split) in enumerate(asked):
            last = before[n] if n < len(rows) else before[n * 7 % len(rows)]
            yield await _figure(services, question, last, heads, odds), kind, split


async def _last(services: Services, question: str) -> LastAnswer:
    request = AgentRequest(course_id=ECONOMICS, query_text=question, user_id="bench")
    _, response = await services.agent("extractive").rehearse(request)
    chunks = response.grounding_chunks
    shown = "\n".join(one.quote for one in response.citations)
    headings = [one for chunk in chunks for one in (*reversed(chunk.headings), chunk.page_title)]
    files = frozenset(chunk.source_file for chunk in chunks)
    return LastAnswer(question, shown, tuple(dict.fromkeys(headings)), files)


async def _figure(
    services: Services,
    question: str,
    last: LastAnswer,
    heads: Vectors,
    odds: dict[str, tuple[float, float]],
) -> dict[str, float]:
    async def find(text: str) -> Any:
        return await services.retriever.retrieve(ECONOMICS, RetrievalToolInput(query_text=text))

    alone = await find(question)

    def is_content(word: str) -> bool:
        return bool(alone.encode_terms(word))

    together = await find(readings(question, last, is_content)[-1].question)
    vectors = await services.local.embed_queries([question, last.question])
    own, _ = odds.get(question) or log_odds(vectors[0], heads)
    return figures_of(
        Standing(own, 0.0, float(vectors[0] @ vectors[1])),
        alone.signals,
        together.signals,
        refers=refers(question),
        is_cited=bool(last.files.intersection(alone.documents[:1])),
    )
