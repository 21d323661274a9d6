"""Claims written by hand over passages written by hand; no check's word list made them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).with_suffix(".jsonl")
HALVES = ("tuning", "held out")


@dataclass(frozen=True, slots=True)
class HandClaim:
    """A sentence about a passage, and whether the passage carries it."""

    half: str
    """One of `HALVES`: whether checks were changed with the claim in view."""
    kind: str
    """What was done to the passage's words."""
    is_true: bool
    text: str
    quote: str
    heading: str

    @property
    def question(self) -> str:
        """What somebody who reads the passage would ask."""
        return f"What does the book say about {self.heading.lower()}?"


def hand_claims() -> Iterator[HandClaim]:
    """Yield the claims of `hand_claims.jsonl`, a passage a line, each with two of both sorts."""
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for is_true in (True, False):
            for claim in row["true" if is_true else "false"]:
                yield HandClaim(
                    half=row["half"],
                    kind=claim["kind"],
                    is_true=is_true,
                    text=claim["claim"],
                    quote=row["quote"],
                    heading=row["heading"],
                )
