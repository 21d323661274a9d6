"""What a course lacks: files that are no documents of it, and elements of those that are."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.ingestion.document import Block, Omission
from core.ingestion.formats.registry import is_text_like

_KINDS_KEPT = 50
_OTHERS = "other element"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or page that was seen and not read."""

    path: str
    """As documents of the source are named; the address of a web page."""
    reason: str
    """Follows the path: "is not in the summary"."""
    is_missed: bool
    """Whether the course may lack its text: it is text-like, and not known to be no text of it."""


def missed(path: str, reason: str) -> LeftOut:
    """Return a file whose text the course may lack, if it has one."""
    return LeftOut(path, reason, is_text_like(path))


def foreign(path: str, reason: str) -> LeftOut:
    """Return a file that is known to hold no text of the course, whatever its suffix."""
    return LeftOut(path, reason, False)


@dataclass(frozen=True, slots=True)
class NotRead:
    """Elements of one kind that the text of a document does not have."""

    document: str
    kind: str
    """A singular noun: `text box`."""
    count: int
    words: int
    """How many words they held; 0 also where that is not known."""
    where: tuple[str, ...] = ()
    """Where they stood; empty where an earlier run read the document."""


def not_read(document: str, left_out: Iterable[Omission]) -> list[NotRead]:
    """Return what was left out of a document that was read now, by kind."""
    kinds: dict[str, list[Omission]] = {}
    for one in left_out:
        kinds.setdefault(one.kind, []).append(one)
    return [
        NotRead(
            document,
            kind,
            sum(one.count for one in same),
            sum(one.words for one in same),
            tuple(dict.fromkeys(one.where for one in same if one.where)),
        )
        for kind, same in kinds.items()
    ]


def not_read_before(document: str, kept: Mapping[str, Sequence[int]] | None) -> list[NotRead]:
    """Return what was left out of a document that an earlier run read, by kind."""
    return [NotRead(document, kind, count, words) for kind, (count, words) in (kept or {}).items()]


def counts_kept(left_out: Iterable[Omission]) -> dict[str, tuple[int, int]]:
    """Return the counts and words by kind as a document keeps them; rare kinds go together."""
    kinds = sorted(not_read("", left_out), key=lambda one: (-one.words, -one.count, one.kind))
    kept = {one.kind: (one.count, one.words) for one in kinds[:_KINDS_KEPT]}
    if rest := kinds[_KINDS_KEPT:]:
        kept[_OTHERS] = (sum(one.count for one in rest), sum(one.words for one in rest))
    return kept


def more_left_out_than_read(blocks: Iterable[Block], left_out: Sequence[Omission]) -> str:
    """Return a warning where less of a document was read than left out; else nothing.

    An element of unknown words counts as one word.
    """
    if not left_out:
        return ""
    missing = sum(max(one.words, one.count) for one in left_out)
    words = sum(len(_WORD.findall(block.text)) for block in blocks)
    if missing <= words:
        return ""
    return f"more of it was left out than read: {words:,} words were read, {missing:,} were not"
