"""The pairs of questions by which it is fitted and measured when an answer is offered."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent
COURSES = ("economics", "rust-book")
_HELD_BACK = 3
"""Every third question of a course, with its pairs, is never fitted on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that is put to a course with verified answers."""

    text: str
    kind: str
    """`same`; `far`: the same in quite other words; or in what it differs: number, negation, name,
    scope, kind, direction or part."""

    @property
    def is_same(self) -> bool:
        """Whether one answer would serve both."""
        return self.kind in ("same", "far")


@dataclass(frozen=True, slots=True)
class Group:
    """A question that the staff answered, and others like it."""

    question: str
    asked: tuple[Asked, ...]
    held_back: bool


def groups_of(course: str) -> list[Group]:
    """Return a course's questions in the order of its file.

    A line begins with `=` for what staff answered, `+` for the same in other words, `~` for the
    same in quite other words, and `- KIND |` for what differs.
    """
    found: list[tuple[str, list[Asked]]] = []
    for sign, text in _lines(_FOLDER / f"{course}.txt"):
        if sign == "=":
            found.append((text, []))
        elif sign in "+~":
            found[-1][1].append(Asked(text, "same" if sign == "+" else "far"))
        else:
            kind, _, asked = text.partition(" | ")
            found[-1][1].append(Asked(asked, kind))
    return [
        Group(question, tuple(asked), held_back=n % _HELD_BACK == _HELD_BACK - 1)
        for n, (question, asked) in enumerate(found)
    ]


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            yield line[0], line[2:].strip()
