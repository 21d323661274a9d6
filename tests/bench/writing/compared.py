"""A written answer next to the book's passages: what readers are given, and what they say."""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from adapters.console import footnote_lines, whole_text
from core.domain import AgentResponse
from core.domain.fields import Model
from core.domain.i18n import text
from core.teaching.evaluation.report import GoldQuestion
from tests.bench.reading.drawing import digest_of
from tests.bench.reading.labels import kappa
from tests.bench.shares import line

LABELS = Path(__file__).with_name("pairs.jsonl")
Label = Literal["whole", "partly", "wrong", "none"]
"""Right and whole, right in part, wrong or beside the point, no answer."""
Side = Literal["left", "right", "same"]


class Pair(Model):
    """What a reader is given of one question: two answers, and not who wrote them."""

    id: str
    question: str
    reference: str
    """A reference answer; empty where there is none."""
    relevant: tuple[str, ...]
    """The files of the book that answer it."""
    left: str
    right: str


class Key(Model):
    """What a pair stands for, without any text."""

    id: str
    program: str
    course: str
    question: str
    """The id of its row."""
    written: str
    """The digest of the written answer."""
    passages: str
    written_is: Literal["left", "right"]
    calls: int
    """Of the model."""
    claims: int
    dropped: int
    refused: bool
    """Whether the model said that the passages do not answer the question."""
    fell_back: bool
    """Whether the passages were shown instead of what it wrote."""


class Read(Model):
    """One reader's line about one pair."""

    id: str
    reader: str
    better: Side
    left: Label
    right: Label
    why: str = ""


class Verdict(Model):
    """What one reader said, by what the sides stand for."""

    better: Literal["written", "passages", "same"]
    written: Label
    passages: Label


class Compared(Key):
    """A pair with all that was said of it."""

    read: dict[str, Verdict]
    """By reader."""


def pair_of(
    row: GoldQuestion, written: AgentResponse, passages: AgentResponse, seed: int
) -> tuple[Pair, Literal["left", "right"]]:
    """Return both answers as a student sees them, and on which side the written one is."""
    digests = f"{row.id} {digest_of(written)} {digest_of(passages)}"
    name = hashlib.sha256(digests.encode()).hexdigest()[:12]
    shown = [_shown(written), _shown(passages)]
    is_left = random.Random(f"{seed} {name}").random() < 1 / 2
    left, right = shown if is_left else reversed(shown)
    reference = row.answers[0] if row.answers else ""
    pair = Pair(
        id=name,
        question=row.question,
        reference=reference,
        relevant=tuple(row.relevant),
        left=left,
        right=right,
    )
    return pair, "left" if is_left else "right"


def _shown(response: AgentResponse) -> str:
    """Return all that stands on the screen but what only a model's answers have."""
    notices = [one for one in response.notices if one != text("notice-checked-by-words")]
    parts = [whole_text(response), "\n".join(footnote_lines(response)), *notices]
    return "\n\n".join(part for part in parts if part)


def write_rows(rows: Sequence[Model], path: Path) -> None:
    """Write rows, a line each."""
    path.write_text("".join(f"{row.model_dump_json()}\n" for row in rows), encoding="utf-8")


def read_keys(path: Path) -> list[Key]:
    """Return the keys of a folder."""
    return [Key.model_validate_json(one) for one in path.read_text("utf-8").splitlines()]


def read_reader(path: Path) -> list[Read]:
    """Return one reader's lines."""
    return [Read.model_validate_json(one) for one in path.read_text("utf-8").splitlines()]


def committed(path: Path = LABELS) -> list[Compared]:
    """Return what the repository keeps; nothing where there is no file yet."""
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return [Compared.model_validate(json.loads(one), strict=False) for one in lines]


def together(
    keys: Sequence[Key], reads: Sequence[Read], known: Sequence[Compared] = ()
) -> list[Compared]:
    """Return the pairs with what readers say of them, now or of the same two answers before."""
    before = {one.id: one.read for one in known}
    found = []
    for key in keys:
        read = dict(before.get(key.id, {}))
        read |= {one.reader: _verdict(key, one) for one in reads if one.id == key.id}
        if read:
            found.append(Compared(**key.model_dump(), read=read))
    return found


def _verdict(key: Key, read: Read) -> Verdict:
    sides: Mapping[str, Label] = {"left": read.left, "right": read.right}
    other = "right" if key.written_is == "left" else "left"
    better: Literal["written", "passages", "same"] = "same"
    if read.better != "same":
        better = "written" if read.better == key.written_is else "passages"
    return Verdict(better=better, written=sides[key.written_is], passages=sides[other])


def report(pairs: Sequence[Compared]) -> Iterator[str]:
    """Yield the figures of each program that was read."""
    for program in dict.fromkeys(one.program for one in pairs):
        yield f"{program}:"
        yield from _figures([one for one in pairs if one.program == program])


def _figures(pairs: Sequence[Compared]) -> Iterator[str]:
    count = len(pairs)
    yield line("  a second call, after a search", sum(one.calls > 1 for one in pairs), count)
    claims = sum(one.claims for one in pairs)
    yield line("  claims dropped", sum(one.dropped for one in pairs), claims)
    yield line("  answers that lost a claim", sum(one.dropped > 0 for one in pairs), count)
    yield line("  the model refuses", sum(one.refused for one in pairs), count)
    fell_back = sum(one.fell_back for one in pairs)
    yield line("  passages shown instead of what it wrote", fell_back, count)
    readers = sorted({reader for one in pairs for reader in one.read})
    for reader in readers:
        said = [one.read[reader] for one in pairs if reader in one.read]
        yield from _said(reader, said)
    for course in sorted({one.course for one in pairs}):
        said = [v for one in pairs if one.course == course for v in one.read.values()]
        no_worse = sum(one.better != "passages" for one in said)
        yield line(f"  {course}, all readers: better or the same", no_worse, len(said))
    if len(readers) > 1:
        yield from _agreement(pairs, readers)


def _said(reader: str, said: Sequence[Verdict]) -> Iterator[str]:
    no_worse = sum(one.better != "passages" for one in said)
    yield line(f"  {reader}: written better or the same", no_worse, len(said))
    for name in ("written", "same", "passages"):
        better = sum(one.better == name for one in said)
        yield line(f"  {reader}: better is {name}", better, len(said))
    yield line(f"  {reader}: written right and whole", _whole(said, "written"), len(said))
    yield line(f"  {reader}: passages right and whole", _whole(said, "passages"), len(said))
    wrong = sum(one.written == "wrong" for one in said)
    yield line(f"  {reader}: written wrong", wrong, len(said))
    yield line(f"  {reader}: passages wrong", sum(v.passages == "wrong" for v in said), len(said))


def _whole(said: Sequence[Verdict], kind: str) -> int:
    return sum(getattr(one, kind) == "whole" for one in said)


def _agreement(pairs: Sequence[Compared], readers: Sequence[str]) -> Iterator[str]:
    both = [tuple(one.read[r] for r in readers[:2]) for one in pairs if len(one.read) > 1]
    for name in ("better", "written", "passages"):
        labels = [(getattr(one, name), getattr(other, name)) for one, other in both]
        yield line(f"  readers agree on {name}", sum(a == b for a, b in labels), len(labels))
        yield f"    Cohen's kappa {kappa(labels):.3f}"
