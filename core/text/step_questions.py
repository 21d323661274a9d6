"""Tells a question that asks how something is done, or for one step of it."""

import re
from dataclasses import dataclass

LAST = -1
"""The number of the last step, however many there are."""

_NUMBERS = {
    1: "first one initial ersten erste erster eins",
    2: "second two zweiten zweite zweiter zwei",
    3: "third three dritten dritte dritter drei",
    4: "fourth four vierten vierte vierter vier",
    5: "fifth five fünften fünfte fünfter fünf",
    6: "sixth six sechsten sechste sechster sechs",
    7: "seventh seven siebten siebte siebter sieben",
    8: "eighth eight achten achte achter acht",
    9: "ninth nine neunten neunte neunter neun",
    10: "tenth ten zehnten zehnte zehnter zehn",
    LAST: "last final letzten letzte letzter",
}
_BY_WORD = {word: number for number, words in _NUMBERS.items() for word in words.split()}
_WORDS = "|".join(_BY_WORD)
_STEP = r"(?:step|schritt|arbeitsschritt)\b"
_PLACES = (
    re.compile(rf"\b(?P<number>{_WORDS}|\d{{1,3}}(?:st|nd|rd|th|\.)) (?:\w+ )?{_STEP}", re.I),
    re.compile(rf"\b{_STEP} (?:number |no\.? |nr\.? )?(?P<number>\d{{1,3}}|{_WORDS})\b", re.I),
    re.compile(r"\b(?:do|done|comes?|happens?) (?P<number>first|last)\b", re.I),
    re.compile(
        r"\b(?:mache|tue|kommt) ich (?P<number>zuerst|zuletzt)\b|\bkommt (?P<n>zuerst)", re.I
    ),
)
_NEXT = re.compile(
    rf"\b(?:next|following|nächste[nr]?) {_STEP}|\b(?:do|done|comes?|happens?|follows) next\b"
    rf"|\bwhat (?:do|should|must) (?:i|you|we|one) do after\b|\b{_STEP} (?:after|nach)\b"
    r"|\bwhat (?:comes|follows) after\b|\bwas (?:kommt|folgt) (?:nach|danach|als nächstes)\b",
    re.I,
)
_PLAINLY = re.compile(
    r"\bhow (?:do|does|can|could|should|shall|would|must|may|might|did|to)\b(?: (?:not|best))?"
    r"(?: (?:i|you|we|one|somebody|someone|people|they)\b|(?<=to)\b)"
    r"|\bhow (?:is|are|was|were|must|should|can|could|may)\b.+\b(?:\w{2,}(?:ed|en|wn)|done|made|put"
    r"|set|cut|kept|built|built up|run|read|sent|held|found|taught|brought|hung|fed|lit|wound)\b"
    r"|\b(?:show|tell|teach|explain(?: to)?|guide|walk|remind)(?: me| us)? (?:how to|through)\b"
    r"|\b(?:procedure|instructions?|steps)\b|\bstep by step\b|\bwalk me through\b"
    r"|\bwhat (?:do|should|must|can|shall|would) (?:i|you|we|one) (?:have to |need to )?do\b"
    r"|\bwhat (?:to do|has to be done|must be done|should be done|needs to be done|is to be done)\b"
    r"|\bwie (?:\w+ (?:ich|man|wir|du|sie)\b|(?:kann|soll|muss|darf|sollte) (?:ich|man|wir|du)\b"
    r"|(?:wird|werden)\b|geht (?:das|man|es)\b|geht's\b)"
    r"|\b(?:schritte|anleitung|vorgehen|vorgehensweise|ablauf)\b|\bschritt für schritt\b"
    r"|\bwas (?:muss|soll|kann|sollte|darf) (?:ich|man) (?:\w+ )*(?:tun|machen)\b"
    r"|\bwas (?:tun|ist zu tun|mache ich|tue ich)\b"
    r"|^\W*comment (?!allez)\w|^\W*¿?cómo (?:se|puedo|debo|hay)\b|^\W*come (?:si|posso|devo)\b",
    re.I,
)
_HOW = re.compile(
    r"\bhow (?!many\b|much\b|long\b|large\b|old\b|far\b|fast\b|tall\b|high\b|deep\b|big\b|often\b"
    r"|come\b|about\b|so\b|soon\b|late\b|early\b|hot\b|cold\b|warm\b|heavy\b|thick\b|wide\b"
    r"|small\b|little\b|few\b|strong\b|dangerous\b|important\b|likely\b|well\b|else\b|ever\b)\w"
    r"|^\W*wie (?!viele?\b|lange?\b|oft\b|hoch\b|weit\b|alt\b|groß\b|heiß\b|warm\b|schwer\b|teuer\b"
    r"|heißt\b|heißen\b|bitte\b|spät\b)\w",
    re.I,
)
_ALONE = re.compile(
    r"(?:(?:what(?:['’]s| is| are)|list|name|show(?: me)?|give(?: me)?|tell me)(?: all)?(?: of)?"
    r" )?(?:the |all )*(?:\w+ )?(?:steps?|procedure|instructions)"
    r"(?: (?:here|(?:in|of|for) (?:this|the) (?:section|chapter|page)|please))?"
    r"|how (?:do|can|should|must) (?:i|you|we|one) do (?:it|this|that)"
    r"|how (?:is|does) (?:it|this|that) (?:done|work)|what (?:do|should|must) (?:i|you|we) do"
    r"(?: (?:first|last|here))?|what comes first|(?:was (?:sind|ist) )?(?:(?:die|der) )?(?:\w+ )?"
    r"schritte?|wie geht (?:das|es|man vor)|was (?:ist zu tun|muss ich tun|mache ich(?: zuerst)?)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class StepsAsked:
    """What a question wants of a list of steps."""

    number: int | None = None
    """The one step asked for, from 1, or `LAST`; None: all of them."""
    is_next: bool = False
    """Whether it is the step behind another one, which is named or was just shown."""
    plainly: bool = True
    """Whether somebody wants to do it; else "how" may ask for a reason or a manner as well."""


def read_steps_asked(question: str) -> StepsAsked | None:
    """Return which steps a question asks for; None: it asks for something else."""
    for place in _PLACES:
        if match := place.search(question):
            return StepsAsked(_number(next(filter(None, match.groups()))))
    if _NEXT.search(question):
        return StepsAsked(is_next=True)
    if _PLAINLY.search(question) and not _asks_how_much(question):
        return StepsAsked()
    return StepsAsked(plainly=False) if _HOW.search(question) else None


def names_no_subject(question: str) -> bool:
    """Return whether only the steps are asked for, and not of what: "What are the steps?"."""
    return _ALONE.fullmatch(" ".join(question.split()).strip(" ?!.…¿")) is not None


def _asks_how_much(question: str) -> bool:
    """Return whether the one "how" of a question is that of a number: "How long do I wait?"."""
    return re.match(r"\W*how\b", question, re.I) is not None and _HOW.search(question) is None


def _number(word: str) -> int:
    word = word.casefold()
    if word in {"zuerst", "zuletzt"}:
        return 1 if word == "zuerst" else LAST
    return _BY_WORD.get(word) or int(re.sub(r"\D", "", word))
