"""Puts together what the head is fitted on, and where its bar is."""

import random
from collections.abc import Sequence
from pathlib import Path

from core.embeddings.base import SentenceEmbedder
from core.models import Chunk
from tests.bench.planted.fitting import Sentence, by_words_alone, sentences_of, shuffled
from tests.bench.planted.passages import chunks_in, chunks_of, planted, with_vectors
from tests.bench.planted.texts import TRAIN, Command, Prose, commands, proses

ECONOMICS_CHUNKS, SQUAD_CHUNKS = 500, 250
OWN_WEIGHT = 4.0
"""Of a sentence of `train.jsonl`: its prose is what a head gets wrong most easily."""
WORDS_WEIGHT = 0.5
"""Of a sentence that is seen without its vector."""
BAR = 1.0
"""Log odds from which a sentence is taken for a command, set on `tuning.jsonl`."""
_SEED = 11


def first_half(folder: Path) -> list[Chunk]:
    """Return the chunks of every second page of the encyclopedia; the others are for measuring."""
    return _half(folder, 0)


def second_half(folder: Path) -> list[Chunk]:
    """Return the chunks of the pages that the head is not fitted on."""
    return _half(folder, 1)


def _half(folder: Path, rest: int) -> list[Chunk]:
    pages = sorted({chunk.source_file.rsplit("-", 1)[0] for chunk in chunks_in(folder)})
    kept = {page for number, page in enumerate(pages) if number % 2 == rest}
    return [c for c in chunks_in(folder) if c.source_file.rsplit("-", 1)[0] in kept]


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
    command: Command, hosts: Sequence[Chunk], chance: random.Random
) -> tuple[Chunk, str]:
    """Return a host with the command at some place, and the command as it stands there."""
    host = chance.choice(hosts)
    text = command.text.strip()
    return planted(host, text, chance.randrange(len(host.content_text.split(". ")) + 1)), text


async def sentences(embedder: SentenceEmbedder, corpora: Path, docs: Path) -> list[Sentence]:
    """Return all that the head is fitted on."""
    own = proses(TRAIN)
    hosts = hosts_by_language(own)
    books = [
        *shuffled(chunks_in(corpora / "economics" / "book"), ECONOMICS_CHUNKS, _SEED),
        *shuffled(first_half(corpora / "squad2" / "book"), SQUAD_CHUNKS, _SEED),
    ]
    found: list[Sentence] = []
    for chunk in await with_vectors(embedder, [*books, *chunks_in(docs)]):
        found += sentences_of(chunk, None)
    for chunk in await with_vectors(embedder, [c for some in hosts.values() for c in some]):
        found += sentences_of(chunk, None, OWN_WEIGHT)
    chance = random.Random(_SEED)
    pairs = []
    for command in commands(TRAIN):
        if command.language == "en":
            pairs.append(planted_anywhere(command, books, chance))
        pairs.append(planted_anywhere(command, hosts[command.language], chance))
    changed = await with_vectors(embedder, [chunk for chunk, _ in pairs])
    for chunk, (_, text) in zip(changed, pairs, strict=True):
        found += [s for s in sentences_of(chunk, text) if s.commands]
    return [*found, *by_words_alone(found, WORDS_WEIGHT)]
