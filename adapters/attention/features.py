"""What the head that decides when to speak sees of a line: (n_features,) float32."""

import hashlib
import re

import numpy as np
import numpy.typing as npt

from adapters.attention.chat_line import Before, ChatLine

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
