"""Reads a text as plain words for the lexical judge: no lists but the words that deny."""

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]|[^\W_]+(?:[.,](?=\d)\d+)*")
_CONTRACTED = re.compile(r"n['’]t\b", re.IGNORECASE)
_REACH = 5
"""Words after a denial that it may deny."""
_SAYS_MUCH = 0.3
_LEAST_PREFIX = 4
_LONGEST_ENDING = 4
_DENIALS = frozenset(
    "not no never neither nor none without cannot unable hardly "
    "nicht kein keine keinen keinem keiner keines nie niemals ohne weder noch nichts".split()
)


@lru_cache(maxsize=1 << 9)
def words(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text in order, in lower case, `n't` as `not`."""
    plain = _CONTRACTED.sub(" not", unicodedata.normalize("NFKC", text))
    return tuple(_WORD.findall(plain.replace("cannot", "can not").casefold()))


def weight(word: str) -> float:
    """Return how much a word says, 0 to 1: by its length, since rare words are long.

    Zipf's law of abbreviation; a number says all that one can, a sign of CJK two letters' worth.
    """
    if word[0].isdigit():
        return 1.0
    length = len(word) if word.isascii() or len(word) > 1 else 5
    return min(max(length - 2, 0), 6) / 6


def denied(text: str) -> list[list[str]]:
    """Return for each word that denies, in English or German, the next words that say much."""
    own = words(text)
    scopes = []
    for place, word in enumerate(own):
        if word in _DENIALS:
            after = own[place + 1 : place + 1 + _REACH]
            scopes.append([other for other in after if weight(other) >= _SAYS_MUCH][:2])
    return scopes


def undenied(text: str) -> str:
    """Return the words that do not stand shortly after one that denies, parted by blanks."""
    own = words(text)
    places = [place for place, word in enumerate(own) if word in _DENIALS]
    under = {place + step for place in places for step in range(_REACH + 1)}
    return " ".join(word for place, word in enumerate(own) if place not in under)


class Vocabulary:
    """The words of some sentences, to be found again in other forms."""

    def __init__(self, text: str) -> None:
        """Read `text`."""
        self._exact = set(words(text))
        self._by_prefix: dict[str, list[str]] = {}
        for word in self._exact:
            self._by_prefix.setdefault(word[:_LEAST_PREFIX], []).append(word)

    def has(self, word: str) -> bool:
        """Return whether the word stands there, in this form or with another ending."""
        if word in self._exact:
            return True
        if len(word) < _LEAST_PREFIX or word[0].isdigit():
            return False
        return any(_inflected(word, other) for other in self._by_prefix.get(word[:4], ()))


@lru_cache(maxsize=1 << 13)
def _inflected(one: str, other: str) -> bool:
    """Return whether two words with the same first letters differ by their endings alone."""
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    same = min(len(one), len(other)) if same is None else same
    return max(len(one), len(other)) - same <= min(_LONGEST_ENDING, same - 1)
