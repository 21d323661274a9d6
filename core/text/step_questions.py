"""Tells a question that asks how something is done, or for one step of it.

Each pattern is a whole way of asking, read from the start of a question or of one of its clauses:
"procedure" or "steps" in the midst of a question for something else asks for no list.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

LAST = -1
"""The place of the last step, however many there are."""

_ORDINALS = {
    1: "first initial erste ersten erster zuerst",
    2: "second zweite zweiten zweiter",
    3: "third dritte dritten dritter",
    4: "fourth vierte vierten vierter",
    5: "fifth fünfte fünften fünfter",
    6: "sixth sechste sechsten sechster",
    7: "seventh siebte siebten siebter",
    8: "eighth achte achten achter",
    9: "ninth neunte neunten neunter",
    10: "tenth zehnte zehnten zehnter",
    LAST: "last final letzte letzten letzter zuletzt",
}
_CARDINALS = {
    1: "one eins",
    2: "two zwei",
    3: "three drei",
    4: "four vier",
    5: "five fünf",
    6: "six sechs",
    7: "seven sieben",
    8: "eight acht",
    9: "nine neun",
    10: "ten zehn",
}
_PLACES = {word: place for place, words in _ORDINALS.items() for word in words.split()}
_NUMBERS = {word: number for number, words in _CARDINALS.items() for word in words.split()}

_ORDINAL = rf"(?:{'|'.join(_PLACES)}|\d{{1,3}}(?:st|nd|rd|th|\.))"
_STEP = r"(?:step|schritt|arbeitsschritt)"
_ONE_STEP = (
    rf"(?:(?:the |my |der |den |dem |die )?(?:(?P<place>{_ORDINAL}) (?:[\w-]+ )?{_STEP}\b"
    rf"|{_STEP} (?:number |no\.? |nr\.? )?(?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)})\b))"
)
_ENDS = (
    r"(?=\W*$|,? (?:of|in|for|to|when|if|at|on|with|from|after|before|during|while|here|again"
    r"|then|about|against|by|and|please|behind|beim?|zum?|zur|im|für|von|vom|der|des|wenn|nach|vor"
    r"|mit|an|am|auf|aus|hier|bitte|dabei|davon|und)\b)"
)
"""What is asked for ends here: "the first step", but no "first step verification"."""

_WHO = r"(?:i|you|we|one|somebody|someone)"
_SHOULD = r"(?:do|should|must|shall|can|could)"
_DO = rf"what (?:do|should|must|shall) {_WHO} (?:have to |need to )?do"
_IS_DONE = r"(?:has to be|have to be|must be|should be|needs to be|is to be|is) done"
_MACHE = r"was (?:mache|tue|muss|soll|sollte) (?:ich|man)"
_ASK_FOR_IT = (
    r"(?:(?:can|could|would) you )?(?:please )?"
    r"(?:(?:tell|show|give|read|explain|describe|name|list|quote)(?: to)?(?: me| us)?"
    r"|(?:nenne?|zeige?|sage?|gib|erkläre?|beschreibe?)(?: mir| uns)?(?: bitte)?)"
)
_IS = r"(?:what(?:['’]s| is| are)|which is|(?:was|wie|welches) (?:ist|sind|lautet|lauten))"

_BESIDE = (
    rf"{_DO}(?: next| right| directly)? (?P<side>after|before) (?P<words>.+)",
    r"(?:what|which step) (?:comes|follows|happens|is)(?: next| right| directly)?"
    r" (?P<side>after|before|behind) (?P<words>.+)",
    rf"what {_IS_DONE} (?P<side>after|before) (?P<words>.*\b{_STEP}\b.*)",
    r"(?:what|which step) (?P<side>follows) (?P<words>.+)",
    rf"(?:{_IS}|{_ASK_FOR_IT}) (?:the )?(?:next )?{_STEP} (?P<side>after|before|behind)"
    r" (?P<words>.+)",
    rf"{_MACHE}(?: direkt)? (?P<side>nach|vor) (?P<words>.+)",
    rf"(?:was|welcher {_STEP}) (?:kommt|folgt|ist)(?: direkt)? (?P<side>nach|vor|auf)"
    r" (?P<words>.+)",
    rf"(?:{_IS}|{_ASK_FOR_IT}) (?:der|den) {_STEP} (?P<side>nach|vor) (?P<words>.+)",
)
_NEXT = (
    rf"(?:(?:{_IS}|{_ASK_FOR_IT}) )?(?:the |der |den )?(?:next|following|nächste[rn]?)"
    rf" {_STEP}\b{_ENDS}",
    rf"{_DO} next\b{_ENDS}",
    r"what (?:comes|happens|follows|is) next\W*$",
    rf"{_MACHE} (?:danach|als nächstes)\b",
    r"was (?:kommt|folgt|passiert) (?:danach|als nächstes)\W*$",
)
_ONE = (
    rf"{_ONE_STEP}\W*$",
    rf"(?:{_IS}|{_ASK_FOR_IT}|how (?:do|should|must) {_WHO} do|what does|{_DO} (?:in|at|as|for)"
    rf"|what (?:happens|comes|{_IS_DONE}) (?:in|at|as|during)"
    rf"|(?:{_MACHE}|was passiert|was geschieht|was kommt)(?: als| in| im| bei| beim)?) "
    rf"{_ONE_STEP}(?:{_ENDS}| (?:say|involve|tell)\b)",
    rf"{_DO} (?P<place>first|last)\b{_ENDS}",
    rf"{_MACHE} (?P<place>zuerst|zuletzt)\b",
)
_ONE_PERHAPS = (
    rf"what (?:comes|happens|{_IS_DONE}) (?P<place>first|last)\b{_ENDS}",
    r"was (?:kommt|passiert) (?P<place>zuerst|zuletzt)\b",
)

_NO_DOING = (
    r"(?:be|know|tell|call|name|spell|pronounce|say|define|recogni[sz]e|notice|see|understand"
    r"|interpret|explain|think|feel|mean|distinguish|differentiate|justify|differ|compare|relate)"
)
_NO_DEED = (
    r"(?:known|called|named|termed|defined|described|spelled|spelt|pronounced|said|told|related"
    r"|connected|caused|affected|influenced|used|classified|divided|composed|organi[sz]ed"
    r"|structured|distributed|considered|explained|expressed|characteri[sz]ed|needed|based"
    r"|compared|distinguished|involved|located|recogni[sz]ed|inherited|interested)"
)
_DEED = (
    r"(?:\w{2,}ed|done|made|put|set|cut|kept|built|sent|held|hung|fed|lit|wound|taken|written"
    r"|drawn|driven|frozen|shaken|beaten|sewn|found|taught|brought|grown|sown|thrown|run)"
)
_LIST = r"(?:steps|procedure|instructions)"
_KIND = r"(?:(?!(?:of|in|for|to|on|at|with|behind|from|by|and|or|no)\b)[\w-]+ ){0,2}"
"""A word or two of what the steps are of: "the emergency procedure"."""
_PLAINLY = (
    rf"how {_SHOULD} {_WHO} (?:(?:best|not|then|now|also|\w+ly) )*+(?!{_NO_DOING}\b)\w",
    rf"how (?:not )?to (?!{_NO_DOING}\b)\w",
    rf"(?:{_ASK_FOR_IT}|(?:can|could|would) you (?:teach|remind) (?:me|us)"
    r"|(?:teach|remind) (?:me|us)|(?:i|we) (?:want|need|would like) to (?:know|learn)"
    rf"|do you know) how to (?!{_NO_DOING}\b)\w",
    r"(?:(?:can|could|would) you )?(?:please )?(?:walk|guide|talk|take|lead) (?:me|us) through\b",
    rf"how (?:is|are|must|should|can|could) [^?]+ (?!{_NO_DEED}\b){_DEED}\b{_ENDS}",
    rf"{_DO}\b{_ENDS}",
    rf"what can {_WHO} do (?:when|if|against)\b",
    rf"what (?:to do|{_IS_DONE})\b{_ENDS}",
    rf"(?:(?:what(?:['’]s| is| are)|{_ASK_FOR_IT}) )?(?:all )?(?:of )?the {_KIND}{_LIST}\b{_ENDS}",
    rf"(?:{_ASK_FOR_IT} )?(?:all )?{_LIST} (?:for|to|of|when|if)\b",
    rf"{_ASK_FOR_IT} (?:all )?{_LIST}\W*$",
    r"(?:what|which) steps (?:do|must|should|have|need|can|are (?:there|needed|necessary|required"
    r"|taken|involved|to be))\b",
    rf"{_ASK_FOR_IT} .+\bstep[- ]by[- ]step\b",
    r"step[- ]by[- ]step\b",
)
_KEIN_TUN = (
    r"(?:viel\w*|lange?|oft|hoch|weit|alt|groß|heiß\w*|warm|schwer|teuer|spät|nennt|nenne|nennen"
    r"|genannt|bezeichne\w*|erkenn\w*|merk\w*|weiß|wissen|wisst|versteh\w*|seh\w*|sieht|sag\w*"
    r"|definier\w*|erklär\w*|schreib\w*|geschrieben|spricht|ausgesprochen|unterscheide\w*|fühl\w*"
    r"|begründe\w*|verursacht|beeinflusst|beschrieben|verwendet|benutzt|eingeteilt|gegliedert)"
)
_GETAN = (
    r"(?:\w*ge\w{2,}(?:t|en)|\w{2,}iert|(?:be|ver|ent|er|zer|über|unter|ab|an|auf|aus|ein|um)"
    r"\w{3,}(?:t|en))"
)
_KEIN_WIE = rf"(?!.*\b{_KEIN_TUN}\b)"
_LISTE = r"(?:schritte|anleitung|vorgehen|vorgehensweise|ablauf)"
_DEUTLICH = (
    rf"wie {_KEIN_WIE}(?:\w+ (?:ich|man|wir|du)\b|geht das\b)",
    rf"wie {_KEIN_WIE}(?:wird|werden) .+ {_GETAN}(?: werden)?(?=\W*$|,)",
    rf"(?:{_IS}|{_ASK_FOR_IT}) (?:alle )?(?:der |die |das |eine )?{_LISTE}\b{_ENDS}",
    r"welche schritte (?:sind|muss|müssen|soll|braucht)\b",
    r"(?:anleitung|schritte) (?:zum?|zur|für)\b|schritt für schritt\b",
    r"was (?:muss|soll|sollte) (?:ich|man) (?:[^?]+ )?(?:tun|machen)\b",
    r"was kann (?:ich|man) (?:gegen [^?]+ )?tun\b",
    r"was (?:ist zu tun|tun|mache ich|tue ich)\b",
)
_ELSEWHERE = (
    r"comment (?!(?:être|savoir|reconnaître|appeler|nommer|dire|définir|comprendre|expliquer"
    r"|hier|fer)\b)(?:\w{2,}(?:er|ir|re)\b|(?:dois|puis)-je\b|(?:peut|doit)-on\b|faut-il\b)",
    r"cómo (?:puedo|debo|hay que) (?!(?:saber|reconocer|decir|llamar|definir)\b)\w",
    r"cómo (?!(?:ser|estar|saber|reconocer|decir|llamar|definir|explicar)\b)\w{2,}(?:ar|er|ir)\b",
    r"come (?:posso|devo|si deve) (?!(?:sapere|riconoscere|dire|chiamare|definire)\b)\w",
    r"come (?!(?:essere|sapere|riconoscere|dire|chiamare|definire|spiegare)\b)\w{2,}[aei]re\b",
)
_PERHAPS = (
    rf"how (?:do|does|can) (?!.*\b(?:{_NO_DOING}|{_NO_DEED})\b)\w",
    r"wie (?:funktioniert|läuft|entsteht)\b",
)

_ALONE = re.compile(
    r"(?:(?:what(?:['’]s| is| are)|list|name|show(?: me)?|give(?: me)?|tell me)(?: of)?"
    rf" )?(?:(?:the|all|of|whole|entire|exact|single|next|following|{_ORDINAL}"
    rf"|{'|'.join(_NUMBERS)}|\d{{1,3}}) )*+(?:steps?|procedure|instructions)(?: \d{{1,3}})?"
    r"(?: (?:here|(?:in|of|for) (?:this|the) (?:section|chapter|page)|please))?"
    r"|how (?:do|can|should|must) (?:i|you|we|one) do (?:it|this|that)"
    r"|how (?:is|does) (?:it|this|that) (?:done|work)|what (?:do|should|must) (?:i|you|we) do"
    r"(?: (?:first|last|here))?|what comes first|(?:was (?:sind|ist) )?(?:(?:die|der) )?"
    rf"(?:(?:nächsten?|nächster|einzelnen|{_ORDINAL}) )?schritte?(?: \d{{1,3}})?"
    r"|wie geht (?:das|es|man vor)|was (?:ist zu tun|muss ich tun|mache ich(?: zuerst)?)",
    re.I,
)
_CLAUSE = re.compile(r"[?!;:,…]\s|(?<!\d)(?<!\bno)(?<!\bnr)\.\s|\s[-–—]\s|\n", re.I)
_BEGINS = re.compile(
    r"\W*(?:(?:and|but|so|then|now|ok|okay|please|und|aber|dann|bitte|et|y|e)\b\W*)*+", re.I
)
_IF = re.compile(
    r"^(?:if|after|before|in case|when (?!(?:do|does|did|is|are|was|were|can|will|should)\b)"
    r"|wenn|falls|nachdem|bevor)\b.+?\s(?=(?:what|how|was|wie)\b)",
    re.I,
)
"""A condition in front, without a comma: "When the alarm rings what do I do first?"."""


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.I) for pattern in patterns)


_ASKS_BESIDE, _ASKS_NEXT, _ASKS_ONE = _compiled(*_BESIDE), _compiled(*_NEXT), _compiled(*_ONE)
_ASKS_ALL = _compiled(*_PLAINLY, *_DEUTLICH, *_ELSEWHERE)
_MAY_ASK_ONE, _MAY_ASK_ALL = _compiled(*_ONE_PERHAPS), _compiled(*_PERHAPS)
_NAMES_ONE = re.compile(_ONE_STEP + _ENDS, re.I)


@dataclass(frozen=True, slots=True)
class StepsAsked:
    """What a question wants of a list of steps."""

    place: int | None = None
    """The place of the one step asked for: "the first step" is 1; `LAST`."""
    number: int | None = None
    """What the book calls the one step asked for: "step 1", which may be the second of a list."""
    beside: int = 0
    """1: the step behind that one is wanted, -1: the one before it."""
    words: str = ""
    """What the one is called beside which a step is wanted; empty: by its place or number, or it
    was just shown."""
    plainly: bool = True
    """Whether somebody wants to do it; else "how" may ask for a reason or a manner as well."""

    @property
    def is_one(self) -> bool:
        """Whether one step is asked for rather than all of them."""
        return self.beside != 0 or self.place is not None or self.number is not None


def read_steps_asked(question: str) -> StepsAsked | None:
    """Return which steps a question asks for; None: it asks for something else."""
    clauses = list(_clauses(question))
    for clause in clauses:
        if (asked := _one_step(clause)) is not None:
            return asked
    for clause in clauses:
        if any(pattern.match(clause) for pattern in _ASKS_ALL):
            return StepsAsked()
    for clause in clauses:
        if any(pattern.match(clause) for pattern in _MAY_ASK_ALL):
            return StepsAsked(plainly=False)
    return None


def names_no_subject(question: str) -> bool:
    """Return whether only the steps are asked for, and not of what: "What are the steps?"."""
    return _ALONE.fullmatch(" ".join(question.split()).strip(" ?!.…¿")) is not None


def _clauses(question: str) -> Iterator[str]:
    """Yield the parts of a question that may ask by themselves, from their first word on."""
    for clause in _CLAUSE.split(question):
        asked = _IF.sub("", _BEGINS.sub("", clause, count=1), count=1)
        yield " ".join(asked.split()).rstrip(" ?!.…")


def _one_step(clause: str) -> StepsAsked | None:
    """Return the one step that a clause asks for."""
    for pattern in _ASKS_BESIDE:
        if match := pattern.match(clause):
            return _beside(match["side"], match["words"], clause)
    if any(pattern.match(clause) for pattern in _ASKS_NEXT):
        return StepsAsked(beside=1)
    for patterns, plainly in ((_ASKS_ONE, True), (_MAY_ASK_ONE, False)):
        for pattern in patterns:
            if match := pattern.match(clause):
                return _read_one(match, plainly=plainly)
    return None


def _beside(side: str, words: str, clause: str) -> StepsAsked:
    beside = -1 if side.casefold() in {"before", "vor"} else 1
    if match := _NAMES_ONE.search(words):
        one = _read_one(match, plainly=True)
        return StepsAsked(place=one.place, number=one.number, beside=beside)
    plainly = re.match(rf"{_DO}|{_MACHE}|.*\b{_STEP}\b", clause, re.I) is not None
    return StepsAsked(beside=beside, words=words, plainly=plainly)


def _read_one(match: re.Match[str], *, plainly: bool) -> StepsAsked:
    found = match.groupdict()
    if place := found.get("place"):
        at = _PLACES.get(place.casefold()) or int(re.sub(r"\D", "", place))
        return StepsAsked(place=at, plainly=plainly)
    number = found["number"]
    return StepsAsked(number=_NUMBERS.get(number.casefold()) or int(number), plainly=plainly)
