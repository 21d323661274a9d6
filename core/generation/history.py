"""What a model is sent of the conversation so far, and how much of it fits."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from core.models import ConversationTurn, Outcome, QuoteStatus
from core.text.links import without_markers


def told_turns(turns: Sequence[ConversationTurn]) -> Iterator[tuple[ConversationTurn, str]]:
    """Yield the turns that a model is sent, each with its answer's bare text.

    Turns that failed are left out, and so are those whose texts were deleted: one stand-in was
    put for both the question and the answer.
    """
    for turn in turns:
        is_deleted = turn.agent_response.response_text == turn.user_input
        if turn.outcome is not Outcome.ERROR and not is_deleted:
            yield turn, _answer_text(turn)


def _answer_text(turn: ConversationTurn) -> str:
    """Return what the model said in that turn: without markers and sentences of our own.

    Empty: the book did not answer it.
    """
    if turn.outcome is Outcome.ABSTAINED:
        return ""
    text, location = turn.agent_response.response_text, turn.agent_response.quote_location
    if location is not None and location.status is not QuoteStatus.NOT_FOUND:
        # Where the quote stands, in English: it would have a say in the next answer's language.
        text = text.partition("\n\n")[2] or text
    return without_markers(text)


def newest_that_fit(costs: Sequence[int], room: int) -> int:
    """Return how many of the last costs have room together."""
    return sum(total <= room for total in accumulate(reversed(costs)))
