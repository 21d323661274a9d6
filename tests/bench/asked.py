"""Questions about the shared books, asked of the program as it is, without a model."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import NonNegativeInt

from bot.cli.evaluate import rehearsed
from bot.services import Services
from bot.settings import Settings
from core.domain import AgentResponse
from core.domain.fields import Model
from core.retrieval.retrieval import Retrieval
from core.teaching.evaluation.report import GoldQuestion
from tests.bench.books import opened
from tests.bench.corpora import ECONOMICS, Corpus, ingest, read_corpora


class Place(Model):
    """A stretch of a book's file, in characters."""

    file: str
    start: NonNegativeInt
    end: NonNegativeInt


class Marked(GoldQuestion):
    """A question of a set that is kept in two parts: one to fit on, one untouched."""

    course: str = ECONOMICS
    split: str
    places: tuple[Place, ...] = ()
    """The sections that answer it."""
    looked_for: str = ""
    """A regular expression that was looked for in the book, to see that it has no answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what the program found and answered."""

    row: GoldQuestion
    course: str
    retrieval: Retrieval
    response: AgentResponse


def marked_rows(path: Path) -> list[Marked]:
    """Return the rows of a JSONL file in order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Marked.model_validate(json.loads(line), strict=False) for line in lines]


def arguments(program: str, about: str | None) -> ArgumentParser:
    """Return a parser that knows where the books are and where the courses are kept."""
    parser = ArgumentParser(prog=f"python -m {program}", description=about)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--data", type=Path, default=Path(".glossator/bench"))
    return parser


def corpora_of(options: Namespace) -> dict[str, Corpus] | None:
    """Return the shared books, or None after saying that they are not at hand."""
    corpora = read_corpora(options.corpora)
    if corpora is None:
        print(f"The corpora are not in {options.corpora}: there is nothing to ask about.")
    return corpora


async def ask_all(
    data: Path,
    corpora: Iterable[Corpus],
    rows: Sequence[tuple[str, GoldQuestion]],
    settings: Settings | None = None,
) -> AsyncIterator[Asked]:
    """Bring the books up to date, then yield what is answered to each (course, question).

    Args:
        data: The folder that keeps the courses; the first time, each book is ingested.
        settings: Of that folder; None: the default ones.
    """
    async with opened(data, settings) as services:
        for corpus in corpora:
            await ingest(services, corpus)
        async for asked in _ask(services, rows):
            yield asked


async def _ask(
    services: Services, rows: Sequence[tuple[str, GoldQuestion]]
) -> AsyncIterator[Asked]:
    await services.local.warm_up()
    agent = services.agent("extractive")
    for course, row in rows:
        retrieval, response = await rehearsed(agent, course, row, "bench")
        yield Asked(row, course, retrieval, response)
