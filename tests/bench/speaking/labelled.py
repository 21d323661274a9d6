"""The labelled lines: threads of chats, each line with its author and what it is.

A file holds threads that begin with `==` and their language. In a thread, a line is its author, a
label of `Intent` and the text; `prof`, `ta` and `dr` are staff. The bot's lines have no label.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from adapters.chat.speaking import Before, ChatLine, Intent

FOLDER = Path(__file__).parent
TRAIN, HELD_OUT = FOLDER / "train", FOLDER / "held_out"
_STAFF = frozenset({"prof", "ta", "dr"})
_BOT, _MENTION, _NEW_LINE = "bot", "@bot", " ⏎ "


@dataclass(frozen=True, slots=True)
class Labelled:
    """A line, and what it is."""

    line: ChatLine
    intent: Intent
    thread: str
    language: str

    @property
    def role(self) -> str:
        """Who wrote it: who asked in this thread, another person, or staff."""
        return "staff" if self.line.staff else "asker" if self.line.is_asker else "others"

    @property
    def is_unaddressed(self) -> bool:
        """Whether it stands in a thread of the bot's and mentions nobody."""
        return not self.line.addressed and not self.line.begins


@dataclass(slots=True)
class _Thread:
    name: str
    language: str
    before: tuple[str, str] | None = None
    answer: str = ""
    asker: str | None = None
    opener: str | None = None
    last_person: str | None = None
    since: int = 0
    lines: list[Labelled] = field(default_factory=list)

    def add(self, raw: str) -> None:
        author, rest = raw.split(" ", 1)
        if author == _BOT:
            self.before, self.answer = (_BOT, rest), rest
            self.asker, self.since = self.last_person, 0
            self.opener = self.opener or self.asker
            return
        label, text = rest.split(" ", 1)
        said = text.replace(_MENTION, "").replace(_NEW_LINE, "\n").strip()
        line = ChatLine(
            text=said,
            staff=author in _STAFF,
            addressed=_MENTION in text,
            begins=self.before is None,
            before=self._said_before(author),
            before_text=self.before[1] if self.before else "",
            answer=self.answer,
            is_asker=author in (self.asker, self.opener) and bool(self.answer),
            since_answer=self.since,
        )
        self.lines.append(Labelled(line, Intent(label), self.name, self.language))
        self.before, self.last_person = (author, said), author
        self.since += 1

    def _said_before(self, author: str) -> Before:
        if self.before is None:
            return Before.NONE
        who = self.before[0]
        return Before.BOT if who == _BOT else Before.SAME if who == author else Before.OTHER


def labelled_in(folder: Path) -> list[Labelled]:
    """Return the labelled lines of a folder's files, in order."""
    return [one for file in sorted(folder.glob("*.txt")) for one in _of_file(file)]


def identity_of(folder: Path) -> str:
    """Return what changes with every change of a folder's files."""
    texts = (file.read_bytes() for file in sorted(folder.glob("*.txt")))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


def _of_file(file: Path) -> Iterator[Labelled]:
    threads: list[_Thread] = []
    for raw in file.read_text(encoding="utf-8").splitlines():
        if raw.startswith("=="):
            threads.append(_Thread(f"{file.stem}/{len(threads)}", raw[2:].strip()))
        elif raw and not raw.startswith("#"):
            threads[-1].add(raw)
    for thread in threads:
        yield from thread.lines
