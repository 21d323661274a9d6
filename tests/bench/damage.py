"""What happens to a passage between the book and the chat: the ways in which quotes differ."""

import random
import re
import textwrap
from collections.abc import Callable, Mapping

Damage = Callable[[random.Random, str], str]
"""Returns the text as it arrives."""

_CONFUSED = {"m": "rn", "l": "1", "1": "l", "0": "O", "o": "0", "i": "l", "e": "c", "h": "b"}
_TYPOGRAPHIC = {"ffi": "ﬃ", "fi": "ﬁ", "fl": "ﬂ", "...": "…", " - ": " — ", "-": "‐", "'": "’"}
_STRANGERS = "really very however basically of quite also perhaps some indeed".split()
_EDITED = 0.06
_MISREAD = 0.05
_HYPHENATED = 0.3


def verbatim(chance: random.Random, text: str) -> str:
    """Return the text as it is."""
    return text


def lightly_edited(chance: random.Random, text: str) -> str:
    """Leave out, add or swap a word here and there."""
    words: list[str] = []
    for word in text.split():
        drawn = chance.random()
        if drawn < _EDITED:
            continue
        words.append(chance.choice(_STRANGERS) if drawn < 1.5 * _EDITED else word)
        if drawn > 1 - _EDITED:
            words.append(chance.choice(_STRANGERS))
    return " ".join(words)


def rewrapped(chance: random.Random, text: str) -> str:
    """Break lines anew, some of them within a word and behind a quotation sign."""
    sign = chance.choice(("", "", "> ", "| ", "• "))
    lines = textwrap.wrap(text, chance.randint(30, 80))
    return "".join(f"{sign}{_broken(chance, line)}" for line in lines)


def _broken(chance: random.Random, line: str) -> str:
    head, _, last = line.rpartition(" ")
    if len(last) > 5 and last.isalpha() and chance.random() < _HYPHENATED:
        return f"{head} {last[:3]}-\n{last[3:]} "
    return f"{line}\n"


def scanned(chance: random.Random, text: str) -> str:
    """Misread, lose and replace letters as optical character recognition does."""
    return "".join(_read(chance, letter) for letter in text)


def _read(chance: random.Random, letter: str) -> str:
    if chance.random() >= _MISREAD:
        return letter
    if letter in _CONFUSED and chance.random() < 0.6:
        return _CONFUSED[letter]
    return chance.choice(("", "", chance.choice("abcdefghijklmnopqrstuvwxyz1.,' ")))


def typeset(chance: random.Random, text: str) -> str:
    """Use curly quotes, ligatures and long dashes, as word processors do."""
    for plain, typographic in _TYPOGRAPHIC.items():
        text = text.replace(plain, typographic)
    return "“" + re.sub(r'"([^"]*)"', "‘\\1’", text) + "”"


WAYS: Mapping[str, Damage] = {
    "verbatim": verbatim,
    "lightly edited": lightly_edited,
    "re-wrapped": rewrapped,
    "OCR damage": scanned,
    "smart quotes": typeset,
}
