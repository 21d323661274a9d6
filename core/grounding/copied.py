"""Decides whether a sentence has copied code, links and quotations from its quotes."""

import re
import unicodedata
from collections.abc import Sequence

from core.markdown.code import code_in
from core.markdown.locating import CodeKind
from core.markdown.writing import code_span, fenced

_CODE_PART = re.compile(r"\w+|[^\w\s]")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)|[\u00ad\u200b-\u200d\u2060\ufeff]")
_ONE_MARK = str.maketrans("“”„‟«»‘’‚‛–—−‑", '""""""\'\'\'\'----')
_QUOTATION = re.compile(r"[\"“„«](.{3,}?)[\"”“»]")
_LEADS_AWAY = re.compile(
    r"(?i)[a-z][a-z0-9+.-]{0,30}://\S+|\b(?:javascript|data|vbscript|mailto|tel|file):\S+"
    r"|\b[a-z0-9-]{2,63}(?:\.[a-z0-9-]{1,63}){0,8}\.[a-z]{2,24}\b(?:/\S*)?|//\S+"
    r"|<[@!#&][^>\s]*>?|(?<![\w.])@\w+|[\w.+-]{1,64}@[\w-]{1,63}\.\w+"
)
"""Addresses, names of hosts, and the ways to call people in chats."""
_SIGN = re.compile(r"[=<>≠≤≥±×÷^→←↑↓∝≈+*−]|(?<=[\w)] )[-–/](?= [\w($])")
"""Of mathematics; with a blank on both sides a hyphen is a minus."""


def has_all_code(code: Sequence[str], quoted: Sequence[str]) -> bool:
    """Return whether the quotes hold all of the code as whole words, blanks aside."""
    source = "\n".join(quoted)
    return all(_found_in(part, source) is not None for part in code)


def adds_link(sentence: str, quoted: Sequence[str]) -> bool:
    """Return whether the sentence leads somewhere, or calls a user, that the quotes do not."""
    known = set(_LEADS_AWAY.findall(" ".join(quoted)))
    written = unicodedata.normalize("NFKC", sentence)
    return any(link not in known for link in _LEADS_AWAY.findall(written))


def changes_formula(claim: str, quotes: str) -> bool:
    """Return whether a claim has a sign of mathematics that quotes with such signs do not."""
    theirs = set(_SIGN.findall(quotes))
    return bool(theirs) and not set(_SIGN.findall(_EMPHASIS.sub("", claim))) <= theirs


def adds_quotation(sentence: str, quoted: Sequence[str]) -> bool:
    """Return whether words in quotation marks are not in the quotes."""
    source = _plain(" ".join(quoted))
    return any(_plain(said) not in source for said in _QUOTATION.findall(sentence))


def stands_in(sentence: str, quoted: Sequence[str]) -> bool:
    """Return whether the sentence is all of a quote, or of all quotes together, sign by sign."""
    return _plain(sentence) in {*map(_plain, quoted), _plain(" ".join(quoted))}


def _plain(text: str) -> str:
    """Return a text on one line, without case, emphasis and the form of its quotation marks."""
    text = _EMPHASIS.sub("", unicodedata.normalize("NFC", text).translate(_ONE_MARK))
    return " ".join(text.split()).casefold().strip(" .!:;\"'")


def with_code_of(sentence: str, quoted: Sequence[str]) -> str:
    """Return the sentence with the code of its quotes in the place of its own, byte by byte.

    Code that differs in more than blanks stays: it is no code of the quotes.
    """
    source = "\n".join(quoted)
    for code in reversed(code_in(sentence)):
        if code.content in source or (found := _found_in(code.content, source)) is None:
            continue
        own = code_span(found) if code.kind is CodeKind.SPAN else fenced(found, code.info)
        if code.kind is not CodeKind.SPAN or "\n" not in found:
            sentence = sentence[: code.start] + own + sentence[code.end :]
    return sentence


def _found_in(code: str, source: str) -> str | None:
    """Return the code as it stands in a source, not inside of longer words; None: nowhere.

    Blanks may differ, and so may the parentheses of a call without arguments.
    """
    parts = [re.escape(part) for part in _CODE_PART.findall(code.removesuffix("()"))]
    if not parts:
        return ""
    code = code.removesuffix("()").strip()
    before = r"(?<![\w.])" if code[0].isalnum() else ""
    after = r"(?!\w)" if code[-1].isalnum() else ""
    found = re.search(before + r"\s*".join(parts) + after, source)
    return found.group() if found else None
