"""Counts with their nouns, as people write them."""


def counted(number: int, noun: str) -> str:
    """Return a count with its noun in the right number: `1 chunk`, `2,000 chunks`, `3 boxes`.

    Args:
        noun: In the singular, with a regular plural.
    """
    return f"{number:,} {noun if number == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    is_ies = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{noun[:-1]}ies" if is_ies else f"{noun}s"
