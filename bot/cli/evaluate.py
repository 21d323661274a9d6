"""`glossator eval`: measures a course on questions whose answers' places are known."""

import json
import random
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from adapters.markdown.printable import on_one_line, printable
from bot.cli.context import check_generator, choose_course, live_edition, services, terminal_user
from bot.cli.evaluation_failures import as_fields, lines_of
from bot.cli.evaluation_page import check_page, write_page
from bot.cli.evaluation_table import table
from bot.cli.exits import Exit, UsageError, sentence_for
from bot.cli.ingest_report import elements_in_words
from bot.cli.rehearsing import rehearsed
from bot.keyring.keys import PSEUDONYM
from bot.log import tell
from bot.services import Services
from core.answering.agent import Agent
from core.errors import ServiceError
from core.evaluation.answers import MeasuredAnswer, summarise_answers
from core.evaluation.failures import FailedQuestion, failed_questions
from core.evaluation.judging import PassageJudge, judged
from core.evaluation.metrics import contains_answer
from core.evaluation.questions import GoldQuestion, read_questions
from core.evaluation.reference import Referred, referred, summarise_references
from core.evaluation.report import Measured, summarise
from core.evaluation.statements import statements_of
from core.ingestion.account.left_out import not_read_before
from core.models import EXTRACTIVE, AgentResponse, Course, Outcome
from core.retrieval.retrieval import Retrieval

_SECONDS_BETWEEN_LINES = 5.0
_MOST_FAILURES = 10
"""After so many questions in a row that failed, no more are asked."""


async def evaluate(
    path: Path,
    course_id: str | None,
    kind: str | None,
    limit: int | None,
    *,
    generator: str | None,
    seed: int | None,
    answers: bool,
    reference: bool,
    page: Path | None,
    as_json: bool,
) -> int:
    """Ask every question, print the report, and return the exit code.

    `answers`: judge what the answers say, too. `reference`: compare what is shown with the
    reference answers. `page`: write the report as a page of HTML, too. `seed`: draw `limit` rows
    at random instead of the first. Questions at which a service fails are counted and left out.

    Raises:
        ServiceError: when not a single question could be measured.
    """
    if generator == "":
        raise UsageError("--generator names none; there is extractive, and what is set.")
    if page is not None:
        check_page(page)
    rows = _chosen(read_questions(path), kind, limit, seed)
    async with services(keys=[PSEUDONYM], needs_room=False) as opened:
        check_generator(opened, generator)
        course = await choose_course(opened, course_id)
        await _check_places(opened, course, rows)
        await opened.local.warm_up()
        survey = _Survey(opened, course, opened.agent(generator), generator, answers)
        told = time.perf_counter()
        async for asked in survey.ask(rows):
            if time.perf_counter() - told > _SECONDS_BETWEEN_LINES and not as_json:
                told = time.perf_counter()
                tell(f"{asked} of {len(rows)} questions")
        failures = await _with_causes(opened, course, [*failed_questions(survey.measured)])
    report = {"n": 0, "failed": len(survey.failures)} | summarise(survey.measured)
    if answers:
        report["answers"] = summarise_answers(survey.answers)
    if reference:
        report["reference"] = summarise_references(survey.referred)
    if page is not None:
        write_page(page, course.title, report, failures)
    if as_json:
        report["failed_questions"] = [as_fields(one) for one in failures]
        print(json.dumps(report, indent=2))
    else:
        print(table(report))
        print(printable("\n".join(["", *lines_of(failures, len(survey.measured))])))
    return Exit.OK


def _chosen(
    rows: list[GoldQuestion], kind: str | None, limit: int | None, seed: int | None
) -> list[GoldQuestion]:
    """Return the rows to ask, in the file's order.

    Raises:
        UsageError: when no row is of the kind, or a seed comes without a number of rows.
    """
    if seed is not None and limit is None:
        raise UsageError("--seed needs --limit: how many rows to draw.")
    kinds = sorted({row.kind for row in rows if row.kind})
    chosen = [row for row in rows if kind is None or row.kind == kind]
    if not chosen:
        raise UsageError(f"There is no row of kind {kind}; there is: {', '.join(kinds) or 'none'}.")
    if limit is None or seed is None or limit >= len(chosen):
        return chosen[:limit]
    drawn = random.Random(seed).sample(range(len(chosen)), limit)
    return [chosen[place] for place in sorted(drawn)]


async def _check_places(opened: Services, course: Course, rows: Sequence[GoldQuestion]) -> None:
    """Print which documents the rows name that the course does not have, each once."""
    edition = await live_edition(opened, course)
    known = {record.source_file for record in await opened.catalogue.documents(edition.generation)}
    for name in sorted({name for row in rows for name in row.relevant} - known):
        tell(on_one_line(f"The course {course.course_id} has no document called {name}."))


async def _with_causes(
    opened: Services, course: Course, failures: Sequence[FailedQuestion]
) -> list[FailedQuestion]:
    """Return the failures, with what was not read of documents that lack an answer's words."""
    edition = await live_edition(opened, course)
    placed = {
        doc.source_file: (at, doc) for at, doc in await opened.catalogue.placed(edition.generation)
    }
    explained = list[FailedQuestion]()
    for failure in failures:
        question, elements, texts = failure.measured.question, list[str](), list[str]()
        for name in question.relevant if question.answers else ():
            place, document = placed.get(name, (None, None))
            if place is None or document is None:
                continue
            lacks = not_read_before(name, document.left_out)
            if held := [one for one in lacks if one.words]:
                elements.append(f"{elements_in_words(held)} of {name}")
            points = await opened.index.points(place.collection, [document.document_id])
            texts += [point.chunk.content_text for point in points]
        is_there = contains_answer(" ".join(texts), question.answers)
        explained.append(replace(failure, not_read="" if is_there else "; ".join(elements)))
    return explained


@dataclass
class _Survey:
    """Asks a course one question after the other, and keeps what the figures need."""

    opened: Services
    course: Course
    agent: Agent
    generator: str | None
    judges_answers: bool
    measured: list[Measured] = field(default_factory=list)
    answers: list[MeasuredAnswer] = field(default_factory=list)
    referred: list[Referred] = field(default_factory=list)
    failures: list[ServiceError] = field(default_factory=list)

    async def ask(self, rows: Sequence[GoldQuestion]) -> AsyncIterator[int]:
        """Yield the number of questions asked so far."""
        in_a_row = 0
        for asked, row in enumerate(rows, 1):
            try:
                await self._measure(row)
                in_a_row = 0
            except ServiceError as error:
                self.failures.append(error)
                in_a_row += 1
            yield asked
            if in_a_row == _MOST_FAILURES:
                break
        if not self.measured:
            raise self.failures[-1]
        if self.failures:
            failed = f"{len(self.failures)} of {asked} questions failed"
            tell(on_one_line(f"{failed}: {sentence_for(self.failures[-1])}"))
        if asked < len(rows):
            tell(f"After {in_a_row} failures in a row, {len(rows) - asked} were not asked.")

    async def _measure(self, row: GoldQuestion) -> None:
        """Ask one question as a student would, after those that came before it."""
        course_id, user_id = self.course.course_id, terminal_user(self.opened.keys)
        retrieval, response = await rehearsed(self.agent, course_id, row, user_id)
        measured = _measured(row, retrieval, response)
        if self.judges_answers:
            self.answers.append(await self._judged(measured, retrieval, response))
        if row.answerable:
            self.referred.append(referred(row, response, retrieval.encode_terms))
        self.measured.append(measured)

    async def _judged(
        self, measured: Measured, retrieval: Retrieval, response: AgentResponse
    ) -> MeasuredAnswer:
        judge = PassageJudge(self.opened.local, retrieval.statistics, retrieval.encode_terms)
        statements = [await judged(one, judge.carries) for one in statements_of(response)]
        fell_back = response.model_name == EXTRACTIVE if self._asks_a_model() else None
        return MeasuredAnswer(measured, response, tuple(statements), fell_back)

    def _asks_a_model(self) -> bool:
        course_id = self.course.course_id
        configuration = self.opened.configuration(course_id, generator=self.generator)
        chosen = self.opened.chosen_generator(self.generator)
        return chosen != EXTRACTIVE and configuration.model_name != EXTRACTIVE


def _measured(row: GoldQuestion, retrieval: Retrieval, response: AgentResponse) -> Measured:
    return Measured(
        question=row,
        ranking=retrieval.documents,
        cited=_cited(response),
        evidence=tuple(excerpt.chunk.source_file for excerpt in retrieval.evidence),
        evidence_tokens=sum(excerpt.tokens for excerpt in retrieval.evidence),
        refused=response.outcome is Outcome.ABSTAINED,
        located=response.located,
        retrieval_ms=response.retrieval_time_ms,
    )


def _cited(response: AgentResponse) -> tuple[tuple[str, str], ...]:
    files = {chunk.chunk_id: chunk.source_file for chunk in response.grounding_chunks}
    return tuple((files[citation.chunk_id], citation.quote) for citation in response.citations)
