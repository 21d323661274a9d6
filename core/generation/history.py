"""What a model is sent of the conversation so far, and how much of it fits."""

import re
from collections.abc import Iterator, Sequence

from core.markdown.code import outside_code
from core.models import CITATION_MARKER, ConversationTurn, Outcome, QuoteStatus

_MARKER = re.compile(r"\s?" + CITATION_MARKER.pattern)


def told_turns(turns: Sequence[ConversationTurn]) -> Iterator[tuple[ConversationTurn, str]]:
    """Yield the turns that a model is sent, each with its answer's bare text.

    Turns that failed are left out, and so are those whose texts were deleted.
    """
    for turn in turns:
        if turn.outcome is not Outcome.ERROR and not _is_forgotten(turn):
            yield turn, answer_text(turn)


def answer_text(turn: ConversationTurn) -> str:
    """Return what the model said in that turn: without markers and sentences of our own.

    Empty: the book did not answer it.
    """
    if turn.outcome is Outcome.ABSTAINED:
        return ""
    text = turn.agent_response.response_text
    if _says_where_quote_stands(turn):
        # Ours, and in English: it would have a say in the next answer's language.
        text = text.partition("\n\n")[2] or text
    return without_markers(text)


def newest_that_fit(costs: Sequence[int], room: int) -> int:
    """Return how many of the last costs have room together."""
    kept = 0
    for cost in reversed(costs):
        room -= cost
        if room < 0:
            break
        kept += 1
    return kept


def first_that_fit(costs: Sequence[int], room: int) -> int:
    """Return how many of the first costs have room together."""
    return newest_that_fit(costs[::-1], room)


def _is_forgotten(turn: ConversationTurn) -> bool:
    """Return whether one stand-in was put for both the question and the answer."""
    return turn.agent_response.response_text == turn.user_input


def _says_where_quote_stands(turn: ConversationTurn) -> bool:
    location = turn.agent_response.quote_location
    return location is not None and location.status is not QuoteStatus.NOT_FOUND


def without_markers(text: str) -> str:
    """Return an answer's prose and code without the numbers of its citations."""
    return outside_code(text, lambda prose: _MARKER.sub("", prose)).strip()
