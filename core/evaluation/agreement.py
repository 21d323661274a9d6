"""Whether a sentence stands in a text, and its numbers and names do.

Nothing here is shared with the check that lets a sentence into an answer: a measure that used
the same code would find every answer good.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import accumulate

from core.text.links import without_links
from core.text.sentences import sentences

_BULLET = re.compile(r"\A\s*(?:[-*•+]|\d{1,3}[.)])\s+")
_TOKEN = re.compile(r"(?<![\w-])-(?=\d)|[^\W_]+|[+/=<>%$€£&|^~]")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE_STARTS = tuple(".:!?…“”\"'‘(-*•—|")

_COUNTED = {
    word: str(number)
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve".split(), 2
    )
}
_COUNTED_WORD = re.compile(rf"\b(?:{'|'.join(_COUNTED)})\b", re.I)
_NUMBER = re.compile(
    r"([$€£¥])?\s?((?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?)"
    r"(?:\s?(%|per ?cent(?:age points?)?\b)|\s(thousand|million|billion|trillion)\b)?",
    re.I,
)


def without_bullet(sentence: str) -> str:
    """Return the item of a list without the sign or number in front of it."""
    return _BULLET.sub("", sentence)


def stands_in(sentence: str, text: str) -> bool:
    """Return whether the sentence stands in the text word for word, as whole sentences of it.

    Layout makes no difference. A part of a sentence is not enough: what was left out may turn
    its meaning round.
    """
    wanted = _folded(sentence)
    parts = [_folded(part) for part in sentences(text)]
    runs = (parts[start:] for start in range(len(parts)))
    return any(wanted in accumulate(run, "{} {}".format) for run in runs)


def _folded(text: str) -> str:
    plain = (
        unicodedata.normalize("NFKC", without_links(without_bullet(text)))
        .replace("−", "-")
        .casefold()
    )
    return " ".join(_TOKEN.findall(plain))


def numbers_agree(sentence: str, text: str) -> bool:
    """Return whether every number of the sentence stands in the text, in no other unit."""
    there = list(_numbers(text))
    return all(
        any(value == known and (unit <= its or its <= unit) for known, its in there)
        for value, unit in _numbers(sentence)
    )


def _numbers(text: str) -> Iterator[tuple[float, frozenset[str]]]:
    """Yield each number with its currency, `%` and power of ten, as far as it has them."""
    digits = _COUNTED_WORD.sub(lambda word: _COUNTED[word.group().casefold()], text).replace(
        "−", "-"
    )
    for currency, value, percent, scale in _NUMBER.findall(digits):
        unit = {currency, "%" if percent else "", scale.casefold()}
        yield float(value.replace(",", "")), frozenset(unit - {""})


def names_agree(sentence: str, text: str) -> bool:
    """Return whether every name of the sentence stands in the text.

    A name is a word with a capital letter that does not begin a sentence, such as "Keynes",
    "GDP" or "M1".
    """
    known = {word.group().casefold() for word in _WORD.finditer(text.replace(".", ""))}
    return all(name.casefold() in known for name in _names(sentence.replace(".", "")))


def _names(sentence: str) -> Iterator[str]:
    for word in _WORD.finditer(sentence):
        name, before = word.group(), sentence[: word.start()].rstrip()
        begins = not before or before.endswith(_SENTENCE_STARTS)
        if name != name.lower() and len(name) > 1 and not (begins and name.isalpha()):
            yield name
