"""How a question may be answered in a place, until when, and what decides between two policies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from core.models import PolicyMode

if TYPE_CHECKING:  # it reads words, which takes long to import
    from core.policies.withheld import WithheldSolution

_STRICTNESS = {mode: strictness for strictness, mode in enumerate(PolicyMode)}


@dataclass(frozen=True, slots=True)
class Assignment:
    """What students are to work out themselves."""

    name: str
    text: str
    """What they are given, word for word."""
    sections: tuple[str, ...] = ()
    """Headings of the book that it is about."""
    solution: "WithheldSolution | None" = field(default=None, repr=False)
    """None: there is nothing to compare with."""


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """How a course's questions are answered in a place, about a section, or for an assignment."""

    key: str
    """Identifies it within its course."""
    course_id: str
    mode: PolicyMode
    place: str | None = None
    """A channel, category, server or workspace by the platform's id; None: everywhere."""
    section: str | None = None
    """A heading of the book; None: whatever the question is about."""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    """From then on it does not hold any more."""
    assignment: Assignment | None = None
    """It holds for the questions that belong to it alone, and for those in every place."""
    tenant: str | None = None
    """Whose staff set it, as `discord:42`: it holds there. None: the operator, everywhere."""

    def is_valid(self, moment: datetime) -> bool:
        """Return whether it holds at a moment."""
        begun = self.valid_from is None or self.valid_from <= moment
        return begun and (self.valid_until is None or moment < self.valid_until)


@dataclass(frozen=True, slots=True)
class AskedAt:
    """Where and when a question was asked."""

    places: tuple[str, ...]
    """The ids of the places around it, narrowest first."""
    moment: datetime
    tenants: frozenset[str] = frozenset()
    """Whose people ask: the tenant of the place; in direct messages all that the asker is in."""


def valid_at(policies: Iterable[AnswerPolicy], asked: AskedAt) -> list[AnswerPolicy]:
    """Return the policies that may hold for a question, whatever it is about."""
    return [
        policy
        for policy in policies
        if policy.is_valid(asked.moment)
        and (policy.place is None or policy.place in asked.places)
        and (policy.tenant is None or policy.tenant in asked.tenants)
    ]


def in_force(
    valid: Iterable[AnswerPolicy], asked: AskedAt, about: Sequence[AnswerPolicy]
) -> AnswerPolicy | None:
    """Return the policy that a question is answered by; None: in full.

    Of those without an assignment the narrowest place wins, about a section before about
    anything, then the strictest mode. One with an assignment holds in every place for what
    belongs to it: the stricter of the two wins, and of equals the one with the assignment.

    Args:
        valid: What `valid_at` returned.
        about: Those of them whose assignment or section the question belongs to.
    """
    known = {policy.key for policy in about}
    holding = [
        policy
        for policy in valid
        if policy.key in known or (policy.assignment is None and policy.section is None)
    ]
    placed = [policy for policy in holding if policy.assignment is None]
    assigned = [policy for policy in holding if policy.assignment is not None]
    narrowest = min(placed, key=lambda policy: _width(policy, asked), default=None)
    rivals = [*assigned, *([narrowest] if narrowest is not None else [])]
    winner = max(rivals, key=_weight, default=None)
    return None if winner is None or winner.mode is PolicyMode.FULL else winner


def _width(policy: AnswerPolicy, asked: AskedAt) -> tuple[int, bool, int]:
    """Return what the narrowest policy has least of."""
    everywhere = len(asked.places)
    place = everywhere if policy.place is None else asked.places.index(policy.place)
    return place, policy.section is None, -_STRICTNESS[policy.mode]


def _weight(policy: AnswerPolicy) -> tuple[int, bool]:
    return _STRICTNESS[policy.mode], policy.assignment is not None
