"""The one table of surfaces."""

from dataclasses import dataclass

from tests.security.courses_matrix.relations import BONDS, Place, Relation

DISCORD, SLACK = "discord", "slack"
BOTH = frozenset({DISCORD, SLACK})
ROOMS = frozenset({Place.CHANNEL, Place.THREAD})
ANYWHERE = frozenset(Place)
LOCKS = frozenset({Relation.SWITCHED_OFF, Relation.FIXED, Relation.STAFF_ONLY, Relation.HIDDEN})
_PLAIN = frozenset(Relation) - {Relation.HIDDEN, Relation.ANOTHERS}
_TURNS = _PLAIN - {Relation.SWITCHED_OFF} | {Relation.ANOTHERS}
_SILENT = frozenset({Relation.SWITCHED_OFF})
_UNASKED = _SILENT | {relation for relation, bond in BONDS.items() if not bond.readable}
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
    relations: frozenset[Relation] = _PLAIN
    silent: frozenset[Relation] = _NEVER_SILENT
    """Where the bot may say nothing at all."""
    for_staff: bool = False
    """Whether only staff may use it."""
    wide: bool = False
    """Whether it changes what holds in a whole tenant or platform: tried last, one by one."""


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
    Surface(  # the first one: an offer lasts ten minutes
        "offer taken up",
        "take_up",
        shows="body",
        discord=("MESSAGE_REACTION_ADD",),
        slack=("reaction_added",),
        places=ROOMS,
        silent=_UNASKED,
    ),
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
        discord=("MESSAGE_CREATE",),
        slack=("app_mention", "message.channels", "message.im", "message.groups", "message.mpim"),
    ),
    Surface("mention with a quote", "mention", "quote", silent=_SILENT),
    Surface("share of a passage", "pass_on", silent=_SILENT),
    Surface("reply to a passage", "reply", silent=_SILENT, platforms=frozenset({DISCORD})),
    Surface("edit", "edit", silent=frozenset(Relation), discord=("MESSAGE_UPDATE",)),
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
_LOOKING = tuple(
    Surface(
        f"looks at {name}",
        "look",
        what,
        shows=shows,
        slack=("app_context_changed",),
        platforms=frozenset({SLACK}),
        places=frozenset({Place.CHANNEL}),
        silent=silent,
        wide=True,
    )
    for name, what, shows, silent in (
        ("a channel", "", "title", _UNASKED),
        ("a channel, asks", "ask", "body", _SILENT),
        ("another's channel, asks", "another's", "", _SILENT),
    )
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
    Surface(
        "Slack's own stop button",
        "stop",
        slack=("agent_session_stopped",),
        platforms=frozenset({SLACK}),
        silent=_SILENT,
    ),
    _button("a near section", "w"),
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
SURFACES = (*_ASKING, *_ABOUT, *_LOOKING, *_SETTING, *_STAFF, *_PRESSING)
