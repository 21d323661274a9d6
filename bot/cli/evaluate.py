"""`glossator eval`: measures a course on questions whose answers' places are known."""

import json
import random
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

from adapters.chat.markdown.layout import shortened
from adapters.chat.markdown.printable import on_one_line, printable
from bot.cli.context import (
    check_generator,
    choose_course,
    counted,
    live_edition,
    services,
    terminal_user,
)
from bot.cli.exits import Exit, UsageError, sentence_for
from bot.cli.ingest import elements_in_words
from bot.keys import PSEUDONYM
from bot.log import tell
from bot.services import Services
from core.answering.agent import Agent
from core.domain import (
    EXTRACTIVE,
    MAX_QUESTION,
    MIN_QUESTION,
    AgentRequest,
    AgentResponse,
    Chunk,
    ConversationTurn,
    Course,
    Outcome,
)
from core.domain.errors import ServiceError
from core.domain.i18n import use_locale
from core.domain.links import one_line
from core.index.base import VectorIndex
from core.ingestion.refusal import not_read_before
from core.retrieval.retrieval import Retrieval
from core.storage.catalogue import Edition
from core.teaching.evaluation.answers import (
    MeasuredAnswer,
    PassageJudge,
    judged,
    statements_of,
    summarise_answers,
)
from core.teaching.evaluation.report import (
    FailedQuestion,
    FailureKind,
    GoldQuestion,
    Measured,
    ProposedQuestion,
    Referred,
    contains_answer,
    failed_questions,
    propose,
    read_questions,
    referred,
    summarise,
    summarise_references,
)

_EXCERPT = 160


def sentence_of(failed: FailedQuestion) -> str:
    """Return what went wrong, and the cause where the document was not read as a whole."""
    if not failed.not_read:
        return _failure(failed)
    return (
        f"{_failure(failed)} The words of the answer are not in the text that was read; not read "
        f"were {failed.not_read}."
    )


def _failure(failed: FailedQuestion) -> str:
    expected = " or ".join(failed.measured.question.relevant) or "the book"
    match failed.kind:
        case FailureKind.REFUSED:
            return f"Refused, though {expected} holds the answer; {_found(failed)}."
        case FailureKind.ELSEWHERE:
            cited = ", ".join(failed.cited) or "nothing"
            return f"Answered from {cited} instead of {expected}; {_found(failed)}."
        case FailureKind.NOT_SHOWN:
            answer = failed.measured.question.answers[0]
            return f"Answered from {expected}, without the words “{_short(answer)}”."
        case FailureKind.ANSWERED:
            return "Answered, though the book does not answer it."


def quotes_of(failed: FailedQuestion) -> list[tuple[str, str]]:
    """Return the first sentences that were shown instead, each with its document."""
    return [(source, _short(quote)) for source, quote in failed.measured.cited[:2]]


def lines_of(failures: Sequence[FailedQuestion], asked: int) -> Iterator[str]:
    """Yield the list of the failed questions as lines of text."""
    if not failures:
        yield "No question failed."
        return
    yield f"{len(failures)} of {counted(asked, 'question')} failed:"
    for number, failed in enumerate(failures, 1):
        yield f"\n{number}. {one_line(failed.measured.question.question)}"
        yield f"   {sentence_of(failed)}"
        for source, quote in quotes_of(failed):
            yield f"   “{quote}” ({source})"


def as_fields(failed: FailedQuestion) -> dict[str, Any]:
    """Return a failed question as `--json` prints it."""
    question = failed.measured.question
    return {
        "id": question.id,
        "question": question.question,
        "failure": failed.kind.value,
        "sentence": sentence_of(failed),
        "not_read": failed.not_read or None,
        "relevant": list(question.relevant),
        "rank": failed.place,
        "cited": [{"source": s, "quote": q} for s, q in failed.measured.cited],
    }


def _found(failed: FailedQuestion) -> str:
    if not failed.measured.question.relevant:
        return "where it is, the questions do not say"
    if failed.place is None:
        return "the search did not find it"
    return f"the search found it at place {failed.place}"


def _short(quote: str) -> str:
    return shortened(one_line(quote), _EXCERPT)


_FIGURES: Mapping[str, str] = {
    "hit@1": "the right page is found first",
    "hit@5": "the right page is among the first five found",
    "right": "a citation is of the right page",
    "answer@3": "the reference answer is in the first three sentences shown",
    "refused_answerable": "refused, though the book answers it",
    "refused_unanswerable": "refused, as the book does not answer it",
}
"""What each figure that people read means; the share of the questions that it holds for."""
_STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{text-align:left;padding:.3rem .8rem .3rem 0;"
    "border-bottom:1px solid #ccc}td:last-child{text-align:right}li{margin-bottom:1.2rem}"
    "blockquote{margin:.3rem 0;padding-left:.8rem;border-left:3px solid #ccc}"
    "cite{color:#555;font-style:normal}@media(prefers-color-scheme:dark){body{background:#111;"
    "color:#eee}cite{color:#aaa}}"
)


def check_page(file: Path) -> None:
    """Raise UsageError when there is a file already, or no folder for it."""
    if file.exists():
        raise UsageError(f"{file} is there already: name another file with --html.")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {file.absolute().parent} for the page.")


def write_page(
    file: Path, course: str, report: Mapping[str, Any], failures: Sequence[FailedQuestion]
) -> None:
    """Write the page; no text of the book or of a question can be markup in it.

    Raises:
        OSError: when it cannot be written.
    """
    file.write_text("".join(_page(course, report, failures)), encoding="utf-8")


def _page(
    course: str, report: Mapping[str, Any], failures: Sequence[FailedQuestion]
) -> Iterator[str]:
    title = escape(f"How well {course} answers")
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>\n"
    yield f"<p>{report['n']} questions were asked, {len(failures)} of them failed.</p>\n"
    yield "<table><tr><th>of the questions</th><th>share</th></tr>\n"
    for name, meaning in _FIGURES.items():
        if report.get(name) is not None:
            share = f"{100 * report[name]:.0f} %"
            yield f"<tr><td>{escape(meaning)} ({escape(name)})</td><td>{share}</td></tr>\n"
    yield "</table>\n<h2>Questions that failed</h2>\n<ol>\n"
    for failed in failures:
        yield f"<li><strong>{escape(failed.measured.question.question)}</strong><br>"
        yield escape(sentence_of(failed))
        for source, quote in quotes_of(failed):
            yield f"<blockquote>{escape(quote)}<br><cite>{escape(source)}</cite></blockquote>"
        yield "</li>\n"
    yield "</ol></body></html>\n"


_BY_KIND = ("hit@5", "ndcg@10", "answer@3", "refused_unanswerable", "refused_answerable")
_NOT_FIGURES = frozenset({"n", "failed", "by_kind", "ci95", "answers", "reference"})


def table(report: dict[str, Any]) -> str:
    """Return the report as lines: figures with their intervals, kinds, answers, then references."""
    failed = f", {report['failed']} more failed" if report["failed"] else ""
    lines = [f"{counted(report['n'], 'question')}{failed}"]
    for name, value in report.items():
        if name not in _NOT_FIGURES:
            bounds = report["ci95"].get(name)
            spread = f"  [{bounds[0]:.3f}, {bounds[1]:.3f}]" if bounds else ""
            lines.append(f"  {name:<22} {_shown(value)}{spread}")
    for kind, figures in report["by_kind"].items():
        shown = ", ".join(f"{name} {_shown(figures[name])}" for name in _BY_KIND)
        lines.append(f"  kind {kind} ({figures['n']}): {shown}")
    lines += _answers(report.get("answers", {}))
    return "\n".join([*lines, *_references(report.get("reference", {}))])


def _answers(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the lines on the answers themselves; none when they were not judged."""
    for name, value in figures.items():
        if name == "n":
            yield f"{value} answers"
        elif name == "follow_ups":
            shown = ", ".join(f"{n} {_shown(v)}" for n, v in value.items() if n != "n")
            yield f"  follow-ups ({value['n']}): {shown}"
        else:
            yield f"  {name:<22} {_shown(value)}"


def _references(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the lines on what is shown of the references; none when it was not measured."""
    if not figures:
        return
    yield counted(figures["n"], "answerable question")
    yield from _referred("all", figures)
    for kind, part in figures["by_kind"].items():
        yield from _referred(f"kind {kind} ({part['n']})", part)


def _referred(name: str, figures: dict[str, Any]) -> Iterator[str]:
    yield f"  {name}: words_shown {_shown(figures['words_shown'])}"
    for figure in ("reference_share", "span_shown"):
        if (bounds := figures[f"{figure}_ci95"]) is not None:
            spread = f"[{bounds[0]:.3f}, {bounds[1]:.3f}]"
            yield f"    {figure:<20} {_shown(figures[figure])}  {spread}"


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return str(value)
    if 0 < value < 0.001:
        return f"{value:.6f}"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


async def rehearsed(
    agent: Agent, course_id: str, row: GoldQuestion, user_id: str
) -> tuple[Retrieval, AgentResponse]:
    """Return what is found and answered to a row's question as a student would ask it.

    The questions of its history are asked before, in their order; nothing is stored.

    Raises:
        BotError: whatever goes wrong.
    """
    turns: list[ConversationTurn] = []
    for question in row.earlier_questions:
        if len(question.strip()) >= MIN_QUESTION:  # no student is answered who asks less
            request = _request(course_id, question, user_id)
            _, response = await agent.rehearse(request, turns)
            turns.append(turn_of(len(turns) + 1, request, response))
    return await agent.rehearse(_request(course_id, row.question, user_id), turns)


def _request(course_id: str, question: str, user_id: str) -> AgentRequest:
    return AgentRequest(course_id=course_id, query_text=question[:MAX_QUESTION], user_id=user_id)


def turn_of(number: int, request: AgentRequest, response: AgentResponse) -> ConversationTurn:
    """Return the turn of an answer that nothing was stored of."""
    return ConversationTurn(
        turn_number=number,
        request_id=request.request_id,
        user_id=request.user_id,
        outcome=response.outcome,
        user_input=request.query_text,
        agent_response=response,
    )


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


async def generate(file: Path, course_id: str | None, number: int) -> int:
    """Write proposed questions into a new file and return the exit code.

    Raises:
        UsageError: when the file is there already.
    """
    _check(file)
    async with services(needs_room=False) as opened:
        course = await choose_course(opened, course_id)
        edition = await live_edition(opened, course)
        with use_locale(course.language):
            proposed = await propose(_chunks(opened.index, edition), number)
    lines = (json.dumps(_row(n, one), ensure_ascii=False) for n, one in enumerate(proposed, 1))
    try:
        with file.open("x", encoding="utf-8") as written:
            written.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error
    print(on_one_line(f"{counted(len(proposed), 'question')} proposed in {file}, one a line."))
    print("Delete the lines that are no good questions, correct the others, and run:")
    print(on_one_line(f"glossator eval {file} --course {course.course_id}"))
    return Exit.OK


def _check(file: Path) -> None:
    if file.exists():
        raise UsageError(f"{file} is there already: name a new file for the questions.")


async def _chunks(index: VectorIndex, edition: Edition) -> AsyncIterator[Chunk]:
    for segment in edition.segments:
        async for chunk in index.scroll(segment.collection):
            yield chunk


def _row(number: int, proposed: ProposedQuestion) -> dict[str, Any]:
    """Return a row of the questions; the last two fields are for who reads it."""
    return {
        "id": f"proposed-{number}",
        "question": proposed.question,
        "kind": proposed.kind,
        "relevant": [proposed.source_file],
        "section": " › ".join(proposed.headings),
        "passage": proposed.passage,
    }
