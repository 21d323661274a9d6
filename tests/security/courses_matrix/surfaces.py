"""The one table of surfaces, and the cells that it makes."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.security.courses_matrix.relations import BONDS, Place, Relation, Role

DISCORD, SLACK = "discord", "slack"
BOTH = frozenset({DISCORD, SLACK})
ROOMS = frozenset({Place.CHANNEL, Place.THREAD})
ANYWHERE = frozenset(Place)
LOCKS = frozenset({Relation.SWITCHED_OFF, Relation.FIXED, Relation.STAFF_ONLY, Relation.HIDDEN})
_PLAIN = frozenset(Relation) - {Relation.HIDDEN, Relation.ANOTHERS}
_TURNS = _PLAIN - {Relation.SWITCHED_OFF} | {Relation.ANOTHERS}
_SILENT = frozenset({Relation.SWITCHED_OFF})
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
    relations: frozenset[Relation] = _PLAIN
    silent: frozenset[Relation] = _NEVER_SILENT
    """Where the bot may say nothing at all."""
    for_staff: bool = False
    """Whether only staff may use it."""
    wide: bool = False
    """Whether it changes what holds in a whole tenant: tried last, one after the other."""


def _command(name: str, act: str = "", what: str = "", **more: object) -> Surface:
    return Surface(name, act or name.replace("-", "_"), what, **more)  # type: ignore[arg-type]


def _course(name: str, act: str, what: str = "", **more: object) -> Surface:
    places = {"places": ANYWHERE, **more}
    return Surface(f"course {name}", act, what, for_staff=True, **places)  # type: ignore[arg-type]


def _button(name: str, letter: str, seen: tuple[str, ...] = (), **more: object) -> Surface:
    names = (f"button {letter}", *seen)
    common = {"discord": names, "slack": names, "relations": _TURNS}
    return Surface(f"button {name}", "press", letter, **{**common, **more})  # type: ignore[arg-type]


_ASKING = (
    _command("ask", shows="body", discord=("ask", "ask question"), slack=("/ask",)),
    _command("ask private", "ask", "private", shows="body", discord=("ask private",)),
    _command("ask public", "ask", "public", shows="body"),
    Surface("ask by default", "ask", "", relations=frozenset({Relation.HIDDEN}), places=ROOMS),
    _command("ask its section", "ask_section", "its", shows="body", discord=("ask section",)),
    _command("ask an unknown section", "ask_section", "unknown"),
    _command("ask another's section", "ask_section", "foreign"),
    _command(
        "sections suggested",
        "sections",
        shows="head",
        discord=("ask section suggested",),
        platforms=frozenset({DISCORD}),
    ),
    _command("sections for its word", "sections", "its", platforms=frozenset({DISCORD})),
    _command("sections for another's word", "sections", "foreign", platforms=frozenset({DISCORD})),
    Surface(
        "mention",
        "mention",
        shows="body",
        silent=_SILENT,
        slack=("app_mention", "message.channels", "message.im", "message.groups", "message.mpim"),
    ),
    Surface("mention with a quote", "mention", "quote", silent=_SILENT),
    Surface("share of a passage", "pass_on", silent=_SILENT),
    Surface("reply to a passage", "reply", silent=_SILENT, platforms=frozenset({DISCORD})),
    Surface("edit", "edit", silent=frozenset(Relation)),
    Surface("follow-up", "follow_up", silent=frozenset(Relation)),
    Surface(
        "new post",
        "begin",
        places=frozenset({Place.CHANNEL}),
        relations=_PLAIN - LOCKS | _SILENT,  # it is tried in a channel of its own
        silent=frozenset(Relation),
    ),
    Surface(
        "explain",
        "explain",
        discord=("menu Explain this passage",),
        slack=("shortcut explain", "modal explain", "message.channels"),
        silent=_SILENT,
    ),
    Surface("explain privately", "explain", "private", platforms=frozenset({SLACK})),
    _command("help question", "help", "question", discord=("glossator help question",)),
)
_ABOUT = (
    _command("help", discord=("glossator help",), slack=("/glossator",)),
    _command("sources", shows="title", discord=("glossator sources",)),
    _command("about", shows="title", discord=("glossator about",)),
    _command("data", discord=("glossator data",)),
    Surface(
        "home",
        "home",
        shows="title",
        slack=("app_home_opened", "home"),
        platforms=frozenset({SLACK}),
        places=frozenset({Place.DIRECT}),
    ),
    Surface(
        "panel opened",
        "panel",
        slack=("assistant_thread_started",),
        platforms=frozenset({SLACK}),
        places=frozenset({Place.CHANNEL, Place.DIRECT}),
    ),
    Surface(
        "panel asked",
        "panel",
        "ask",
        shows="body",
        platforms=frozenset({SLACK}),
        places=frozenset({Place.CHANNEL, Place.DIRECT}),
        silent=_SILENT,
    ),
    Surface(
        "panel moved",
        "panel",
        "move",
        slack=("assistant_thread_context_changed",),
        platforms=frozenset({SLACK}),
        places=frozenset({Place.CHANNEL}),
        silent=_SILENT,
    ),
)
_SETTING = (
    _course("show", "show", shows="id", discord=("course show",), slack=("/course", "course show")),
    _course("bind its course", "bind", "its", discord=("course bind", "course bind course")),
    _course("bind another's or unknown", "bind_unseen", slack=("course bind",)),
    _course(
        "courses suggested",
        "courses",
        shows="id",
        discord=("course bind course suggested",),
        platforms=frozenset({DISCORD}),
    ),
    _course("courses for its word", "courses", "its", platforms=frozenset({DISCORD})),
    _course("unbind", "unbind", discord=("course unbind",), slack=("course unbind",)),
    _course(
        "switch",
        "switch",
        discord=("course switch", "course switch state"),
        slack=("course switch",),
    ),
    _course(
        "pause",
        "pause",
        discord=("course pause", "course resume"),
        slack=("course pause", "course resume"),
    ),
    *(
        _course(
            f"set {name}",
            "set_rule",
            name,
            discord=("course set", f"course set {name}"),
            slack=("course set", f"course set {name.replace('_', '-')}"),
        )
        for name in ("follow_ups", "askers", "length", "private", "auto_answer")
    ),
    _course(
        "set outsiders",
        "set_rule",
        "outsiders",
        slack=("course set outsiders",),
        platforms=frozenset({SLACK}),
    ),
    *(
        _course(
            f"{name} everywhere",
            "wide",
            name,
            wide=True,
            places=frozenset({Place.CHANNEL}),
            discord=(f"course {name.split()[0]} where",),
            slack=("course workspace",),
        )
        for name in ("bind its", "unbind", "switch", "set")
    ),
)
_STAFF = tuple(
    _course(
        f"staff {name}",
        "staff",
        name,
        discord=(f"course staff {name}", *(f"course staff {name} {o}" for o in options)),
        slack=("course staff", f"course staff {name}"),
    )
    for name, options in (
        ("add", ("role", "person", "course")),
        ("remove", ("role", "person", "course", "gone")),
        ("list", ()),
    )
) + tuple(
    _course(
        f"staff {name} suggested",
        "courses",
        f"staff {name}",
        shows="id",
        discord=(f"course staff {name} course suggested",),
        platforms=frozenset({DISCORD}),
    )
    for name in ("add", "remove")
)
_PRESSING = (
    _button("Helpful", "h", ("button vote",)),
    _button("Not helpful", "n", ("modal gl:reason",)),
    _button("Evidence", "e", shows="body"),
    _button("Ask again without the quote", "q", silent=_SILENT),
    _button("Share", "s"),
    _button("Stop", "x"),
    _button("Delete this answer", "d", platforms=frozenset({SLACK})),
    *(
        Surface(
            f"choice of {what} course",
            "choose",
            what,
            discord=("button course",),
            slack=("button course",),
            relations=_TURNS,
            places=frozenset({Place.DIRECT}),
        )
        for what in ("its", "another's")
    ),
    Surface(
        "button forget-me", "forget", discord=("button forget-me",), slack=("button forget-me",)
    ),
    Surface(
        "button export-my-data",
        "export",
        discord=("button export-my-data",),
        slack=("button export-my-data",),
    ),
)
SURFACES = (*_ASKING, *_ABOUT, *_SETTING, *_STAFF, *_PRESSING)


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
                    if _applies(cell, platform):
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
        _applies(Cell(surface, relation, role, place), other) for role in Role for place in Place
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


def _applies(cell: Cell, platform: str) -> bool:
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
    {"ask", "ask_section", "help", "sources", "about", "data", "show"}
    | {"bind", "bind_unseen", "unbind", "switch", "pause", "set_rule", "forget", "wide", "staff"}
)
"""What Slack has no way to do in a thread."""
