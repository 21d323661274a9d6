"""What a surface is, and the few kinds of them."""

from dataclasses import dataclass

from tests.security.courses_matrix.relations import BONDS, Place, Relation

DISCORD, SLACK = "discord", "slack"
BOTH = frozenset({DISCORD, SLACK})
ROOMS = frozenset({Place.CHANNEL, Place.THREAD})
ANYWHERE = frozenset(Place)
PLAIN = frozenset(Relation) - {Relation.HIDDEN, Relation.ANOTHERS, Relation.LENT}
TURNS = PLAIN - {Relation.SWITCHED_OFF} | {Relation.ANOTHERS}
SILENT = frozenset({Relation.SWITCHED_OFF})
UNASKED = SILENT | {relation for relation, bond in BONDS.items() if not bond.readable}
"""Where the bot neither offers nor suggests anything."""
_NEVER_SILENT = frozenset[Relation]()


@dataclass(frozen=True)
class Surface:
    """A way to make the bot say something."""

    name: str
    act: str
    """The method of a platform's acts that tries it."""
    what: str = ""
    """What the method is given."""
    shows: str = ""
    """The kind of word of a readable course that has to come."""
    discord: tuple[str, ...] = ()
    """The names, as registered or as seen on the wire, that it covers on Discord."""
    slack: tuple[str, ...] = ()
    """The names, as of the manifest, of `/course` or as seen on the wire, that it covers."""
    platforms: frozenset[str] = BOTH
    places: frozenset[Place] = ANYWHERE
    relations: frozenset[Relation] = PLAIN
    silent: frozenset[Relation] = _NEVER_SILENT
    """Where the bot may say nothing at all."""
    for_staff: bool = False
    """Whether only staff may use it."""
    wide: bool = False
    """Whether it changes what holds in a whole tenant or platform: tried last, one by one."""
    queue: bool = False
    """Whether it ends in what waits for its staff, of all their courses, wherever that is shown."""
    again: bool = False
    """Whether all that its person sent is delivered once more, as it was."""


def command(name: str, act: str = "", what: str = "", **more: object) -> Surface:
    """Return a command that everybody may use."""
    return Surface(name, act or name.replace("-", "_"), what, **more)  # type: ignore[arg-type]


def of_course(name: str, act: str, what: str = "", **more: object) -> Surface:
    """Return a command for staff."""
    places = {"places": ANYWHERE, **more}
    return Surface(f"course {name}", act, what, for_staff=True, **places)  # type: ignore[arg-type]


def button(name: str, letter: str, seen: tuple[str, ...] = (), **more: object) -> Surface:
    """Return a button, called by the letter in its id; `seen` are other names that it covers."""
    names = (f"button {letter}", *seen)
    common = {"discord": names, "slack": names, "relations": TURNS}
    return Surface(f"button {name}", "press", letter, **{**common, **more})  # type: ignore[arg-type]
