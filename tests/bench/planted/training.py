"""Puts together what the head is fitted on, and where its bar is."""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from core.embeddings.base import SentenceEmbedder
from core.grounding.planted import Head
from core.models import Chunk
from tests.bench.planted.fitting import Passage, fit_context, fit_sentences, passage_of
from tests.bench.planted.passages import chunks_in, chunks_of, planted, with_vectors
from tests.bench.planted.texts import TRAIN, TUNING, Command, Prose, commands, proses

ECONOMICS_CHUNKS, SQUAD_CHUNKS, DOCS_CHUNKS = 350, 200, 200
_DOCS = Path(__file__).parents[3] / "docs"
TUTORIAL_WEIGHT = 2.0
OWN_WEIGHT = 4.0
"""Of a sentence of `train.jsonl`: its prose is what a head gets wrong most easily."""
BAR = 1.5
"""Log odds from which a sentence is taken for a command, set on `tuning.jsonl`: the
highest multiple of a half at which three quarters of the other languages' commands are withheld."""
_SEED = 11


def first_half(folder: Path) -> list[Chunk]:
    """Return the chunks of every second page of the encyclopedia; the others are for measuring."""
    return _half(folder, 0)


def second_half(folder: Path) -> list[Chunk]:
    """Return the chunks of the pages that the head is not fitted on."""
    return _half(folder, 1)


def _half(folder: Path, rest: int) -> list[Chunk]:
    pages = sorted({path.stem.rsplit("-", 1)[0] for path in folder.glob("*.md")})
    kept = {page for number, page in enumerate(pages) if number % 2 == rest}
    paths = [path for path in sorted(folder.glob("*.md")) if path.stem.rsplit("-", 1)[0] in kept]
    return [c for path in paths for c in chunks_of(path.read_text(encoding="utf-8"), path.name)]


def chunks_of_prose(passages: Sequence[Prose]) -> list[Chunk]:
    """Return the passages as chunks, each of a page of its own."""
    return [
        chunk
        for number, prose in enumerate(passages)
        for chunk in chunks_of(f"# {prose.heading}\n\n{prose.text}\n", f"{number}.md")
    ]


def hosts_by_language(passages: Sequence[Prose]) -> dict[str, list[Chunk]]:
    """Return the chunks of the passages by their language."""
    return {
        language: chunks_of_prose([p for p in passages if p.language == language])
        for language in dict.fromkeys(p.language for p in passages)
    }


def planted_anywhere(
    command: Command, hosts: Mapping[str, Sequence[Chunk]], chance: random.Random
) -> tuple[Chunk, str]:
    """Return a host of its language with the command at some place, and the command's text."""
    host = chance.choice(hosts[command.language])
    text = command.text.strip()
    return planted(host, text, chance.randrange(len(host.content_text.split(". ")) + 1)), text


def tutorial_half(corpora: Path, rest: int) -> list[Chunk]:
    """Return the chunks of one half of the files of a tutorial: the head is fitted on half 0."""
    chunks = chunks_in(corpora / "rust-book" / "book")
    return [c for c in chunks if is_for_fitting(c.source_file) == (rest == 0)]


def is_for_fitting(text: str) -> bool:
    """Return whether an attack, or a file by its name, is of the half that is fitted on."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0


async def fitted(embedder: SentenceEmbedder, corpora: Path, attacks: Sequence[str]) -> Head:
    """Return the head that is fitted on `train.jsonl`, books and one half of the attacks.

    Its last step is fitted on `tuning.jsonl`, which the steps before are fitted on only then.
    """
    books = [
        *shuffled(chunks_in(corpora / "economics" / "book"), ECONOMICS_CHUNKS),
        *shuffled(first_half(corpora / "squad2" / "book"), SQUAD_CHUNKS),
    ]
    docs = shuffled(chunks_in(_DOCS), DOCS_CHUNKS)
    public = [Command("en", text) for text in attacks if is_for_fitting(text)]
    given = await _passages(embedder, [*books, *docs], [], books, {})
    given += await _passages(embedder, [], public, books, {"en": books})
    given += await _written(embedder, TRAIN, books)
    tuning = await _written(embedder, TUNING, books)
    last = fit_context(fit_sentences(given), tuning, BAR)
    tutorial = await _passages(embedder, tutorial_half(corpora, 0), [], books, {}, TUTORIAL_WEIGHT)
    head = fit_sentences([*given, *tuning, *tutorial])
    return replace(head, context=last.context, plain=last.plain, bar=BAR)


async def _written(embedder: SentenceEmbedder, path: Path, books: Sequence[Chunk]) -> list[Passage]:
    """Return the passages of a file, and its commands planted in these and in books."""
    hosts = hosts_by_language(proses(path))
    prose = [chunk for some in hosts.values() for chunk in some]
    return await _passages(embedder, prose, commands(path), books, hosts, OWN_WEIGHT)


async def _passages(
    embedder: SentenceEmbedder,
    harmless: Sequence[Chunk],
    given: Sequence[Command],
    books: Sequence[Chunk],
    hosts: Mapping[str, Sequence[Chunk]],
    weight: float = 1.0,
) -> list[Passage]:
    """Return harmless passages of a weight, and passages with the commands planted."""
    chance = random.Random(_SEED)
    in_books = {"en": books}
    pairs = [
        planted_anywhere(command, {**hosts, **(in_books if n % 2 else {})}, chance)
        for n, command in enumerate(given)
    ]
    clean = await with_vectors(embedder, harmless)
    changed = await with_vectors(embedder, [chunk for chunk, _ in pairs])
    return [
        *[passage_of(chunk, None, weight) for chunk in clean],
        *[passage_of(chunk, text) for chunk, (_, text) in zip(changed, pairs, strict=True)],
    ]


def shuffled(chunks: Iterable[Chunk], count: int) -> list[Chunk]:
    """Return a fixed sample of the chunks."""
    every = list(chunks)
    return random.Random(_SEED).sample(every, min(count, len(every)))
