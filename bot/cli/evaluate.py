"""`glossator eval`: measures a course on questions whose answers' places are known."""

import json
import time
from pathlib import Path
from typing import Any

from bot.cli.exits import Exit, UsageError
from bot.cli.opening import choose_course, services, tell
from bot.wiring import Services, terminal_user
from core.agent import Agent
from core.evaluation.questions import GoldQuestion, read_questions
from core.evaluation.report import Measured, summarise
from core.models import (
    MAX_QUESTION,
    AgentRequest,
    AgentResponse,
    Course,
    Outcome,
)

_SECONDS_BETWEEN_LINES = 5.0


async def evaluate(
    path: Path,
    course_id: str | None,
    kind: str | None,
    limit: int | None,
    *,
    generator: str | None,
    as_json: bool,
) -> int:
    """Ask every question, print the report, and return the exit code."""
    rows = _chosen(read_questions(path), kind, limit)
    async with services() as opened:
        course = await choose_course(opened, course_id)
        await opened.embedder.warm_up()
        agent = opened.agent(generator)
        measured: list[Measured] = []
        told = time.perf_counter()
        for row in rows:
            measured.append(await _measure(opened, agent, course, row))
            if time.perf_counter() - told > _SECONDS_BETWEEN_LINES and not as_json:
                told = time.perf_counter()
                tell(f"{len(measured)} of {len(rows)} questions")
    report = summarise(measured)
    print(json.dumps(report, indent=2) if as_json else _table(report))
    return Exit.OK


def _chosen(rows: list[GoldQuestion], kind: str | None, limit: int | None) -> list[GoldQuestion]:
    kinds = sorted({row.kind for row in rows if row.kind})
    chosen = [row for row in rows if kind is None or row.kind == kind][:limit]
    if not chosen:
        raise UsageError(f"There is no row of kind {kind}; there is: {', '.join(kinds) or 'none'}.")
    return chosen


async def _measure(opened: Services, agent: Agent, course: Course, row: GoldQuestion) -> Measured:
    """Ask one question as a student would, and keep what is needed for the figures."""
    request = AgentRequest(
        course_id=course.course_id,
        query_text=row.question[:MAX_QUESTION],
        user_id=terminal_user(opened.settings),
    )
    retrieval, response = await agent.rehearse(request, row.earlier_questions)
    return Measured(
        question=row,
        ranking=retrieval.documents,
        cited=_cited(response),
        evidence=tuple(excerpt.chunk.source_file for excerpt in retrieval.evidence),
        evidence_tokens=sum(excerpt.tokens for excerpt in retrieval.evidence),
        refused=response.outcome is Outcome.ABSTAINED,
        confidence=response.confidence,
        retrieval_ms=response.retrieval_time_ms,
    )


def _cited(response: AgentResponse) -> tuple[tuple[str, str], ...]:
    files = {chunk.chunk_id: chunk.source_file for chunk in response.grounding_chunks}
    return tuple((files[citation.chunk_id], citation.quote) for citation in response.citations)


def _table(report: dict[str, Any]) -> str:
    """Return the report as lines: a figure with its interval, then the kinds."""
    lines = [f"{report['n']} questions"]
    for name, value in report.items():
        if name in {"n", "by_kind", "ci95"}:
            continue
        bounds = report["ci95"].get(name)
        spread = f"  [{bounds[0]:.3f}, {bounds[1]:.3f}]" if bounds else ""
        lines.append(f"  {name:<22} {_shown(value)}{spread}")
    for kind, figures in report["by_kind"].items():
        shown = ", ".join(f"{n} {_shown(v)}" for n, v in figures.items() if n in _BY_KIND)
        lines.append(f"  kind {kind} ({figures['n']}): {shown}")
    return "\n".join(lines)


_BY_KIND = ("hit@5", "ndcg@10", "answer@3", "refused_unanswerable", "refused_answerable")


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"
