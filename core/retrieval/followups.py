"""Tells a question that leans on the conversation from one that stands alone."""

import re
from collections.abc import Sequence

from core.models import EXPLAIN_QUOTE, QuoteLocation, QuoteStatus, RetrievalToolInput
from core.text.step_questions import names_no_subject

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_OPENING = re.compile(
    r"^\s*(?:and|but|so|or|then|also|what about|how about|why(?: not| is that| so)?\s*\?*$|"
    r"how so|how come|such as|like what|for example|"
    r"give (?:me )?(?:an|another|one more|some) example|"
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
    whose why will with would you your about tell explain give mean means
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

    True for an opening such as "and why?", for steps of nothing ("what are the steps?"), for a
    pointing word in a short question ("how is it measured?") and for a question of at most two
    words with a meaning of their own. The word lists are English; in other languages only the
    last rule applies.
    """
    if _OPENING.match(question) or names_no_subject(question):
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


def query_texts(
    asked: RetrievalToolInput, earlier: Sequence[str], section: str | None
) -> list[str]:
    """Return the texts that together say what to look for; each counts alike.

    A question that leans on the conversation is joined by itself behind the two before it, or
    where there is none behind the heading of the one section searched: "it" is what that is
    about. One about a quote by the quote, which stands alone where there is no question.
    """
    question = asked.query_text
    if asked.selected_text is not None:
        bare = question == EXPLAIN_QUOTE
        return [asked.selected_text] if bare else [question, asked.selected_text]
    before = earlier or ([section] if section else [])
    if before and depends_on_context(question):
        return [question, with_context(question, before)]
    return [question]


def stands_without_quote(asked: RetrievalToolInput, location: QuoteLocation | None) -> bool:
    """Return whether a question's quote is not from this book, and says nothing it needs."""
    is_foreign = location is not None and location.status is QuoteStatus.NOT_FOUND
    bare = asked.query_text == EXPLAIN_QUOTE
    return is_foreign and not bare and not depends_on_quote(asked.query_text)
