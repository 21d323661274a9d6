"""How many scripted claims the checker judges rightly: `python -m tests.bench.grounding`."""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.embedders import installed_model
from core.embeddings.local import LocalEmbedder
from core.grounding.quoting import whole_sentences
from core.grounding.support import Flaw, QuotedPassage, SupportChecker
from core.models import Chunk
from core.quoted import titles_of
from core.text.sentences import Span
from tests.bench.books import Book, parsed_chunks
from tests.bench.figures import machine
from tests.bench.hand_claims import HALVES, HandClaim, hand_claims
from tests.bench.scripted_claims import FAITHFUL, ScriptedClaim, Writer, books_claims
from tests.bench.turned_claims import KINDS, Turner, turned_claims

_BOOKS = ("economics", "squad2", "rust-book")
_LEARNT_ON = "economics"
"""The book whose sentences were reworded by hand."""
_TURNED = 30
"""Claims of each kind; a book may have fewer sentences that can be turned so."""
_GROUPS = (
    (
        "false claims caught",
        ("number or unit", "negation", "name", "invented quote", "wrong chunk"),
    ),
    ("swapped directions caught", ("direction",)),
    ("turned by a word or two caught", KINDS),
    ("lightly reworded true claims dropped", ("light",)),
    ("shortened and merged true claims dropped", ("short",)),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checker said of a claim, and how long it took."""

    claim: ScriptedClaim
    flaw: Flaw | None
    milliseconds: float

    @property
    def is_right(self) -> bool:
        """Whether a faithful claim passed or a false one was caught."""
        return (self.flaw is None) == (self.claim.kind in FAITHFUL)


async def judged(checker: SupportChecker, claim: ScriptedClaim) -> Verdict:
    """Return the verdict on one claim, as the agent would come to it."""
    started = time.perf_counter()
    quotes = []
    for chunk, quote in claim.quotes:
        start = chunk.content_text.find(quote)
        if quote and start >= 0:
            span = whole_sentences(chunk.content_text, Span(start, start + len(quote)))
            quotes.append(QuotedPassage(chunk.content_text, *span, titles_of(chunk)))
    flaw: Flaw | None = Flaw.INVENTED_QUOTE
    if quotes:
        flaw = await checker.flaw_of(claim.text, quotes, claim.question)
    return Verdict(claim, flaw, (time.perf_counter() - started) * 1_000)


def print_table(verdicts: Sequence[Verdict]) -> None:
    """Print the share judged rightly of each kind: the half that bars were set on, and the other.

    Kinds of true claims are told by the share dropped.
    """
    print(f"{'':<44}{'set on':>14}{'reported on':>16}")
    for title, kinds in _GROUPS:
        _print_row(title, [v for v in verdicts if v.claim.kind in kinds])
        own = {(v.claim.kind, v.claim.way): None for v in verdicts if v.claim.kind in kinds}
        for kind, way in own if len(own) > 1 else ():
            rows = [v for v in verdicts if (v.claim.kind, v.claim.way) == (kind, way)]
            _print_row(f"  {kind}{f', {way}' if way else ''}", rows)


def _print_row(title: str, verdicts: Sequence[Verdict]) -> None:
    shares = []
    for half in (verdicts[::2], verdicts[1::2]):
        faithful = bool(half) and half[0].claim.kind in FAITHFUL
        counted = sum(verdict.is_right != faithful for verdict in half)
        shares.append(f"{counted:>4}/{len(half):<4}{counted / max(1, len(half)):>6.1%}")
    print(f"{title:<44}{'  '.join(shares)}")


def _print_wrong(verdicts: Sequence[Verdict]) -> None:
    for verdict in verdicts:
        if not verdict.is_right:
            claim = verdict.claim
            print(f"\n[{claim.kind}, {claim.way}] {verdict.flaw}\n  {claim.text}")
            print("\n".join(f"  > {quote}" for _, quote in claim.quotes))


async def main(corpora: Path, books: Sequence[str], seeds: Sequence[int], *, wrong: bool) -> None:
    """Judge the claims about each book, then those written by hand, and print the figures."""
    print(f"{machine()}, seeds {', '.join(map(str, seeds))}")
    with tempfile.TemporaryDirectory(prefix="glossator-bench-") as folder:
        embedder = LocalEmbedder(installed_model(), Path(folder))
        for name in books:
            chunks = await parsed_chunks(Book(name, corpora / name / "book"))
            verdicts = await _judge_book(embedder, name, chunks, seeds)
            print(f"\n{name}: {len(verdicts)} claims")
            print_table(verdicts)
            times = sorted(v.milliseconds for v in verdicts)
            median, late = times[len(times) // 2], times[int(len(times) * 0.95)]
            print(f"{'milliseconds a claim':<44}median {median:.1f}, 95 % {late:.1f}")
            if wrong:
                _print_wrong(verdicts)
        await _judge_by_hand(embedder)


async def _judge_book(
    embedder: LocalEmbedder, name: str, chunks: Sequence[Chunk], seeds: Sequence[int]
) -> list[Verdict]:
    """Return the verdicts on all seeds' claims, each seed's halves in their places."""
    vectors = await embedder.embed_passages([chunk.content_text for chunk in chunks])
    checker = SupportChecker(embedder)
    verdicts: list[Verdict] = []
    for seed in seeds:
        writer = Writer(chunks, random.Random(seed), by_hand=name == _LEARNT_ON)
        turner = Turner(chunks, random.Random(seed), by_hand=False)
        claims = [*books_claims(writer, vectors), *turned_claims(turner, _TURNED)]
        verdicts += [await judged(checker, claim) for claim in claims]
    return verdicts


async def _judge_by_hand(embedder: LocalEmbedder) -> None:
    """Print how many claims written by hand are judged wrongly, of each half."""
    checker = SupportChecker(embedder)
    wrong: Counter[tuple[str, bool]] = Counter()
    number: Counter[tuple[str, bool]] = Counter()
    for claim in hand_claims():
        key = (claim.half, claim.is_true)
        number[key] += 1
        wrong[key] += (await _passes(checker, claim)) != claim.is_true
    print("\nwritten by hand")
    for is_true, title in ((False, "false claims that pass"), (True, "true claims dropped")):
        for half in HALVES:
            missed, of = wrong[half, is_true], number[half, is_true]
            print(f"{f'{title}, {half}':<44}{missed:>4}/{of:<4}{missed / of:>6.1%}")


async def _passes(checker: SupportChecker, claim: HandClaim) -> bool:
    quote = QuotedPassage(claim.quote, 0, len(claim.quote), (claim.heading,))
    return await checker.flaw_of(claim.text, [quote], claim.question) is None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--books", nargs="+", choices=_BOOKS, default=[_LEARNT_ON])
    parser.add_argument("--seed", type=int, nargs="+", default=[1], dest="seeds", metavar="N")
    parser.add_argument("--wrong", action="store_true", help="print what was judged wrongly")
    options = parser.parse_args()
    missing = [name for name in options.books if not (options.corpora / name / "book").is_dir()]
    if missing:
        sys.exit(f"There is no folder {options.corpora / missing[0] / 'book'}.")
    asyncio.run(main(options.corpora, options.books, options.seeds, wrong=options.wrong))
