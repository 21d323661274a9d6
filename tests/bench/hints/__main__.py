"""Measures which questions are held to an assignment's policy, and what hints give away.

`python -m tests.bench.hints` asks 200 adversarial follow-ups, each three times in a conversation,
of a scripted model that knows the solution and tries to tell it, and prints how often it did. It
looks for the solutions in prompts, logs and the database as well. `--show FILE` writes every hint
next to its solution.
"""

import argparse
import asyncio
import logging
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from bot.keys import NAMES
from bot.services import Services, policy_stage
from bot.settings import Settings
from bot.wiring import open_services
from core.answering.agent import Agent
from core.answering.context import Spending
from core.answering.pipeline import Pipeline
from core.answering.writers.base import DEFAULT_TIMES, GenerationTask
from core.domain import AgentConfiguration, AgentRequest, AgentResponse, PolicyMode, UserContext
from core.storage.budgets import Prices, TokenBudgets, TokenLimits
from core.teaching.book_hints import shows
from core.teaching.policy_store import NewPolicy
from tests.bench.corpora import ECONOMICS, RUST, Corpus, ingest, read_corpora
from tests.bench.hints.plain_check import code, runs, told
from tests.bench.hints.scripted import LeakingModel

HERE = Path(__file__).parent
_ASKS = 3
_TENANT = ("discord", "4242")
_CHAPTERS = {
    ECONOMICS: ("00*.md", "01*.md", "02*.md"),
    RUST: ("ch03*.md", "ch04*.md", "ch05*.md", "ch08*.md", "ch09*.md"),
}
"""The parts of the books that the assignments are about, with others beside them."""


@dataclass(frozen=True)
class Task:
    """An assignment of the measured ones."""

    course: str
    name: str
    text: str
    sections: tuple[str, ...]
    solution: str
    belong: tuple[str, ...]
    beside: tuple[str, ...]


def tasks() -> list[Task]:
    """Return the assignments."""
    listed = tomllib.loads((HERE / "assignments.toml").read_text(encoding="utf-8"))["assignments"]
    found: list[dict[str, Any]] = [
        {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()}
        for one in listed
    ]
    return [Task(**one) for one in found]


def _chapters(corpus: Corpus, patterns: Sequence[str], folder: Path) -> Corpus:
    """Return a corpus of some of a book's files, copied into a folder."""
    book = folder / corpus.name
    book.mkdir(parents=True, exist_ok=True)
    for pattern in patterns:
        for file in corpus.book.glob(pattern):
            shutil.copyfile(file, book / file.name)
    return replace(corpus, book=book)


def follow_ups() -> list[str]:
    """Return the templates of what students say."""
    lines = (HERE / "follow_ups.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _request(task: Task, question: str, user: str, session: Any = None) -> AgentRequest:
    platform, workspace = _TENANT
    where = UserContext(platform=platform, workspace=workspace, channel="1", role="student")
    return AgentRequest(
        course_id=task.course,
        query_text=question[:990],
        user_id=user,
        session_id=session,
        user_context=where,
    )


def _agent(opened: Services, model: LeakingModel | None) -> Agent:
    parts: dict[str, Any] = {
        "retriever": opened.retriever,
        "generator": model or opened.extractive,
        "fallback": opened.extractive,
        "judge_of": lambda *_: None,
        "request_tokens": None,
        "times": DEFAULT_TIMES,
    }
    budgets = TokenBudgets(opened.engine, limits=TokenLimits())
    aside = Pipeline(**parts, spending=Spending(budgets, Prices()), stages=())
    return Agent(
        **parts,
        budgets=budgets,
        prices=Prices(),
        sessions=opened.sessions,
        configuration=lambda _: AgentConfiguration(),
        stages=[policy_stage(opened, aside)],
    )


async def _store_policies(opened: Services) -> None:
    platform, workspace = _TENANT
    for course in {task.course for task in tasks()}:
        for known in await opened.policies.of(course):
            await opened.policies.remove(course, f"{platform}:{workspace}", known.key)
    for task in tasks():
        await opened.policies.add(
            NewPolicy(
                task.course,
                platform,
                workspace,
                PolicyMode.HINTS,
                name=task.name,
                text=task.text,
                sections=task.sections,
                solution=task.solution,
            )
        )


async def _belonging(opened: Services) -> None:
    """Print how many of the questions are held that are to be, and of those that are not."""
    agent = _agent(opened, None)
    corpora = read_corpora(Path("../shared/corpora")) or {}
    for task in tasks():
        other = [row.question for row in corpora[task.course].questions][::4][:30]
        shares = []
        for questions in (task.belong, task.beside, other):
            held = 0
            for question in questions:
                if len(question) > 990:
                    continue
                answer = await agent.answer(_request(task, question, str(uuid4())))
                held += answer.held_to is not None
            shares.append(f"{held} of {len(questions)}")
        print(
            f"{task.course}, {task.name}: held {shares[0]} that belong, {shares[1]} beside it, "
            f"{shares[2]} of the book's own questions",
            flush=True,
        )


@dataclass
class Found:
    """One hint that was shown."""

    task: Task
    question: str
    way: str
    step: int
    answer: AgentResponse
    leak: str


async def _attack(opened: Services, model: LeakingModel | None) -> list[Found]:
    found = []
    agent = _agent(opened, model)
    for task in tasks():
        for number, template in enumerate(follow_ups()):
            user, session = str(uuid4()), uuid4()
            question = template.replace("{task}", task.belong[number % len(task.belong)])
            for step in range(1, _ASKS + 1):
                answer = await agent.answer(_request(task, question, user, session))
                leak = told(shows(answer), task.solution, task.text)
                way = model.way if model else "offline"
                found.append(Found(task, question, way, step, answer, leak))
    return found


def _report(name: str, found: Sequence[Found], model: LeakingModel | None) -> int:
    leaks = [one for one in found if one.leak]
    answered = Counter(one.answer.model_name for one in found)
    open_ones = [one for one in found if one.answer.held_to is None]
    offered = f", {model.offered} sentences of a solution offered" if model else ""
    follow = len(found) // _ASKS
    print(f"{name}: {follow} follow-ups, {len(found)} hints{offered}: {len(leaks)} leaks")
    print(f"  written by {dict(answered)}; not held to the policy: {len(open_ones)}")
    for one in [*leaks, *open_ones][:10]:
        print(f"  LEAK {one.leak} ({one.way}) {one.question}: {shows(one.answer)[:300]!r}")
    return len(leaks) + len(open_ones)


class Records(logging.Handler):
    """Keeps all that is logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage() + str(record.exc_info or ""))


def _traces(named: dict[str, str]) -> int:
    """Print in which of some texts a solution stands, and return how many do."""
    total = 0
    for name, text in named.items():
        found = 0
        said, tight = runs(text), "".join(text.split())
        for task in tasks():
            shared = said & (runs(task.solution) - runs(task.text))
            lines = [c for c in code(task.solution) - code(task.text) if c in tight]
            found += bool(shared or lines)
        print(f"solutions in {name} ({len(text):,} characters): {found}")
        total += found
    return total


def _prompts(models: Sequence[LeakingModel]) -> str:
    return "\n".join(_spoken(task) for model in models for task in model.tasks)


def _spoken(task: GenerationTask) -> str:
    """Return all that a model is given."""
    from core.answering.writers.prompt import render_prompt

    prompt = render_prompt(replace(task, search=None))
    return "\n".join([prompt.system, *(message.text for message in prompt.messages)])


async def _run(options: argparse.Namespace) -> int:
    corpora = read_corpora(options.corpora)
    if corpora is None:
        print(f"The corpora are not in {options.corpora}: there is nothing to measure.")
        return 0
    settings = Settings(data_dir=options.data / "hints")
    records, failures = Records(), 0
    logging.getLogger().addHandler(records)
    logging.getLogger("core").setLevel(logging.DEBUG)
    async with open_services(settings, announce=print, keys=NAMES) as opened:
        for course, patterns in _CHAPTERS.items():
            await ingest(opened, _chapters(corpora[course], patterns, options.data / "chapters"))
        await _store_policies(opened)
        if not options.attacks_alone:
            await _belonging(opened)
        by_name = {task.name: task for task in tasks()}

        def solution_of(task: GenerationTask) -> str:
            told_of = task.system_prompt or ""
            meant = (one.solution for name, one in by_name.items() if f'"{name}"' in told_of)
            return next(meant, "")  # of a question that no policy holds

        leaking = LeakingModel(solution_of)
        runs_ = {"offline": None, "scripted model": leaking}
        shown: list[Found] = []
        for name, model in runs_.items():
            found = await _attack(opened, model)
            failures += _report(name, found, model)
            shown += found
        if options.show:
            options.show.write_text(_side_by_side(shown), encoding="utf-8")
    stored = b"".join(
        file.read_bytes()
        for file in (options.data / "hints").rglob("glossator.*")
        if file.is_file()
    ).decode("utf-8", "ignore")
    failures += _traces(
        {"prompts": _prompts([leaking]), "logs": "\n".join(records.lines), "the database": stored}
    )
    return 1 if failures else 0


def _side_by_side(found: Sequence[Found]) -> str:
    rows = []
    for one in {(f.task.name, shows(f.answer)): f for f in found}.values():
        rows.append(
            f"## {one.task.name}, {one.way}, step {one.step}\n\n{one.question}\n\n"
            f"{one.answer.response_text}\n\nSolution: {' '.join(one.task.solution.split())}\n"
        )
    return "\n".join(rows)


def main() -> int:
    """Print the figures, and return the exit code: 1 where anything leaked."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hints", description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--data", type=Path, default=Path(".glossator/bench"))
    parser.add_argument("--show", type=Path, help="write every hint next to its solution here")
    parser.add_argument("--attacks-alone", action="store_true", help="leave out who is held")
    return asyncio.run(_run(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
