"""Draws answers for readers, who are not told which program wrote them."""

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from adapters.chat.markdown.footnotes import footnotes
from core.domain import AgentResponse
from core.teaching.evaluation.report import GoldQuestion, read_questions
from tests.bench.asked import Asked, marked_rows
from tests.bench.corpora import Corpus
from tests.bench.near_topic import ROWS as NEAR

_UNANSWERABLE = 5
"""Of so many questions of a book, the book does not answer one."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reader is given."""

    id: str
    question: str
    answerable: bool
    reference: str
    """A reference answer; empty where there is none."""
    shown: str
    """The answer's text; a refusal's words where it is one."""
    place: str
    """Where it says that it is from."""


@dataclass(frozen=True, slots=True)
class Key:
    """What the readers are not given: what an id stands for."""

    id: str
    program: str
    course: str
    question: str
    """The id of the question's row."""
    answerable: bool
    digest: str
    """Of what is shown, so that labels are never taken for another answer's."""


def digest_of(response: AgentResponse) -> str:
    """Return what tells an answer's text from another: 16 hexadecimal digits."""
    return hashlib.sha256(response.response_text.encode()).hexdigest()[:16]


def questions_of(corpus: Corpus) -> list[GoldQuestion]:
    """Return all questions of a book that may be drawn, the unanswerable ones included."""
    file = corpus.book.parent / "questions.jsonl"
    asked = [row for row in read_questions(file) if not row.answerable] if file.is_file() else []
    near = [row for row in marked_rows(NEAR) if row.course == corpus.name]
    return [*corpus.questions, *asked, *near]


def drawn(corpora: Iterable[Corpus], number: int, seed: int) -> list[tuple[str, GoldQuestion]]:
    """Return `number` questions of each book, the same for the same seed."""
    chosen: list[tuple[str, GoldQuestion]] = []
    for corpus in corpora:
        lot = random.Random(f"{seed} {corpus.name}")
        known = questions_of(corpus)
        for answerable, count in ((False, number // _UNANSWERABLE), (True, number)):
            part = [row for row in known if row.answerable is answerable]
            taken = count if not answerable else number - number // _UNANSWERABLE
            chosen += [(corpus.name, row) for row in lot.sample(part, min(taken, len(part)))]
    return chosen


def shown_and_key(asked: Asked, program: str) -> tuple[Shown, Key]:
    """Return an answer as a reader sees it, and what its id stands for."""
    row, response = asked.row, asked.response
    digest = digest_of(response)
    name = hashlib.sha256(f"{asked.course} {row.id} {digest}".encode()).hexdigest()[:12]
    places = " | ".join(
        " · ".join(part for part in (note.title, note.locator, note.file) if part)
        for note in footnotes(response)
    )
    said = [response.response_text, *response.nearest_sections]
    reference = row.answers[0] if row.answers else ""
    shown = Shown(name, row.question, row.answerable, reference, "\n".join(said), places)
    return shown, Key(name, program, asked.course, row.id, row.answerable, digest)


def write_lines(path: Path, rows: Mapping[str, Shown] | Mapping[str, Key]) -> None:
    """Write the rows by their ids, which stand in no order that tells who wrote them."""
    lines = [json.dumps(asdict(rows[name]), ensure_ascii=False) for name in sorted(rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_keys(path: Path) -> dict[str, Key]:
    """Return the keys of a folder's answers by id; none where there is no file yet."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {key.id: key for key in (Key(**json.loads(line)) for line in lines)}


def add(folder: Path, answers: Sequence[Asked], program: str) -> int:
    """Add a program's answers to a folder that may hold another's, and return how many it holds.

    The file `answers.jsonl` is for the readers, `key.jsonl` is not.
    """
    folder.mkdir(parents=True, exist_ok=True)
    keys = read_keys(folder / "key.jsonl")
    file = folder / "answers.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    shown = {one.id: one for one in (Shown(**json.loads(line)) for line in lines)}
    for asked in answers:
        one, key = shown_and_key(asked, program)
        shown[one.id], keys[one.id] = one, keys.get(one.id, key)
    write_lines(file, shown)
    write_lines(folder / "key.jsonl", keys)
    return len(shown)
