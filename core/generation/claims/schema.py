"""The form of an answer: claims of five kinds, the sentences each rests on, and what is missing."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.generation.base import ClaimKind
from core.providers.base import Schema


class Missing(StrEnum):
    """What of a question the passages do not answer."""

    NOTHING = "nothing"
    PART = "part"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class WrittenClaim:
    """A claim as a model writes it."""

    text: str
    """Markdown; line feeds before it begin a paragraph."""
    sentences: tuple[int, ...] | None = ()
    """The numbers that it names; None: something else than numbers."""
    kind: ClaimKind | None = None
    """None: the model did not say."""


_FORM: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": [str(kind) for kind in ClaimKind]},
                    "text": {"type": "string"},
                    "sentences": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["kind", "text", "sentences"],
                "additionalProperties": False,
            },
        },
        "missing": {"type": "string", "enum": [str(value) for value in Missing]},
    },
    "required": ["claims", "missing"],
    "additionalProperties": False,
}
NOT_COVERED = "NOT COVERED"
PARTLY_COVERED = "PARTLY COVERED"
PREFIXES: Mapping[str, ClaimKind] = {
    "EXAMPLE:": ClaimKind.EXAMPLE,
    "QUESTION:": ClaimKind.QUESTION,
    "TALK:": ClaimKind.TALK,
}
"""How a line begins whose claim is no fact; a lead is known by its colon."""
_IN_LINES = f"""\
Write no JSON. Write each claim on a line of its own, and at its end the numbers of its sentences,
each in brackets:
A higher price lowers the quantity demanded. [4][7]
The numbers of a code block or a table stand on the line below it. A line that is an example, a
question to the student or talk begins with {", ".join(PREFIXES)} as fits. Where `missing` is
"all", write {NOT_COVERED} and nothing else; where it is "part", write {PARTLY_COVERED} as the last
line."""
ANSWER = Schema("answer", _FORM, _IN_LINES)
