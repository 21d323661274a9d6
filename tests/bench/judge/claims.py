"""Reads labelled claims: our own by their places in the books, or any with their quotes."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.answering.grounding.judge import JudgedClaim

OWN = Path(__file__).with_name("claims.jsonl")
LABELS = ("true", "false", "over")


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim with its sentences, and what a reader found."""

    statement: JudgedClaim
    question: str
    label: str
    """One of `LABELS`; `over`: its beginning is supported, its tail is not."""
    split: str = ""
    """`fit` or `held`; empty: the file does not divide its claims."""
    writer: str = ""


def read_claims(file: Path, corpora: Path) -> Iterator[LabelledClaim]:
    """Yield the claims of a JSONL file.

    A row has `claim`, `label` and either `quotes` (strings), `headings` and `question`, or the
    places of these in a book of `corpora`: `book`, `file`, `spans`, `heading_spans`, `sha256`.

    Raises:
        ValueError: when a row is not of this form, or the book is another edition.
    """
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            yield _claim(json.loads(line), corpora)
        except (KeyError, TypeError, ValueError, OSError) as error:
            raise ValueError(f"{file.name}, line {number}: {error!r}") from error


def _claim(row: Mapping[str, Any], corpora: Path) -> LabelledClaim:
    label = str(row["label"])
    if label not in LABELS:
        raise ValueError(f"label is {label!r}, not one of {', '.join(LABELS)}")
    quotes, headings = _texts(row, corpora)
    if not quotes:
        raise ValueError("no quotes")
    question = str(row.get("question", "")).replace("{heading}", headings[-1] if headings else "")
    statement = JudgedClaim(str(row["claim"]), quotes, headings)
    return LabelledClaim(statement, question, label, row.get("split", ""), row.get("writer", ""))


def _texts(row: Mapping[str, Any], corpora: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the quotes and the headings of a row."""
    if "quotes" in row:
        return tuple(map(str, row["quotes"])), tuple(map(str, row.get("headings") or ()))
    book = (corpora / row["book"] / "book" / row["file"]).read_text("utf-8")
    quotes = tuple(book[start:end] for start, end in row["spans"])
    if digest("".join(quotes)) != row["sha256"]:
        raise ValueError(f"{row['book']}/{row['file']} is another edition")
    headings = tuple(book[start:end] for start, end in row["heading_spans"])
    return tuple(" ".join(quote.split()) for quote in quotes), headings


def digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
