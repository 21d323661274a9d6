"""What a question asks for and which sentences offer it; English, and only ever a bonus."""

import re
from enum import StrEnum


class Cue(StrEnum):
    """A kind of sentence that a question's wording asks for."""

    EXPLANATION = "explanation"
    QUANTITY = "quantity"
    TIME = "time"
    NAME = "name"
    EXAMPLE = "example"


_ASKS = {
    Cue.EXPLANATION: re.compile(r"\b(?:why|how come|explain|reasons?|causes?)\b|^how\b", re.I),
    Cue.QUANTITY: re.compile(
        r"\bhow (?:many|much|large|long|old|far|fast|tall|high|deep|big|often)\b"
        r"|\b(?:what|which) (?:number|percent\w*|share|amount|size|age|ratio|rate)\b",
        re.I,
    ),
    Cue.TIME: re.compile(
        r"\bwhen\b|\bhow long ago\b|\b(?:what|which) (?:year|century|decade|date|day|month|era)\b",
        re.I,
    ),
    Cue.NAME: re.compile(
        r"\bwho(?:m|se)?\b|\bwhere\b|\bwhat (?:is|was|are|were) the names?\b"
        r"|\b(?:what|which) (?:country|city|person|company|state|place|river|economist|author)\b",
        re.I,
    ),
    Cue.EXAMPLE: re.compile(
        r"\bexamples?\b|\binstances?\b|\billustrat|\bsample\b|\bsyntax\b|\bcode\b|\bsnippet\b"
        r"|\btable\b|\bhow (?:do|does|can|could|should|would) (?:i|you|we|one)\b|\bhow to\b",
        re.I,
    ),
}

_MONTH = r"January|February|March|April|May|June|July|August|September|October|November|December"
_NUMBER_WORD = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundreds?|thousands?|"
    r"millions?|billions?|half|twice|third|quarter|single|both"
)
_OFFERS = {
    Cue.EXPLANATION: re.compile(
        r"\b(?:because|therefore|thus|hence|since|so that|due to|in order to|as a result"
        r"|leads? to|causes?|caused by|results? in|which means|the reason)\b",
        re.I,
    ),
    Cue.QUANTITY: re.compile(rf"\d|\b(?:{_NUMBER_WORD})\b", re.I),
    Cue.TIME: re.compile(rf"\b\d{{3,4}}s?\b|\b\d+(?:st|nd|rd|th)\b|\bcentur|\b(?:{_MONTH})\b"),
    Cue.NAME: re.compile(r"(?<=[a-z,;”’\"] )[A-ZÀ-Þ][\w'’-]+"),
    Cue.EXAMPLE: re.compile(
        r"\b(?:for example|for instance|e\.g\.|such as|consider|suppose|imagine)", re.I
    ),
}
_DEFINITION = re.compile(
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


def cues_of(question: str) -> frozenset[Cue]:
    """Return the kinds of sentence that the question's wording asks for."""
    return frozenset(cue for cue, pattern in _ASKS.items() if pattern.search(question))


def offers(sentence: str, cue: Cue, question: str) -> bool:
    """Return whether the sentence holds what the cue asks for and the question does not."""
    known = question.casefold()
    return any(match[0].casefold() not in known for match in _OFFERS[cue].finditer(sentence))


def defined_term(question: str) -> str | None:
    """Return X of "What is X?", "Define X" and the like; none for any other question."""
    match = _DEFINITION.match(question.strip())
    if match is None:
        return None
    term: str = match["term"] or match["meaning"]
    too_long = len(term.split()) > _LONGEST_TERM
    return None if too_long or _CONTEXTUAL_TERM.match(term) else term


def places_of_definition(sentence: str) -> list[str]:
    """Return the parts of a sentence that may name what it defines.

    They are its subject, its predicate up to a comma, and what stands behind "called".
    """
    places = []
    if verb := _COPULA.search(sentence):
        places.append(sentence[: verb.start()])
        places.append(_CLAUSE_END.split(sentence[verb.end() :], maxsplit=1)[0])
    if naming := _NAMING.search(sentence):
        places.append(_CLAUSE_END.split(sentence[naming.end() :].lstrip(" ,:"), maxsplit=1)[0])
    return places
