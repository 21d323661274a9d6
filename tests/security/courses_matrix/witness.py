"""Everything that a local platform shows because of the bot, in order, and what it tells."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

HOLDER = "An answer."
"""The text of messages that the cells make to press a button of; they show nothing."""
_WORD = re.compile(r"zq[a-z]+")


@dataclass(frozen=True)
class Seen:
    """Something that was shown: a message as it then stood, a modal, choices, a name, a file."""

    places: frozenset[str]
    """The channel, and the person where one person alone sees it."""
    text: str
    public: bool
    subject: Any = None
    modal: str = ""
    """Discord: the custom id of the modal that it is."""

    @property
    def words(self) -> frozenset[str]:
        """Return the words of courses that it holds, whatever their case."""
        return frozenset(_WORD.findall(self.text.casefold()))


@dataclass
class Witness:
    """Keeps all that was shown."""

    seen: list[Seen] = field(default_factory=list)

    def note(
        self,
        places: Iterable[object],
        text: str,
        *,
        public: bool,
        subject: Any = None,
        modal: str = "",
    ) -> None:
        """Keep something that was shown."""
        self.seen.append(Seen(frozenset(map(str, places)), text, public, subject, modal))

    def mark(self) -> int:
        """Return where the next entry will stand."""
        return len(self.seen)

    def since(self, mark: int, places: frozenset[str]) -> Iterator[Seen]:
        """Yield what was shown in places since a mark."""
        return (seen for seen in self.seen[mark:] if seen.places & places)

    def new_since(self, mark: int, places: frozenset[str]) -> Iterator[Any]:
        """Yield what was first shown in places after a mark: no older message that was edited."""
        older = {id(seen.subject) for seen in self.seen[:mark]}
        return (s.subject for s in self.since(mark, places) if id(s.subject) not in older)


def excerpt(text: str, found: str) -> str:
    """Return what stands around a word."""
    at = text.casefold().find(found)
    return " ".join(text[max(at - 60, 0) : at + 60].split())
