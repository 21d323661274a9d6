"""Counts by section in which no number tells anything of fewer than a few people.

Every number is a sum over a group of events by at least `k` people, and no event is in two groups
of one kind: sums and differences of such numbers, of one week or of several, are again sums over
whole groups. What is in no group is in no number, totals included. That is complementary
suppression by construction: there is nothing to subtract from.

Source: Sweeney, k-Anonymity: A Model for Protecting Privacy (2002); Hundepool et al., Statistical
Disclosure Control (2012), chapter 4.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from core.providers.embeddings.base import Embedder, Vectors

LEAST = 2
"""People that a number is about at least, whatever is configured."""
ASKERS = 3
"""The same where nothing is configured."""
OTHER: tuple[str, ...] = ()
"""Stands for all sections that are too small to be shown."""


class Ending(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    VERIFIED = "verified"
    """With an answer that the course's staff checked."""
    NOT_SURE = "not_sure"
    NOT_COVERED = "not_covered"
    HELD = "held"
    """By a policy of the staff, such as hints only."""


@dataclass(frozen=True, slots=True)
class Event:
    """A question that was asked in a week."""

    section: tuple[str, ...]
    """Headings that lead to what it is about; `OTHER`: nothing is known of that."""
    ending: Ending
    asker: str
    """A pseudonym."""
    down_voters: frozenset[str] = frozenset()
    """Who found the answer not helpful."""


@dataclass(frozen=True, slots=True)
class SectionActivity:
    """What was asked about a section in a week; each number is about `k` people or more."""

    section: tuple[str, ...]
    """`OTHER`: the sum of those that are too small."""
    endings: Mapping[Ending, int] = field(default_factory=dict)
    """Questions by how they ended; what is missing is not shown."""
    voted_down: int = 0
    """Votes; 0: it is not shown how many."""
    askers: int = 0
    """People at least: a multiple of `k`."""

    @property
    def questions(self) -> int:
        """How many questions are shown."""
        return sum(self.endings.values())


def activity_of(events: Iterable[Event], k: int = ASKERS) -> list[SectionActivity]:
    """Return what may be shown of some events, the sections that were asked about most first.

    Args:
        k: People that each number is about at least.
    """
    k = max(k, LEAST)
    asked, voted = defaultdict[_Cell, list[str]](list), defaultdict[_Cell, list[str]](list)
    for event in events:
        asked[event.section, event.ending].append(event.asker)
        voted[event.section, None].extend(sorted(event.down_voters))
    shown = _shown(asked, k)
    votes = {section: len(people) for (section, _), people in _shown(voted, k).items()}
    sections = dict.fromkeys([*(section for section, _ in shown), *votes])
    found = [_told(section, shown, votes, k) for section in sections]
    return sorted(found, key=lambda one: (one.section == OTHER, -one.questions, one.section))


_Cell = tuple[tuple[str, ...], Ending | None]


def _shown(cells: Mapping[_Cell, list[str]], k: int) -> dict[_Cell, list[str]]:
    """Return the cells of at least `k` people; the smaller ones of a kind as one, if it is."""
    shown = dict[_Cell, list[str]]()
    rest = defaultdict[_Cell, list[str]](list)
    for (section, ending), people in cells.items():
        if section != OTHER and len(set(people)) >= k:
            shown[section, ending] = people
        else:
            rest[OTHER, ending].extend(people)
    shown.update({cell: people for cell, people in rest.items() if len(set(people)) >= k})
    return shown


def _told(
    section: tuple[str, ...],
    shown: Mapping[_Cell, list[str]],
    votes: Mapping[tuple[str, ...], int],
    k: int,
) -> SectionActivity:
    own = {e: people for (place, e), people in shown.items() if place == section and e is not None}
    askers = {person for people in own.values() for person in people}
    return SectionActivity(
        section,
        {ending: len(own[ending]) for ending in Ending if ending in own},
        votes.get(section, 0),
        len(askers) // k * k,  # how many asked twice would tell of single people
    )


def summed(reports: Iterable[Iterable[SectionActivity]]) -> list[SectionActivity]:
    """Return several reports as one: sums of numbers that may be shown may be shown."""
    found = dict[tuple[str, ...], SectionActivity]()
    for one in (activity for report in reports for activity in report):
        before = found.get(one.section, SectionActivity(one.section))
        endings = {
            ending: before.endings.get(ending, 0) + one.endings.get(ending, 0)
            for ending in Ending
            if ending in before.endings or ending in one.endings
        }
        found[one.section] = SectionActivity(
            one.section, endings, before.voted_down + one.voted_down, before.askers + one.askers
        )
    rows = found.values()
    return sorted(rows, key=lambda one: (one.section == OTHER, -one.questions, one.section))


ALIKE = 0.8
"""Cosine from which two questions are counted as the same."""
MOST = 5
"""Groups that are shown."""
_MOST_COMPARED = 3_000
_ADDRESS = re.compile(r"<[@#!][^<>\s]*>|@\w[\w.-]*|\S+@\S+\.\S+|https?://\S+|\b\w*\d{5,}\w*\b")
"""A mention, an account, an address, or a number that may be a user's."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_GAP = "…"
_GAPS = re.compile(r"…(?:[\s,]*…)+")

IsCommon = Callable[[str], bool]
"""Returns whether a word is one of the book's, or of its language."""


@dataclass(frozen=True, slots=True)
class AskedWording:
    """A question, in its asker's words."""

    request_id: UUID
    asker: str
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Questions that mean the same, by at least `k` people."""

    request_ids: tuple[UUID, ...]


async def groups_of(wordings: Sequence[AskedWording], k: int, embedder: Embedder) -> list[Group]:
    """Return what was asked by at least `k` people, by most of them first.

    Raises:
        EmbeddingError: when the model gives no usable vectors.
    """
    wordings = wordings[:_MOST_COMPARED]
    if not wordings:
        return []
    texts = [*dict.fromkeys(folded(one.text) for one in wordings)]
    numbers = {text: number for number, text in enumerate(texts)}
    vectors = await embedder.embed_queries(texts)
    counts = Counter(folded(one.text) for one in wordings)
    found = []
    for members in _clusters(vectors, [counts[text] for text in texts]):
        own = [one for one in wordings if numbers[folded(one.text)] in members]
        askers = {one.asker for one in own}
        if len(askers) >= k:
            found.append((len(askers), tuple(one.request_id for one in own)))
    found.sort(key=lambda one: (-one[0], one[1]))
    return [Group(ids) for _, ids in found[:MOST]]


def _clusters(vectors: Vectors, counts: Sequence[int]) -> Iterator[set[int]]:
    """Yield the numbers of texts around those that were asked most, each once."""
    left = set(range(len(vectors)))
    for number in sorted(left, key=lambda n: (-counts[n], n)):
        if number not in left:
            continue
        alike = vectors @ vectors[number]
        members = {other for other in left if other == number or alike[other] >= ALIKE}
        left -= members
        yield members


def told(wordings: Sequence[AskedWording], k: int, is_common: IsCommon) -> str | None:
    """Return the shortest wording of a group in which every word is common, or used by `k` people.

    Other words are left out, since they may be names; None: fewer than `k` people are left.
    """
    if len({one.asker for one in wordings}) < k:
        return None
    users = Counter(
        word for asker in {one.asker for one in wordings} for word in _words_by(asker, wordings)
    )
    shown = [
        without_names(one.text, lambda word: users[word.casefold()] >= k or is_common(word))
        for one in wordings
    ]
    return min(shown, key=lambda text: (text.count(_GAP), len(text), text))


def _words_by(asker: str, wordings: Sequence[AskedWording]) -> set[str]:
    said = " ".join(one.text for one in wordings if one.asker == asker)
    return {word.casefold() for word in _WORD.findall(said)}


def without_names(text: str, is_common: IsCommon) -> str:
    """Return a text with a gap for each address, long number, and word that may be a name."""
    text = _ADDRESS.sub(_GAP, " ".join(text.split()))
    shown = _WORD.sub(lambda word: word[0] if is_common(word[0]) else _GAP, text)
    return _GAPS.sub(_GAP, shown)


def folded(text: str) -> str:
    """Return a question as it is compared letter by letter."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", plain))
