"""Holds the conversations of `talks.jsonl` without a model, and prints how its follow-ups fare."""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.cli.evaluate import turn_of
from core.answering.agent import Agent
from core.domain import AgentRequest, AgentResponse, ConversationTurn, Outcome
from tests.bench.books import opened
from tests.bench.corpora import Corpus, ingest
from tests.bench.shares import line

FOLDER = Path(__file__).parent
OWN = ("lab", "tool")
"""Courses of documents that are written for the purpose."""
VERDICTS = FOLDER / "verdicts.jsonl"
"""What a reader says of the answers to the follow-ups that nothing was fitted on."""

_VERDICTS = ("right", "part", "wrong", "asked back well", "asked back badly")


@dataclass(frozen=True, slots=True)
class Said:
    """A follow-up and its answer."""

    name: str
    """Of the conversation, and the place in it."""
    split: str
    before: str
    question: str
    files: Sequence[str]
    """What the names of the files begin with that answer it."""
    response: AgentResponse

    @property
    def is_from_right_file(self) -> bool:
        """Whether what it shows first is from such a file."""
        first = self.response.grounding_chunks[:1]
        return any(chunk.source_file.startswith(tuple(self.files)) for chunk in first)

    @property
    def is_plain(self) -> bool:
        """Whether it is told without a remark."""
        return self.response.outcome is Outcome.ANSWERED


async def hold(corpora: dict[str, Corpus], data: Path) -> AsyncIterator[Said]:
    """Yield all follow-ups, each after what was said before it."""
    rows = [json.loads(one) for one in (FOLDER / "talks.jsonl").read_text("utf-8").splitlines()]
    async with opened(data) as services:
        await services.local.warm_up()
        for name in dict.fromkeys(row["course"] for row in rows):
            own = Corpus(name, FOLDER / name, ())
            await ingest(services, own if name in OWN else corpora[name])
        agent = services.agent("extractive")
        for row in rows:
            async for said in _held(agent, row):
                yield said


async def _held(agent: Agent, row: dict[str, Any]) -> AsyncIterator[Said]:
    turns = list[ConversationTurn]()
    for n, question in enumerate(row["questions"]):
        request = AgentRequest(course_id=row["course"], query_text=question, user_id="bench")
        _, response = await agent.rehearse(request, turns)
        turns.append(turn_of(n + 1, request, response))
        if n:
            before = row["questions"][n - 1]
            name, files = f"{row['id']}.{n + 1}", row["files"][n]
            yield Said(name, row["split"], before, question, files, response)


def report(said: Sequence[Said]) -> Iterator[str]:
    """Yield the figures of each split, and what the reader found."""
    verdicts = {one["name"]: one["verdict"] for one in map(json.loads, _lines(VERDICTS))}
    for split in ("fit", "untouched"):
        own = [one for one in said if one.split == split]
        back = [one for one in own if one.response.outcome is Outcome.ASKED_BACK]
        shown = [one for one in own if one.response.grounding_chunks]
        right = [one for one in shown if one.is_from_right_file]
        yield f"{split}: {len(own)} follow-ups"
        yield line("  shown first from the right file", len(right), len(own))
        yield line("  asked back", len(back), len(own))
        wrong = [one for one in shown if one.is_plain and not one.is_from_right_file]
        yield line("  from a wrong file, and plain", len(wrong), len(own))
        read = [one for one in own if one.name in verdicts]
        for verdict in _VERDICTS if read else ():
            those = [one for one in read if verdicts[one.name] == verdict]
            plain = sum(one.is_plain for one in those)
            yield f"{line(f'  read as {verdict}', len(those), len(read))}, {plain} of them plain"


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def shown(said: Sequence[Said]) -> Iterator[str]:
    """Yield each follow-up with what it was taken for and its answer, for a reader."""
    for one in said:
        response = one.response
        yield f"## {one.name}: {one.before} / {one.question}"
        yield f"=> {response.understood_as} ({response.outcome}, {response.confidence:.2f})"
        yield response.response_text
