"""The labels that readers gave, and how far two readers agree."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import ValidationError, model_validator

from core.domain.fields import Model
from tests.bench.reading.drawing import Key
from tests.bench.shares import line

LABELS = Path(__file__).with_name("labels.jsonl")
WHOLE = "right-and-whole"
Label = Literal[
    "right-and-whole",
    "right-but-not-whole",
    "wrong-or-beside",
    "rightly-refused",
    "wrongly-refused",
]
_REFUSED = frozenset({"rightly-refused", "wrongly-refused"})


class LabelsRefused(Exception):
    """A file of labels cannot be used; the message says which line and why."""


class Read(Model):
    """One reader's line about one answer."""

    id: str
    label: Label
    place: bool | None = None
    """Whether what is cited is the right place; none for a refusal."""
    reader: str

    @model_validator(mode="after")
    def _place_is_judged(self) -> Self:
        if (self.place is None) is not (self.label in _REFUSED):
            raise ValueError("place is true or false for an answer, and absent for a refusal")
        return self


class Judged(Model):
    """One answer with all that was read of it, without any text."""

    program: str
    course: str
    question: str
    answerable: bool
    digest: str
    read: dict[str, Label]
    """The label by reader."""
    place: dict[str, bool]
    """Whether the place is right, by reader."""

    @property
    def is_refusal(self) -> bool:
        """Whether it was a refusal to all readers."""
        return all(label in _REFUSED for label in self.read.values())

    @property
    def whole(self) -> bool:
        """Whether it was right and whole to all readers: where they differ, it is not."""
        return all(label == WHOLE for label in self.read.values())

    @property
    def at_place(self) -> bool:
        """Whether the place was right to all readers."""
        return bool(self.place) and all(self.place.values())


def read_labels(path: Path, keys: Mapping[str, Key]) -> dict[str, Read]:
    """Return one reader's labels by answer.

    Raises:
        LabelsRefused: for a line that is not valid, an unknown id, one given twice, or a second
            reader in one file.
    """
    found: dict[str, Read] = {}
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            one = Read.model_validate_json(text)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise LabelsRefused(f"{path}, line {number}: {problem}.") from error
        if one.id not in keys:
            raise LabelsRefused(f"{path}, line {number}: there is no answer {one.id}.")
        if one.id in found:
            raise LabelsRefused(f"{path}, line {number}: {one.id} is labelled twice.")
        if any(one.reader != other.reader for other in found.values()):
            raise LabelsRefused(f"{path}, line {number}: a file has one reader.")
        found[one.id] = one
    return found


def together(readers: Sequence[Mapping[str, Read]], keys: Mapping[str, Key]) -> list[Judged]:
    """Return what was read of each answer, in the order of their ids."""
    judged = []
    for name in sorted({name for reader in readers for name in reader}):
        given = [reader[name] for reader in readers if name in reader]
        key = keys[name]
        judged.append(
            Judged(
                program=key.program,
                course=key.course,
                question=key.question,
                answerable=key.answerable,
                digest=key.digest,
                read={one.reader: one.label for one in given},
                place={one.reader: one.place for one in given if one.place is not None},
            )
        )
    return judged


def write(judged: Sequence[Judged], path: Path = LABELS) -> None:
    """Keep labels in the repository, next to those of other answers and readers that it has."""
    kept = {_answer_of(one): one for one in (committed(path) if path.exists() else [])}
    for one in judged:
        old = kept.get(_answer_of(one), one)
        both = {"read": old.read | one.read, "place": old.place | one.place}
        kept[_answer_of(one)] = old.model_copy(update=both)
    lines = (f"{one.model_dump_json()}\n" for one in kept.values())
    path.write_text("".join(lines), encoding="utf-8")


def _answer_of(one: Judged) -> tuple[str, str, str]:
    return one.course, one.question, one.digest


def committed(path: Path = LABELS) -> list[Judged]:
    """Return the labels that the repository keeps."""
    return [Judged.model_validate(json.loads(text)) for text in path.read_text().splitlines()]


def kappa(pairs: Sequence[tuple[object, object]]) -> float:
    """Return Cohen's kappa of two readers' labels; 1 where both gave one label to everything.

    Source: Cohen, A Coefficient of Agreement for Nominal Scales (1960).
    """
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(first[one] * second[one] for one in first) / len(pairs) ** 2
    return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)


def report(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield how far the first two readers agree, then what each of them found."""
    readers = sorted({reader for one in judged for reader in one.read})
    yield f"{len(judged)} answers, read by {', '.join(readers)}"
    if len(readers) > 1:
        one, other = readers[:2]
        labels = [(j.read[one], j.read[other]) for j in judged if {one, other} <= j.read.keys()]
        places = [(j.place[one], j.place[other]) for j in judged if {one, other} <= j.place.keys()]
        whole = [(a == WHOLE, b == WHOLE) for a, b in labels]
        for name, pairs in (("label", labels), ("right and whole", whole), ("place", places)):
            if pairs:
                yield line(f"  agree on the {name}", sum(a == b for a, b in pairs), len(pairs))
                yield f"    Cohen's kappa {kappa(pairs):.3f}"
    for course in sorted({one.course for one in judged}):
        asked = [one for one in judged if one.course == course and one.answerable]
        for reader in readers:
            given = [one.read[reader] for one in asked if reader in one.read]
            name = f"  {course}, answerable, right and whole by {reader}"
            yield line(name, sum(label == WHOLE for label in given), len(given))
    for reader in readers:
        counts = Counter(j.read[reader] for j in judged if reader in j.read)
        for label, count in counts.most_common():
            yield line(f"  {reader}: {label}", count, counts.total())
