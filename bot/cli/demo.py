"""`glossator demo`: ingests the handbook and asks it six questions, offline."""

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from adapters.delivery.run_turn import take_turn
from bot.cli.ask import console_request, open_reply
from bot.cli.counted import counted
from bot.cli.exits import Exit
from bot.handbook import COURSE, handbook_folder, ingest_handbook
from bot.services import Services
from bot.settings import Settings, load_settings
from bot.wiring import open_services


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """One question of the demo, and what it shows."""

    what: str
    question: str | None
    quote: str | None = None
    section: str | None = None
    follows_up: bool = False


QUESTIONS: Sequence[DemoQuestion] = (
    DemoQuestion("a question", "Does Glossator need an internet connection?"),
    DemoQuestion("another question", "How long are conversations kept?"),
    DemoQuestion(
        "a follow-up, which leans on the question before",
        "And who deletes them then?",
        follows_up=True,
    ),
    DemoQuestion(
        "a quoted passage, to be explained",
        None,
        quote="A chunk never crosses a heading, so every chunk belongs to exactly one section.",
    ),
    DemoQuestion(
        "a question to one section",
        "Which addresses does Glossator refuse to fetch from?",
        section="fetching from the web",
    ),
    DemoQuestion("a question that the book does not cover", "How do I bake sourdough bread?"),
)


async def demo() -> int:
    """Run the demo in a data folder of its own and return the exit code."""
    started = time.perf_counter()
    async with open_services(_offline(load_settings()), announce=print) as opened:
        await _ingest(opened)
        session = uuid4()
        for number, shown in enumerate(QUESTIONS, 1):
            if not shown.follows_up:
                session = uuid4()
            print(f"\n{'─' * 78}\n{number}. {shown.what}\n$ {_command(shown, session)}\n")
            request = console_request(
                opened,
                COURSE,
                shown.question,
                shown.quote,
                section=shown.section,
                session=session,
            )
            with open_reply(as_json=False) as reply:
                await take_turn(opened.agent("extractive"), request, reply)
            if reply.error is not None:
                raise reply.error
    print(
        f"\n{'─' * 78}\nSix questions, answered offline in {time.perf_counter() - started:.1f} s."
    )
    print("Now your own book: glossator ingest FOLDER, then glossator chat")
    return Exit.OK


def _offline(settings: Settings) -> Settings:
    """Return the defaults in a folder of the demo's own: no server, key or course file."""
    folder = settings.data_dir / "demo"
    local = settings.embedding.model_copy(update={"provider": "local"})
    return Settings.model_construct(
        {"data_dir"},
        data_dir=folder,
        config=folder / "glossator.toml",
        embedding=local,
    )


async def _ingest(opened: Services) -> None:
    print(f"Reading the handbook, {handbook_folder().name}/ ...")
    report = await ingest_handbook(opened)
    print(f"{counted(report.chunks, 'chunk')}; {report.embedded} had to be embedded.")


def _command(shown: DemoQuestion, session: UUID) -> str:
    """Return the command that asks the same."""
    words = ["glossator", "ask"]
    if shown.question:
        words.append(shown.question)
    if shown.quote:
        words += ["--quote", shown.quote]
    if shown.section:
        words += ["--section", shown.section]
    if shown.follows_up:
        words += ["--session", str(session)]
    return shlex.join(words)
