"""Normalises a question, so that equal questions are equal strings."""

import re
import unicodedata

from core.text.sentences import MARKS

_CODE = re.compile(r"(`+)(.+?)\1", re.S)
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
_AT_THE_END = f" \t\n?!.…{MARKS}"


def fold(question: str) -> str:
    """Return the question without what changes no meaning: case, blanks, and its last marks.

    Case counts inside of code. No other sign goes: `x != y` and `C++` stay what they are.

    >>> fold("  What is\\na Heap??")
    'what is a heap'
    >>> fold("Is `Some` a type?") == fold("Is `some` a type?")
    False
    """
    text = unicodedata.normalize("NFC", question).translate(_QUOTES).translate(_DASHES)
    parts, place = list[str](), 0
    for code in _CODE.finditer(text):
        parts += [text[place : code.start()].casefold(), code.group()]
        place = code.end()
    parts.append(text[place:].casefold())
    return " ".join("".join(parts).split()).strip(_AT_THE_END)
