"""Compares how far claims go with how far their quotes go: all or some, must or may."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.grounding.words import Reading, Word, alike

_SCALES = (
    # Each a scale of words that say how far a sentence goes; what stands together means the same.
    {
        "all": "all every each",
        "most": "most majority",
        "some": "some several certain various many numerous",
    },
    {
        "always": "always invariably",
        "mostly": "usually generally typically normally mostly often frequently commonly",
        "sometimes": "sometimes occasionally",
        "rarely": "rarely seldom",
    },
    {
        "must": "must shall",
        "should": "should ought",
        "will": "will would",
        "may": "may might can could possibly perhaps",
    },
)
_DEGREES = {
    word: (number, degree)
    for number, scale in enumerate(_SCALES)
    for degree, words in scale.items()
    for word in words.split()
}
_MODAL = len(_SCALES) - 1
_BETWEEN = frozenset(
    "not be been being have has had also only even still just then always often never to the a an "
    "i you we they he she it".split()
)
"""May stand between a modal verb and its own verb."""
_NEEDS = frozenset({"have", "has", "had", "need", "needs", "needed"})
"""In front of `to` they mean `must`."""
_REACH = 4
_STRONG = {
    "always": "always invariably every never whenever",
    "never": "never not no none neither nor without cannot",
    "every": "every each all any no whole entire both always whenever",
    "all": "all every each any no whole entire both always total everything everyone whenever only",
    "only": "only sole solely just alone merely exclusively except unless single nothing until "
    "strictly limited",
    "exactly": "exactly precisely exact equal equals",
    "unless": "unless except not no only without until cannot",
    "except": "except unless but excluding other only apart not",
    "none": "none no not neither nor nothing without never",
}
"""Words that need one of their kind in the quotes, wherever it stands."""


@dataclass(frozen=True, slots=True)
class _Qualifier:
    """A word that says how far a sentence goes, and the stem of the word it belongs to."""

    scale: int
    degree: str
    head: str


def strength_differs(claim: Reading, quotes: Reading) -> bool:
    """Return whether the claim goes further than its quotes, or less far, on the same words."""
    theirs = list(_qualifiers(quotes))
    return _adds_certainty(claim, quotes) or any(
        _is_changed(qualifier, theirs) for qualifier in _qualifiers(claim)
    )


def _adds_certainty(claim: Reading, quotes: Reading) -> bool:
    return any(
        word.lower in _STRONG and not quotes.lowers.intersection(_STRONG[word.lower].split())
        for word in claim.words
    )


def _is_changed(ours: _Qualifier, theirs: list[_Qualifier]) -> bool:
    degrees = {
        other.degree
        for other in theirs
        if other.scale == ours.scale and alike(other.head, ours.head)
    }
    return bool(degrees) and ours.degree not in degrees


def _qualifiers(text: Reading) -> Iterator[_Qualifier]:
    for place in range(len(text.words)):
        degree = _degree(text.words, place)
        if degree and (head := _head(text.words, place, is_modal=degree[0] == _MODAL)):
            yield _Qualifier(*degree, head.stem)


def _degree(words: tuple[Word, ...], place: int) -> tuple[int, str] | None:
    lower = words[place].lower
    before = words[place - 1].lower if place else ""
    after = words[place + 1].lower if place + 1 < len(words) else ""
    if lower in _NEEDS and after == "to":
        return _DEGREES["must"]
    if lower == "most" and before in {"the", "at", "a", "its", "their"}:
        return None  # a superlative, or a bound
    return _DEGREES.get(lower)


def _head(words: tuple[Word, ...], place: int, *, is_modal: bool) -> Word | None:
    """Return the verb behind a modal verb, or the thing or verb behind another word."""
    ahead = words[place + 1 : place + 1 + _REACH]
    return next((w for w in ahead if (w.lower not in _BETWEEN if is_modal else w.is_content)), None)
