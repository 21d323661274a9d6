"""Tells what is asked from how politely: greetings, please and thanks, "could you tell me".

Courtesy stands at the edges of a question. It is left out where something to ask remains, so a
question about a polite word keeps it: "What does hello world print?", "Hello".
"""

import re
from collections.abc import Callable

OfBook = Callable[[str], bool]
"""Tells whether words belong to what the book is about."""

_WH = (
    r"what|what['’]?s|which|who|who['’]?s|whom|whose|where|where['’]?s|when|why|how|how['’]?s|"
    r"was|wer|wen|wem|wo|wann|warum|wieso|weshalb|wie|wieviele?|welche[rsmn]?|woran|wof[üu]r|wozu"
)
_IF = r"if|whether|ob"
_AUX = (
    r"is|are|was|were|do|does|did|can|could|may|must|should|would|will|has|have|am|"
    r"ist|sind|kann|können|darf|muss|soll|gibt|hat|haben"
)
_REQUEST = (
    r"tell|explain|describe|define|clarify|elaborate|summari[sz]e|outline|list|name|show|give|"
    r"help me|remind|walk me|compare|let me know|"
    r"erkläre?|erläutere?|beschreibe?|nenne?|zeige?|sag|sage|fass|fasse|gib"
)
_PLEASE = r"please|pls|plz|bitte|kindly"
_MARK = r"(?:\s*[,;.!…:]+\s*|\s+[-–—]+\s+|\s*\n\s*)"
"""What parts courtesy from what is asked."""
_BREAK = r"(?:\s*[,;.!…]*[,;…]\s*|\s*[,;.!…]+\s+|\s+[-–—]+\s+|\s*\n\s*)"
"""The same but for a colon, which leads in to what is asked about; nor is it in `hello.py`."""
_APART = rf"(?:{_BREAK}|\s*\?+\s*|(?<=[.!?…][\"'”’)])\s+)"
_ADDRESS = (
    r"(?:there|all|everyone|everybody|anyone|again|folks|guys|team|you|bot|chatbot|glossator|"
    r"assistant|tutor|professor|prof\.?|dr\.?|teacher|sir|madam|"
    r"zusammen|leute|alle|allerseits|ihr|du)"
)
_HELLO = (
    r"(?:hi+|hello+(?!\W+world\b)|hey+|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|"
    r"dear(?= \w)|hallo+(?!\W+welt\b)|moin|servus|guten (?:morgen|tag|abend)|"
    r"grüß (?:gott|dich|euch)|liebe[rs]?(?= \w))"
)
_ADDRESSED = rf"(?:[ ,]+{_ADDRESS}(?!\w))"
_GREETING = rf"{_HELLO}{_ADDRESSED}{{0,3}}"
_NAME = r"(?: (?-i:[A-Z])\w+){1,2}"
_NOISE = (
    r"(?:if|for|to|about|this|that|it|is|are|be|was|has|have|been|had|sounds?|seems?|might|may|a|"
    r"an|the|my|so|really|very|kind|bit|probably|maybe|just|too|such|but|i|i['’]?m|in|advance|"
    r"dumb|stupid|silly|obvious|basic|simple|easy|noob|newbie|beginner|random|naive|long|late|"
    r"question|questions|q|ask|asking|asked|answered|already|before|again|bother|bothering|"
    r"disturb|interrupt|interrupting|you|"
    r"falls|wenn|für|die|das|der|dumme?|blöde?|doofe?|einfache?|frage|nochmal|ist|störung|ich|"
    r"aber)"
)
_SORRY = (
    r"(?:(?:i['’]?m |i am )?(?:so |very |really )?sorry|excuse me|pardon me|(?:my )?apologies|"
    r"entschuldigung|entschuldige|verzeihung|tut mir leid)"
)
_EXCUSE = r"(?:this|it|that|das)['’]?s?(?: might| may| is| ist| could)+"
_QUESTION = (
    r"(?:(?:i have |i['’]?ve got |just |only |a |an |one |another |ich habe |hätte |eine? |nur )*"
    r"(?:(?:quick|short|small|little|stupid|dumb|silly|noob|beginner|random|simple|basic|general|"
    r"kurze|schnelle|kleine|blöde|dumme|doofe)[ ,]+)+(?:question|q|frage)"
    r"(?: (?:here|for you|for everyone|guys|please))*)"
)
_SOMEBODY = r"(?:you|u|ya|someone|somebody|anyone|anybody|one of you|any of you)"
_CAN_YOU = rf"(?:can|could|would|will) {_SOMEBODY}"
_SOFTLY = rf"(?:{_PLEASE}|maybe|perhaps|possibly|quickly|briefly|here|just|also)"
_WISH = (
    r"(?:i(?:['’]?m| am| was| have been|['’]?ve been)?(?: just| also| really| only)* "
    r"(?:wondering|curious)|i (?:just |also )?(?:wonder|want(?:ed)? to (?:know|ask)|"
    r"would (?:like|love) to (?:know|ask)|need to know)|i['’]d (?:like|love) to (?:know|ask)|"
    r"(?:does|do|did) (?:anyone|anybody|someone|somebody|you|u|one of you|any of you)"
    r"(?: here| happen to| by chance)* know|any(?:one|body) know|any idea|"
    r"ich (?:frage mich|wüsste gern|würde gerne? wissen|möchte wissen|wollte fragen)|"
    r"wei(?:ß|ss) (?:jemand|einer|wer)|wisst ihr|weißt du|wissen sie)"
)
_KANN = (
    r"(?:kannst du|könntest du|könnt ihr|könntet ihr|können sie|könnten sie|"
    r"kann (?:mir |uns )?(?:jemand|einer|wer))"
    r"(?: mir| uns| bitte| mal| vielleicht| kurz| jemand)*"
)
_DANKE = (
    r"(?:(?:many |so )*(?:thanks|thank you|thank u|thankyou|thx|tnx|ty|tia)|"
    r"(?:vielen |besten |herzlichen )?dank(?:e)?)"
)
_FOR_HELP = (
    r"(?:a lot|a bunch|so much|very much|in advance|everyone|all|guys|again|and|bye|"
    r"for (?:your |the |any |all )*(?:help|answers?|time|support|patience)|"
    r"im voraus|schön|sehr|euch|dir|ihnen|für (?:die |eure |deine |ihre )?(?:hilfe|antwort))"
)
_THANKS = rf"{_DANKE}(?:[ ,]+{_FOR_HELP})*"
_REST = r"[\s.,!?…:;()<3^_\-–—]*(?:[:;]-?[)D]|[\U0001F300-\U0001FAFF☺❤️]|\s)*"
_END = rf"{_REST}(?:\n(?-i:[A-ZÄÖÜ])\w+(?: \w+)?{_REST})?$"
"""Marks and smileys, and perhaps a name below."""
_ASKS = rf"(?=(?:{_WH}|{_IF}|{_AUX}|{_REQUEST}|{_PLEASE}|{_WISH})\b)"
_ASKS_WH = rf"(?=(?:{_WH}|{_PLEASE}|{_WISH}|{_CAN_YOU}|i)\b)"

_LEADS = (
    rf"{_HELLO}{_ADDRESSED}{{1,3}}{_NAME}{_BREAK}",
    rf"{_GREETING}{_BREAK}(?:{_ADDRESS}{_BREAK})?",
    rf"{_GREETING}\s+{_ASKS_WH}",
    rf"{_SORRY}(?:[ ,]+{_NOISE}\b)*{_BREAK}(?:(?:but|aber) )?",
    rf"{_SORRY}(?:[ ,]+{_NOISE}\b)*\s+(?:(?:but|aber)\s+|{_ASKS})",
    rf"{_EXCUSE}(?:[ ,]+{_NOISE}\b)+[ ,]+(?:but|aber)\s+",
    rf"{_QUESTION}(?:{_MARK}|\s*\?\s*|\s+{_ASKS})",
    rf"(?:ok|okay|well|ah|oh|um+|uh+|hm+)(?: so)?(?:{_BREAK}|\s+{_ASKS_WH})",
    rf"(?:(?:great|cool|perfect|awesome|super|got it)[ ,!.]+)?{_THANKS}{_BREAK}",
    rf"(?:{_PLEASE})(?:\s*,\s*|\s+)(?=(?:{_WH}|{_REQUEST}|{_CAN_YOU})\b)",
    rf"(?:{_CAN_YOU}|{_SOMEBODY} (?:can|could|would))"
    rf"(?:,? {_SOFTLY}\b)*,?\s+(?:be (?:so kind|able) (?:as )?to )?(?=(?:{_REQUEST})\b)",
    rf"(?:tell|remind|let) (?:me|us)(?: know)?(?:,? {_PLEASE}\b,?)?\s+(?=(?:{_WH}|{_IF})\b)",
    rf"{_WISH}(?:,? {_SOFTLY}\b)*\s*[,:]?\s+(?:(?:{_IF})\s+|(?=(?:{_WH}|{_CAN_YOU})\b))",
    rf"{_KANN} (?:sagen|erklären|verraten|zeigen)\s*,?\s+(?=(?:{_WH}|{_IF})\b)",
    rf"(?:sag|sage|erkläre?)(?: mir| uns| bitte| mal)*\s*,?\s+(?=(?:{_WH}|{_IF})\b)",
)
"""Courtesy in front of a question."""
_DOUBTFUL_LEADS = (
    rf"{_HELLO}(?P<word>{_NAME}){_BREAK}(?:{_ADDRESS}{_BREAK})?",
    rf"(?P<word>help)(?: so)?(?:{_BREAK}|\s+{_ASKS_WH})",
    rf"(?P<word>{_HELLO})(?:[ ,]+{_ADDRESS}\b){{1,3}}\s+",
    rf"(?P<word>{_HELLO})\s+{_ASKS}",
    rf"(?P<word>{_PLEASE})\s+(?!(?:{_AUX}|means?|and|or|in|as)\b)",
)
"""Words that may be what is asked about: parted by nothing, or a name, as in "Hello Kitty"."""
_EVERYBODY = r"(?:bot|glossator|guys|folks|professor|prof|leute)"
_TAILS = (
    rf"{_APART}(?:{_PLEASE})(?: and|,\s*{_EVERYBODY})?{_END}",
    rf"{_APART}(?:and )?(?:{_PLEASE},? (?:and )?)?{_THANKS}{_END}",
    r"(?:[.!?…\n]+|,)\s*(?:any help (?:would be |is |will be )?(?:much |greatly )?"
    rf"appreciated|i['’]?d (?:really )?appreciate (?:any|your) help|much appreciated){_END}",
    rf"[.!?…\n]+\s*(?:can|could) {_SOMEBODY}(?: {_PLEASE})? help(?: me| us)?(?: out)?"
    rf"(?: with (?:this|that|it))?(?: {_PLEASE})?{_END}",
    r"[.!?…\n]+\s*(?:(?:best|kind|warm) (?:regards|wishes)|regards|cheers|best|lg|mfg|"
    rf"(?:viele|liebe|beste) grüße)[\s,]*(?:(?-i:[A-ZÄÖÜ])\w+ ?){{0,2}}{_END}",
)
"""Courtesy behind a question, parted from it."""
_DOUBTFUL_TAILS = (
    rf",\s*(?P<word>{_EVERYBODY}){_END}",
    rf"\s+(?P<word>{_PLEASE}){_END}",
    rf"\s+(?P<word>(?!ty\b){_DANKE})(?:[ ,]+{_FOR_HELP})*{_END}",
)
_NAMED_BEFORE = re.compile(
    r"\b(?:of|is|are|was|by|with|without|like|as|than|or|and|a|an|the|word|term|keyword|command|"
    r"statement|say|says|said|saying|mean|means|called|use|using|write|print|prints|to|for|on|in|"
    r"about|between|not|vs|von|mit|ohne|oder|und|das|ein|über|wort|heißt|ist)$",
    re.IGNORECASE,
)
"""Words behind which "please" or "thanks" is what is spoken of."""


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_CLEAR_LEAD, _DOUBTFUL_LEAD = _compiled(*_LEADS), _compiled(*_DOUBTFUL_LEADS)
_CLEAR_TAIL, _DOUBTFUL_TAIL = _compiled(*_TAILS), _compiled(*_DOUBTFUL_TAILS)
_ASIDE = re.compile(rf",\s*(?:{_PLEASE})\s*,", re.IGNORECASE)
_EDGE = 120
"""Characters at an end of a question in which courtesy is looked for; a longer rest has something
to ask. It bounds the time of these patterns, some of which take the cube of a run of blanks."""
_MOST = 8
"""Times that courtesy is taken from one end."""
_ONLY_COURTESY = re.compile(
    rf"(?:\W|(?>\b(?:{_HELLO}|{_ADDRESS}|{_PLEASE}|{_DANKE}|{_FOR_HELP}|{_SORRY}|{_QUESTION}|ok|"
    rf"okay|can|could|help|me|us|{_SOMEBODY})\b))*+",
    re.IGNORECASE,
)
"""What was taken is never given back, for the same word stands in several of these lists."""
_NO_SUBJECT = (
    rf"(?:{_AUX}|kind|type|sort|year|month|day|date|time|number|percentage|part|share|country|"
    r"happens|happened|makes|made|causes|caused|comes|came|goes|follows|followed|gives|gave|leads|"
    r"led|keeps|takes|took|determines|decides|affects|prevents|says|said)\b"
)
_CLAUSE = re.compile(
    rf"\b(?:(?:and|or|but|und|oder|aber) (?:{_WH})|(?<!\b(?:that|what) )(?<!\bwho )(?<!\bwhich )"
    r"(?:is|are|was|were|do|does|did|has|have|had|says|said))\b\W+\w",
    re.IGNORECASE,
)
"""What shows another sentence within; at the end it may be a name: "what the UN and WHO are"."""
_INDIRECT = (
    (
        re.compile(
            rf"(what|who|where) (?!{_NO_SUBJECT})(?P<topic>.+) (is|are|was|were)\b\W*", re.I
        ),
        r"\1 \3 \2?",
    ),
    (re.compile(rf"what (?!{_NO_SUBJECT})(?P<topic>.+) means\b\W*", re.I), r"what does \1 mean?"),
    (re.compile(r"(was|wer|wo) (?P<topic>.+) (ist|sind|war)\b\W*", re.I), r"\1 \3 \2?"),
)
"""Questions in the order of words that they have behind "could you tell me"."""
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r" ?\n\s*")
_RUN_TOGETHER = re.compile(r"^(what|who|where|when|how)s\b(?=\s)", re.IGNORECASE)


def asked_plainly(question: str, of_book: OfBook) -> str:
    """Return what is asked without the courtesy around it; all of it where nothing else is left.

    A polite word may be a part of the question where nothing parts it from the rest, as in "hello
    what happens" or "a fee please"; and so may a name behind a greeting, a cry for help, and who
    is addressed at the end. These stay if they belong to what the book is about.
    """
    text = whole = _LINE_ENDS.sub("\n", _BLANKS.sub(" ", question)).strip()
    text = _repeatedly(_without_lead, text, of_book)
    is_indirect = text != whole
    text = _repeatedly(_without_tail, text, of_book)
    text = _direct(text) if is_indirect else text
    text = _RUN_TOGETHER.sub(r"\1 is", _ASIDE.sub(",", text), count=1)
    return question if text == whole else text


def _repeatedly(without: Callable[[str, OfBook], str | None], text: str, of_book: OfBook) -> str:
    for _ in range(_MOST):
        rest = without(text, of_book)
        if rest is None:
            break
        text = rest
    return text


def _without_lead(text: str, of_book: OfBook) -> str | None:
    """Return the text without the first courtesy in front; None: there is none."""
    for pattern in _CLEAR_LEAD:
        if (match := pattern.match(text, 0, _EDGE)) and _is_left(text[match.end() :]):
            return text[match.end() :]
    for pattern in _DOUBTFUL_LEAD:
        match = pattern.match(text, 0, _EDGE)
        if match and _is_left(text[match.end() :]) and not of_book(match["word"]):
            return text[match.end() :]
    return None


def _without_tail(text: str, of_book: OfBook) -> str | None:
    """Return the text without the last courtesy behind; None: there is none."""
    edge = max(0, len(text) - _EDGE)
    for pattern in _CLEAR_TAIL:
        if (match := pattern.search(text, edge)) and _is_left(text[: match.start()]):
            return _ended(text, match)
    for pattern in _DOUBTFUL_TAIL:
        match = pattern.search(text, edge)
        if match is None or not _is_left(before := text[: match.start()]):
            continue
        is_named = not match.group().startswith(",") and _NAMED_BEFORE.search(before)
        if not is_named and not of_book(match["word"]):
            return _ended(text, match)
    return None


def _ended(text: str, tail: re.Match[str]) -> str:
    """Return what stands before the tail, still a question where it was one."""
    before = text[: tail.start()].rstrip()
    return f"{before}?" if "?" in tail.group() and not before.endswith("?") else before


def _is_left(rest: str) -> bool:
    return len(rest) > _EDGE or _ONLY_COURTESY.fullmatch(rest) is None


def _direct(question: str) -> str:
    """Return "What is a fee?" for "what a fee is", and what holds two sentences as it is."""
    for indirect, direct in _INDIRECT:
        if (match := indirect.fullmatch(question)) and not _CLAUSE.search(match["topic"]):
            return match.expand(direct)
    return question
