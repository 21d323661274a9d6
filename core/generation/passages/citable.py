"""Which sentences can stand in an answer by themselves."""

import re
from collections.abc import Sequence

from core.text.sentences import MARKS, QUESTIONS, STOPS
from core.text.tokens import count_tokens

SHORTEST = 5
"""Tokens; anything shorter is a label."""
LONGEST = 140
"""Tokens; anything longer is text whose full stops were lost."""

_PUNCTUATED = re.compile(rf"[.!?…{MARKS}][\"'”’»」』）)\]]*\s*$", re.M)
_ENDS = re.compile(rf"[.!…！{STOPS}][\"'”’»」』）)\]]*$")
_ASKS = re.compile(rf"[?;{QUESTIONS}][\"'”’»」』）)\]]*$")
_STARTS_SMALL = re.compile(r"(?!`)[\W_]*[a-zß-öø-ÿа-яα-ω]")
_CONTINUES = re.compile(
    r"\(\w\)|\W*(?:also|and|but|or|where|which"
    r"|[a-z]{3,}s\s+(?:an?|the|this|that|these|how|what|why|which|some|several|its|their|both))\s"
)
"""What goes on after a formula or a reference that the text left out: "shows the curve"."""
_CAPTION = re.compile(
    r"\(?(?:Figure|Fig\.|Table|Listing|Exhibit|Image|Photo|Abb\.|Abbildung|Tabelle|Figura|Tableau)"
    r"\s*\d[\d.\-–]*[a-z]?\s*[:.)]?(?!\s+(?:[a-z]|[A-Z]\w+\s+is\b))|\(?(?:Credit|Source|Photo)s?:",
    re.I,
)
_POINTER = re.compile(
    r"\(?(?:See|Refer to|Turn to|Recall|Read|Visit|View|Watch|Click|Go to|Siehe|Voir)\b.{0,90}$",
    re.I | re.S,
)
_SIGNPOST = re.compile(
    r"(?:In|By the end of|Throughout|At the end of|After reading|The rest of|Later in)\s+"
    r"(?:this|the next|the following|that) (?:chapter|section|module|lesson|unit|book|part)\b"
    r"|This (?:section|unit)\b|.*\bthis (?:chapter|module|lesson)\b"
    r"|.*\b(?:we|it|you)(?: will|[’']ll) (?:now |then |also |first |next )?(?:consider|explore"
    r"|discuss|examine|learn|look at|see how|cover|introduce|explain|return to|talk about)\b",
    re.I | re.S,
)
_EXERCISE_HEADING = re.compile(
    r"[\W\d]*(?!frequently asked)"
    r"(?:exercises?|problems?|problem sets?|quiz(?:zes)?|homework|assignments?|test yourself"
    r"|(?:\w+[ -]){0,2}questions|references|bibliography|further reading)\W*",
    re.I,
)
_PRONOUN = re.compile(
    r"[\W_]*(?:he|she|it|they|this|that|these|those|his|her|its|their|such|however)\b", re.I
)


def is_citable(sentence: str, *, punctuated: bool = True, begins: bool = False) -> bool:
    """Return whether the sentence says something by itself.

    Refused are fragments, questions, captions, pointers ("See Figure 3.") and signposts ("In this
    chapter ...").

    Args:
        punctuated: Whether the text around it ends its sentences with full stops; where it does
            not (slides), a line without one is no fragment.
        begins: Whether a paragraph begins with it, so that it is whole though its first letter is
            small: "mRNA carries ...".
    """
    if _ASKS.search(sentence) or sentence.count("(") != sentence.count(")"):
        return False
    if punctuated and not _ENDS.search(sentence):
        return False
    if _STARTS_SMALL.match(sentence) and (not begins or _CONTINUES.match(sentence)):
        return False
    if any(said.match(sentence) for said in (_CAPTION, _POINTER, _SIGNPOST)):
        return False
    return SHORTEST <= count_tokens(sentence) <= LONGEST


def is_ended(text: str) -> bool:
    """Return whether a text ends as a sentence does."""
    return _ENDS.search(text) is not None or _ASKS.search(text) is not None


def is_exercise(headings: Sequence[str]) -> bool:
    """Return whether the headings are above exercises, or above what is read elsewhere."""
    return any(_EXERCISE_HEADING.fullmatch(heading) for heading in headings)


def leans_on_previous(sentence: str) -> bool:
    """Return whether it begins with a pronoun or a "however" that needs another sentence."""
    return _PRONOUN.match(sentence) is not None


def is_punctuated(text: str) -> bool:
    """Return whether the sentences of a text end with full stops; those of slides do not."""
    return _PUNCTUATED.search(text) is not None
