"""The courses, whose they are, and the words that only one of them has."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

STAND_INS = "tests.extractive_stand_ins"
SETTINGS = {
    "STAND_INS": STAND_INS,
    "INBOX__USER_PER_MINUTE": "100000",
    "INBOX__CHANNEL_PER_MINUTE": "100000",
    "INBOX__USER_IN_FLIGHT": "100",
    "INBOX__CHANNEL_IN_FLIGHT": "100",
}
"""Without a model, and no cell is hidden by a limit."""
HOME, ONE, TWO, NONE, SHUT = "home", "one", "two", "none", "shut"
TENANTS = (HOME, ONE, TWO, NONE, SHUT)
"""The first tenant, two with courses, one without any, one that the operator's file shuts."""
COURSES = ("operator", "own", "granted", "foreign", "revoked", "shut")
OWNERS = {"own": ONE, "granted": TWO, "foreign": TWO, "revoked": TWO, "shut": SHUT}
"""The course without an owner is the operator's."""
GRANTS = (("granted", ONE), ("revoked", ONE))
REVOKED = ("revoked", ONE)
READABLE = {
    HOME: {"operator"},
    ONE: {"own", "granted"},
    TWO: {"granted", "foreign", "revoked"},
    NONE: set[str](),
    SHUT: {"shut"},
}
"""What each tenant may read after the revocation."""
TAUGHT = (
    (HOME, "operator"),
    (ONE, "own"),
    (ONE, "granted"),
    (ONE, "revoked"),
    (TWO, "foreign"),
    (TWO, "granted"),
)
"""Where staff have a request, an answer of theirs, a policy and a week's channel, before all."""
TAUGHT_KINDS = ("policy", "asked", "said")
KINDS = ("id", "title", "head", "care", "body", "second", "file", "site")
FIRST = "Which mark is the kiln of the workshop set to?"
SECOND = "Which mark is the loom of the workshop set to?"
CHATTER, HALF = "See you at lunch.", "which mark the kiln of the workshop is set to"
"""What the bot offers to answer, and what another person says before it."""


class Role(StrEnum):
    """Who acts."""

    STUDENT = "student"
    STAFF = "staff"
    ADMIN = "admin"


class Place(StrEnum):
    """Where a person acts."""

    CHANNEL = "channel"
    THREAD = "thread"
    DIRECT = "direct"


class Relation(StrEnum):
    """What the course of a cell is to the place of the cell."""

    OWN = "own"
    GRANTED = "granted"
    OPERATORS = "operator's, at home"
    FOREIGN = "foreign"
    OPERATORS_ELSEWHERE = "operator's, elsewhere"
    REVOKED = "revoked"
    WAITING = "nothing granted"
    SWITCHED_OFF = "locked: excluded"
    FIXED = "locked: course"
    STAFF_ONLY = "locked: askers"
    HIDDEN = "locked: private"
    ANOTHERS = "another's private turn"
    LENT = "own, granted to others"


@dataclass(frozen=True)
class Bond:
    """The tenant of a relation's places, and the course that the cells are about."""

    tenant: str
    course: str
    readable: bool = True
    by_file: bool = False
    """Whether the operator's file says what holds in the place."""


BONDS = {
    Relation.OWN: Bond(ONE, "own"),
    Relation.GRANTED: Bond(ONE, "granted"),
    Relation.OPERATORS: Bond(HOME, "operator"),
    Relation.FOREIGN: Bond(ONE, "foreign", readable=False),
    Relation.OPERATORS_ELSEWHERE: Bond(ONE, "operator", readable=False),
    Relation.REVOKED: Bond(ONE, "revoked", readable=False),
    Relation.WAITING: Bond(NONE, "foreign", readable=False),
    Relation.SWITCHED_OFF: Bond(SHUT, "shut", by_file=True),
    Relation.FIXED: Bond(ONE, "own", by_file=True),
    Relation.STAFF_ONLY: Bond(ONE, "own", by_file=True),
    Relation.HIDDEN: Bond(ONE, "own", by_file=True),
    Relation.ANOTHERS: Bond(HOME, "operator"),
    Relation.LENT: Bond(TWO, "granted"),
}
LOCKS = {
    Relation.SWITCHED_OFF: {"excluded": "true"},
    Relation.FIXED: {"course": '"zqidown"', "locked": '["course"]'},
    Relation.STAFF_ONLY: {"course": '"zqidown"', "askers": '"staff"'},
    Relation.HIDDEN: {"course": '"zqidown"', "private": "true"},
}
"""What the operator's file says of a relation's places."""


def word(course: str, kind: str) -> str:
    """Return the word of one kind that stands nowhere but in one course."""
    return f"zq{kind}{course}"


def words(courses: Iterable[str], kinds: Iterable[str] = KINDS) -> frozenset[str]:
    """Return the words that only these courses have."""
    kept = tuple(kinds)
    return frozenset(word(course, kind) for course in courses for kind in kept)


def taught(tenant: str, course: str) -> str:
    """Return what stands in place of a course in the words of a tenant's staff about it."""
    return f"{course}of{tenant}"


def staff_question(key: str) -> str:
    """Return the question that staff answered; `key` is what `taught` returned."""
    return f"When does the group of {word(key, 'asked')} meet?"


def near_question(key: str) -> str:
    """Return a wording of it that is offered the answer."""
    return f"{staff_question(key)[:-1]} today?"


def staff_answer(key: str) -> str:
    """Return what they answered."""
    return f"It meets on the day of {word(key, 'said')}."


def first_fact(course: str) -> str:
    """Return the sentence that answers FIRST, as the course's book has it."""
    return f"The kiln of the workshop is set to the mark {word(course, 'body')}."


def heading(course: str) -> str:
    """Return the heading of the course's first section."""
    return f"Zqhead{course} workshop"


def book(course: str) -> dict[str, str]:
    """Return a course's files."""
    text = (
        f"# {heading(course)}\n\n{first_fact(course)} Keep it away from water.\n\n"
        f"## Care of zqcare{course}\n\n"
        f"The loom of the workshop is set to the mark {word(course, 'second')}. Oil it weekly. "
        f"The care of {word(course, 'care')} is a duty of the keeper.\n"
    )
    return {f"{word(course, 'file')}.md": text}


def course_file() -> str:
    """Return what glossator.toml says of the courses."""
    return "\n".join(
        f'[courses.{word(course, "id")}]\ntitle = "Zqtitle{course}"\nsources = ["{course}"]\n'
        f'base_url = "https://{word(course, "site")}.example.org/"\n'
        for course in COURSES
    )


def unreadable(tenant: str, *, before_revocation: bool = False) -> frozenset[str]:
    """Return the words that no person of a tenant may see."""
    readable = READABLE[tenant] | ({REVOKED[0]} if before_revocation and tenant == ONE else set())
    return words(course for course in COURSES if course not in readable) | frozenset(
        word(taught(whose, course), kind)
        for whose, course in TAUGHT
        for kind in TAUGHT_KINDS
        if course not in readable or (whose != tenant and not _speaks(whose, course, kind))
    )


def _speaks(tenant: str, course: str, kind: str) -> bool:
    """Return whether all who read a course may see what a tenant's staff said: its owner's."""
    return kind != "policy" and OWNERS.get(course, HOME) == tenant


def withheld(relation: Relation, role: Role) -> frozenset[str]:
    """Return the words of readable courses that a lock or privacy keeps from a place."""
    match relation:
        case Relation.SWITCHED_OFF:
            return words(COURSES, ("body", "second"))
        case Relation.FIXED:
            return words(["granted"], ("body", "second"))
        case Relation.STAFF_ONLY if role is Role.STUDENT:
            return words(COURSES, ("body", "second"))
        case Relation.ANOTHERS:
            return words(["operator"], ("second",))
    return frozenset()


def withheld_in_public(relation: Relation) -> frozenset[str]:
    """Return the words that only the asker may be shown in a relation's places."""
    return words(["own"], ("body", "second")) if relation is Relation.HIDDEN else frozenset()
