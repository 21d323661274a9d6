"""Compares what verified answers cite with a new edition, before questions are answered from it."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlalchemy import Connection

from core.models import Chunk, now
from core.verified_answers.base import ChangedPassage, StaleBecause, VerifiedCitation
from core.verified_answers.store import current_in, mark_stale

_LIKE = 0.2
"""Share of words that two passages have in common, from which one may have become the other."""
_LONGEST = 1_200
"""Characters of a passage that are shown to staff."""
_WORDS = re.compile(r"\w+")


def settle(
    course_id: str,
    unchanged: Collection[str],
    changed: Mapping[str, Sequence[Chunk]],
    db: Connection,
) -> int:
    """Have each answer wait for staff that a new edition no longer carries; return how many.

    It belongs into the transaction that makes the edition readable: none of its questions is
    answered by what was not looked at.

    Args:
        unchanged: The source files that the new edition takes over as they are.
        changed: The chunks of those that were read.
    """
    count = 0
    for answer in current_in(db, course_id):
        cited = (one for one in answer.citations if one.document not in unchanged)
        found = [compare(one, changed.get(one.document, ())) for one in cited]
        passages = [one for one in found if one is not None]
        if passages:
            mark_stale(db, answer.answer_id, worst(passages), passages, now())
            count += 1
    return count


def compare(citation: VerifiedCitation, chunks: Sequence[Chunk]) -> ChangedPassage | None:
    """Return what became of a cited passage in its document; None: it stands, all around it too.

    Args:
        chunks: Those of the document as it is now; none: it is gone.
    """
    own = [chunk for chunk in chunks if chunk.headings == citation.headings]
    text = section_text(own)
    if plain(citation.quote) not in text:
        is_elsewhere = plain(citation.quote) in section_text(chunks)
        because = StaleBecause.SECTION_CHANGED if is_elsewhere else StaleBecause.QUOTE_GONE
    elif citation.section_print in (None, section_print(own)):
        return None
    else:
        because = StaleBecause.SECTION_CHANGED
    before = citation.chunk.content_text
    after = _nearest(before, own) or _nearest(before, chunks)
    return ChangedPassage(citation.marker, because, before[:_LONGEST], after[:_LONGEST])


def worst(changed: Sequence[ChangedPassage]) -> StaleBecause:
    """Return the reason that weighs most among those of changed passages."""
    reasons = {one.because for one in changed}
    is_gone = StaleBecause.QUOTE_GONE in reasons
    return StaleBecause.QUOTE_GONE if is_gone else StaleBecause.SECTION_CHANGED


def section_print(chunks: Sequence[Chunk]) -> str:
    """Return a fingerprint of the text of a section, however it is laid out."""
    return hashlib.sha256(section_text(chunks).encode()).hexdigest()[:32]


def section_text(chunks: Sequence[Chunk]) -> str:
    """Return the text of chunks of one document in order, each part once, blanks made one."""
    return plain("".join(_parts(chunks)))


def plain(text: str) -> str:
    """Return a text with each run of blanks made one."""
    return " ".join(text.split())


def _parts(chunks: Sequence[Chunk]) -> Iterator[str]:
    end = 0
    for chunk in sorted(chunks, key=lambda one: one.chunk_index):
        if chunk.char_start > end:
            yield "\n"
        yield chunk.content_text[max(0, end - chunk.char_start) :]
        end = max(end, chunk.char_end)


def _nearest(before: str, chunks: Sequence[Chunk]) -> str:
    """Return the passage that has most words in common with one; empty: none has enough."""
    words = _words(before)
    best, text = _LIKE, ""
    for chunk in chunks:
        own = _words(chunk.content_text)
        likeness = len(words & own) / (len(words | own) or 1)
        if likeness > best:
            best, text = likeness, chunk.content_text
    return text


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.casefold()))
