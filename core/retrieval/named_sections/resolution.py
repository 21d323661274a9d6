"""Finds the sections that a reader means by a name, forgiving about case and spelling."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from core.errors import UnknownSection
from core.retrieval.named_sections.numbers import (
    SectionNumber,
    number_of,
    read_number,
    without_number,
)
from core.retrieval.named_sections.references import SectionReference
from core.storage.catalogue import SectionRecord

MOST = 3
"""Sections that are named where the book does not have the one asked for."""
_CLOSE_ENOUGH, _ALIKE = 86.0, 65.0
"""The likeness of spelling, up to 100, of what is meant, and of what may be meant."""
_MARKS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
_NUMBERED_FILE = re.compile(
    r"^(?:chapter|chap|ch|section|sec|part|unit|module|lesson|lecture|week)?[-_ ]?"
    r"(\d+)(?:[-_.](\d+)(?=\D|$))?",
    re.IGNORECASE,
)


def resolve_section(name: str, sections: Sequence[SectionRecord]) -> tuple[str, ...]:
    """Return the ids of the sections called `name`, in book order.

    A name is matched against module, heading, heading path ("Chapter > Section"), page title,
    file name and URL: first exactly (case, accents, punctuation aside), then by its number,
    then as the whole words of a heading, then by spelling, which a number does not allow.

    Raises:
        UnknownSection: naming the headings that come near, if any do.
    """
    read, folded = read_number(name), _fold(name)
    found = [s for s in sections if _by_url(name, s)]
    found = found or [section for section in sections if folded in _names(section)]
    found = found or (_by_number(read[0], sections) if read else [])
    if read is None or (read[0].kind is None and "." not in read[0].number):
        found = found or _by_words(folded, sections)
    if found:
        return tuple(dict.fromkeys(section.section_id for section in found))
    ranked = _by_spelling(folded, sections)
    best = ranked[0][0] if ranked else 0.0
    if best >= _CLOSE_ENOUGH and read is None:
        return tuple(dict.fromkeys(s.section_id for score, s in ranked if score == best))
    alike = tuple(dict.fromkeys(s.title for score, s in ranked if score >= _ALIKE))[:MOST]
    raise UnknownSection(name, near_number(read[0], sections) if read else alike)


def find_sections(
    reference: SectionReference, sections: Sequence[SectionRecord]
) -> list[SectionRecord]:
    """Return the sections that a question names, in book order; spelling forgives nothing."""
    if reference.number is not None:
        return _by_number(reference.number, sections)
    folded = _fold(reference.name)
    alike = (s for s in sections if folded in {_fold(s.title), _fold(without_number(s.title))})
    exact = list(alike) if folded else []
    likely = [] if exact or not reference.by_words else _by_words(folded, sections)
    return exact or (likely if len({section.title for section in likely}) == 1 else [])


def counts_sections_like(number: SectionNumber, sections: Sequence[SectionRecord]) -> bool:
    """Return whether the book numbers its sections this way, so that one can be missing."""
    numbers = [known for section in sections if (known := number_of(section.title))]
    if number.kind in {"section", "chapter"} and any(known.kind is None for known in numbers):
        return True
    return number.kind is not None and any(number.counts_like(known) for known in numbers)


def near_number(number: SectionNumber, sections: Sequence[SectionRecord]) -> tuple[str, ...]:
    """Return the headings whose numbers come near one, nearest first.

    Near are the sections of the same chapter, what the number is a part of, its own parts, and
    of whole chapters the one before and the one after.
    """
    near: list[tuple[tuple[int, int], str]] = []
    for section in sections:
        known = number_of(section.title)
        if known is None or replace(known, number=number.number).distance(number) is None:
            continue
        asked, have = ([int(n) for n in _DIGITS.findall(one.number)] for one in (number, known))
        depth, gap = min(len(asked), len(have)), abs(asked[-1] - have[-1])
        is_beside = asked[:-1] == have[:-1] and (depth > 1 or gap <= 1)
        if is_beside or (len(asked) != len(have) and asked[:depth] == have[:depth]):
            near.append(
                ((0, gap) if is_beside else (1, abs(len(asked) - len(have))), section.title)
            )
    return tuple(dict.fromkeys(title for _, title in sorted(near, key=itemgetter(0))))[:MOST]


def holds(
    section: SectionRecord, source_file: str, headings: Sequence[str], module: str | None
) -> bool:
    """Return whether what stands under these headings belongs to the section."""
    if not section.path and section.module is not None and section.title == section.module:
        return module == section.module
    own = tuple(headings[: len(section.path)]) == section.path
    return own and source_file == section.source_file


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _MARKS.sub(" ", plain).strip()


def _names(section: SectionRecord) -> set[str]:
    """Return what a section may be called, folded."""
    path, file = " ".join(section.path), PurePosixPath(section.source_file)
    names = [section.title, without_number(section.title), path, *section.path[-1:]]
    names += [str(file), file.stem, f"{section.module} {path}" if section.module else ""]
    return {_fold(name) for name in names} - {""}


def _by_url(name: str, section: SectionRecord) -> bool:
    if section.url is None or not {"/", "#"} & {*name}:
        return False
    wanted, have = unquote(name.strip()), unquote(section.url)
    parts = urlsplit(have)
    local = parts.path + (f"#{parts.fragment}" if parts.fragment else "")
    return wanted.rstrip("/") in {have.rstrip("/"), local.rstrip("/"), local.lstrip("/")}


def _by_number(number: SectionNumber, sections: Sequence[SectionRecord]) -> list[SectionRecord]:
    """Return the sections whose number it is, of the kind asked for where there are some.

    A chapter is also its numbered files; a section or § is one only where no heading is.
    """
    distances = [
        number.distance(known) if (known := number_of(section.title)) else None
        for section in sections
    ]
    nearest = min((d for d in distances if d is not None), default=None)
    in_files = number.kind != "§" and (nearest is None or number.kind != "section")
    return [
        section
        for section, distance in zip(sections, distances, strict=True)
        if (distance is not None and distance == nearest)
        or (in_files and not section.path and _file_has_number(section.source_file, number.number))
    ]


def _file_has_number(source_file: str, number: str) -> bool:
    """Return whether a file is chapter `number`, or one of its sections: `ch04-01-slices.md`."""
    match = _NUMBERED_FILE.match(PurePosixPath(source_file).stem)
    have = [int(part) for part in match.groups() if part] if match else []
    wanted = [int(part) for part in _DIGITS.findall(number)]
    return number[-1].isdigit() and have[: len(wanted)] == wanted


def _by_words(wanted: str, sections: Sequence[SectionRecord]) -> list[SectionRecord]:
    words = set(wanted.split())
    return [one for one in sections if words and words <= {*_fold(one.title).split()}]


def _by_spelling(
    wanted: str, sections: Sequence[SectionRecord]
) -> list[tuple[float, SectionRecord]]:
    """Return every section with its best likeness (0 to 100), best first, then in book order."""
    from rapidfuzz import fuzz

    likeness = [max(fuzz.ratio(wanted, known) for known in _names(one)) for one in sections]
    pairs = zip(likeness, sections, strict=True)
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1].ordinal))
