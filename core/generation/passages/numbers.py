"""Numbers of several parts in a question, such as `3.1`, which count as a whole."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?![\w]|\.\d)")


@dataclass(frozen=True, slots=True)
class AskedNumbers:
    """The numbers of a question with the terms that each is parted into."""

    parts: Mapping[str, frozenset[int]]

    def are_held(self, text: str) -> bool:
        """Return whether a text has one of the numbers as it was asked."""
        return not self.parts.keys().isdisjoint(_NUMBER.findall(text))

    def without_parts(self, terms: frozenset[int], text: str) -> frozenset[int]:
        """Return the terms of a text less those of numbers that it does not have as a whole."""
        held = _NUMBER.findall(text) if self.parts else ()
        for number, parts in self.parts.items():
            if number not in held:
                terms -= parts
        return terms


def asked_numbers(question: str, encode_terms: Callable[[str], Sequence[int]]) -> AskedNumbers:
    """Return the numbers of a question, which the index knows by their parts alone."""
    return AskedNumbers({n: frozenset(encode_terms(n)) for n in _NUMBER.findall(question)})
