"""Books of any size, made of the handbook's words, and a model that costs next to nothing.

The chunks are as many and as long as a real book's; their vectors lie around some hundred centres.
Questions are embedded by the real model, so that what a question costs is real.
"""

import random
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from core.domain.sentences import Span
from core.ingestion.document import Block, BlockKind, ParsedDocument, document_of
from core.ingestion.passages import Placement
from core.ingestion.refusal import LeftOut
from core.ingestion.sources.sources import SourceDocument
from core.providers.embeddings.base import Embedder, Vectors

CHUNKS_A_PAGE = 30
_SECTIONS = 10
_PARAGRAPHS = 3
_SENTENCES, _WORDS = 9, 17
_CENTRES = 300
_SPREAD = 0.8
_LETTERS = re.compile(r"[a-z]{3,}")
_HANDBOOK = Path(__file__).resolve().parents[2] / "docs"


class Words:
    """The handbook's words, the frequent ones more often, and as many made-up names."""

    @cached_property
    def known(self) -> list[str]:
        """Return them by rank."""
        text = " ".join(path.read_text(encoding="utf-8") for path in sorted(_HANDBOOK.glob("*.md")))
        words = list(dict.fromkeys(_LETTERS.findall(text.lower())))
        return words + [f"{word}{n}" for n in range(3) for word in words]

    def sentence(self, chance: random.Random) -> str:
        """Return a sentence."""
        size = len(self.known)
        words = [self.known[min(size - 1, int(size * chance.random() ** 3))] for _ in range(_WORDS)]
        return f"{' '.join(words).capitalize()}."


WORDS = Words()


def page(number: int) -> ParsedDocument:
    """Return the n-th page: always the same, of thirty chunks or so."""
    chance = random.Random(number)
    blocks = [Block(BlockKind.HEADING, f"Page {number}", 1)]
    for section in range(_SECTIONS):
        name = f"{WORDS.sentence(chance).split()[0]} {section}"
        blocks.append(Block(BlockKind.HEADING, name, 2))
        for _ in range(_PARAGRAPHS):
            text = " ".join(WORDS.sentence(chance) for _ in range(_SENTENCES))
            blocks.append(Block(BlockKind.PARAGRAPH, text))
    return document_of(f"Page {number}", blocks)


def questions(number: int) -> list[str]:
    """Return questions made of words that stand together in the book."""
    chance = random.Random(number)
    asked = [WORDS.sentence(chance).split()[:6] for _ in range(number)]
    return [f"What is said of {' '.join(words).lower()}?" for words in asked]


@dataclass(frozen=True, slots=True)
class MadePage:
    """A page as a source gives it."""

    number: int

    @property
    def place(self) -> Placement:
        """Its place in the book."""
        return Placement(f"page-{self.number:06}.md", "made")

    async def read(self) -> None:
        """There is nothing to fetch."""

    def fingerprint(self) -> str:
        """It never changes."""
        return f"made {self.number}"

    async def parse(self) -> ParsedDocument:
        """Return its blocks."""
        return page(self.number)


@dataclass(frozen=True, slots=True)
class MadeBook:
    """So many pages."""

    pages: Sequence[int]
    name: str = "made"
    warnings: Sequence[str] = ()
    left_out: Sequence[LeftOut] = field(default_factory=tuple)

    async def documents(self) -> list[SourceDocument]:
        """Return the pages in order."""
        return [MadePage(number) for number in self.pages]


class MadeVectors:
    """Gives passages vectors by their text alone, and asks the real model about questions."""

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self._centres = np.random.default_rng(1).standard_normal((_CENTRES, real.dimensions))

    @property
    def name(self) -> str:
        """The real model's."""
        return self._real.name

    @property
    def dimensions(self) -> int:
        """The real model's."""
        return self._real.dimensions

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the real vectors of questions."""
        return await self._real.embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return a vector near a centre for each text."""
        return np.stack([self._vectors(text, 1)[0] for text in texts])

    async def embed_with_sentences(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> tuple[Vectors, list[Vectors]]:
        """Return the same, and others for the sentences."""
        rows = [self._vectors(t, 1 + len(own)) for t, own in zip(texts, spans, strict=True)]
        return np.stack([row[0] for row in rows]), [row[1:] for row in rows]

    def _vectors(self, text: str, number: int) -> Vectors:
        seed = zlib.crc32(text.encode())
        chance = np.random.default_rng(seed)
        spread = _SPREAD * chance.standard_normal((number, self.dimensions))
        vectors = self._centres[seed % _CENTRES] + spread
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
