"""A line that the head offers to answer, chosen by what the shipped head says of it."""

from collections.abc import Sequence
from pathlib import Path

from adapters.attention.chat_line import Before, ChatLine
from adapters.attention.deciding import Deciding
from adapters.attention.intents import Band
from adapters.attention.speaking_head import shipped_head
from bot.providers.offline_model import installed_model
from core.embeddings.local import LocalEmbedder

_LINES = (
    "the weight of the fog bell",
    "the fog bell's weight",
    "the fog bell of Arden, its weight",
    "fog bell weight",
    "the weight of the fog bell of Arden",
    "I wonder about the weight of the fog bell of Arden",
)
"""Each is answered by the test course's sentence on the bell, and none is plainly a question."""
CHATTER = "see you at lunch"
"""What another person says right before."""


async def offered_line(models: Path, answer: str) -> str:
    """Return the line that is offered an answer with the widest room to both marks.

    Args:
        models: The folder with the local model's graph.
        answer: The bot's last answer; then comes CHATTER, then the line, once or twice.
    """
    embedder = LocalEmbedder(installed_model(), models)
    try:
        room = [(await _room(Deciding(embedder), line, answer), line) for line in _LINES]
    finally:
        embedder.close()
    widest, line = max(room)
    assert widest > 0, f"the head offers none of these an answer any more: {_LINES}"
    return line


async def _room(deciding: Deciding, line: str, answer: str) -> float:
    """Return how far a line keeps from both marks, said once and again; below 0: it misses one."""
    head = shipped_head()
    said = [
        _below(line, Before.OTHER, CHATTER, answer, 1),
        _below(line, Before.SAME, line, answer, 2),
    ]
    decided = [await deciding.decide(one) for one in said]
    marks = [(d.for_bot / head.offer_at, head.speak_at / d.for_bot) for d in decided]
    return _least(marks) - 1 if all(d.band is Band.OFFER for d in decided) else -1.0


def _least(marks: Sequence[tuple[float, float]]) -> float:
    return min(min(pair) for pair in marks)


def _below(line: str, who: Before, before: str, answer: str, since: int) -> ChatLine:
    return ChatLine(line, before=who, before_text=before, answer=answer, since_answer=since)
