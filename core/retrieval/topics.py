"""Finds what a course's readers may want to ask: the headings that its text asks or defines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import zip_longest

from core.i18n import Message, in_language
from core.index.base import VectorIndex
from core.markdown.writing import one_line
from core.models import Chunk
from core.retrieval.editions.edition_reader import EditionReader
from core.retrieval.named_sections.numbers import read_number
from core.storage.catalogue import Catalogue, DocumentRecord, Edition
from core.text.links import prose_without_links
from core.text.sentences import sentence_spans

_DOCUMENTS = 40
"""Documents that are looked into, spread over the course."""
_LONGEST = 60
"""Characters of a heading that is asked about."""
_MOST_WORDS = 4
"""Of a heading that may name a thing."""
_BEFORE = 1
"""Words that a sentence may have before what it defines, such as an article."""
_NUMBER = re.compile(r"^(?:\d+[.)]|\d+(?:\.\d+)+\.?)\s+")
_INSIDE = re.compile(r"[\w,;]\s+\Z")
"""What stands before a word inside of a sentence."""
_WORDS = re.compile(r"\w+(?:['’-]\w+)*")


class Likely(IntEnum):
    """How likely a heading is to be asked about, likeliest first."""

    ASKS = 0
    """The heading is a question itself."""
    IS = 1
    """Its section says what the one thing is that the heading names."""
    ARE = 2
    """Its section says what the things are that the heading names."""
    BEGINS = 3
    """A sentence of its section begins with what the heading names."""
    STANDS = 4
    """There is such a heading, and no more is known."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A heading as something to ask about."""

    name: str
    """Without its number."""
    heading: str
    likely: Likely
    said: str | None = None
    """How its document's text writes the name inside of a sentence; None: it does not."""


class Topics:
    """Reads an edition for headings to ask about."""

    def __init__(self, catalogue: Catalogue, index: VectorIndex) -> None:
        """Prepare to read."""
        self._catalogue = catalogue
        self._reader = EditionReader(index)

    async def of(self, edition: Edition, language: str) -> list[Topic]:
        """Return headings to ask about, likeliest first; each document has its turn.

        Args:
            language: The course's, in which a thing is said to be something.

        Raises:
            StoreError, VectorIndexError: when the course cannot be read.
        """
        documents = await self._catalogue.documents(edition.generation)
        found = list[list[Topic]]()
        for document in spread(documents)[:_DOCUMENTS]:
            chunks = await self._reader.document(edition, document.document_id)
            found.append(sorted(topics_in(chunks, language), key=lambda topic: topic.likely))
        turns = [topic for turn in zip_longest(*found) for topic in turn if topic is not None]
        ordered = sorted(turns, key=lambda topic: topic.likely >= Likely.BEGINS)
        return list({topic.name: topic for topic in reversed(ordered)}.values())[::-1]


def topics_in(chunks: Sequence[Chunk], language: str) -> Iterator[Topic]:
    """Yield the headings of one document, in order, each with how likely it is asked about."""
    sections = dict[tuple[str, ...], list[str]]()
    for chunk in chunks:
        sections.setdefault(chunk.headings or (chunk.page_title,), []).append(chunk.content_text)
    whole = "\n\n".join(chunk.content_text for chunk in chunks)
    for path, texts in sections.items():
        heading = one_line(path[-1])
        name = one_line(prose_without_links(_NUMBER.sub("", heading)))
        if name and len(name) <= _LONGEST:
            text = "\n\n".join(texts)
            yield Topic(name, heading, _likely(name, text, language), _said(name, whole))


def spread(documents: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    """Return documents so that the first few are spread over all of them."""
    return [documents[place] for place in _spread(len(documents))]


def _spread(count: int) -> Iterable[int]:
    """Yield the numbers below `count`, each as far from those before as halving gets it.

    Source: van der Corput's sequence in base 2.
    """
    bits = max(count - 1, 0).bit_length()
    mirrored = (int(f"{number:0{bits}b}"[::-1], 2) if bits else 0 for number in range(1 << bits))
    return (number for number in mirrored if number < count)


def _likely(name: str, text: str, language: str) -> Likely:
    if name.endswith("?"):
        return Likely.ASKS
    wanted = _folded(name)
    if not wanted or len(wanted) > _MOST_WORDS or read_number(name) is not None:
        return Likely.STANDS
    found = Likely.STANDS
    copulas = {
        in_language(Message("suggestion-is"), language): Likely.IS,
        in_language(Message("suggestion-are"), language): Likely.ARE,
    }
    for span in sentence_spans(text):
        words = _folded(text[span.start : span.end])
        for start in range(_BEFORE + 1):
            end = start + len(wanted)
            if words[start:end] == wanted and len(words) > end:
                found = min(found, copulas.get(words[end], Likely.BEGINS))
    return found


def _said(name: str, text: str) -> str | None:
    spelt = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    found = (one[0] for one in spelt if _INSIDE.search(text, 0, one.start()))
    return next(found, None)


def _folded(text: str) -> list[str]:
    return [word.casefold() for word in _WORDS.findall(text)]
