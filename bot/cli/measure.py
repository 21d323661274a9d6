"""`glossator calibrate`: fits the marks of an embedding model or judge on a course's own text."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from adapters.chat.markdown.printable import on_one_line, printable
from bot.cli.context import choose_course, counted, live_edition, services
from bot.cli.exits import BadInput, Exit, UsageError
from bot.log import tell
from bot.models import models_in_use, prices
from bot.services import HANDBOOK, Services
from bot.wiring import handbook_folder
from core.answering.grounding.judge import (
    MARK,
    FittedMark,
    Judge,
    Setting,
    fitted_mark,
    made_claims,
)
from core.domain import Chunk, Course
from core.domain.errors import ServiceError
from core.retrieval.calibration import (
    QuestionEvidence,
    Text,
    below_answerable,
    fitted_scale,
    look_up,
    made_questions,
)
from core.retrieval.editions import EditionReader
from core.retrieval.ranking import BUILT_IN, ScoreScale, scale_for
from core.storage.budgets import TokenBudgets, TokenLimits, Tokens, Usage
from core.storage.catalogue import Edition
from core.teaching.radar import Report, empty, lists, note, rows, title
from core.teaching.radar_picture import DARK, LIGHT, to_html, to_json, to_png

_QUESTIONS = 200
_FEWEST = 20
"""Questions, or claims, below which a mark would be chance."""
_CLAIMS = 60
_PATIENCE = 60.0
"""Seconds that a claim waits for the judge: no one is waiting for an answer."""


@dataclass(frozen=True, slots=True)
class _Embedding:
    """What was fitted for a course's embedding model; shares from 0 to 1."""

    model: str
    known: int
    """Questions made of the course."""
    foreign: int
    """Questions made of other texts."""
    reached: float
    """Share of the known ones that reach the mark from which the book may answer."""
    refused: float
    """Share of the foreign ones that do not."""
    reached_before: float
    refused_before: float
    scale: ScoreScale


@dataclass(frozen=True, slots=True)
class _Judge:
    """What was fitted for a course's judge; shares from 0 to 1."""

    model: str
    true: int
    false: int
    mark: float
    dropped: float
    passed: float


async def calibrate(course_id: str, *, as_json: bool) -> int:
    """Fit what the course's models need, keep it, print it, and return the exit code.

    Raises:
        BadInput: when the course's text is too short.
        ServiceError: when a model does not answer.
    """
    async with services() as opened:
        course = await choose_course(opened, course_id)
        edition = await live_edition(opened, course)
        reader = EditionReader(opened.index)
        chunks = [chunk async for chunk in reader.scroll(edition)]
        embedding = judge = None
        if edition.embedding_model != BUILT_IN:
            embedding = await _calibrate_embedding(opened, course, edition, chunks)
            opened.marks.keep_scale(course.course_id, embedding.model, embedding.scale)
        if (judging := opened.judge(course.course_id)) is not None:
            judge = await _calibrate_judge(judging, chunks)
            opened.marks.keep_judge(course.course_id, judge.model, judge.mark)
        file = opened.marks.path
    if as_json:
        told = {
            "course": course.course_id,
            "embedding": asdict(embedding) if embedding else None,
            "judge": asdict(judge) if judge else None,
            "file": str(file) if embedding or judge else None,
        }
        print(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        print(printable("\n".join(_lines(course, embedding, judge, file))))
    return Exit.OK


async def _calibrate_embedding(
    opened: Services, course: Course, edition: Edition, chunks: Sequence[Chunk]
) -> _Embedding:
    book = await opened.retriever.opened(course.course_id)
    others = [text async for text in _other_texts(opened, course)]
    made = [
        made_questions(texts, book.terms, book.encoder.terms, _QUESTIONS)
        for texts in ([*map(_text, chunks)], others)
    ]
    known, foreign = [await look_up(opened.index, book, questions) for questions in made]
    known = [one for one in known if one.relevant.any()]
    if min(len(known), len(foreign)) < _FEWEST:
        raise BadInput(
            f"Of {course.course_id} only {counted(len(known), 'question')} could be made, and of "
            f"other texts {len(foreign)}: {_FEWEST} of each are needed. Nothing was changed."
        )
    found = fitted_scale(known, foreign).scale
    before = scale_for(edition.embedding_model)
    return _Embedding(
        edition.embedding_model,
        len(known),
        len(foreign),
        *_shares(found, known, foreign),
        *_shares(before, known, foreign),
        found,
    )


def _shares(
    scale: ScoreScale, known: Sequence[QuestionEvidence], foreign: Sequence[QuestionEvidence]
) -> tuple[float, float]:
    """Return which share of the known questions reaches the mark, and of the foreign does not."""
    return round(1 - below_answerable(scale, known), 3), round(below_answerable(scale, foreign), 3)


async def _other_texts(opened: Services, course: Course) -> AsyncIterator[Text]:
    """Yield what the other courses hold, and the handbook's pages where it is none of them."""
    reader = EditionReader(opened.index)
    for other, edition in await opened.catalogue.courses():
        if other.course_id != course.course_id and edition is not None:
            async for chunk in reader.scroll(edition):
                yield _text(chunk)
    if course.course_id != HANDBOOK.course_id:
        for page in sorted(handbook_folder().glob("*.md")):
            for part in page.read_text("utf-8").split("\n## ")[1:]:
                heading, _, content = part.partition("\n")
                yield Text(content, heading, page.name)


def _text(chunk: Chunk) -> Text:
    return Text(chunk.content_text, chunk.headings[-1] if chunk.headings else "", chunk.source_file)


_NOBODY_ASKS = Setting("What does the text say?")


async def _calibrate_judge(judge: Judge, chunks: Sequence[Chunk]) -> _Judge:
    judge = replace(judge, wait=_PATIENCE)
    made = made_claims(chunks, _CLAIMS)
    if len(made) < _FEWEST:
        raise BadInput(
            f"Only {counted(len(made), 'claim')} could be made of the text: {_FEWEST} are needed. "
            "Nothing was changed."
        )
    pairs: list[tuple[float, bool]] = []
    for one in made:
        [likely] = await judge.judge([one.statement], _NOBODY_ASKS)
        if likely is None:
            raise ServiceError(
                f"the judge {judge.name} gave no verdict",
                user_message=f"The judge {judge.name} gave no verdict: run 'glossator doctor'.",
            )
        pairs.append((likely, one.is_true))
    truths = [is_true for _, is_true in pairs]
    found: FittedMark = fitted_mark([likely for likely, _ in pairs], truths, MARK)
    return _Judge(
        judge.name,
        sum(truths),
        len(truths) - sum(truths),
        round(found.mark, 4),
        round(found.dropped, 3),
        round(found.passed, 3),
    )


def _lines(
    course: Course, embedding: _Embedding | None, judge: _Judge | None, file: Path
) -> list[str]:
    lines = []
    if embedding is None:
        lines.append(f"{course.course_id} is embedded with {BUILT_IN}, whose marks are known.")
    else:
        lines += [
            f"{course.course_id} is embedded with {embedding.model}. Its marks were fitted on "
            f"{counted(embedding.known, 'question')} made of the course and {embedding.foreign} "
            "made of other texts.",
            f"Of the course's own questions {embedding.reached:.0%} may be answered "
            f"({embedding.reached_before:.0%} before), and of the others {embedding.refused:.0%} "
            f"are refused ({embedding.refused_before:.0%} before).",
        ]
    if judge is None:
        lines.append("No model judges its claims.")
    else:
        lines.append(
            f"Its claims are judged by {judge.model}. From {judge.mark:.2f} on a claim holds; "
            f"{judge.dropped:.0%} of {counted(judge.true, 'true claim')} are dropped then, and "
            f"{judge.passed:.0%} of {counted(judge.false, 'altered one')} pass."
        )
    if embedding or judge:
        lines.append(f"This is kept in {file}; a bot that runs takes it at once.")
    return lines


_ENDINGS = (".html", ".png", ".json")


async def radar(course_id: str, out: Path | None, *, dark: bool) -> int:
    """Print a course's report, or write it to a file of the format that its name ends in."""
    if out is not None and out.suffix.lower() not in _ENDINGS:
        raise UsageError(f"--out ends in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}.")
    if dark and (out is None or out.suffix.lower() != ".png"):
        raise UsageError("--dark is for a PNG: a page of HTML has both.")
    async with services() as opened:
        course = await choose_course(opened, course_id)
        report = await opened.radar.report(course.course_id, with_reasons=True)
    if out is None:
        _print(report, course.title)
        return Exit.OK
    await asyncio.to_thread(_write, report, course.title, out, dark)
    tell(on_one_line(f"{out} is written."))
    return Exit.OK


def _write(report: Report, course: str, out: Path, dark: bool) -> None:
    content = _content(report, course, out.suffix.lower(), dark)
    try:
        out.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}.") from error


def _content(report: Report, course: str, suffix: str, dark: bool) -> bytes:
    if suffix == ".png":
        return to_png(report, course, DARK if dark else LIGHT)
    return (to_html(report, course) if suffix == ".html" else f"{to_json(report)}\n").encode()


def _print(report: Report, course: str) -> None:
    print(on_one_line(title(report, course)))
    for line in rows(report) or [empty(report)]:
        print(on_one_line(f"- {line}"))
    for heading, lines in lists(report):
        print(printable(f"\n{heading}:"))
        for line in lines:
            print(on_one_line(f"- {line}"))
    print(printable(f"\n{note(report)}"))


_TITLES = ("day", "course", "for", "calls", "tokens in", "cached", "tokens out", "cost")
_SIDES = "<<<>>>>>"

Cost = Callable[[int, int], float | None]
"""Tells what tokens read and written cost at most: which model used them is not kept."""


async def usage(days: int, *, as_json: bool) -> int:
    """Print tokens and cost by day and course, for the last `days` UTC days."""
    today = datetime.now(UTC).date()
    async with services(needs_room=False) as opened:
        budgets = TokenBudgets(opened.engine, limits=TokenLimits())
        used = await budgets.used(today - timedelta(days=days - 1), today)
    settings, tables = opened.settings, opened.models.tables
    in_use = models_in_use(settings, tables, opened.course_file, opened.chosen_generator())
    cost = partial(prices(tables).most, in_use)
    if as_json:
        print(json.dumps([_object(entry, cost) for entry in used], indent=2))
    elif used:
        rows = [row for entry in used for row in _rows(entry, cost)]
        _print_table([_TITLES, *rows])
    else:
        period = "today" if days == 1 else f"in the last {days} days"
        print(f"No language model was called {period}.")
    return Exit.OK


def _object(entry: Usage, cost: Cost) -> dict[str, Any]:
    return {
        "day": entry.day.isoformat(),
        "course_id": entry.course_id,
        "calls": entry.calls,
        "query_tokens": entry.query_tokens,
        "cached_tokens": entry.cached_tokens,
        "response_tokens": entry.response_tokens,
        "tokens_used": entry.query_tokens + entry.response_tokens,
        "estimated_cost": cost(entry.query_tokens, entry.response_tokens),
        "judging": {
            "calls": entry.judging.calls,
            "query_tokens": entry.judging.query,
            "response_tokens": entry.judging.response,
            "estimated_cost": cost(entry.judging.query, entry.judging.response),
        },
    }


def _rows(entry: Usage, cost: Cost) -> Iterator[Sequence[str]]:
    """Yield what writing used, and below it what judging did."""
    judging = entry.judging
    written = Tokens(
        entry.query_tokens - judging.query,
        entry.response_tokens - judging.response,
        entry.calls - judging.calls,
    )
    course = entry.course_id or "all courses"
    yield _cells(entry.day.isoformat(), course, "writing", written, entry.cached_tokens, cost)
    if judging.calls:
        yield _cells("", "", "judging", judging, None, cost)


def _cells(
    day: str, course: str, purpose: str, used: Tokens, cached: int | None, cost: Cost
) -> Sequence[str]:
    estimate = cost(used.query, used.response)
    return (
        day,
        course,
        purpose,
        f"{used.calls:,}",
        f"{used.query:,}",
        "" if cached is None else f"{cached:,}",
        f"{used.response:,}",
        "-" if estimate is None else f"{estimate:,.4f}",
    )


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, _SIDES, widths, strict=True)
        print(on_one_line("  ".join(f"{cell:{side}{width}}" for cell, side, width in cells)))
