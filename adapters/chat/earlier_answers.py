"""Finds the answer to the same question that was asked in the channel a moment before."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from adapters.chat.attention import LANGUAGE
from adapters.chat.markdown.footnotes import place_in_book
from adapters.chat.speaking import Intent
from core.domain import Again, ConversationTurn, Outcome, RetrievedChunk, now
from core.domain.i18n import Message, language_of, text
from core.storage.inbox.accepting import LINKED_TO, without_link
from core.storage.inbox.base import Arrival, Job, Kind, Settlement, Twin
from core.storage.inbox.store import Inbox

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


_MOST_PLACES = 5


@dataclass(frozen=True, slots=True)
class PointedBack:
    """What is said in place of an answer, because there is one already."""

    sentence: str
    link: str | None
    """Where the answer, or the first place that it cites, can be read."""


def about_last(intent: Intent, turn: ConversationTurn) -> PointedBack:
    """Return what is said about an answer.

    Args:
        intent: What is asked about it; none of `SEEN_AGAIN`.
        turn: The answer, with its question.
    """
    sources = turn.agent_response.sources
    return PointedBack(_sentence(intent, turn), str(sources[0]) if sources else None)


def _sentence(intent: Intent, turn: ConversationTurn) -> str:
    places = _places(turn)
    if intent is Intent.WHERE:
        return text("speaking-where", places=places) if places else text("speaking-no-place")
    said = _checked(turn) if intent is Intent.SURE else str(_NOT_YET[intent])
    return f"{said} {text('speaking-see', places=places)}" if places else said


SEEN_AGAIN: Mapping[Intent | None, Again] = {
    Intent.SIMPLER: Again.SHORTER,
    Intent.SHORTER: Again.SHORTER,
}
"""What is no sentence about the last answer, but that answer once more."""
_NOT_YET = {
    Intent.LANGUAGE: Message("speaking-language"),
    Intent.EXAMPLE: Message("speaking-no-example"),
}


def _checked(turn: ConversationTurn) -> str:
    """Return what was checked before an answer was shown."""
    response = turn.agent_response
    if turn.outcome is Outcome.ABSTAINED and turn.section_filter is not None:
        return text("speaking-sure-not-covered-within")
    if turn.outcome is Outcome.ABSTAINED:
        return text("speaking-sure-not-covered")
    if not response.claims_written:
        return text("speaking-sure-own-words")
    kept = response.claims_written - response.claims_dropped
    if response.claims_dropped:
        dropped = response.claims_dropped
        return text("speaking-sure-dropped", kept=kept, count=dropped)
    return text("speaking-sure-kept", count=kept)


def _places(turn: ConversationTurn) -> str:
    chunks = turn.agent_response.grounding_chunks
    return "; ".join(list(dict.fromkeys(_names(chunks)))[:_MOST_PLACES])


def _names(chunks: tuple[RetrievedChunk, ...]) -> Iterator[str]:
    """Yield the place of each passage: its page and its section."""
    for chunk in chunks:
        if chunk.verified_on is not None:
            yield place_in_book(chunk).title
            continue
        titles = dict.fromkeys(one for one in (chunk.page_title, chunk.section_heading) if one)
        yield " › ".join(titles) or chunk.source_file
