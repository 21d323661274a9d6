"""The surfaces by which questions reach a course's staff, and what staff set and see of it."""

from tests.security.courses_matrix.relations import Place, Relation
from tests.security.courses_matrix.surface import (
    DISCORD,
    PLAIN,
    ROOMS,
    SLACK,
    TURNS,
    Surface,
    command,
    of_course,
)

_WHOLE = PLAIN - {Relation.FIXED}
"""What waits is shown of all courses of the staff, whatever a place is fixed to."""
_CARDS = tuple(
    Surface(
        f"button {name}",
        "curate",
        letter,
        discord=(f"button {letter}", f"modal {letter}"),
        slack=(f"button {letter}", "modal gl:form"),
        relations=TURNS,
        queue=letter in "tz",
    )
    for name, letter in (
        ("Ask the staff", "k"),
        ("Take", "t"),
        ("Answer", "a"),
        ("Dismiss", "z"),
        ("Verify", "c"),
        ("Edit", "w"),
        ("Retire", "r"),
    )
)
BEYOND_A_POLICY = Surface(
    "ask beyond the reach of another's policy",
    "ask",
    shows="body",
    relations=frozenset({Relation.GRANTED}),
    places=frozenset({Place.DIRECT}),
    platforms=frozenset({DISCORD}),
)
"""Asked while the asker has chosen a course; who is forgotten has none any more."""
_ANSWERS = (
    command("ask what staff answered", "ask_taught", shows="said", places=ROOMS),
    Surface(
        "button Show the staff's answer",
        "show_offered",
        shows="said",
        discord=("button v",),
        slack=("button v",),
        places=ROOMS,
    ),
    Surface(
        "button Next page",
        "more",
        discord=("button m",),
        slack=("button m",),
        relations=_WHOLE,
    ),
    Surface(
        "menu Verify answer",
        "verify",
        discord=("menu Verify answer", "modal c"),
        slack=("shortcut gl-verify", "modal gl:form"),
        relations=TURNS,
    ),
    Surface(
        "home with the queue",
        "home",
        shows="body",
        platforms=frozenset({SLACK}),
        places=frozenset({Place.DIRECT}),
        for_staff=True,
    ),
)
_COMMANDS = (
    of_course(
        "queue",
        "queue",
        shows="body",
        discord=("course queue",),
        slack=("course queue",),
        relations=_WHOLE,
    ),
    of_course(
        "queue post",
        "post_queue",
        discord=("course queue cards",),
        relations=_WHOLE,
        places=frozenset({Place.CHANNEL}),
        wide=True,
    ),
    of_course(
        "verified",
        "verified",
        shows="said",
        discord=("course verified",),
        slack=("course verified",),
    ),
    of_course(
        "hints",
        "hints",
        discord=("course hints", "modal i"),
        slack=("course hints", "modal gl:form"),
    ),
    of_course(
        "policy list",
        "policy",
        "list",
        shows="policy",
        discord=("course policy list",),
        slack=("course policy",),
    ),
    of_course(
        "policy set",
        "policy",
        "set",
        discord=(
            "course policy set",
            *(f"course policy set {o}" for o in ("mode", "section", "from", "until", "where")),
        ),
    ),
    of_course(
        "policy remove another's or unknown",
        "policy",
        "remove",
        discord=("course policy remove", "course policy remove policy"),
    ),
    of_course(
        "policies suggested",
        "policies",
        shows="policy",
        discord=("course policy remove policy suggested",),
        platforms=frozenset({DISCORD}),
    ),
    *(
        of_course(
            f"radar {name}",
            "radar",
            name,
            shows="title",
            discord=(f"course radar {name}",),
            slack=("course radar",),
        )
        for name in ("show", "post", "stop")
    ),
)
TEACHING = (*_ANSWERS, *_COMMANDS, *_CARDS)
