"""Runs cells in their lanes, and tells what was seen that must not be."""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from core.answering.verified import answer_id_for, phrasing_id_for
from core.teaching.help_requests import help_id_for
from tests.security.courses_matrix.cells import Cell
from tests.security.courses_matrix.relations import (
    BONDS,
    ONE,
    TAUGHT,
    TAUGHT_KINDS,
    TWO,
    Bond,
    Place,
    Relation,
    Role,
    heading,
    near_question,
    taught,
    unreadable,
    withheld,
    withheld_in_public,
    word,
)
from tests.security.courses_matrix.stored import Stored
from tests.security.courses_matrix.witness import Seen, Witness, excerpt

UNKNOWN_COURSE, UNKNOWN_SECTION = "zqiduncharted", "Zqheaduncharted workshop"
UNKNOWN_POLICY = "00000000"
_IN_A_HURRY = "It takes me longer than usual"
"""What is said at first on a busy machine, whatever follows."""
_TRIES = 3
AT_ONCE = 8
_MOST_SILENT = 20
"""Cells without any answer, after which there is no use in going on."""


class Silent(Exception):
    """Nothing came that a cell waited for."""


class Unlike(Exception):
    """A course that is not readable is spoken of otherwise than one that does not exist."""


@dataclass(eq=False)
class Lane:
    """A person in a place of their own, where cells are tried one after the other."""

    relation: Relation
    role: Role
    place: Place
    user: Any
    channel: Any
    """The channel that was made for it, also where it speaks in a thread or directly."""
    where: Any
    """What is spoken in: the channel, a thread or the direct conversation."""
    thread: Any = None
    """Slack: the message whose thread is spoken in."""
    places: frozenset[str] = frozenset()
    """What the witness calls the places and people of the lane."""
    turns: dict[str, UUID] = field(default_factory=dict)
    """Request ids of answers: `answer`, `private`; of a refusal that names sections: `near`."""
    question: Any = None
    """A message that was answered, or refused, before anything was revoked."""
    answer: Any = None
    offered: Any = None
    """A message that the bot offered to answer, before anything was revoked."""
    form: Any = None
    """A form of staff that was opened before anything was revoked."""
    typed: set[str] = field(default_factory=set)
    """Words that its person wrote: seeing them again tells nothing."""
    of: str = ""
    """The tenant, where it is not that of the relation."""

    @property
    def tenant(self) -> str:
        return self.of or self.bond.tenant

    @property
    def bond(self) -> Bond:
        return BONDS[self.relation]

    @property
    def unseen(self) -> str:
        """A course that its tenant may not read: the one that it is about, or another."""
        return self.bond.course if not self.bond.readable else "foreign"

    @property
    def is_refused(self) -> bool:
        """Whether the operator's file lets the lane's person ask nothing."""
        return self.relation is Relation.STAFF_ONLY and self.role is Role.STUDENT

    @property
    def asks_itself(self) -> bool:
        """Whether its person takes up no offers to others, and is answered at once instead."""
        return self.role is Role.STUDENT or self.relation is Relation.STAFF_ONLY

    @property
    def taught(self) -> str:
        """What its staff, or those of a course that it may not read, said: see `taught`."""
        tenant, course = self.bond.tenant, self.bond.course
        if (tenant, course) in TAUGHT:
            return taught(tenant, course)
        return next((taught(t, c) for t, c in TAUGHT if c == course), taught(*_OTHERS))

    @property
    def stolen(self) -> str:
        """What staff of another tenant said, of the same course where both read it."""
        if self.bond.course != "granted":
            return taught(*_OTHERS)
        return taught(TWO if self.tenant == ONE else ONE, "granted")

    @property
    def others_taught(self) -> str:
        """What staff of another tenant said, of the same course where its tenant reads it."""
        if self.bond.readable and self.bond.course == "granted":
            return self.stolen
        return self.taught if not self.bond.readable else taught(*_OTHERS)

    def passed_on(self, planted: Mapping[str, UUID], elsewhere: Mapping[str, UUID]) -> UUID:
        """Return the id of the turn that staff are asked about, or check.

        Args:
            planted: The ids of such turns, by what `taught` names.
            elsewhere: As of `request`.
        """
        if self.relation is Relation.ANOTHERS:
            return elsewhere["private"]
        own = self.turns.get("answer") or self.turns.get("private")
        return own if own is not None and self.bond.readable else planted[self.taught]

    def section(self, what: str) -> str:
        """Return the name of a section: of `its` course, of a `foreign` one, or of none."""
        if what == "unknown":
            return UNKNOWN_SECTION
        return heading(self.unseen if what == "foreign" else self.bond.course)

    def request(self, elsewhere: Mapping[str, UUID], letter: str) -> UUID:
        """Return the id of the turn whose button is pressed.

        Args:
            elsewhere: The ids of turns of other tenants by course, and of other people.
        """
        if letter == "choice":
            own = None if self.relation is Relation.ANOTHERS else self.turns.get(letter)
            return own or elsewhere[letter]
        match self.relation:
            case Relation.ANOTHERS:
                return elsewhere["near operator" if letter == "w" else "private"]
            case Relation.FOREIGN | Relation.WAITING:
                return elsewhere["near foreign" if letter == "w" else "foreign"]
            case Relation.OPERATORS_ELSEWHERE:
                return elsewhere["near operator" if letter == "w" else "operator"]
        if letter == "w":
            return self.turns.get("near", elsewhere["near foreign"])
        kept = self.turns.get("private" if letter == "s" else "answer")
        return kept or self.turns.get("private") or elsewhere["foreign"]

    def typing(self, text: str) -> str:
        """Return a text, and remember the words of courses in it as the person's own."""
        self.typed |= Seen(frozenset(), text, public=False).words
        return text


_OTHERS = (TWO, "foreign")


def name_of(letter: str, request: UUID) -> UUID:
    """Return the id in a button of staff about a turn: of its help request, or of its answer."""
    if letter in "taz":
        return help_id_for(request)
    return answer_id_for(f"turn:{request}") if letter in "wr" else request


def others_name(
    letter: str, key: str, planted: Mapping[str, UUID], offered: Mapping[str, UUID]
) -> UUID:
    """Return the id in a button about what staff of another tenant said, as `taught` names it."""
    if letter in "yo":
        return phrasing_id_for(name_of("r", planted[key]), near_question(key))
    return offered[key] if letter == "v" else name_of(letter, planted[key])


async def alike(tell: Callable[[str], Awaitable[str]], named: str, unknown: str) -> None:
    """Raise Unlike when what others have is spoken of otherwise than what there is not.

    Args:
        tell: Returns the answer to a person who names one of the two.
    """
    for _ in range(_TRIES):
        texts = [await tell(named), await tell(unknown)]
        if not any(_IN_A_HURRY in text for text in texts):
            break
    said = [
        re.sub(r"(?i)zq(id|head)[a-z]+", "X", text.replace(name, "X"))
        for text, name in zip(texts, (named, unknown), strict=True)
    ]
    if said[0] != said[1]:
        raise Unlike(f"{said[0]!r} and {said[1]!r}")


class Stage(Protocol):
    """A platform with the bot in front of it."""

    witness: Witness
    tenants: dict[str, str]

    async def act(self, cell: Cell, lane: Lane, mark: int) -> None:
        """Try a cell, and wait until the bot has answered.

        Raises:
            Silent: it says nothing.
            Unlike: its words tell that there is a course.
        """
        ...


@dataclass(frozen=True)
class Finding:
    """What is wrong with a cell."""

    cell: str
    what: str
    shown: str = ""

    def __str__(self) -> str:
        return f"{self.cell}: {self.what}" + (f" in “{self.shown}”" if self.shown else "")


@dataclass
class Findings:
    """What came of all cells."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    leaks: list[Finding] = field(default_factory=list)
    missing: list[Finding] = field(default_factory=list)
    """Cells in which something was due and did not come."""
    silent: list[Finding] = field(default_factory=list)
    changes: list[Finding] = field(default_factory=list)
    """Rows of other tenants that were written."""


async def run(
    stage: Stage,
    lanes: Iterable[Lane],
    cells: Sequence[Cell],
    stored: Stored | None = None,
    findings: Findings | None = None,
) -> Findings:
    """Try all cells; those that change a whole tenant come last, one by one.

    Args:
        stored: What each cell must leave as it is; None: it is not looked at.
        findings: What came of other cells, to which that of these is added.
    """
    findings, turns = Findings() if findings is None else findings, asyncio.Semaphore(AT_ONCE)
    by_lane: dict[Any, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_lane[cell.relation, cell.role, cell.place].append(cell)

    async def in_lane(lane: Lane, *, wide: bool) -> None:
        mine = by_lane[lane.relation, lane.role, lane.place]
        async with turns:
            for cell in mine:
                if cell.surface.wide is wide and len(findings.silent) < _MOST_SILENT:
                    await _tried(stage, lane, cell, findings)
                    if stored is not None:
                        changes = stored.changes()
                        findings.changes += [Finding(str(cell), one) for one in changes]

    listed = sorted(lanes, key=lambda lane: lane.offered is None)  # what was offered vanishes
    await asyncio.gather(*(in_lane(lane, wide=False) for lane in listed))
    for lane in listed:
        await in_lane(lane, wide=True)
    return findings


async def _tried(stage: Stage, lane: Lane, cell: Cell, findings: Findings) -> None:
    mark, name = stage.witness.mark(), str(cell)
    findings.tried[cell.surface.name, cell.relation] += 1
    try:
        await stage.act(cell, lane, mark)
    except Silent as nothing:
        if cell.relation not in cell.surface.silent:
            findings.silent.append(Finding(name, f"nothing came: {nothing}"))
    except Unlike as unlike:
        findings.leaks.append(Finding(name, f"its words are not those of an unknown id: {unlike}"))
    entries = list(stage.witness.since(mark, lane.places))
    is_kept = not (cell.surface.queue and lane.relation is Relation.FIXED)
    findings.leaks += _leaks(name, lane, entries, is_kept=is_kept)
    wanted = due(cell)
    if wanted is not None and not any(wanted in seen.words for seen in entries):
        shown = entries[-1].text[:300] if entries else ""
        findings.missing.append(Finding(name, f"{wanted} was due", shown))


def due(cell: Cell) -> str | None:
    """Return the word that a cell has to show; None: nothing is due."""
    relation, role, surface = cell.relation, cell.role, cell.surface
    bond = BONDS[relation]
    if not surface.shows or not bond.readable:
        return None
    if relation in (Relation.SWITCHED_OFF, Relation.HIDDEN, Relation.ANOTHERS):
        return None
    if relation in surface.silent:
        return None
    if role is Role.STUDENT and (surface.for_staff or relation is Relation.STAFF_ONLY):
        return None
    if surface.shows in TAUGHT_KINDS:
        return word(taught(bond.tenant, bond.course), surface.shows)
    return word(bond.course, surface.shows)


def _leaks(name: str, lane: Lane, entries: Iterable[Seen], *, is_kept: bool) -> list[Finding]:
    """Return what was shown and must not be; `is_kept`: the lane's lock holds for it, too."""
    never = unreadable(lane.bond.tenant)
    never |= withheld(lane.relation, lane.role) if is_kept else frozenset()
    in_public = withheld_in_public(lane.relation)
    found: dict[str, Finding] = {}
    for seen in entries:
        forbidden = never | in_public if seen.public else never
        for leaked in (seen.words & forbidden) - lane.typed:
            found.setdefault(leaked, Finding(name, leaked, excerpt(seen.text, leaked)))
    return list(found.values())


def swept(
    stage: Stage, lanes: Iterable[Lane], tenant_of: dict[str, str], revoked_at: int
) -> list[Finding]:
    """Return the words that were shown anywhere, at any time, to a tenant that may not read them.

    Args:
        tenant_of: The tenant of each place that entries name.
        revoked_at: Where the entries begin that were shown after the revocation.
    """
    typed: dict[str, set[str]] = defaultdict(set)
    for lane in lanes:
        for place in lane.places:
            typed[place] |= lane.typed
    found: dict[tuple[str, str], Finding] = {}
    for number, seen in enumerate(stage.witness.seen):
        own = frozenset(one for place in seen.places for one in typed[place])
        for tenant in {tenant_of[place] for place in seen.places if place in tenant_of}:
            before = number < revoked_at
            for leaked in (seen.words & unreadable(tenant, before_revocation=before)) - own:
                what = Finding(f"anywhere in tenant {tenant}", leaked, excerpt(seen.text, leaked))
                found.setdefault((tenant, leaked), what)
    return list(found.values())


def table(findings: Findings) -> str:
    """Return how many cells were tried, by surface and relation."""
    surfaces = list(dict.fromkeys(surface for surface, _ in findings.tried))
    relations = [r for r in Relation if any(r == tried for _, tried in findings.tried)]
    head = " " * 36 + " ".join(f"{number:>4}" for number in range(1, len(relations) + 1))
    rows = [
        f"{name:<36}" + " ".join(f"{findings.tried[name, r] or '·':>4}" for r in relations)
        for name in surfaces
    ]
    names = ", ".join(f"{n} {relation}" for n, relation in enumerate(relations, 1))
    return "\n".join((names, head, *rows))
