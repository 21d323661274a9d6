"""Finds the codes in a text, such as the number of an error, that passages do not hold."""

import re
import unicodedata
from collections.abc import Iterable

_CODE = re.compile(r"(?<![\w.-])[a-z]{1,6}[-_]?\d{2,}[a-z]?(?![\w-])", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s_-]+")


def missing_codes(text: str, passages: Iterable[str]) -> list[str]:
    """Return the codes of a question or claim, such as `E044`, that stand in none of the passages.

    A code is letters with a number of at least two digits; hyphens, blanks and capitals are of
    no account.
    """
    codes = _CODE.findall(text)
    if not codes:
        return []
    known = "\n".join(map(_folded, passages))
    return [code for code in codes if _folded(code) not in known]


def _folded(text: str) -> str:
    return _BETWEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()
