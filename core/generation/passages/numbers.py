"""Numbers of several parts in a question, such as `3.1`, which count as a whole."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)(?![\w]|\.\d)")


@dataclass(frozen=True, slots=True)
class AskedNumbers:
    """The numbers of a question with the terms that each is parted into."""

    parts: Mapping[str, frozenset[int]]

    def are_held(self, text: str) -> bool:
        """Return whether a text has one of the numbers as it was asked."""
        held = _held(text) if self.parts else frozenset()
        return not self.parts.keys().isdisjoint(held)

    def without_parts(self, terms: frozenset[int], text: str) -> frozenset[int]:
        """Return the terms of a text less those of numbers that it does not have as a whole."""
        held = _held(text) if self.parts else frozenset()
        for number, parts in self.parts.items():
            if number not in held:
                terms -= parts
        return terms


def _held(text: str) -> frozenset[str]:
    """Return the numbers of a text with what they begin with: `3.1.2` is also of `3.1`."""
    found = (number.split(".") for number in _NUMBER.findall(text))
    return frozenset(".".join(parts[:n]) for parts in found for n in range(2, len(parts) + 1))


def asked_numbers(question: str, encode_terms: Callable[[str], Sequence[int]]) -> AskedNumbers:
    """Return the numbers of a question, which the index knows by their parts alone."""
    return AskedNumbers({n: frozenset(encode_terms(n)) for n in _NUMBER.findall(question)})
