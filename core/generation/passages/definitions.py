"""Recognises English questions for a definition, and sentences that give one."""

import re
from collections.abc import Callable, Sequence

_ASKED = re.compile(
    r"^\W*(?:what(?:['’]s| is| are| was| were)(?: meant by)?|define|explain)\s+"
    r"(?:the (?:term|meaning of|definition of|concept of|notion of)\s+)?"
    r"[\"'“‘`]*(?P<term>.{2,60}?)\W*$"
    r"|^\W*what (?:does|do|did) (?P<meaning>.{2,60}?) (?:mean|stand for|refer to)\W*$",
    re.I,
)
_CONTEXTUAL_TERM = re.compile(
    r"^(?:it|this|that|these|those|they|the (?:first|second|third))\b", re.I
)
_LONGEST_TERM = 6
"""Words."""
_COPULA = re.compile(
    r"\b(?:is|are|was|were|means?|refers? to|describes?|denotes?|occurs? when|consists? of"
    r"|measures?|represents?|includes?|happens when)\b",
    re.I,
)
_NAMING = re.compile(
    r"\b(?:called|named|termed|known as|referred to as|defined as|refer to (?:this|these|it) as"
    r"|call (?:this|these|it|them))\b",
    re.I,
)
_CLAUSE_END = re.compile(r"[,;:(—.]| that | which | who ")
_PARENTHESES = re.compile(r"\(.*?\)")
_OTHER_TERMS = 2
"""Terms that what a sentence defines may have beyond the term asked for."""


def defined_term(question: str) -> str | None:
    """Return X of "What is X?", "Define X" and the like; none for any other question."""
    match = _ASKED.match(question.strip())
    if match is None:
        return None
    term: str = match["term"] or match["meaning"]
    too_long = len(term.split()) > _LONGEST_TERM
    return None if too_long or _CONTEXTUAL_TERM.match(term) else term


def gives_definition(
    sentence: str, term: frozenset[int], encode_terms: Callable[[str], Sequence[int]]
) -> bool:
    """Return whether a sentence's subject, or what it calls something, is the term asked for.

    Args:
        sentence: One sentence of the book.
        term: The term ids of what is to be defined; empty: nothing is.
        encode_terms: Gives the term ids of a text in the book's language.
    """
    if not term:
        return False
    places = (frozenset(encode_terms(_PARENTHESES.sub("", one))) for one in _places(sentence))
    return any(term <= named and len(named - term) <= _OTHER_TERMS for named in places)


def _places(sentence: str) -> list[str]:
    """Return the parts of a sentence that may name what it defines.

    They are its subject, its predicate up to a comma, and what stands after "called".
    """
    places = []
    if verb := _COPULA.search(sentence):
        places.append(sentence[: verb.start()])
        places.append(_CLAUSE_END.split(sentence[verb.end() :], maxsplit=1)[0])
    if naming := _NAMING.search(sentence):
        places.append(_CLAUSE_END.split(sentence[naming.end() :].lstrip(" ,:"), maxsplit=1)[0])
    return places
