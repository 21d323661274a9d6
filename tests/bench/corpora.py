"""The books that the product's constants are fitted on, ingested for the purpose."""

from dataclasses import dataclass
from pathlib import Path

from bot.services import Services
from core.domain import Course
from core.ingestion.sources.sources import open_sources
from core.teaching.evaluation.report import GoldQuestion, read_questions

ECONOMICS = "economics"
SQUAD2 = "squad2"
RUST = "rust-book"
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Corpus:
    """A book with questions that it answers."""

    name: str
    book: Path
    questions: tuple[GoldQuestion, ...]


def read_corpora(folder: Path) -> dict[str, Corpus] | None:
    """Return the three corpora by name, or None where they are not at hand."""
    if not all((folder / name / "book").is_dir() for name in (ECONOMICS, SQUAD2, RUST)):
        return None
    files = {
        ECONOMICS: folder / ECONOMICS / "questions.jsonl",
        SQUAD2: folder / SQUAD2 / "questions.jsonl",
        RUST: Path(__file__).with_name("rust-book.jsonl"),
    }
    return {
        name: Corpus(
            name,
            folder / name / "book",
            tuple(row for row in read_questions(path) if row.answerable),
        )
        for name, path in files.items()
    }


async def ingest(opened: Services, corpus: Corpus) -> None:
    """Bring the course of a corpus up to date; unchanged books take about a second."""
    limits = opened.settings.ingest
    async with open_sources(
        [str(corpus.book)],
        base_url=None,
        allowed_hosts=frozenset(limits.allowed_hosts),
        max_bytes=limits.max_megabytes * _MEGABYTE,
        user_agent=limits.user_agent,
    ) as readable:
        course = Course(course_id=corpus.name, title=corpus.name)
        await opened.ingestion(course.course_id).run(course, readable.sources, listed=())
