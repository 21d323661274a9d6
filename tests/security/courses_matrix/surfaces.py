"""The one table of surfaces."""

from tests.security.courses_matrix.relations import Place, Relation
from tests.security.courses_matrix.surface import (
    DISCORD,
    PLAIN,
    ROOMS,
    SILENT,
    SLACK,
    TURNS,
    UNASKED,
    Surface,
    button,
    command,
    of_course,
)
from tests.security.courses_matrix.teaching import BEYOND_A_POLICY, TEACHING

LOCKS = frozenset({Relation.SWITCHED_OFF, Relation.FIXED, Relation.STAFF_ONLY, Relation.HIDDEN})
_ASKING = (
    Surface(  # the first one: an offer lasts ten minutes
        "offer taken up",
        "take_up",
        shows="body",
        discord=("MESSAGE_REACTION_ADD",),
        slack=("reaction_added",),
        places=ROOMS,
        silent=UNASKED,
    ),
    command("ask", shows="body", discord=("ask", "ask question"), slack=("/ask",)),
    command("ask private", "ask", "private", shows="body", discord=("ask private",)),
    command("ask public", "ask", "public", shows="body"),
    Surface("ask by default", "ask", "", relations=frozenset({Relation.HIDDEN}), places=ROOMS),
    command("ask its section", "ask_section", "its", shows="body", discord=("ask section",)),
    command("ask an unknown section", "ask_section", "unknown"),
    command("ask another's section", "ask_section", "foreign"),
    command(
        "sections suggested",
        "sections",
        shows="head",
        discord=("ask section suggested",),
        platforms=frozenset({DISCORD}),
    ),
    command("sections for its word", "sections", "its", platforms=frozenset({DISCORD})),
    command("sections for another's word", "sections", "foreign", platforms=frozenset({DISCORD})),
    Surface(
        "mention",
        "mention",
        shows="body",
        silent=SILENT,
        discord=("MESSAGE_CREATE",),
        slack=("app_mention", "message.channels", "message.im", "message.groups", "message.mpim"),
    ),
    Surface("mention with a quote", "mention", "quote", silent=SILENT),
    Surface("share of a passage", "pass_on", silent=SILENT),
    Surface("reply to a passage", "reply", silent=SILENT, platforms=frozenset({DISCORD})),
    Surface("edit", "edit", silent=frozenset(Relation), discord=("MESSAGE_UPDATE",)),
    Surface("follow-up", "follow_up", silent=frozenset(Relation)),
    Surface(
        "new post",
        "begin",
        places=frozenset({Place.CHANNEL}),
        relations=PLAIN - LOCKS | SILENT,  # it is tried in a channel of its own
        silent=frozenset(Relation),
    ),
    Surface(
        "explain",
        "explain",
        discord=("menu Explain this passage",),
        slack=("shortcut explain", "modal explain", "message.channels"),
        silent=SILENT,
    ),
    Surface("explain privately", "explain", "private", platforms=frozenset({SLACK})),
    command("help question", "help", "question", discord=("glossator help question",)),
)
_ABOUT = (
    command("help", discord=("glossator help",), slack=("/glossator",)),
    command("sources", "about_bot", "sources", shows="title", discord=("glossator sources",)),
    command("about", "about_bot", "about", shows="title", discord=("glossator about",)),
    command("data", "about_bot", "data", discord=("glossator data",)),
    Surface(
        "home",
        "home",
        shows="title",
        slack=("app_home_opened", "home"),
        platforms=frozenset({SLACK}),
        places=frozenset({Place.DIRECT}),
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
        ("a channel", "", "title", UNASKED),
        ("a channel, asks", "ask", "body", SILENT),
        ("another's channel, asks", "another's", "", SILENT),
    )
)
_SETTING = (
    of_course(
        "show", "show", shows="id", discord=("course show",), slack=("/course", "course show")
    ),
    of_course("bind its course", "bind", "its", discord=("course bind", "course bind course")),
    of_course("bind another's or unknown", "bind_unseen", slack=("course bind",)),
    of_course(
        "courses suggested",
        "courses",
        shows="id",
        discord=("course bind course suggested",),
        platforms=frozenset({DISCORD}),
    ),
    of_course("courses for its word", "courses", "its", platforms=frozenset({DISCORD})),
    of_course("unbind", "unbind", discord=("course unbind",), slack=("course unbind",)),
    of_course(
        "switch",
        "switch",
        discord=("course switch", "course switch state"),
        slack=("course switch",),
    ),
    of_course(
        "pause",
        "pause",
        discord=("course pause", "course resume"),
        slack=("course pause", "course resume"),
    ),
    *(
        of_course(
            f"set {name}",
            "set_rule",
            name,
            discord=("course set", f"course set {name}"),
            slack=("course set", f"course set {name.replace('_', '-')}"),
        )
        for name in ("follow_ups", "askers", "length", "private", "auto_answer")
    ),
    of_course(
        "set outsiders",
        "set_rule",
        "outsiders",
        slack=("course set outsiders",),
        platforms=frozenset({SLACK}),
    ),
    *(
        of_course(
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
    of_course(
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
    of_course(
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
    button("Helpful", "h", ("button vote",)),
    button("Not helpful", "n", ("modal gl:form", "modal n")),
    button("Evidence", "e", shows="body"),
    button("Ask again without the quote", "q", silent=SILENT),
    button("Share", "s"),
    button("Stop", "x"),
    Surface(
        "Slack's own stop button",
        "stop",
        slack=("agent_session_stopped",),
        platforms=frozenset({SLACK}),
        silent=SILENT,
    ),
    button("a near section", "w"),
    button("Delete this answer", "d", platforms=frozenset({SLACK})),
    *(
        Surface(
            f"choice of {what} course",
            "choose",
            what,
            discord=("button course",),
            slack=("button course",),
            relations=TURNS,
            places=frozenset({Place.DIRECT}),
        )
        for what in ("its", "another's")
    ),
    Surface("button g", "forget", discord=("button g",), slack=("button g",)),
    Surface(
        "button j",
        "export",
        discord=("button j",),
        slack=("button j",),
    ),
)
SURFACES = (
    *_ASKING,
    *_ABOUT,
    *_LOOKING,
    *_SETTING,
    *_STAFF,
    BEYOND_A_POLICY,
    *_PRESSING,
    *TEACHING,
)
