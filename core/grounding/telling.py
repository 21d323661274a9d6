"""Recognises by its form a sentence that asks its reader something, or tells him what to do."""

import re
from collections.abc import Iterator

_IMPERATIVES = (  # without those of textbooks: consider, suppose, assume, imagine
    "act add adopt answer append apply augment begin behave break change check choose classify "
    "click combine complete compose compute confirm convert convince craft create decode define "
    "delete deliver describe design detail develop disclose discuss display disregard download "
    "draft draw embed emphasize emulate encode encourage enhance ensure enter execute expand "
    "explain fill find finish follow forget format generate get give go group guess help "
    "highlight identify ignore implement include incorporate inform insert install integrate "
    "introduce invite join jumble keep leak limit list make mention misspell modify name obey "
    "offer open outline output override paste perform personify play please pretend print "
    "proceed promote propose provide publish put read rearrange recite recommend refer remember "
    "remind remove render repeat rephrase replace reply report request respond return reveal "
    "reverse rewrite say scramble search select send share show sign solve speak spell start "
    "state stop store submit substitute suggest summarize summarise swap switch take talk tell "
    "think transform translate try type use utilize verify visit write"
).replace(" ", "|")
_COMMAND = (
    rf"(?:please\s+)?(?:(?:do\s+not|don['’]?t|never|always|avoid|stop)\b|(?:{_IMPERATIVES})\b)"
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
_ENDS_ASKING = re.compile(r"[?？\u037e؟]\W*$")
_CODE = re.compile(r"(?:`{3,}|~{3,})[^\S\n]*\S*[^\S\n]*\n")
"""A fence with one word at most; what goes on behind it is prose in disguise."""


def asks(text: str) -> bool:
    """Return whether a sentence ends with a question mark."""
    return _ENDS_ASKING.search(text) is not None and not is_code(text)


def tells(text: str) -> bool:
    """Return whether a sentence asks, orders or speaks of the reader's own answers."""
    return _TELLS.search(text) is not None and not is_code(text)


def commands_inside(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where a command or a question begins that no full stop parts from what it follows."""
    return (match.end() for match in _COMMAND_INSIDE.finditer(text, start, end))


def speaks_to_reader(text: str) -> bool:
    """Return whether a sentence says `you`, `me` or what is theirs."""
    return _SPEAKS_TO_READER.search(text) is not None


def is_code(text: str) -> bool:
    """Return whether a "sentence" is a block of code or a table."""
    return text.startswith("|") or _CODE.match(text) is not None
