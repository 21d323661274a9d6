"""Proposes questions from a book's own headings, terms and exercises, for a person to accept."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from core.i18n import text
from core.models import MAX_QUESTION, MIN_QUESTION, Chunk

_PASSAGE = 300
_FEWEST_TOKENS = 30
"""A section of less text holds no answer."""


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question, and where the book holds its answer."""

    question: str
    kind: str
    """`heading`, `term` or `exercise`."""
    source_file: str
    headings: tuple[str, ...]
    passage: str
    """How the text begins that answers it, or what the exercise stands in."""


async def propose(chunks: AsyncIterator[Chunk], number: int) -> list[ProposedQuestion]:
    """Return at most `number` questions, spread over documents and kinds, each once.

    They are worded in the language of the messages. What is proposed is not known to be
    answered by the book: an exercise may ask for what its section only prepares.
    """
    by_document: dict[str, list[ProposedQuestion]] = defaultdict(list)
    seen: set[str] = set()
    headings: set[tuple[str, ...]] = set()
    async for chunk in chunks:
        for proposed in _of_chunk(chunk, is_first=chunk.headings not in headings):
            if (key := proposed.question.casefold()) not in seen:
                seen.add(key)
                by_document[chunk.source_file].append(proposed)
        headings.add(chunk.headings)
    rounds = zip_longest(*map(_by_turns, by_document.values()))
    found = (proposed for one in rounds for proposed in one if proposed is not None)
    return [proposed for proposed, _ in zip(found, range(number), strict=False)]


def _of_chunk(chunk: Chunk, *, is_first: bool) -> Iterator[ProposedQuestion]:
    exercises = [block for block in chunk.blocks if block.kind == "exercise"]
    for block in exercises:
        for line in chunk.content_text[block.start : block.end].splitlines():
            if line.rstrip().endswith("?"):
                yield from _proposal(chunk, line.strip(), "exercise")
    if exercises or not is_first or len(chunk.headings) < 2:
        return
    heading = chunk.headings[-1].strip()
    if chunk.token_count < _FEWEST_TOKENS or not any(map(str.isalpha, heading)):
        return
    if heading.endswith("?"):
        yield from _proposal(chunk, heading, "heading")
    elif _is_defined(heading, chunk.content_text):
        yield from _proposal(chunk, text("proposed-term", term=heading), "term")
    else:
        yield from _proposal(chunk, text("proposed-heading", heading=heading), "heading")


def _is_defined(heading: str, passage: str) -> bool:
    """Return whether a text begins with its heading's word, or with it after an article."""
    name, words = heading.casefold().split(), passage.casefold().split()
    return words[1 : len(name) + 1] == name or (len(name) == 1 and words[:1] == name)


def _proposal(chunk: Chunk, question: str, kind: str) -> Iterator[ProposedQuestion]:
    if MIN_QUESTION <= len(question) <= MAX_QUESTION:
        passage = " ".join(chunk.content_text.split())[:_PASSAGE]
        yield ProposedQuestion(question, kind, chunk.source_file, chunk.headings, passage)


def _by_turns(proposals: Sequence[ProposedQuestion]) -> Iterable[ProposedQuestion]:
    """Return a document's questions, those of each kind in turn."""
    kinds: dict[str, list[ProposedQuestion]] = defaultdict(list)
    for proposed in proposals:
        kinds[proposed.kind].append(proposed)
    rounds = zip_longest(*kinds.values())
    return (proposed for one in rounds for proposed in one if proposed is not None)
