"""Decides before anything is searched: what a line is, and whether the bot is to speak."""

import re
from dataclasses import dataclass

import numpy as np

from adapters.attention.chat_line import Before, ChatLine
from adapters.attention.features import Floats, features_of
from adapters.attention.intents import INTENTS, Band, Intent
from adapters.attention.speaking_head import DIMENSIONS, SpeakingHead, shipped_head
from core.embeddings.base import Embedder
from core.retrieval.question.resolving import has_own_subject

_MOST_CHARACTERS = 1_000
"""Of a line, and of what went before it, that is embedded."""
_NOTHING = np.zeros(DIMENSIONS, np.float32)
_META_AT = 0.3
"""Probability below which an addressed line is never taken for one about the last answer."""
_THANKS_AT = 0.3
"""The same of thanks, after which nothing but a reaction follows."""


@dataclass(frozen=True, slots=True)
class _Marks:
    """Probabilities of being for the bot from which on it speaks, or offers to."""

    question: float
    """Of a line in the form of a question, from which on it answers."""
    other: float
    """Of any other line, from which on it answers."""
    offer: float
    """Of a question, from which on it offers to."""


_NEVER = 2.0
_BELOW = _Marks(question=0.15, other=0.4, offer=_NEVER)
"""Who asked goes on right below the answer, or below a line of their own."""
_RETURNING = _Marks(question=0.1, other=_NEVER, offer=_NEVER)
"""Who asked writes after somebody else did."""
OTHERS = _Marks(question=0.6, other=_NEVER, offer=0.3)
_OPENING = _Marks(question=0.6, other=0.75, offer=0.1)
"""The first message of a thread that the bot answers by itself."""
_FORM = re.compile(
    r"(?:(?:ok|okay|and|but|so|oh|hm+|wait|hey|hi|then|also|well|und|aber|ach|dann)\b[\s,!.…-]*)*"
    r"(?:what|whats|who|whose|whom|where|when|why|how|which|is|are|am|was|were|do|does|did|can"
    r"|could|would|will|should|may|might|must|has|have|isn['’]t|aren['’]t|doesn['’]t|didn['’]t"
    r"|wer|wen|wem|wo|wann|warum|wieso|weshalb|wie|welche\w*|ist|sind|kann|können|darf|muss"
    r"|gibt|hat|haben|sollte)\b",
    re.IGNORECASE,
)
"""How a question begins in English and German: by a question word, or by its verb."""


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
    band = _band_of(line, for_bot)
    if band is not Band.SILENT:
        return Decision(_of_bot(probabilities), band, for_bot)
    others = [one for one in INTENTS if not one.is_for_the_bot]
    intent = max(others, key=probabilities.__getitem__)
    if intent is Intent.THANKS and _goes_on(line):
        band = Band.REACT
    return Decision(intent, band, for_bot)


def has_form_of_question(text: str) -> bool:
    """Return whether a line has a question mark, or begins as questions do."""
    return "?" in text or _FORM.match(text.strip()) is not None


def _goes_on(line: ChatLine) -> bool:
    """Return whether who asked writes right below the answer, or below a line of their own."""
    return line.is_asker and line.before in (Before.BOT, Before.SAME)


def _band_of(line: ChatLine, for_bot: float) -> Band:
    """Return what is done about a line that does not mention the bot.

    Who asked is answered where they ask; other people's lines only where it is plain that they are
    for the bot, and nothing but a question is offered an answer.
    """
    if line.is_asker and has_own_subject(line.text):
        return Band.SPEAK
    marks = _OPENING if line.begins else OTHERS
    if line.is_asker:
        marks = _BELOW if _goes_on(line) else _RETURNING
    asks = has_form_of_question(line.text)
    if for_bot >= (marks.question if asks else marks.other):
        return Band.SPEAK
    return Band.OFFER if for_bot >= marks.offer and (asks or line.begins) else Band.SILENT


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
