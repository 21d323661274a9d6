"""Finds which questions changed while the bot was away, by what stands in their channel now."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TypeVar

Id = TypeVar("Id")

LOOKED_BACK = timedelta(hours=1)
"""How long before the pause a question may have been asked whose change in it is noticed."""
MOST_QUESTIONS = 200
"""Whose edits and deletions are looked for after a pause."""


def changed_in(
    asked: Iterable[Id],
    there: Mapping[Id, datetime | None],
    is_covered: Callable[[Id], bool],
    since: datetime,
) -> Iterator[Id]:
    """Yield the questions that were edited after a moment, or are not there any more.

    Args:
        asked: The ids of their messages.
        there: When each message that was read was edited; None: never.
        is_covered: Returns whether a message would have been read if it were there; one that
            may have been passed over is not taken for deleted.
        since: The moment; an edit that was heard already may come after it.
    """
    for message in asked:
        if message not in there:
            if is_covered(message):
                yield message
        elif (edited_at := there[message]) is not None and edited_at > since:
            yield message
