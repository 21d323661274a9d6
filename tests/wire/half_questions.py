"""A line that the head offers to answer, chosen by what the shipped head says of it."""

from pathlib import Path

from adapters.chat.attention import OTHERS, Deciding
from adapters.chat.speaking import Band, Before, ChatLine
from bot.embedders import installed_model
from core.providers.embeddings.local import LocalEmbedder

_LINES = (
    "do you know the weight of the fog bell of Arden?",
    "did you see how heavy the fog bell of Arden is?",
    "did you see how heavy the fog bell is?",
    "did anybody tell you the weight of the fog bell of Arden?",
    "the fog bell's weight?",
)
"""Each is answered by the test course's sentence on the bell, and none is plainly for the bot."""


async def offered_line(models: Path, answer: str) -> str:
    """Return the line that is offered an answer with the widest room to both marks.

    Args:
        models: The folder with the local model's graph.
        answer: The bot's last answer; right below it comes the line, by somebody else.
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
    """Return how far a line keeps from both marks; below 0: it misses one."""
    said = ChatLine(line, before=Before.BOT, before_text=answer, answer=answer)
    decided = await deciding.decide(said)
    room = min(decided.for_bot / OTHERS.offer, OTHERS.question / decided.for_bot)
    return room - 1 if decided.band is Band.OFFER else -1.0
