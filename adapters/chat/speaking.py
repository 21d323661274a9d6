"""What the head that decides when to speak sees of a line: (n_features,) float32."""

import hashlib
import re
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt


class Before(Enum):
    """Who said the line before."""

    NONE = "none"
    """There is none, or none is known."""
    BOT = "bot"
    SAME = "same"
    """The same person as this line."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A line that a person wrote where the bot reads."""

    text: str
    """Plain text, the mention of the bot and what is quoted taken out."""
    staff: bool = False
    addressed: bool = False
    """Whether it mentions the bot, replies to it, or is a direct message."""
    begins: bool = False
    """Whether it is the first of its thread."""
    before: Before = Before.NONE
    before_text: str = ""
    """The line before; empty when none is known."""
    answer: str = ""
    """The bot's last answer in the thread; empty when there is none."""
    is_asker: bool = False
    """Whether the same person asked what the bot answered last, or what its thread began with."""
    since_answer: int = 0
    """Lines that people wrote since the bot's last answer."""


Floats = npt.NDArray[np.float32]

N_GRAMS = 1_024
"""Buckets that runs of characters and pairs of words are hashed to."""
_MOST_CHARACTERS = 600
"""What follows it does not change what kind of a line it is."""
_MOST_SINCE = 4
_TOKENS = re.compile(r"\w+|[^\w\s]")
_PICTURES = re.compile("[^\x00-\u024f\u2000-\u206f]")
_FEW_WORDS = 2
_WEIGHT_OF_LINE = 3.0
_WEIGHT_OF_LINE_BEFORE = 1.5
_WEIGHT_OF_N_GRAMS = 3.0


def features_of(line: ChatLine, vector: Floats, before: Floats, answer: Floats) -> Floats:
    """Return the features of a line.

    Args:
        line: The line with what went before it.
        vector: (dimensions,) of the line's text, of unit length.
        before: The same of the line before; zeros when there is none.
        answer: The same of the bot's last answer; zeros when there is none.
    """
    surface = _surface(line, float(vector @ before), float(vector @ answer))
    return np.concatenate(
        [
            np.array(surface, np.float32),
            vector * _WEIGHT_OF_LINE,
            before * _WEIGHT_OF_LINE_BEFORE,
            _n_grams(line.text[:_MOST_CHARACTERS]) * _WEIGHT_OF_N_GRAMS,
            np.ones(1, np.float32),
        ],
        dtype=np.float32,
    )


def _surface(line: ChatLine, like_before: float, like_answer: float) -> list[float]:
    text, words = line.text, len(line.text.split())
    asks, after_bot = "?" in text, line.before is Before.BOT
    after_question = "?" in line.before_text and not after_bot
    return [
        line.staff,
        line.begins,
        line.addressed,
        after_bot,
        line.before is Before.SAME,
        line.before is Before.OTHER,
        line.is_asker,
        min(line.since_answer, _MOST_SINCE) / _MOST_SINCE,
        float(np.log1p(words)) / 3,
        words <= _FEW_WORDS,
        asks,
        text.endswith("?"),
        "!" in text,
        _PICTURES.search(text) is not None,
        "\n" in text or "`" in text,
        like_before,
        like_answer,
        after_bot and line.is_asker,
        asks and after_bot,
        after_question,
        after_question and not asks,
        line.staff and asks,
        after_bot and not asks,
    ]


def _n_grams(text: str) -> Floats:
    """Return hashed runs of characters and pairs of words, (N_GRAMS,) of unit length."""
    tokens = _TOKENS.findall(text.casefold())
    grams = {f"{one} {two}" for one, two in zip(["<", *tokens], [*tokens, ">"], strict=True)}
    for token in tokens:
        whole = f"^{token}$"
        grams.add(whole)
        for length in (3, 4):
            grams.update(whole[at : at + length] for at in range(len(whole) - length + 1))
    row = np.zeros(N_GRAMS, np.float32)
    for gram in grams:
        number = int.from_bytes(hashlib.blake2b(gram.encode(), digest_size=8).digest(), "little")
        row[number % N_GRAMS] += 1 if number >> 63 else -1
    return row / max(1.0, float(np.linalg.norm(row)))


class Intent(StrEnum):
    """What a line is."""

    ASK = "ask"
    """A question for the bot that stands by itself."""
    FOLLOW_UP = "more"
    """A question that goes on with what the bot answered."""
    THANKS = "thanks"
    PEOPLE = "people"
    """People talk to one another."""
    STAFF = "staff"
    """A member of the staff states something."""
    SIMPLER = "meta.simpler"
    SHORTER = "meta.shorter"
    EXAMPLE = "meta.example"
    WHERE = "meta.where"
    """Where the last answer stands in the book."""
    SURE = "meta.sure"
    """Whether the last answer is certain."""
    LANGUAGE = "meta.language"
    """The answer in another language."""

    @property
    def is_meta(self) -> bool:
        """Whether it is about the last answer and not about the book."""
        return self.value.startswith("meta.")

    @property
    def is_for_the_bot(self) -> bool:
        """Whether the bot is to say something."""
        return self in (Intent.ASK, Intent.FOLLOW_UP) or self.is_meta


INTENTS = tuple(Intent)


class Band(StrEnum):
    """What the bot does about a line."""

    SPEAK = "speak"
    OFFER = "offer"
    """A reaction by which the author can have it answered."""
    REACT = "react"
    """A reaction to thanks, after which nothing follows."""

    @property
    def is_answer(self) -> bool:
        """Whether there is an answer, or an offer of one."""
        return self in (Band.SPEAK, Band.OFFER)

    @property
    def is_reaction(self) -> bool:
        """Whether a reaction is all that is shown."""
        return self in (Band.OFFER, Band.REACT)

    SILENT = "silent"


WEIGHTS = Path(__file__).with_name("speaking.npz")
DIMENSIONS = 384
"""Of the built-in embedding model, which the head was fitted on."""


@dataclass(frozen=True, slots=True)
class SpeakingHead:
    """A multinomial logistic regression, over what is seen of a line."""

    weights: Floats
    """(n_features, n_intents)."""
    fitted_on: str
    """Identifies the lines that it was fitted on."""

    def probabilities(self, features: Floats) -> Floats:
        """Return the probability of each of INTENTS: (..., n_intents) for (..., n_features)."""
        scores = features @ self.weights
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        shares: Floats = powers / powers.sum(-1, keepdims=True)
        return shares

    def save(self) -> None:
        """Write what the package ships: a byte a weight."""
        scale = np.abs(self.weights).max(0) / 127
        rounded: npt.NDArray[np.int8] = np.round(self.weights / scale).astype(np.int8)
        np.savez_compressed(
            WEIGHTS,
            weights=rounded,
            scale=scale.astype(np.float32),
            fitted_on=np.array(self.fitted_on),
        )


@cache
def shipped_head() -> SpeakingHead:
    """Return the head that the package ships; read at its first use."""
    with np.load(WEIGHTS) as stored:
        weights = stored["weights"].astype(np.float32) * stored["scale"]
        fitted_on = str(stored["fitted_on"])
    assert weights.shape[1] == len(INTENTS)
    return SpeakingHead(weights, fitted_on)
