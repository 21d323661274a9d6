"""The frozen replies: own words, and the places in the books that each claim rests on.

No text of a book is kept. A sentence is kept as its file, its span there in characters, and the
digest of its words; its number in a prompt is found anew each time.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from core.answering.writers.base import GenerationTask, QuotedWords
from core.answering.writers.prompt import Numbering
from core.domain.fields import Model
from core.teaching.evaluation.report import GoldQuestion
from tests.bench.judge.claims import digest

_HERE = Path(__file__).parent
QUESTIONS, REPLIES, FALSEHOODS = (
    _HERE / f"{name}.jsonl" for name in ("questions", "replies", "falsehoods")
)
ASKER = ""
"""Stands for the file of what the student wrote."""
Change = Literal["word", "number", "direction", "negation", "subject"]
CHANGES: tuple[Change, ...] = ("word", "number", "direction", "negation", "subject")
_Row = TypeVar("_Row", bound=Model)


class Question(Model):
    """A question of our own about a shared book."""

    id: str
    course: str
    kind: str
    question: str
    earlier: tuple[str, ...] = ()
    """What was asked before it, and answered by the book's own words."""

    @property
    def row(self) -> GoldQuestion:
        """The question as other benches ask one."""
        return GoldQuestion(id=self.id, question=self.question, relevant=())


class SentencePlace(Model):
    """Where a sentence stands."""

    file: str
    """`ASKER`: in what the student wrote."""
    start: int
    end: int
    digest: str
    """Of its words, blanks apart."""


class FrozenClaim(Model):
    """A claim as it was written."""

    kind: str
    text: str
    places: tuple[SentencePlace, ...] = ()


class FrozenReply(Model):
    """A whole reply to the prompt of one question."""

    id: str
    """The question's."""
    missing: str = "nothing"
    claims: tuple[FrozenClaim, ...]


class Falsehood(Model):
    """A true claim of a reply with one thing changed, so that its sentences do not say it."""

    id: str
    """The question's."""
    claim: int
    """Position of the true one in its reply, from 0."""
    change: Change
    text: str


def questions() -> list[Question]:
    """Return the questions in order."""
    return _read(QUESTIONS, Question)


def replies() -> dict[str, FrozenReply]:
    """Return the replies by question."""
    return {one.id: one for one in _read(REPLIES, FrozenReply)}


def falsehoods() -> list[Falsehood]:
    """Return the false versions of claims in order."""
    return _read(FALSEHOODS, Falsehood)


def _read(path: Path, row: type[_Row]) -> list[_Row]:
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return [row.model_validate(json.loads(line), strict=False) for line in lines]


def write_rows(rows: Sequence[Model], path: Path) -> None:
    """Write rows, a line each."""
    path.write_text("".join(f"{row.model_dump_json()}\n" for row in rows), encoding="utf-8")


class Sentences:
    """The numbered sentences of one prompt, by their places in the book."""

    def __init__(self, task: GenerationTask, numbering: Numbering) -> None:
        """Read the numbers of a prompt that was rendered with this numbering."""
        self._by_number: dict[int, SentencePlace] = {}
        for number in range(1, len(numbering) + 1):
            for words in numbering.quotes([number]) or ():
                self._by_number[number] = _place(task, words)

    def places(self, numbers: Sequence[int]) -> tuple[SentencePlace, ...]:
        """Return where the sentences with these numbers stand.

        Raises:
            KeyError: when there is no sentence with one of them.
        """
        return tuple(self._by_number[number] for number in numbers)

    def number(self, place: SentencePlace) -> int | None:
        """Return the number of the sentence at a place; None: the prompt does not have it.

        A sentence that is cut otherwise now is the one that has the middle of the old one.
        """
        known = [(number, at) for number, at in self._by_number.items() if at.file == place.file]
        same = [number for number, at in known if at.digest == place.digest]
        if same:
            return min(same, key=lambda n: abs(self._by_number[n].start - place.start))
        middle = (place.start + place.end) // 2
        is_cut = place.file != ASKER
        return next((n for n, at in known if is_cut and at.start <= middle < at.end), None)


def _place(task: GenerationTask, words: QuotedWords) -> SentencePlace:
    chunk = task.evidence[words.chunk_number]
    start = words.start + (0 if chunk.is_askers else chunk.char_start)
    return SentencePlace(
        file=ASKER if chunk.is_askers else chunk.source_file,
        start=start,
        end=start + len(words.text),
        digest=digest(" ".join(words.text.split()))[:12],
    )


def as_written(
    reply: FrozenReply, sentences: Sentences, only: int | None, instead: Mapping[int, str]
) -> tuple[Mapping[str, Any], int]:
    """Return a reply in the form that the product asks for, and how many places it lacks.

    Args:
        only: The position of the one claim that is said, with the line above it; None: all.
        instead: What claims say instead, by position.
    """
    claims, lacking = [], 0
    for position, claim in enumerate(reply.claims):
        if only is not None and position not in (only, _leading(reply, only)):
            continue
        numbers = [sentences.number(place) for place in claim.places]
        lacking += numbers.count(None)
        said = instead.get(position, claim.text)
        known = [n for n in numbers if n is not None]
        claims.append({"kind": claim.kind, "text": said, "sentences": known})
    return {"claims": claims, "missing": reply.missing}, lacking


def _leading(reply: FrozenReply, position: int) -> int | None:
    """Return the position of the line that leads in to a list item; None: there is none."""
    if not is_item(reply.claims[position].text):
        return None
    for before in range(position - 1, -1, -1):
        if reply.claims[before].kind == "lead":
            return before
        if not is_item(reply.claims[before].text):
            return None
    return None


def is_item(text: str) -> bool:
    """Return whether a claim is an item of a list."""
    return text.lstrip().startswith("- ") or text.lstrip().partition(". ")[0].isdigit()
