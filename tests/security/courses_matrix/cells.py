"""The cells that the table of surfaces makes."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.security.courses_matrix.relations import BONDS, Place, Relation, Role
from tests.security.courses_matrix.surface import DISCORD, SLACK, Surface
from tests.security.courses_matrix.surfaces import SURFACES


@dataclass(frozen=True)
class Cell:
    """One surface, tried by one kind of person in one kind of place."""

    surface: Surface
    relation: Relation
    role: Role
    place: Place

    def __str__(self) -> str:
        parts = (self.surface.name, self.relation, self.role, self.place)
        return " × ".join(map(str, parts))


def cells(platform: str) -> Iterator[Cell]:
    """Yield all cells of a platform, in the order in which one place sees them."""
    for surface in SURFACES:
        for relation in Relation:
            for role in Role:
                for place in Place:
                    cell = Cell(surface, relation, role, place)
                    if applies(cell, platform):
                        yield cell


def cross_section(platform: str) -> list[Cell]:
    """Return cells that have every surface × relation once, on one platform or the other.

    What both platforms have is tried on each in turn; few people in few places try it all.
    """
    groups: dict[tuple[Surface, Relation], list[Cell]] = {}
    for cell in cells(platform):
        groups.setdefault((cell.surface, cell.relation), []).append(cell)
    other = SLACK if platform == DISCORD else DISCORD
    return [
        _preferred(group, number)
        for number, ((surface, relation), group) in enumerate(groups.items())
        if not _is_tried_by(surface, relation, platform, other)
    ]


def _is_tried_by(surface: Surface, relation: Relation, platform: str, other: str) -> bool:
    """Return whether the other platform's cross-section has a surface and relation."""
    turn = (SURFACES.index(surface) + list(Relation).index(relation)) % 2
    on_both = any(
        applies(Cell(surface, relation, role, place), other) for role in Role for place in Place
    )
    return on_both and turn == (platform == DISCORD)


def _preferred(group: list[Cell], number: int) -> Cell:
    ways = _FEW_WAYS[number % len(_FEW_WAYS) :] + _FEW_WAYS
    for role, place in ways:
        for cell in group:
            if (cell.role, cell.place) == (role, place):
                return cell
    return group[0]


_FEW_WAYS = (
    (Role.STUDENT, Place.CHANNEL),
    (Role.STAFF, Place.THREAD),
    (Role.ADMIN, Place.CHANNEL),
    (Role.STUDENT, Place.DIRECT),
)
"""Who tries what where in a cross-section."""


def covered(platform: str) -> frozenset[str]:
    """Return the names that the table covers on a platform."""
    own = [s.discord if platform == DISCORD else s.slack for s in SURFACES]
    return frozenset(name for names in own for name in names)


def applies(cell: Cell, platform: str) -> bool:
    """Return whether a platform has a cell."""
    surface = cell.surface
    if platform not in surface.platforms or cell.relation not in surface.relations:
        return False
    if cell.place not in surface.places:
        return False
    if cell.place is Place.DIRECT and BONDS[cell.relation].by_file:
        return False  # the operator's file says nothing of direct messages
    if platform == DISCORD and cell.place is Place.DIRECT and surface.name.startswith("course"):
        return False  # Discord has no such command there
    no_threads = platform == SLACK and cell.place is Place.THREAD
    return not (no_threads and surface.act in _COMMANDS)


_COMMANDS = frozenset(
    {"ask", "ask_section", "help", "about_bot", "show"}
    | {"bind", "bind_unseen", "unbind", "switch", "pause", "set_rule", "forget", "wide", "staff"}
    | {"queue", "verified", "policy", "hints", "radar", "ask_taught", "post_queue"}
)
"""What Slack has no way to do in a thread."""
