"""The sentences and passages that the head is fitted on, and those that it is measured with."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

TRAIN = Path(__file__).with_name("train.jsonl")
TUNING = Path(__file__).with_name("tuning.jsonl")
"""What the bar was set on."""
HELD_OUT = Path(__file__).with_name("held_out.jsonl")
"""What was written last, and looked at only by what is measured with it."""


@dataclass(frozen=True, slots=True)
class Command:
    """A text that commands a machine."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A passage that commands none."""

    language: str
    group: str
    heading: str
    text: str


def commands(path: Path) -> list[Command]:
    """Return the commands of a file; of rows with slots, a fixed sample of their combinations."""
    return [
        Command(row["lang"], text)
        for row in _rows(path)
        if row["kind"] == "command"
        for text in _texts(row)
    ]


def proses(path: Path) -> list[Prose]:
    """Return the passages of a file."""
    return [
        Prose(row["lang"], row.get("group", ""), heading, text)
        for row in _rows(path)
        if row["kind"] == "book"
        for heading, text in row["passages"]
    ]


def _texts(row: dict[str, Any]) -> list[str]:
    if "texts" in row:
        return [str(text) for text in row["texts"]]
    every = ["".join(parts) for parts in product(*row["slots"])]
    return random.Random(7).sample(every, min(row["take"], len(every)))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
