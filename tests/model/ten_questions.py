"""Ten questions of the handbook with the real small model as the writer: `python -m ...`.

Prints how many answers the model wrote, and how many were late; see tests/model/weights.py.
"""

import argparse
import asyncio
import logging
import re
import sys
import time
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.services import HANDBOOK, Services
from bot.settings import Settings
from bot.wiring import ingest_handbook, open_services
from core.answering.context import TextDelta, TextWithdrawn
from core.domain import AgentRequest, AgentResponse
from tests.model.serving import served
from tests.model.weights import folder, server_python, weights
from tests.wire.answering import secrets

QUESTIONS = (
    "How do I ingest a course?",
    "What does the doctor command check?",
    "How do I set a budget of tokens?",
    "Which files can be read as a course?",
    "How do I delete what is stored of a person?",
    "What is a hint?",
    "How does the bot run on Slack?",
    "What is shown when the model is late?",
    "How do I back up the data?",
    "What does a footnote lead to?",
)
_LATE = re.compile(r"ran out of time|said nothing for|too late|in time|took too long")
_CONTEXT = 4_096
_OWN = "own"


@dataclass(frozen=True)
class Asked:
    """What came of a question."""

    response: AgentResponse
    first: float | None
    """Seconds to the first words that stayed; None: all came at the end."""
    whole: float
    why: str
    """Why the model did not write it."""

    @property
    def is_written(self) -> bool:
        return not self.why and self.response.model_name != "extractive"


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.addFilter(logging.Filter("core"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


async def _ask(services: Services, question: str, log: _Log) -> Asked:
    log.lines.clear()
    began, first = time.monotonic(), None
    request = AgentRequest.model_validate(
        {"course_id": HANDBOOK.course_id, "query_text": question, "user_id": "reader"}
    )
    response = None
    async with aclosing(services.agent(_OWN).stream(request)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                first = first or time.monotonic() - began
            elif isinstance(event, TextWithdrawn):
                first = None
            elif isinstance(event, AgentResponse):
                response = event
    assert response is not None
    why = next((line for line in log.lines if "fallback writes" in line), "")
    return Asked(response, first, time.monotonic() - began, why)


async def _run(url: str, texts: bool) -> int:
    log = _Log()
    logging.getLogger().addHandler(log)
    table = {"kind": "openai", "model": "qwen", "base_url": url, "concurrency": "1"}
    with TemporaryDirectory() as data:
        course_file = Path(data) / "glossator.toml"
        course_file.write_text("")
        settings = Settings(
            _env_file=None,
            data_dir=Path(data),
            config=course_file,
            models={_OWN: secrets({**table, "context": str(_CONTEXT)})},
        )
        async with open_services(settings) as services:
            await ingest_handbook(services)
            await services.warm_up(_OWN)
            model = services.models.chat(_OWN)
            await model.measured()
            print(model.speed, flush=True)
            asked = []
            for question in QUESTIONS:
                asked.append(one := await _ask(services, question, log))
                began = "at the end" if one.first is None else f"after {one.first:.1f} s"
                told = "written" if one.is_written else one.why or "not by the model"
                print(
                    f"{question} first words {began}, whole {one.whole:.1f} s; {told}", flush=True
                )
                if texts:
                    print(one.response.response_text, "\n", flush=True)
    written = sum(one.is_written for one in asked)
    late = sum(bool(_LATE.search(one.why)) for one in asked)
    print(f"\n{written} of {len(asked)} answers written, {late} late; {model.speed}")
    return 0 if written == len(asked) else 1


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--texts", action="store_true", help="print the answers, too")
    chosen = options.parse_args()
    if not (weights().exists() and server_python().exists()):
        raise SystemExit(f"There is no model in {folder()}: run 'make fetch-model' first.")
    with served(_CONTEXT) as address:
        sys.exit(asyncio.run(_run(address, chosen.texts)))
