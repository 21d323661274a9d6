"""How a model writes answers about economics: `python -m tests.bench.writing --base-url URL`.

The questions are the book's own, drawn by a seed. An answer has valid ids when it has claims, and
each names sentences that the model was shown. `--near` asks questions near the book's topic
instead, those of the untouched part, which the book does not answer.
"""

import asyncio
import json
import random
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from pydantic import SecretStr

from bot.cli.evaluate import rehearsed
from bot.models import prices
from bot.services import Services
from bot.settings import AnswerSettings, Settings
from bot.wiring import open_services
from core.answering.agent import Agent
from core.answering.writers.base import ClaimKind
from core.domain import AgentConfiguration, AgentResponse, Outcome
from core.storage.budgets import TokenBudgets, TokenLimits
from core.teaching.evaluation.report import GoldQuestion
from tests.bench.asked import arguments, corpora_of, marked_rows
from tests.bench.corpora import ECONOMICS, Corpus, ingest
from tests.bench.near_topic import ROWS
from tests.bench.shares import line
from tests.bench.writing.recorded import Draft, RecordedGenerator, is_cited

WRITER = "writer"
_UNLIMITED = TokenLimits(None, None, None)


@dataclass(frozen=True, slots=True)
class Written:
    """A question, what a model drafted, and what was shown."""

    row: GoldQuestion
    draft: Draft | None
    """None: the model was not asked, since nothing was found."""
    response: AgentResponse

    @property
    def is_beside_right_evidence(self) -> bool:
        """Whether what the model read holds a part of a document that answers the question."""
        return self.draft is not None and bool(self.draft.files & set(self.row.relevant))


def settings_of(options: Namespace) -> Settings:
    """Return settings in which one model writes, and judges where that is asked for."""
    table = {
        "kind": "openai",
        "model": options.model,
        "base_url": options.base_url,
        "context": str(options.context),
        "concurrency": "1",
        "judge_wait": str(options.seconds),
    }
    return Settings(
        _env_file=None,
        data_dir=options.data,
        models={WRITER: {name: SecretStr(value) for name, value in table.items()}},
        generator=WRITER,
        judge=WRITER if options.judge else None,
        answer=AnswerSettings(first_sentence=options.seconds, whole=options.seconds),
    )


def rows_of(corpus: Corpus, options: Namespace) -> list[GoldQuestion]:
    """Return the questions that are drawn; of more of them the first are the same."""
    known: Sequence[GoldQuestion] = corpus.questions
    if options.near:
        near = marked_rows(ROWS)
        known = [row for row in near if row.course == corpus.name and row.split == "untouched"]
    drawn = random.Random(options.seed).sample(known, len(known))
    return drawn[options.skip : options.number]


async def write_all(
    services: Services, rows: Sequence[GoldQuestion], evidence_tokens: int
) -> AsyncIterator[Written]:
    """Yield what becomes of each question, once its answer is finished."""
    writer = RecordedGenerator(services.generator(WRITER))
    agent = writing_agent(services, writer, evidence_tokens)
    for row in rows:
        writer.drafts.clear()
        _, response = await rehearsed(agent, ECONOMICS, row, "bench")
        yield Written(row, writer.drafts[-1] if writer.drafts else None, response)


def writing_agent(services: Services, writer: RecordedGenerator, evidence_tokens: int) -> Agent:
    """Return an agent whose answers are written by the model `WRITER`, through `writer`."""

    def configuration(course_id: str) -> AgentConfiguration:
        usual = services.configuration(course_id, generator=WRITER)
        return usual.model_copy(update={"evidence_tokens": evidence_tokens})

    return Agent(
        retriever=services.retriever,
        generator=writer,
        fallback=services.extractive,
        judge_of=lambda course, _: services.judge(course, WRITER),
        sessions=services.sessions,
        budgets=TokenBudgets(services.engine, limits=_UNLIMITED),
        prices=prices(services.models.tables),
        configuration=configuration,
        times=services.models.times,
    )


def report(found: Sequence[Written], *, near: bool) -> Iterator[str]:
    """Yield the figures, a line each."""
    drafts = [one.draft for one in found if one.draft is not None]
    whole = [draft for draft in drafts if not draft.failure]
    claims = [claim for draft in whole for claim in draft.claims if claim.kind is ClaimKind.FACT]
    written = [draft for draft in whole if draft.claims]
    right = [one for one in found if one.is_beside_right_evidence]
    calls = [len(draft.calls) for draft in whole]
    yield line("asked of the model", len(drafts), len(found))
    yield line("no answer in time, or none at all", len(drafts) - len(whole), len(drafts))
    yield line("answers with claims", len(written), len(whole))
    yield line("answers with valid ids, of those with claims", _valid(written), len(written))
    yield line("claims with valid ids", sum(map(is_cited, claims)), len(claims))
    yield line("model refuses, of all", sum(draft.has_nothing for draft in whole), len(whole))
    if near:
        yield from _marked(found)
    else:
        yield line("right evidence", len(right), len(found))
        refused = [one for one in right if one.draft is not None and one.draft.has_nothing]
        yield line("model refuses beside right evidence", len(refused), len(right))
        told = sum(one.response.outcome is Outcome.ABSTAINED for one in right)
        yield line('shown "not covered" beside right evidence', told, len(right))
    yield line("a second call that writes", sum(count > 1 for count in calls), len(calls))
    yield from _costs(found)


def _valid(drafts: Sequence[Draft]) -> int:
    return sum(draft.is_valid for draft in drafts)


def _marked(found: Sequence[Written]) -> Iterator[str]:
    outcomes = [one.response.outcome for one in found]
    for outcome in (Outcome.ABSTAINED, Outcome.PARTIAL, Outcome.ANSWERED):
        yield line(f"near the topic: {outcome}", outcomes.count(outcome), len(outcomes))


def _costs(found: Sequence[Written]) -> Iterator[str]:
    seconds = [one.response.response_time_ms / 1_000 for one in found]
    tokens = [one.response.tokens_used for one in found]
    if found:
        yield f"seconds an answer: median {median(seconds):.0f}, longest {max(seconds):.0f}"
        yield f"tokens an answer: mean {mean(tokens):.0f}"


def _kept(one: Written) -> Mapping[str, object]:
    """Return what is kept of an answer: no text of the book."""
    draft = one.draft
    return {
        "id": one.row.id,
        "outcome": one.response.outcome,
        "claims": len(draft.claims) if draft else None,
        "valid": draft.is_valid if draft else None,
        "refused": draft.is_refused if draft else None,
        "failure": draft.failure if draft else None,
        "right": one.is_beside_right_evidence,
        "calls": len(draft.calls) if draft else 0,
        "seconds": round(one.response.response_time_ms / 1_000, 1),
    }


async def _run(corpus: Corpus, options: Namespace) -> None:
    rows, found = rows_of(corpus, options), list[Written]()
    async with open_services(settings_of(options), announce=print) as services:
        await ingest(services, corpus)
        await services.warm_up(WRITER)
        async for one in write_all(services, rows, options.evidence):
            found.append(one)
            print(json.dumps(_kept(one)), flush=True)
    print("\n".join(report(found, near=options.near)))


def main() -> int:
    """Print a line of JSON for each answer, then the figures, and return the exit code."""
    parser = arguments("tests.bench.writing", __doc__)
    add = parser.add_argument
    add("--base-url", required=True, help="the model's server, up to /v1")
    add("--model", default="local-model", help="the model's name at its server")
    add("--context", type=int, default=8_192, help="tokens that it reads and writes at most")
    add("--number", type=int, default=40, help="the last question that is drawn (default: 40)")
    add("--skip", type=int, default=0, help="how many of them were asked before")
    add("--seed", type=int, default=21)
    add("--evidence", type=int, default=1_000, help="tokens of the book for one question")
    add("--seconds", type=float, default=180.0, help="what an answer may take")
    add("--judge", action="store_true", help="let the same model judge, too")
    add("--near", action="store_true", help="questions that the book does not answer")
    options = parser.parse_args()
    corpora = corpora_of(options)
    if corpora is not None:
        asyncio.run(_run(corpora[ECONOMICS], options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
