"""Puts together what a fit of the head is made on, and where the bar is."""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from core.embeddings.base import SentenceEmbedder
from core.grounding.planted import Fit, is_telling
from core.models import Chunk
from core.text.sentences import sentences
from tests.bench.planted.fitting import (
    Labelled,
    Passage,
    fit_context,
    fit_sentences,
    passage_of,
)
from tests.bench.planted.passages import chunks_in, chunks_of, planted, with_vectors
from tests.bench.planted.texts import TRAIN, TUNING, Command, Prose, commands, proses

EVERY_FILE = 3
"""Of the files of economics, every so-manieth is fitted on."""
ECONOMICS_CHUNKS, SQUAD_CHUNKS, TUTORIAL_CHUNKS = 1500, 2000, 2000
"""Chunks whose sentences are learned by meaning as well."""
EVERY_ENGLISH, EVERY_OTHER = 3, 8
"""Of the commands of `train.jsonl`, every so-manieth is learned by meaning, too."""
IN_A_BOOK = 0.25
"""Share of the English commands that are planted in passages of books, the others in short ones."""
TUTORIAL_WEIGHT = 2.0
OWN_WEIGHT = 4.0
"""Of a sentence of `train.jsonl`: its prose is what a head gets wrong most easily."""
BAR = 2.0
"""Log odds from which a sentence is taken for a command; docs/measuring.md says how it was set."""
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
    paths = sorted((corpora / "rust-book" / "book").rglob("*.md"))
    kept = [path for path in paths if is_for_fitting(path.name) == (rest == 0)]
    return [c for path in kept for c in chunks_of(path.read_text(encoding="utf-8"), path.name)]


def is_for_fitting(text: str) -> bool:
    """Return whether an attack, or a file by its name, is of the half that is fitted on."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0


async def fitted(embedder: SentenceEmbedder, corpora: Path, attacks: Sequence[str]) -> Fit:
    """Return what is fitted on `train.jsonl`, books and one half of the attacks.

    Its last step is fitted on `tuning.jsonl`, which the steps before are fitted on only then.
    """
    economics = list(chunks_in(corpora / "economics" / "book", EVERY_FILE))
    squad = first_half(corpora / "squad2" / "book")
    tutorial = tutorial_half(corpora, 0)
    books = [*shuffled(economics, ECONOMICS_CHUNKS), *shuffled(squad, SQUAD_CHUNKS)]
    written, prose = commands(TRAIN), proses(TRAIN)
    public = [Command("en", text) for text in attacks if is_for_fitting(text)]
    english = [one for one in written if one.language == "en"]
    others = [one for one in written if one.language != "en"]
    hosts = hosts_by_language(prose)
    own = [chunk for some in hosts.values() for chunk in some]
    given = await _passages(embedder, books, [], [], {})
    given += await _passages(
        embedder, shuffled(tutorial, TUTORIAL_CHUNKS), [], [], {}, TUTORIAL_WEIGHT
    )
    given += await _passages(
        embedder, own, english[::EVERY_ENGLISH] + public, books, hosts, OWN_WEIGHT
    )
    given += await _passages(embedder, [], others[::EVERY_OTHER], books, hosts)
    more = [
        *_by_words([*economics, *squad], 1.0),
        *_by_words(tutorial, TUTORIAL_WEIGHT),
        *[Labelled(one.text, commands=True) for one in written],
    ]
    tuned = hosts_by_language(proses(TUNING))
    prose_to_tune = [chunk for some in tuned.values() for chunk in some]
    tuning = await _passages(embedder, prose_to_tune, commands(TUNING), books, tuned, OWN_WEIGHT)
    last = fit_context(fit_sentences(given, more), tuning)
    whole = fit_sentences([*given, *tuning], more)
    return replace(whole, context=last.context, plain=last.plain)


def _by_words(chunks: Sequence[Chunk], weight: float) -> list[Labelled]:
    """Return the telling sentences of harmless chunks, each once."""
    texts = dict.fromkeys(text for chunk in chunks for text in sentences(chunk.content_text))
    return [Labelled(text, commands=False, weight=weight) for text in texts if is_telling(text)]


async def _passages(
    embedder: SentenceEmbedder,
    harmless: Sequence[Chunk],
    given: Sequence[Command],
    books: Sequence[Chunk],
    hosts: dict[str, list[Chunk]],
    weight: float = 1.0,
) -> list[Passage]:
    """Return harmless passages of a weight, and passages with the commands planted.

    Where one is planted follows from its text, whatever else is given.
    """
    pairs = []
    for command in given:
        chance = random.Random(command.text)
        is_long = bool(books) and chance.random() < IN_A_BOOK
        pairs.append(planted_anywhere(command, hosts | ({"en": books} if is_long else {}), chance))
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
