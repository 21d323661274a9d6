"""Finds the answer to the same question that was asked in the channel a moment before."""

from dataclasses import replace
from datetime import datetime

from adapters.intake.marking import LANGUAGE
from core.i18n import Message, language_of
from core.inbox.audience import Settlement
from core.inbox.base import Arrival, Job, Kind, Twin
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


async def unlink_if_gone(inbox: Inbox, linked: Arrival, first: str) -> None:
    """Tell an asker whose link was shown while the answer it leads to was taken away.

    Args:
        linked: Their question, which has ended.
        first: The key of the question whose answer they were shown.

    Raises:
        StoreError: when the database fails.
    """
    position = await inbox.change_of(first)
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
