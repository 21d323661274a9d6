"""Recognises English questions for a definition, and sentences and entries that give one."""

import re
from collections.abc import Callable, Sequence

_ASKED = re.compile(
    r"^\W*(?:what(?:['’]s| is| are| was| were)(?: meant by)?|define|explain)\s+"
    r"(?:the (?:term|meaning of|definition of|concept of|notion of)\s+)?"
    r"[\"'“‘`]*(?P<term>.{2,60}?)\W*$"
    r"|^\W*what (?:does|do|did) (?P<meaning>.{2,60}?) (?:mean|stand for|refer to)\W*$",
    re.I,
)
_LONGEST_TERM = 6
"""Words."""
_COPULA = re.compile(
    r"\b(?:is|are|was|were|means?|refers? to|describes?|denotes?|occurs? when|consists? of"
    r"|measures?|represents?|includes?|happens when)\b",
    re.I,
)
_ENTRY_NAMES = re.compile(r"\s*(?:[-*•+][ \t]+)?(?P<names>[^\n]{1,200}?):(?:\s|$)")
_OPTION = re.compile(r"^(?P<name>--?[^\s=\[]+).*", re.S)
"""An option with its argument: `--jobs N`, `--jobs=N`, `--color[=WHEN]`."""
_OTHER_TERMS = 2
"""Terms that what a sentence defines may have beyond the term asked for."""


def defined_term(question: str) -> str | None:
    """Return X of "What is X?", "Define X" and the like; none for any other question."""
    match = _ASKED.match(question.strip())
    if match is None:
        return None
    term: str = match["term"] or match["meaning"]
    return term if len(term.split()) <= _LONGEST_TERM else None


def terms_of_entry(entry: str) -> list[str]:
    """Return what an entry of a definition or option list defines.

    Of `-j N, --jobs N: Use N threads.` that is each option without its argument, and of
    `open(file, mode): ...` the name of the function.
    """
    names = _ENTRY_NAMES.match(entry)
    written = names["names"].replace("`", "").partition("(")[0] if names else ""
    parts = written.split(", ") if written else []
    return [_OPTION.sub(r"\g<name>", part).strip() for part in parts]


def gives_definition(
    sentence: str, term: frozenset[int], encode_terms: Callable[[str], Sequence[int]]
) -> bool:
    """Return whether a sentence's subject or predicate is the term asked for.

    Args:
        sentence: One sentence of the book.
        term: The term ids of what is to be defined; empty: nothing is.
        encode_terms: Gives the term ids of a text in the book's language.
    """
    verb = _COPULA.search(sentence) if term else None
    if verb is None:
        return False
    places = (sentence[: verb.start()], sentence[verb.end() :])
    named = (frozenset(encode_terms(place)) for place in places)
    return any(term <= one and len(one - term) <= _OTHER_TERMS for one in named)
