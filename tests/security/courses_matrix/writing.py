"""The cells of the matrix of writes: all surfaces, and those that try to write another's."""

from collections.abc import Iterator
from dataclasses import replace

from tests.security.courses_matrix.cells import Cell, applies
from tests.security.courses_matrix.relations import Place, Relation, Role
from tests.security.courses_matrix.surface import Surface
from tests.security.courses_matrix.surfaces import SURFACES

RELATIONS = (
    Relation.OWN,
    Relation.GRANTED,
    Relation.LENT,
    Relation.REVOKED,
    Relation.FOREIGN,
)
"""What the course of a cell is to the tenant that acts."""
_BUTTONS = (
    *(("Ask the staff", "k"), ("Take", "t"), ("Answer", "a"), ("Dismiss", "z"), ("Verify", "c")),
    *(("Edit", "w"), ("Retire", "r"), ("Same question", "y"), ("Another question", "o")),
    *(("Helpful", "h"), ("Not helpful", "n"), ("Evidence", "e"), ("Share", "s"), ("Stop", "x")),
    ("Show the staff's answer", "v"),
)
STEALING = (
    Surface("a form opened before", "old_form"),  # another form takes its place
    Surface("the owner's answer, rewritten", "rewrite"),
    *(Surface(f"another's button {name}", "steal", letter) for name, letter in _BUTTONS),
    *(Surface(f"stale button {name}", "stale", letter) for name, letter in _BUTTONS[:7]),
)
"""Ways to write what belongs to another tenant, or is not any more what it was."""


def write_cells(platform: str) -> list[Cell]:
    """Return the cells of a platform: each surface, and each with all of it delivered again."""
    return [cell for surface in _surfaces() for cell in _cells(surface, platform)]


def essential_cells(platform: str) -> list[Cell]:
    """Return the cells in which guests' staff press what belongs to a course's owner."""
    return [
        cell
        for surface in STEALING
        for cell in _cells(surface, platform)
        if (cell.relation, cell.role) == (Relation.GRANTED, Role.STAFF)
    ]


def _surfaces() -> Iterator[Surface]:
    first, *others = SURFACES  # an offer lasts ten minutes
    for surface in (first, *STEALING, *others):
        yield surface
        if surface.act not in _ONCE:
            yield replace(surface, name=f"{surface.name}, delivered again", again=True)


def _cells(surface: Surface, platform: str) -> Iterator[Cell]:
    for relation in RELATIONS:
        like = Relation.GRANTED if relation is Relation.LENT else relation
        for role in Role:
            places = (p for p in Place if applies(Cell(surface, like, role, p), platform))
            place = next(places, None)
            is_chosen_from = relation is Relation.LENT and place is Place.DIRECT
            if place is not None and not is_chosen_from:
                yield Cell(surface, relation, role, place)


_ONCE = frozenset({"take_up", "begin", "look", "home", "stop", "old_form"})
"""What is no message, press or form, or can be done once."""
