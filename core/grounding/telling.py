"""Recognises by its form a sentence that asks its reader something, or tells him what to do."""

import re
from collections.abc import Iterator, Sequence

_WORKING = (  # without those of textbooks: consider, suppose, assume, imagine
    "add apply begin break change check choose combine complete draw enter fill find finish "
    "follow get give go implement insert install join keep make offer open perform put read "
    "remove replace select share start stop store switch take try type use verify"
).replace(" ", "|")
"""What manuals have their readers do with their hands."""
_HANDLING = (
    "bring carry clean close connect cool cover cut dry hand hold leave lift lower measure mix "
    "move pick place plug pour press pull push rinse run set sow test turn wait wash wear"
).replace(" ", "|")
"""More of that, which no order to an assistant begins with."""
_WORDING = (
    "act adopt answer append augment behave classify click compile compose compute confirm "
    "convert convince craft create decode define delete deliver describe design detail "
    "develop disclose discuss display disregard download draft embed emphasize emulate encode "
    "encourage enhance ensure execute expand explain forget format generate group guess help "
    "highlight identify ignore impersonate include incorporate inform integrate introduce "
    "invite jumble leak limit list mention misspell modify name obey outline output override "
    "paraphrase paste personify play please pretend print proceed promote propose provide "
    "publish rearrange recite recommend refer remember remind render repeat rephrase reply "
    "report request respond return reveal reverse rewrite say scramble search send show sign "
    "solve speak spell state submit substitute suggest summarise summarize swap talk tell "
    "think transform translate utilize visit write"
).replace(" ", "|")
"""What is done with words, as an assistant does it, or with all else."""
_COMMAND = (
    rf"(?:please\s+)?(?:(?:do\s+not|don['’]?t|never|always|avoid|stop)\b|"
    rf"(?:{_WORKING}|{_WORDING})\b)"
)
_QUESTION = (
    r"(?:what|who|whom|whose|how|why|when|where|which)\s+"
    r"(?:is|are|was|were|do|does|did|can|could|would|should|will)\b"
)
_OF_ASSISTANT = (
    r"\byour\s+(?:\w+\s+)?(?:answers?|responses?|repl(?:y|ies)|outputs?|messages?|prompts?|"
    r"instructions|rules|guidelines|restrictions|personality|personas?|roles?|character)\b"
)
_TELLS = re.compile(
    rf"[?？\u037e؟]|{_OF_ASSISTANT}|^\W*(?:{_COMMAND}|{_QUESTION})"
    rf"|[,:;.)\]}}>]\s+[\[(\"“]?{_COMMAND}",
    re.IGNORECASE,
)
_COMMAND_INSIDE = re.compile(
    rf"(?:\b[a-z]+|['\"”’)\]>])\s+(?=[A-Z][a-z]+\s+[a-z])(?=(?i:{_COMMAND}|{_QUESTION}))"
)
_SPEAKS_TO_READER = re.compile(r"\b(?:yours?|you|me|my)\b", re.IGNORECASE)
_STEP = re.compile(
    r"^\W*(?:\d+[.)]\s*)?(?:please\s+)?"
    r"(?:(?:do\s+not|don['’]?t|never|always|avoid|stop)\s+"
    rf"(?!(?:{_WORDING})\b)[a-z]+|(?:{_WORKING}|{_HANDLING})\b)",
    re.IGNORECASE,
)
_OF_TALK = re.compile(
    rf"{_OF_ASSISTANT}|[?？\u037e؟]|\b(?:(?:answer|repl|respon|tell|say|user|reader|website|link|"
    r"http|www|click|password|message|email|output|prompt|instruction|assistant|model|text|story|"
    r"poem|question)\w*|above|below|following|me|my)\b",
    re.IGNORECASE,
)
"""What an order to an assistant is about, and a step of a manual hardly ever."""
_ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s")
_OF_ANSWERS = re.compile(
    rf"{_OF_ASSISTANT}|[?？\u037e؟]|\b(?:(?:answer|repl|respon|tell|say|user|reader|website|link|"
    r"http|www|prompt|instruction|assistant|model|story|poem|question)\w*|me|my)\b",
    re.IGNORECASE,
)
"""What an order to an assistant is about, and no step among others of a manual."""
_FEWEST_STEPS = 2
_ENDS_ASKING = re.compile(r"[?？\u037e؟]\W*$")
_CODE = re.compile(r"(?:`{3,}|~{3,})[^\S\n]*\S*[^\S\n]*\n")
"""A fence with one word at most; what goes on behind it is prose in disguise."""


def asks(text: str) -> bool:
    """Return whether a sentence ends with a question mark."""
    return _ENDS_ASKING.search(text) is not None and not is_code(text)


def tells(text: str) -> bool:
    """Return whether a sentence asks, orders or speaks of the reader's own answers."""
    return _TELLS.search(text) is not None and not is_code(text)


def is_step(text: str) -> bool:
    """Return whether a sentence tells what to do with one's hands, as manuals and rules do."""
    return _STEP.match(text) is not None and _OF_TALK.search(text) is None


def steps_among(texts: Sequence[str]) -> set[int]:
    """Return which sentences are steps because they are items of a list most of which are.

    In such a list, "Print a test page" and "Repeat step 1" are work, too.
    """
    items = [number for number, text in enumerate(texts) if _ITEM.match(text)]
    plain = {number for number in items if is_step(texts[number])}
    if len(plain) < _FEWEST_STEPS or 2 * len(plain) < len(items):
        return plain
    return {number for number in items if not _OF_ANSWERS.search(texts[number])}


def commands_inside(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where a command or a question begins that no full stop parts from what it follows."""
    return (match.end() for match in _COMMAND_INSIDE.finditer(text, start, end))


def speaks_to_reader(text: str) -> bool:
    """Return whether a sentence says `you`, `me` or what is theirs."""
    return _SPEAKS_TO_READER.search(text) is not None


def is_code(text: str) -> bool:
    """Return whether a "sentence" is a block of code or a table."""
    return text.startswith("|") or _CODE.match(text) is not None
