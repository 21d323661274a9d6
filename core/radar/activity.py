"""Counts by section in which no number tells anything of fewer than a few people.

Every number is a sum over a group of events by at least `k` people, and no event is in two groups
of one kind: sums and differences of such numbers, of one week or of several, are again sums over
whole groups. What is in no group is in no number, totals included. That is complementary
suppression by construction: there is nothing to subtract from.

Source: Sweeney, k-Anonymity: A Model for Protecting Privacy (2002); Hundepool et al., Statistical
Disclosure Control (2012), chapter 4.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

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
