"""How many damaged quotes are located: `python -m tests.bench.quotes --corpora FOLDER`."""

import argparse
import asyncio
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from core.domain import Chunk, QuoteStatus
from core.retrieval.quotes import BookText, QuoteMatch
from tests.bench.books import Book, book_documents, parsed_chunks
from tests.bench.damage import WAYS
from tests.bench.figures import machine

_PASSAGES = 300
_STRANGERS = 100
_SHORTEST, _LONGEST = 60, 800
_SURE_FROM = 120
_ACROSS_BORDERS = 5
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of whole words of a document."""

    document_id: str
    start: int
    end: int
    text: str
    crosses_border: bool


class Shelf:
    """A book to take passages from, and to look for them in."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.texts = dict(book_documents(chunks))
        self.book = BookText(list(self.texts.items()))
        self._borders: defaultdict[str, list[int]] = defaultdict(list)
        for chunk in chunks:
            if chunk.chunk_index:
                self._borders[str(chunk.document_id)].append(chunk.char_start)

    def passages(self, chance: random.Random, number: int) -> list[Passage]:
        """Return passages of 60 to 800 characters, one in five across a chunk border."""
        found: list[Passage] = []
        while len(found) < number:
            at_border = len(found) % _ACROSS_BORDERS == 0
            if (passage := self._passage(chance, at_border)) is not None:
                found.append(passage)
        return found

    def _passage(self, chance: random.Random, at_border: bool) -> Passage | None:
        name = chance.choices(list(self.texts), [len(text) for text in self.texts.values()])[0]
        text, borders = self.texts[name], self._borders[name]
        length = chance.randint(_SHORTEST, _LONGEST)
        if at_border:
            if not borders:
                return None
            start = chance.choice(borders) - chance.randint(length // 4, 3 * length // 4)
        else:
            start = chance.randrange(max(1, len(text) - length))
        words = list(_WORD.finditer(text, max(0, start), max(0, start) + length))[1:-1]
        if not words:
            return None
        first, last = words[0].start(), words[-1].end()
        crossing = any(first < border < last for border in borders)
        if last - first < _SHORTEST or (at_border and not crossing):
            return None
        return Passage(name, first, last, text[first:last], crossing)

    def is_located(self, passage: Passage, match: QuoteMatch) -> bool:
        """Return whether the match overlaps the passage's span, or an equal text, by half."""
        if match.document_id is None:
            return False
        if match.document_id == passage.document_id and _overlap(passage, match) >= 0.5:
            return True
        found = _letters(self.texts[match.document_id][match.char_start : match.char_end])
        wanted = _letters(passage.text)
        return found in wanted and len(found) >= 0.5 * len(wanted)


def _overlap(passage: Passage, match: QuoteMatch) -> float:
    """Return the characters in both over the characters in either."""
    both = min(match.char_end, passage.end) - max(match.char_start, passage.start)
    either = max(match.char_end, passage.end) - min(match.char_start, passage.start)
    return max(0, both) / either


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


@dataclass(frozen=True, slots=True)
class Tried:
    """One damaged passage, and whether it was found."""

    way: str
    length: int
    crosses_border: bool
    located: bool


def locate_all(shelf: Shelf, chance: random.Random) -> list[Tried]:
    """Damage passages of the book, each in one way, and look for them."""
    passages = shelf.passages(chance, _PASSAGES)
    chance.shuffle(passages)
    tried = []
    for passage, (way, damage) in zip(passages, cycle(WAYS.items()), strict=False):
        match = shelf.book.locate(damage(chance, passage.text))
        located = shelf.is_located(passage, match)
        tried.append(Tried(way, len(passage.text), passage.crosses_border, located))
    return tried


def refuse_all(shelf: Shelf, foreign: Shelf, chance: random.Random) -> Counter[QuoteStatus]:
    """Look for damaged passages of another book, and count what is said of them."""
    passages = foreign.passages(chance, _STRANGERS)
    ways = islice(cycle(WAYS.values()), _STRANGERS)
    return Counter(
        shelf.book.locate(damage(chance, passage.text)).status
        for passage, damage in zip(passages, ways, strict=True)
    )


def _print_share(what: str, tried: Sequence[Tried]) -> None:
    located = sum(row.located for row in tried)
    print(f"{what:<34}{located:>4} of {len(tried):>4}{located / max(1, len(tried)):>8.1%}")


async def main(corpora: Path, seed: int) -> None:
    """Print the share of passages located, by kind, and of strangers refused."""
    economics = Shelf(await parsed_chunks(Book("economics", corpora / "economics" / "book")))
    rust = Shelf(await parsed_chunks(Book("rust-book", corpora / "rust-book" / "book")))
    chance = random.Random(seed)
    tried = locate_all(economics, chance)
    print(f"{machine()}, seed {seed}")
    _print_share("located", tried)
    _print_share(f"  from {_SURE_FROM} characters", [t for t in tried if t.length >= _SURE_FROM])
    _print_share("  across a chunk border", [t for t in tried if t.crosses_border])
    for way in WAYS:
        _print_share(f"  {way}", [t for t in tried if t.way == way])
    refused = refuse_all(economics, rust, chance)
    refusals = f"{refused[QuoteStatus.NOT_FOUND]:>4} of {_STRANGERS:>4}"
    print(f"{'of rust-book, not in this book':<34}{refusals}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not (options.corpora / "economics" / "book").is_dir():
        sys.exit(f"There is no folder {options.corpora / 'economics' / 'book'}.")
    asyncio.run(main(options.corpora, options.seed))
