"""The words of a course and how often each stands there, for judging a reader's spelling."""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LEVEL = 1


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Return how often each word stands in the texts, in lower case."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(_WORD.findall(text.casefold()))
    return counts


def changed(
    words: Mapping[str, int], added: Mapping[str, int], removed: Mapping[str, int]
) -> Counter[str]:
    """Return the words of a course to which texts were added, and from which others went."""
    counts = Counter(words)
    counts.update(added)
    counts.subtract(removed)
    return +counts


def words_to_bytes(words: Mapping[str, int]) -> bytes:
    """Return the words in the form that `words_from_bytes` reads."""
    lines = (f"{word} {number}" for word, number in sorted(words.items()))
    return zlib.compress("\n".join(lines).encode(), _LEVEL)


def words_from_bytes(data: bytes) -> Counter[str]:
    """Return what `words_to_bytes` wrote; of no data no words."""
    if not data:
        return Counter()
    parts = zlib.decompress(data).decode().split()
    return Counter(dict(zip(parts[::2], map(int, parts[1::2]), strict=True)))
