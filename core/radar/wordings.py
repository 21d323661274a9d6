"""What people asked, grouped by meaning, in words that name no one."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from core.embeddings.base import Embedder, Vectors

ALIKE = 0.8
"""Cosine from which two questions are counted as the same."""
MOST = 5
"""Groups that are shown."""
_MOST_COMPARED = 3_000
_ADDRESS = re.compile(r"<[@#!][^<>\s]*>|@\w[\w.-]*|\S+@\S+\.\S+|https?://\S+|\b\w*\d{5,}\w*\b")
"""A mention, an account, an address, or a number that may be a user's."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_GAP = "…"
_GAPS = re.compile(r"…(?:[\s,]*…)+")

IsCommon = Callable[[str], bool]
"""Returns whether a word is one of the book's, or of its language."""


@dataclass(frozen=True, slots=True)
class AskedWording:
    """A question, in its asker's words."""

    request_id: UUID
    asker: str
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Questions that mean the same, by at least `k` people."""

    request_ids: tuple[UUID, ...]


async def groups_of(wordings: Sequence[AskedWording], k: int, embedder: Embedder) -> list[Group]:
    """Return what was asked by at least `k` people, by most of them first.

    Raises:
        EmbeddingError: when the model gives no usable vectors.
    """
    wordings = wordings[:_MOST_COMPARED]
    if not wordings:
        return []
    texts = [*dict.fromkeys(folded(one.text) for one in wordings)]
    numbers = {text: number for number, text in enumerate(texts)}
    vectors = await embedder.embed_queries(texts)
    counts = Counter(folded(one.text) for one in wordings)
    found = []
    for members in _clusters(vectors, [counts[text] for text in texts]):
        own = [one for one in wordings if numbers[folded(one.text)] in members]
        askers = {one.asker for one in own}
        if len(askers) >= k:
            found.append((len(askers), tuple(one.request_id for one in own)))
    found.sort(key=lambda one: (-one[0], one[1]))
    return [Group(ids) for _, ids in found[:MOST]]


def _clusters(vectors: Vectors, counts: Sequence[int]) -> Iterator[set[int]]:
    """Yield the numbers of texts around those that were asked most, each once."""
    left = set(range(len(vectors)))
    for number in sorted(left, key=lambda n: (-counts[n], n)):
        if number not in left:
            continue
        alike = vectors @ vectors[number]
        members = {other for other in left if other == number or alike[other] >= ALIKE}
        left -= members
        yield members


def told(wordings: Sequence[AskedWording], k: int, is_common: IsCommon) -> str | None:
    """Return the shortest wording of a group in which every word is common, or used by `k` people.

    Other words are left out, since they may be names; None: fewer than `k` people are left.
    """
    if len({one.asker for one in wordings}) < k:
        return None
    users = Counter(
        word for asker in {one.asker for one in wordings} for word in _words_by(asker, wordings)
    )
    shown = [
        without_names(one.text, lambda word: users[word.casefold()] >= k or is_common(word))
        for one in wordings
    ]
    return min(shown, key=lambda text: (text.count(_GAP), len(text), text))


def _words_by(asker: str, wordings: Sequence[AskedWording]) -> set[str]:
    said = " ".join(one.text for one in wordings if one.asker == asker)
    return {word.casefold() for word in _WORD.findall(said)}


def without_names(text: str, is_common: IsCommon) -> str:
    """Return a text with a gap for each address, long number, and word that may be a name."""
    text = _ADDRESS.sub(_GAP, " ".join(text.split()))
    shown = _WORD.sub(lambda word: word[0] if is_common(word[0]) else _GAP, text)
    return _GAPS.sub(_GAP, shown)


def folded(text: str) -> str:
    """Return a question as it is compared letter by letter."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", plain))
