"""Threads in which a line points at another one, and what it is taken to mean there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.chat.question_context import Earlier, Pointing, asks, is_called

THREADS = Path(__file__).with_name("threads.txt")
_LINE = re.compile(
    r"(?P<who>\w+): (?:-(?P<ago>\d+)m )?(?P<bot>@)?(?:#(?P<reply>\d+))?\s*(?P<text>.+)"
)
_END = datetime(2026, 11, 27, 12, tzinfo=UTC)


@dataclass(slots=True)
class Thread:
    """A thread, and what its last line means."""

    part: str
    lines: list[re.Match[str]] = field(default_factory=list)
    meant: str = ""

    @property
    def question(self) -> str:
        """The last line."""
        return re.sub(r"@\w+", "@someone", self.lines[-1]["text"])

    @property
    def said(self) -> list[Earlier]:
        """The lines before it."""
        asker = self.lines[-1]["who"]
        return [
            Earlier(
                one["text"],
                by_asker=one["who"] == asker,
                ours=one["who"] == "bot",
                to_bot=one["bot"] is not None,
                author=one["who"],
                said_at=_END - timedelta(minutes=int(one["ago"] or 1)),
            )
            for one in self.lines[:-1]
        ]

    async def found(self, pointing: Pointing) -> str:
        """Return what the last line is taken to mean, as the file writes it."""
        pointer = await pointing.read(self.question)
        said = self.said
        if pointer is None:
            return "stands"
        if reply := self.lines[-1]["reply"]:
            quoted = said[int(reply) - 1]
            return reply if pointer.is_question and asks(quoted.text) else "stands"
        mentioned = set(re.findall(r"@(\w+)", self.lines[-1]["text"]))

        def is_named(one: Earlier) -> bool:
            return one.author in mentioned or is_called(pointer.name, [one.author])

        found = await pointing.among(pointer, said, is_named, _END)
        if found.stands:
            return "stands"
        return " ".join(_number(one, said) for one in found.messages) or "none"

    def is_right(self, found: str) -> bool:
        """Return whether that is what is meant; further ones to choose from do no harm."""
        wanted, got = self.meant.split(), found.split()
        return wanted == got or (len(got) > 1 and len(wanted) > 1 and {*wanted} <= {*got})

    def is_about_another(self, found: str) -> bool:
        """Return whether another message is answered than one that is meant."""
        got = found.split()
        return len(got) == 1 and got[0][0].isdigit() and got[0] not in self.meant.split()


def _number(one: Earlier, said: Sequence[Earlier]) -> str:
    for number, other in enumerate(said, 1):
        if one == other:
            return str(number)
    for number, other in enumerate(said, 1):
        if one.text in other.text:
            place = [*re.findall(r"[^?]+\?", other.text)]
            return f"{number}{'abcdef'[next(n for n, q in enumerate(place) if one.text in q)]}"
    return "?"


def threads(path: Path = THREADS) -> Iterator[Thread]:
    """Yield the threads of a file."""
    thread: Thread | None = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            thread = Thread(line[2:].strip())
        elif line.startswith("=>") and thread is not None:
            thread.meant = line[2:].strip()
            yield thread
        elif line and not line.startswith("#") and thread is not None:
            found = _LINE.fullmatch(line)
            assert found is not None, line
            thread.lines.append(found)
