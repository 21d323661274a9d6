"""Why a gold answer of squad2 does not stand in the passages that are shown.

Run `python -m tests.bench.missed`. The first run ingests the book, which takes minutes; the
questions take a minute.
"""

import asyncio
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum

from bot.cli.evaluate import rehearsed
from bot.services import Services
from core.answering.writers.base import GenerationTask
from core.answering.writers.pieces import Piece, cut
from core.answering.writers.scoring import rank, read_inquiry
from core.domain import AgentResponse, Outcome
from core.retrieval.retrieval import Retrieval
from core.teaching.evaluation.report import GoldQuestion, contains_answer, referred
from tests.bench.asked import arguments, corpora_of
from tests.bench.books import opened
from tests.bench.corpora import SQUAD2, Corpus, ingest
from tests.bench.shares import line

_FIRST = 5
_PASSAGES = 3


class Fate(StrEnum):
    """What became of the sentence that answers a question."""

    SHOWN = "shown"
    REFUSED = "refused, with a right file among the first five"
    REFUSED_ELSEWHERE = "refused, without"
    OTHER_FILE = "no right file is among the first five"
    OTHER_CHUNK = "no chunk with the answer was read"
    UNFIT = "the answer crosses sentences, or cannot stand alone"
    NO_ROOM = "one of the first three sentences"
    RANKED_LOW = "ranked fourth or lower"
    NOT_COMPARED = "not compared by meaning"


async def fate_of(
    services: Services, row: GoldQuestion, found: Retrieval, response: AgentResponse
) -> Fate:
    """Return what became of the sentence that answers a question of squad2."""
    if referred(row, response, found.encode_terms).span:
        return Fate.SHOWN
    is_found = bool({*row.relevant} & {*found.documents[:_FIRST]})
    if response.outcome is Outcome.ABSTAINED:
        return Fate.REFUSED if is_found else Fate.REFUSED_ELSEWHERE
    if not is_found:
        return Fate.OTHER_FILE
    task = GenerationTask(
        found.question or row.question,
        [excerpt.chunk for excerpt in found.evidence],
        statistics=found.statistics,
        encode_terms=found.encode_terms,
    )
    gold = {
        number
        for number, chunk in enumerate(task.evidence)
        if chunk.source_file in row.relevant and contains_answer(chunk.content_text, row.answers)
    }
    if not gold:
        return Fate.OTHER_CHUNK
    pieces = cut(task.evidence)
    answering = [
        piece
        for piece in pieces
        if piece.chunk_number in gold
        and piece.citable
        and contains_answer(piece.quote, row.answers)
    ]
    if not answering:
        return Fate.UNFIT
    return await _by_rank(services, task, pieces, answering)


async def _by_rank(
    services: Services, task: GenerationTask, pieces: list[Piece], answering: list[Piece]
) -> Fate:
    ranked = await rank(pieces, task, read_inquiry(task), services.local)
    best_first = [one.piece for one in sorted(ranked, key=lambda one: -one.score)]
    places = [best_first.index(piece) for piece in answering if piece in best_first]
    if not places:
        return Fate.NOT_COMPARED
    return Fate.NO_ROOM if min(places) < _PASSAGES else Fate.RANKED_LOW


def report(fates: Mapping[Fate, int]) -> Iterator[str]:
    """Yield a line for each fate, most of what is missed first."""
    total = sum(fates.values())
    for fate, count in sorted(fates.items(), key=lambda pair: -pair[1]):
        yield line(str(fate), count, total)


async def _run(corpus: Corpus, options: Namespace) -> None:
    fates: Counter[Fate] = Counter()
    async with opened(options.data) as services:
        await ingest(services, corpus)
        await services.local.warm_up()
        agent = services.agent("extractive")
        for row in corpus.questions[:: options.every]:
            found, response = await rehearsed(agent, corpus.name, row, "bench")
            fates[await fate_of(services, row, found, response)] += 1
    print("\n".join(report(fates)))


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = arguments("tests.bench.missed", __doc__)
    parser.add_argument("--every", type=int, default=1, help="ask only each N-th question")
    options = parser.parse_args()
    corpora = corpora_of(options)
    if corpora is not None:
        asyncio.run(_run(corpora[SQUAD2], options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
