"""Finds the answer to the same question that was asked in the channel a moment before."""

from dataclasses import replace
from datetime import datetime

from adapters.attention.marking import LANGUAGE
from core.i18n import Message, language_of
from core.inbox.audience import Settlement
from core.inbox.base import Arrival, Job, Kind, Twin
from core.inbox.crowds import LINKED_TO, without_link
from core.inbox.store import Inbox
from core.models import now

_PATIENCE = 45.0
"""Seconds after which a question of a crowd gets an answer of its own."""
_SOONEST = 1.0
"""Seconds after which an answer that is on its way is looked for again, at least."""
_PART = 4
"""That is looked for again after this part of the time that it has taken so far: the wait grows by
no more than that, and fifteen looks are all that there are."""


class TwinWaits(Exception):
    """The same question is being answered: this one is put back, and holds no place."""

    def __init__(self, retry_in: float) -> None:
        """Note in how many seconds to look again."""
        self.retry_in = retry_in
        super().__init__(f"the same question is being answered; looking again in {retry_in:.1f} s")


async def answered_twin(inbox: Inbox, job: Job, moment: datetime | None = None) -> Twin | None:
    """Return the same question of a moment before, once it is answered; None: answer this one.

    Raises:
        TwinWaits: when it is being answered, and this one has not waited for long.
        StoreError: when the database fails.
    """
    twin = await inbox.first_of_crowd(job)
    if twin is None:
        return None
    waited = ((moment or now()) - job.accepted_at).total_seconds()
    if twin.waits and waited < _PATIENCE:
        raise TwinWaits(max(_SOONEST, waited / _PART))
    return twin if twin.answered and twin.messages else None


async def unlink_all(inbox: Inbox, change: Arrival) -> None:
    """Have those notified who were shown a link to an answer that an edit or a deletion takes away.

    Who is shown one later is notified by `unlink_if_gone`.

    Args:
        change: The edit or the deletion, which stands in the inbox.

    Raises:
        StoreError: when the database fails.
    """
    assert change.about is not None, "a change is about a question"
    for linked in await inbox.linked_to(change.about):
        await inbox.accept(unlinked(linked, change.position))


async def unlink_if_gone(inbox: Inbox, linked: Arrival) -> None:
    """Have an asker notified whose link was shown while the answer it leads to was taken away.

    Args:
        linked: Their question, which has ended; any other does nothing.

    Raises:
        StoreError: when the database fails.
    """
    first = linked.address.get(LINKED_TO)
    position = await inbox.change_of(first) if first else None
    if position is not None:
        await inbox.accept(unlinked(linked, position))


def unlinked(linked: Arrival, position: int) -> Arrival:
    """Return the event that tells an asker that the answer which they were shown is no more.

    Args:
        linked: Their question, as it arrived.
        position: As `Arrival.position`, of the change that took the answer away.
    """
    return replace(
        linked,
        key=f"{linked.key}:unlinked",
        address=without_link(linked.address),
        kind=Kind.REDO,
        about=linked.key,
        position=position,
        request=None,
        refusal=Message("speaking-crowd-gone").in_language(
            language_of(linked.address.get(LANGUAGE))
        ),
        settles=Settlement.POINTED_BACK,
        gist=None,
    )
