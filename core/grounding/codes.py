"""Finds the codes in a text, such as the number of an error, that passages do not hold."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

_CODE = re.compile(r"(?<![\w.-])[a-z]{1,6}[-_]?\d{2,}[a-z]?(?![\w-])", re.IGNORECASE)
_NAME = re.compile(r"(?<![^\W_])[^\W\d_][^\W_]*\d[^\W_]*")
_BETWEEN = re.compile(r"[\s_-]+")


def missing_codes(question: str, passages: Iterable[str]) -> list[str]:
    """Return the codes of a question, such as `E044`, that stand in none of the passages.

    A code is letters with a number of at least two digits; hyphens, blanks and capitals are of
    no account.
    """
    return _missing(_CODE.findall(question), passages)


def adds_code(claim: str, passages: Iterable[str]) -> bool:
    """Return whether a claim has letters with digits after them, as `E044` or `H2O`, of its own.

    >>> adds_code("It ends with E044.", ["It ends with e-044."]), adds_code("See A1.", ["See A2."])
    (False, True)
    """
    return bool(_missing(_NAME.findall(unicodedata.normalize("NFKC", claim)), passages))


def _missing(codes: Sequence[str], passages: Iterable[str]) -> list[str]:
    known = "\n".join(map(_folded, passages)) if codes else ""
    return [code for code in codes if _folded(code) not in known]


def _folded(text: str) -> str:
    return _BETWEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()
