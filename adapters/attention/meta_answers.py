"""What is said about the last answer, when a user asks about it and not about the book."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.attention.intents import Intent
from adapters.markdown.footnotes import place_in_book
from core.i18n import Message, text
from core.models import Again, ConversationTurn, Outcome, RetrievedChunk

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
