"""What the head withholds of commands, and of text that commands nothing."""

import itertools
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.embeddings.base import SentenceEmbedder
from core.grounding.languages import ENGLISH
from core.grounding.planted import planted_in
from core.ingestion.edition.embedding import embedding_text
from core.models import Chunk
from core.text.sentences import sentence_spans
from tests.bench.planted.passages import chunks_in, chunks_of, with_vectors
from tests.bench.planted.texts import Command, commands, proses
from tests.bench.planted.training import (
    EVERY_FILE,
    chunks_of_prose,
    hosts_by_language,
    planted_anywhere,
    second_half,
    tutorial_half,
)

FORMS = ("How do I {}?", "{}", "What is {}?", "How does {} work?")
"""What is made of a heading; those of the first form come first."""
QUESTIONS = 1_000
BEST = 5
"""Chunks that a question is answered from."""
LONG = 20
"""Characters of a sentence whose being left standing counts."""
UNSEEN = ("da", "fi", "hu")
_SEED = 23
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Figure:
    """How many of some texts were withheld."""

    what: str
    withheld: int
    of: int

    @property
    def line(self) -> str:
        """The share with its 95 % interval. Source: Wilson 1927."""
        share, spread = self.withheld / self.of, _Z**2 / self.of
        middle = (share + spread / 2) / (1 + spread)
        half = _Z / (1 + spread) * (share * (1 - share) / self.of + spread / self.of / 4) ** 0.5
        low, high = max(0.0, middle - half), min(1.0, middle + half)
        interval = f"[{low:6.1%}, {high:6.1%}]"
        return f"{self.what:58} {self.withheld:5} of {self.of:5} = {share:6.1%} {interval}"

    @classmethod
    def total(cls, what: str, figures: Iterable["Figure"]) -> "Figure":
        """Return the sum of some figures."""
        every = list(figures)
        return cls(what, sum(one.withheld for one in every), sum(one.of for one in every))


async def tutorial(embedder: SentenceEmbedder, corpora: Path) -> list[Figure]:
    """Return false alarms over a tutorial: questions made of its headings, and all its chunks.

    Of its files, those that the head was not fitted on.
    """
    chunks = await with_vectors(embedder, tutorial_half(corpora, 1))
    alarmed = np.array([bool(planted_in(chunk).spans) for chunk in chunks])
    headings = dict.fromkeys(h for chunk in chunks for h in chunk.headings)
    asked = [form.format(heading) for form in FORMS for heading in headings][:QUESTIONS]
    texts = [embedding_text(c.page_title, c.headings, c.content_text) for c in chunks]
    found = await embedder.embed_queries(asked) @ (await embedder.embed_passages(texts)).T
    best = np.argsort(-found, axis=1)[:, :BEST]
    hit = int(alarmed[best].any(axis=1).sum())
    return [
        Figure(f"tutorial: questions, in any of their {BEST} best chunks", hit, len(asked)),
        Figure("tutorial: chunks", int(alarmed.sum()), len(chunks)),
    ]


async def other_books(embedder: SentenceEmbedder, corpora: Path) -> list[Figure]:
    """Return false alarms over chunks of books on other things that the head was not fitted on."""
    textbook = corpora / "economics" / "book"
    seen = {chunk.source_file for chunk in chunks_in(textbook, EVERY_FILE)}
    unseen = [chunk for chunk in chunks_in(textbook) if chunk.source_file not in seen]
    return [
        await _alarms(embedder, "encyclopedia: chunks", held_hosts(corpora)),
        await _alarms(embedder, "textbook: chunks", unseen),
    ]


async def prose(embedder: SentenceEmbedder, path: Path) -> list[Figure]:
    """Return false alarms on passages written for it, by kind, and those of other languages."""
    groups: dict[str, list[Chunk]] = defaultdict(list)
    others = []
    for one in proses(path):
        if one.language == ENGLISH:
            groups[one.group] += chunks_of_prose([one])
        else:
            own = await with_vectors(embedder, chunks_of_prose([one]))
            others += [bool(planted_in(chunk, one.language).spans) for chunk in own]
    figures = {name: await _alarms(embedder, f"prose: {name}", own) for name, own in groups.items()}
    return [
        *figures.values(),
        Figure.total("prose: all of English", figures.values()),
        Figure("prose: books in other languages", sum(others), len(others)),
    ]


async def harmless(
    embedder: SentenceEmbedder, texts: Sequence[str], page: str, what: str
) -> Figure:
    """Return false alarms on texts that stand alone on pages."""
    pages = [page.format(number, text) for number, text in enumerate(texts)]
    chunks = [c for n, page in enumerate(pages) for c in chunks_of(page, f"{n}.md")]
    return await _alarms(embedder, what, chunks)


async def attacks(
    embedder: SentenceEmbedder, sets: dict[str, list[str]], hosts: Sequence[Chunk]
) -> list[Figure]:
    """Return how many English texts are withheld whole where they stand in pages on other things.

    `hosts` are the passages that they are planted in, each at a place drawn once.
    """
    return [
        await _found(embedder, what, [Command("en", text) for text in texts], {"en": hosts})
        for what, texts in sets.items()
    ]


async def other_languages(
    embedder: SentenceEmbedder, path: Path, english: Sequence[Chunk]
) -> list[Figure]:
    """Return how many commands of other languages are withheld.

    Each stands in a passage of a book in English, of those in `english`, and then in prose of its
    own language, in a book of that language.
    """
    given = [one for one in commands(path) if one.language != ENGLISH]
    languages = list(dict.fromkeys(one.language for one in given))
    of = {language: [c for c in given if c.language == language] for language in languages}
    among = {
        language: await _found(
            embedder, f"  {language}", [Command(ENGLISH, c.text) for c in own], {ENGLISH: english}
        )
        for language, own in of.items()
    }
    hosts = hosts_by_language(proses(path))
    own_book = [
        await _found(embedder, language, own, hosts, language) for language, own in of.items()
    ]
    english_words = [one.text for one in commands(path) if one.language == ENGLISH]
    foreign = [
        Command(language, text)
        for language, text in zip(itertools.cycle(languages), english_words, strict=False)
        if language in hosts
    ]
    trained = [one for language, one in among.items() if language not in UNSEEN]
    return [
        Figure.total("commands in other languages, trained, in English", trained),
        Figure.total("  never trained, in English", (among[language] for language in UNSEEN)),
        *among.values(),
        Figure.total("commands in other languages, in books of these", own_book),
        await _found(
            embedder, "English commands, in books in other languages", foreign, hosts, "de"
        ),
    ]


def held_hosts(corpora: Path) -> list[Chunk]:
    """Return passages of an encyclopedia that the head was not fitted on."""
    return second_half(corpora / "squad2" / "book")


async def _found(
    embedder: SentenceEmbedder,
    what: str,
    given: Sequence[Command],
    hosts: Mapping[str, Sequence[Chunk]],
    language: str = ENGLISH,
) -> Figure:
    chance = random.Random(_SEED)
    pairs = [planted_anywhere(one, hosts, chance) for one in given]
    changed = await with_vectors(embedder, [chunk for chunk, _ in pairs])
    whole = [
        not list(left_of(chunk, text, language))
        for chunk, (_, text) in zip(changed, pairs, strict=True)
    ]
    return Figure(what, sum(whole), len(whole))


def left_of(chunk: Chunk, text: str, language: str = ENGLISH) -> Iterator[str]:
    """Yield the longer sentences of a planted text that may still be shown of such a book."""
    planted, content = planted_in(chunk, language), chunk.content_text
    begin = content.index(text)
    for start, end in sentence_spans(content):
        inside = max(start, begin), min(end, begin + len(text))
        if inside[1] - inside[0] >= min(LONG, len(text)) and not planted.touches(start, end):
            yield content[slice(*inside)]


async def _alarms(embedder: SentenceEmbedder, what: str, chunks: Iterable[Chunk]) -> Figure:
    found = [bool(planted_in(c).spans) for c in await with_vectors(embedder, chunks)]
    return Figure(what, sum(found), len(found))
