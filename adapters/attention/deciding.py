"""Decides before anything is searched: what a line is, and whether the bot is to speak."""

from dataclasses import dataclass

import numpy as np

from adapters.attention.chat_line import ChatLine
from adapters.attention.features import Floats, features_of
from adapters.attention.intents import INTENTS, Band, Intent
from adapters.attention.speaking_head import DIMENSIONS, SpeakingHead, shipped_head
from core.embeddings.base import Embedder

_MOST_CHARACTERS = 1_000
"""Of a line, and of what went before it, that is embedded."""
_NOTHING = np.zeros(DIMENSIONS, np.float32)
_META_AT = 0.3
"""Probability below which an addressed line is never taken for one about the last answer."""
_THANKS_AT = 0.3
"""The same of thanks, after which nothing but a reaction follows."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a line is taken for, and what the bot does about it."""

    intent: Intent
    band: Band
    for_bot: float = 1.0
    """Probability that it is for the bot."""


ASKED = Decision(Intent.ASK, Band.SPEAK)
"""Of what can be nothing else than a question, such as a command."""


class Deciding:
    """Reads lines with the built-in embedding model, whatever model a course uses."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def decide(self, line: ChatLine) -> Decision:
        """Return what a line is, and what to do about it.

        An addressed line always gets something, be it a reaction to thanks.

        Raises:
            EmbeddingError: when the model cannot be run.
        """
        return decision(shipped_head(), line, await embedded_features(self._embedder, line))


async def embedded_features(embedder: Embedder, line: ChatLine) -> Floats:
    """Return the features of a line, (n_features,), the same in whatever company it is read.

    Each text is embedded by itself: the int8 model scales by all that it is given at once.

    Raises:
        EmbeddingError: when the model cannot be run.
    """
    texts = (line.text, line.before_text, line.answer)
    return features_of(line, *[await _embedded(embedder, text) for text in texts])


async def _embedded(embedder: Embedder, text: str) -> Floats:
    """Return a text's vector; zeros for no text, and for a model that stands in."""
    if not text:
        return _NOTHING
    (row,) = await embedder.embed_queries([text[:_MOST_CHARACTERS]])
    return row if row.shape == _NOTHING.shape else _NOTHING


def decision(head: SpeakingHead, line: ChatLine, features: Floats) -> Decision:
    """Return what a head decides about a line with these features."""
    probabilities = dict(zip(INTENTS, head.probabilities(features).tolist(), strict=True))
    for_bot = sum(p for intent, p in probabilities.items() if intent.is_for_the_bot)
    if line.addressed:
        return Decision(_of_addressed(probabilities), Band.SPEAK, for_bot)
    if for_bot >= head.offer_at:
        band = Band.SPEAK if for_bot >= head.speak_at else Band.OFFER
        return Decision(_of_bot(probabilities), band, for_bot)
    others = [one for one in INTENTS if not one.is_for_the_bot]
    return Decision(max(others, key=probabilities.__getitem__), Band.SILENT, for_bot)


def _of_addressed(probabilities: dict[Intent, float]) -> Intent:
    """Return what a line to the bot is: a question unless it is clearly something else."""
    thanks = probabilities[Intent.THANKS]
    for_bot = sum(p for intent, p in probabilities.items() if intent.is_for_the_bot)
    if thanks > for_bot and thanks >= _THANKS_AT:
        return Intent.THANKS
    return _of_bot(probabilities, at_least=_META_AT)


def _of_bot(probabilities: dict[Intent, float], *, at_least: float = 0.0) -> Intent:
    """Return whether a line to the bot asks about the last answer, or about the book."""
    asked = (Intent.ASK, Intent.FOLLOW_UP)
    about = [one for one in INTENTS if one.is_meta]
    meta = sum(probabilities[one] for one in about)
    is_meta = meta > sum(probabilities[one] for one in asked) and meta >= at_least
    return max(about if is_meta else asked, key=probabilities.__getitem__)
