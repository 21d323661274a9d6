"""Chooses which collections of an edition are to become one.

Each change of a course adds a small collection. A question searches all of them, and what was
replaced still takes room in the older ones, so that they are brought together from time to time:
one that is not much larger than all after it is written again with these. So a chunk is written
again a few times at most, however often a course changes.

Source: O'Neil et al., The Log-Structured Merge-Tree (1996); Lucene's log merge policy.
"""

from collections.abc import Sequence

from core.storage.catalogue import Segment

GROWTH = 4
"""A collection more than so many times larger than all after it is left alone."""
MOST_HIDDEN = 0.25
"""The part of a collection that may be hidden until it is written again."""


def run_to_merge(segments: Sequence[Segment], visible: Sequence[int]) -> Sequence[Segment]:
    """Return the latest segments that are to become one; none: all is well.

    Args:
        segments: Oldest first.
        visible: How many chunks of each segment are not hidden.
    """
    start = len(segments) - 1
    for place in range(len(segments) - 1):
        if visible[place] < GROWTH * sum(visible[place + 1 :]) or _is_hollow(
            segments, visible, place
        ):
            start = place
            break
    is_due = start < len(segments) - 1 or _is_hollow(segments, visible, start)
    return segments[start:] if is_due else ()


def _is_hollow(segments: Sequence[Segment], visible: Sequence[int], place: int) -> bool:
    hidden = segments[place].chunks - visible[place]
    return hidden > MOST_HIDDEN * segments[place].chunks
