"""Mends the misspelt words of a question against the words of the book."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

_WORD = re.compile(r"(?<![\w@/:.`'’-])[^\W\d_]+(?![\w@/:`'’-]|\.\w)")
"""A word that is only letters, and no part of a name, a path or code."""
_FEWEST_LETTERS = 5
"""Below it, too many words lie one letter apart."""
_FEW_WORDS = 3
_TWO_MISTAKES = 8
"""Letters from which a word may hold two mistakes."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A question as it is searched for."""

    question: str
    words: tuple[str, ...] = ()
    """What was put instead of misspelt words, in the order of the question."""


class Speller:
    """Knows a book's words; without any, it mends nothing."""

    def __init__(self, words: Mapping[str, int], is_known: Callable[[str], bool]) -> None:
        """Take the words in lower case with their counts.

        Args:
            is_known: Returns whether the book has a word in any form, or it is a mere function
                word of the book's language.
        """
        self._counts = words
        self._words = list(words)
        self._is_known = is_known

    def mend(self, question: str) -> Mended:
        """Return the question with the book's words for those that the book cannot have.

        A known word stays, and so does a capitalised one inside a sentence: it is a name. Of
        words that are equally near, the one that the book has oftener is taken.
        """
        written = _WORD.findall(question)
        unknown = sum(not self._knows(word.casefold()) for word in written)
        if not unknown or not self._words:
            return Mended(question)
        if unknown * 2 > max(len(written), _FEW_WORDS):
            return Mended(question)  # it is in another language, or about another thing
        found: list[str] = []

        def replaced(match: re.Match[str]) -> str:
            word, before = match.group(), question[: match.start()].rstrip()
            begins = not before or before[-1] in ".!?"
            if word != word.lower() and not (begins and word[1:].islower()):
                return word
            right = self._nearest(word.casefold())
            if right is None:
                return word
            found.append(right)
            return right.capitalize() if word[0].isupper() else right

        mended = _WORD.sub(replaced, question)
        return Mended(mended, tuple(dict.fromkeys(found)))

    @cached_property
    def _bare(self) -> dict[str, str]:
        """The words with marks by their letters alone; most questions never need them."""
        return {_letters(word): word for word in self._words if not word.isalpha()}

    def _knows(self, word: str) -> bool:
        return word in self._counts or self._is_known(word)

    def _nearest(self, word: str) -> str | None:
        if self._knows(word):
            return None
        if (marked := self._bare.get(word)) is not None:
            return marked
        if len(word) < _FEWEST_LETTERS:
            return None
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        most = 1 + (len(word) >= _TWO_MISTAKES)
        near = process.extract(
            word, self._words, scorer=OSA.distance, score_cutoff=most, limit=None
        )
        likely = [
            (distance, -self._counts[other], other)
            for other, distance, _ in near
            if other[0] == word[0]
        ]
        return min(likely)[2] if likely else None


def _letters(word: str) -> str:
    return "".join(letter for letter in word if letter.isalpha())
