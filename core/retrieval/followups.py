"""Tells a question that leans on the conversation from one that stands alone."""

import re
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_OPENING = re.compile(
    r"^\s*(?:and|but|so|or|then|also|what about|how about|why(?: not| is that| so)?\s*\?*$|"
    r"how so|how come|such as|like what|for example|can you (?:explain|elaborate|give)|"
    r"could you (?:explain|elaborate|give)|give (?:me )?(?:an|another|one more|some) example|"
    r"tell me more|more (?:details|about)|explain (?:more|that|this|it)|elaborate|continue|go on|"
    r"in what way|are you sure|what else|anything else)\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|one|ones|he|him|his|she|her|hers|"
    r"there|former|latter|above|previous|same|second|third|last|first|another|other|others|both|"
    r"either|neither|such)\b",
    re.IGNORECASE,
)
_STOPWORDS = frozenset(
    """
    a an and are as at be been being but by can could did do does for from had has have how i if
    in into is it its may me might more most my no not of on or our shall should so than that the
    their them then there these they this those to us was we were what when where which who whom
    whose why will with would you your about tell explain give please mean means
    """.split()
)
_QUOTED = re.compile(
    r"\b(?:passages?|quot(?:e|es|ed|ation)|paragraph|sentence|excerpt|text|statement|author|"
    r"highlighted|selected)\b",
    re.IGNORECASE,
)
_FEW_CONTENT_WORDS = 2
_SHORT_QUESTION = 9


def depends_on_context(question: str) -> bool:
    """Return whether a question can only be understood from the turns before it.

    True for an opening such as "and why?", for a pointing word in a short question ("how is
    it measured?") and for a question of at most two words with a meaning of their own. The
    word lists are English; in other languages only the last rule applies.
    """
    if _OPENING.match(question):
        return True
    words = _WORD.findall(question.casefold())
    content = [word for word in words if word not in _STOPWORDS and not _POINTING.fullmatch(word)]
    if not content:
        return True
    if len(content) < _FEW_CONTENT_WORDS and len(words) <= _FEW_CONTENT_WORDS:
        return True
    return len(words) <= _SHORT_QUESTION and _POINTING.search(question) is not None


def depends_on_quote(question: str) -> bool:
    """Return whether a question can only be understood from the passage quoted with it."""
    return depends_on_context(question) or _QUOTED.search(question) is not None


def with_context(question: str, earlier: Sequence[str]) -> str:
    """Return the question behind the two user turns before it, oldest first."""
    return "\n".join([*earlier[-2:], question])
