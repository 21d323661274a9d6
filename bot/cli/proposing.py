"""`glossator eval --generate`: proposes questions for a teacher to accept."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from adapters.markdown.printable import on_one_line
from bot.cli.context import choose_course, live_edition, services
from bot.cli.counted import counted
from bot.cli.exits import Exit, UsageError
from core.evaluation.proposals import ProposedQuestion, propose
from core.i18n import use_locale
from core.index.base import VectorIndex
from core.models import Chunk
from core.storage.catalogue import Edition


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
