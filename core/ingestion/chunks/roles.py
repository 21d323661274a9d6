"""What a block is for, judged by where it stands and how it is marked, not by its words."""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.ingestion.document import Block, BlockRole

MOSTLY_LINKS = 0.7
"""The share of a block's letters in links from which it only leads elsewhere."""
MOSTLY_QUESTIONS = 0.6
FEWEST_QUESTIONS = 3
"""A section with so many questions, and so large a share of them, asks and does not tell."""
_EXERCISES = re.compile(
    r"[\W\d]*(?!frequently asked)(?:exercises?|problems|problem sets?|quiz(?:zes)?"
    r"|(?:\w+[ -]){0,2}(?:exercises|questions)|übungen|übungsaufgaben|aufgaben)\W*",
    re.I,
)
"""The whole heading: "The Moral Hazard Problem" is above an explanation."""


def with_roles(blocks: Sequence[Block], heading: str, *, leads: bool) -> list[Block]:
    """Return the blocks of a section with their roles; one that its markup gave stays.

    Args:
        heading: The section's own, empty before the first.
        leads: Whether the section stands before the first heading of a paged document, where
            title, copyright and contents are.
    """
    asked = [block.text.rstrip().endswith("?") for block in blocks]
    questions = sum(asked)
    asks = questions >= FEWEST_QUESTIONS and questions >= MOSTLY_QUESTIONS * len(blocks)
    asks = asks or _EXERCISES.fullmatch(heading) is not None
    role = BlockRole.EXERCISE if asks else BlockRole.FRONT_MATTER if leads else BlockRole.TEXT
    return [
        block
        if block.role is not BlockRole.TEXT
        else replace(block, role=BlockRole.NAVIGATION if block.linked >= MOSTLY_LINKS else role)
        for block in blocks
    ]
