"""Finds the sections that a reader means by a name, forgiving about case and spelling."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

from core.catalogue import SectionRecord
from core.errors import UnknownSection

_CLOSE_ENOUGH = 86.0
_NEAREST = 3
_MARKS = re.compile(r"[\W_]+")
_NUMBERED = re.compile(
    r"^(?:(?:chapter|ch|section|sec|part|unit|module|lesson|lecture|week|kapitel|chapitre|capítulo)"
    r"\s*\.?\s*)?(\d+(?:\.\d+)*)$",
    re.IGNORECASE,
)
_NUMBERED_FILE = re.compile(
    r"^(?:chapter|chap|ch|section|sec|part|unit|module|lesson|lecture|week)?[-_ ]?"
    r"(\d+)(?:[-_.](\d+)(?=\D|$))?",
    re.IGNORECASE,
)


def resolve_section(name: str, sections: Sequence[SectionRecord]) -> tuple[str, ...]:
    """Return the ids of the sections called `name`, in book order.

    A name is matched against module, heading, heading path ("Chapter > Section"), page title,
    file name and URL: first exactly (case, accents, punctuation aside), then as a chapter
    number, then as the whole words of a heading, then by spelling.

    Raises:
        UnknownSection: naming the nearest headings.
    """
    for matches in (_by_url, _by_name, _by_number, _by_words):
        if found := [section.section_id for section in sections if matches(name, section)]:
            return tuple(dict.fromkeys(found))
    ranked = _by_spelling(name, sections)
    best = ranked[0][0] if ranked else 0.0
    if best >= _CLOSE_ENOUGH:
        return tuple(dict.fromkeys(s.section_id for score, s in ranked if score == best))
    nearest = dict.fromkeys(section.title for _, section in ranked)
    raise UnknownSection(name, list(nearest)[:_NEAREST])


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _MARKS.sub(" ", plain).strip()


def _names(section: SectionRecord) -> Iterator[str]:
    yield section.title
    yield " ".join(section.path)
    if section.path:
        yield section.path[-1]
    if section.module:
        yield f"{section.module} {' '.join(section.path)}"
    yield section.source_file
    yield section.source_file.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _by_url(name: str, section: SectionRecord) -> bool:
    if "/" not in name and "#" not in name:
        return False
    if section.url is None:
        return False
    wanted, have = unquote(name.strip()), unquote(section.url)
    parts = urlsplit(have)
    local = parts.path + (f"#{parts.fragment}" if parts.fragment else "")
    return wanted.rstrip("/") in {have.rstrip("/"), local.rstrip("/"), local.lstrip("/")}


def _by_name(name: str, section: SectionRecord) -> bool:
    wanted = _fold(name)
    return bool(wanted) and any(_fold(known) == wanted for known in _names(section))


def _by_number(name: str, section: SectionRecord) -> bool:
    match = _NUMBERED.match(name.strip())
    if match is None:
        return False
    number = re.escape(match.group(1))
    starts = re.compile(rf"^(?:[a-z]+\s*)?0*{number}(?!\d|\.\d)", re.IGNORECASE)
    return starts.match(section.title) is not None or (
        not section.path and _file_has_number(section.source_file, match.group(1))
    )


def _file_has_number(source_file: str, number: str) -> bool:
    """Return whether a file is chapter `number`, or one of its sections: `ch04-01-slices.md`."""
    name = source_file.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    match = _NUMBERED_FILE.match(name)
    if match is None:
        return False
    have = [str(int(part)) for part in match.groups() if part is not None]
    wanted = [str(int(part)) for part in number.split(".")]
    return have[: len(wanted)] == wanted


def _by_words(name: str, section: SectionRecord) -> bool:
    wanted = _fold(name).split()
    return bool(wanted) and set(wanted) <= set(_fold(section.title).split())


def _by_spelling(name: str, sections: Sequence[SectionRecord]) -> list[tuple[float, SectionRecord]]:
    """Return every section with its best likeness (0 to 100), best first, then in book order."""
    from rapidfuzz import fuzz

    wanted = _fold(name)
    scored = [
        (max(fuzz.ratio(wanted, _fold(known)) for known in _names(section)), section)
        for section in sections
    ]
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].ordinal))
