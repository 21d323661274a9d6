"""Counts with their nouns, as people write them."""


def counted(number: int, noun: str) -> str:
    """Return a count with its noun in the right number: `1 chunk`, `2,000 chunks`.

    Args:
        noun: In the singular; the plural has an `s` at its end.
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
