"""Names the sections that come near one which the book does not have."""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.retrieval.named_sections.numbers import SectionNumber, number_of, read_number
from core.storage.catalogue import SectionRecord

MOST = 3
"""Sections that are named."""
_ALIKE = 65.0
"""The likeness of spelling, up to 100, from which a name may be a misspelt heading."""
_STEP = 1
"""How far the number of a whole chapter may be from the one asked for."""
_PART = re.compile(r"(\d+)([a-z]?)")

Parts = tuple[tuple[int, str], ...]


def near_sections(
    name: str, ranked: Sequence[tuple[float, SectionRecord]], sections: Sequence[SectionRecord]
) -> tuple[str, ...]:
    """Return the headings that come near a name, nearest first; none where none does.

    Args:
        ranked: The sections with the likeness of their spelling, best first.
        sections: The same in book order.
    """
    if (read := read_number(name)) is not None:
        return near_number(read[0], sections)
    return _headings([section for likeness, section in ranked if likeness >= _ALIKE])


def near_number(number: SectionNumber, sections: Sequence[SectionRecord]) -> tuple[str, ...]:
    """Return the headings whose numbers come near one, nearest first.

    Near are the sections of the same chapter, what the number is a part of, its own parts, and
    of whole chapters the one before and the one after.
    """
    found: list[tuple[tuple[int, int], int, SectionRecord]] = []
    for place, section in enumerate(sections):
        known = number_of(section.title)
        if known is None or replace(known, number=number.number).distance(number) is None:
            continue
        if (distance := _distance(_parts(number.number), _parts(known.number))) is not None:
            found.append((distance, place, section))
    return _headings([section for _, _, section in sorted(found, key=lambda one: one[:2])])


def _distance(asked: Parts, known: Parts) -> tuple[int, int] | None:
    """Return how far one number is from another, smaller for nearer; None: not near."""
    shorter = min(len(asked), len(known))
    if len(asked) == len(known):
        gap = abs(asked[-1][0] - known[-1][0])
        is_near = asked[:-1] == known[:-1] and (len(asked) > 1 or gap <= _STEP)
        return (0, gap) if is_near else None
    if asked[:shorter] != known[:shorter]:
        return None
    return (1, abs(len(asked) - len(known)))


def _parts(number: str) -> Parts:
    return tuple((int(digits), letter) for digits, letter in _PART.findall(number))


def _headings(sections: Sequence[SectionRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(section.title for section in sections))[:MOST]
