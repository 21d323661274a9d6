"""`glossator eval`: measures a course on questions whose answers' places are known."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from adapters.console import printable
from bot.cli.exits import Exit
from bot.cli.opening import choose_course, services, tell
from bot.wiring import terminal_user
from core.evaluation.questions import GoldQuestion, InvalidQuestions, read_questions
from core.evaluation.report import Measured, summarise
from core.models import AgentRequest, AgentResponse, Outcome, RetrievalToolInput
from core.retrieval.retriever import Retrieval

_SECONDS_BETWEEN_LINES = 5.0
_CANDIDATES = 100


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
    rows = _chosen(read_questions(path), path, kind, limit)
    async with services() as opened:
        course = await choose_course(opened, course_id)
        retriever, agent = opened.retriever(), opened.agent(generator)
        user = terminal_user(opened.settings)
        await opened.embedder.warm_up()
        measured = []
        told = time.perf_counter()
        for number, row in enumerate(rows, 1):
            asked = RetrievalToolInput(query_text=row.question[:_LONGEST])
            started = time.perf_counter()
            found = await retriever.retrieve(course.course_id, asked, row.earlier_questions)
            milliseconds = (time.perf_counter() - started) * 1_000
            request = AgentRequest(
                course_id=course.course_id,
                query_text=asked.query_text,
                user_id=user,
                session_id=uuid4(),
            )
            response = await agent.rehearse(request, row.earlier_questions, found)
            measured.append(_measured(row, found, response, milliseconds))
            if time.perf_counter() - told > _SECONDS_BETWEEN_LINES and not as_json:
                told = time.perf_counter()
                tell(f"{number} of {len(rows)} questions")
    report = summarise(measured)
    print(json.dumps(report, indent=2) if as_json else printable(_table(report)))
    return Exit.OK
