"""Compares the sections of a course's documents before and after an ingestion."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from core.models import Chunk

Heading = tuple[str, ...]
"""A section as a reader finds it: the page's title, then the headings down to it."""


@dataclass(frozen=True, slots=True)
class SectionChanges:
    """What became of the sections of a course, in reading order."""

    added: tuple[Heading, ...] = ()
    changed: tuple[Heading, ...] = ()
    removed: tuple[Heading, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.added or self.changed or self.removed)


@dataclass(slots=True)
class SectionTexts:
    """The texts of the sections of some documents, as digests."""

    _texts: dict[tuple[str, Heading], "blake2b"] = field(default_factory=dict)

    def add(self, chunks: Iterable[Chunk]) -> None:
        """Take in chunks, those of one document in order."""
        for chunk in chunks:
            key = (chunk.source_file, _heading(chunk))
            digest = self._texts.setdefault(key, blake2b(digest_size=16))
            digest.update(chunk.content_text.encode() + b"\0")

    def changes_to(self, after: "SectionTexts") -> SectionChanges:
        """Return what differs `after`; a section that only moved to another file does not."""
        old, new = self._digests(), after._digests()
        unmoved = {key for key in old if new.get(key) == old[key]}
        gone = {key: text for key, text in old.items() if key not in unmoved}
        come = {key: text for key, text in new.items() if key not in unmoved}
        _cancel(gone, come, by_text=True)
        changed = [heading for file, heading in come if (file, heading) in gone]
        both = gone.keys() & come.keys()
        for key in both:
            del gone[key], come[key]
        changed += _cancel(gone, come, by_text=False)
        added = tuple(heading for _, heading in come)
        return SectionChanges(added, tuple(changed), tuple(heading for _, heading in gone))

    def _digests(self) -> dict[tuple[str, Heading], bytes]:
        return {key: digest.digest() for key, digest in self._texts.items()}


def _heading(chunk: Chunk) -> Heading:
    title, headings = chunk.page_title or chunk.source_file, tuple(chunk.headings)
    return headings if headings[:1] == (title,) else (title, *headings)


def _cancel(
    gone: dict[tuple[str, Heading], bytes],
    come: dict[tuple[str, Heading], bytes],
    *,
    by_text: bool,
) -> list[Heading]:
    """Take out of both what is there under another file's name, and return its headings."""
    left = Counter((heading, text if by_text else b"") for (_, heading), text in gone.items())
    moved = list[tuple[Heading, bytes]]()
    for key, text in [*come.items()]:
        mark = (key[1], text if by_text else b"")
        if left[mark]:
            left[mark] -= 1
            moved.append(mark)
            del come[key]
    waiting = Counter(moved)
    for key, text in [*gone.items()]:
        mark = (key[1], text if by_text else b"")
        if waiting[mark]:
            waiting[mark] -= 1
            del gone[key]
    return [heading for heading, _ in moved]
