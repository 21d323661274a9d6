"""How much of the reference answers a model may read: `python -m tests.bench.writing.evidence`.

No model is asked. Each of the book's own questions is searched for, and what was found is widened
to whole paragraphs as for a model that writes.
"""

import asyncio
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

from bot.services import Services
from core.domain import MAX_QUESTION, RetrievalToolInput
from core.retrieval.evidence import Excerpt, Terms
from core.teaching.evaluation.report import GoldQuestion, interval
from tests.bench.asked import arguments, corpora_of
from tests.bench.books import opened
from tests.bench.corpora import ECONOMICS, Corpus, ingest

_MILLION = 1_000_000
_MOST = 0.6
"""An answer with this share of its words in the evidence can be written from it."""


@dataclass(frozen=True, slots=True)
class Held:
    """What the evidence for one question holds."""

    tokens: int
    share: float | None
    """Share of the reference's words, beyond the question's; None: it has none."""
    whole: float
    """Share of all the reference's words."""


def held(row: GoldQuestion, evidence: Sequence[Excerpt], encode_terms: Terms) -> Held:
    """Return what of a question's reference answers stands in the evidence, or its headings.

    Args:
        encode_terms: Gives the distinct terms of a text, without stop words. Of several
            references the one that is held best counts.
    """
    texts = (f"{' '.join(e.chunk.headings)}\n{e.text}" for e in evidence)
    known = set(encode_terms("\n\n".join(texts)))
    asked = set(encode_terms(row.question))
    answers = [set(encode_terms(answer)) for answer in row.answers]
    beyond = [terms - asked for terms in answers]
    shares = [len(terms & known) / len(terms) for terms in beyond if terms]
    return Held(
        sum(excerpt.tokens for excerpt in evidence),
        max(shares, default=None),
        max((len(terms & known) / len(terms) for terms in answers if terms), default=0.0),
    )


def lines(name: str, found: Sequence[Held], price: float) -> Iterator[str]:
    """Yield the figures of one budget.

    Args:
        price: Of a million tokens that a model reads.
    """
    shares = [one.share for one in found if one.share is not None]
    low, high = interval(shares)
    tokens = [one.tokens for one in found]
    enough = sum(share >= _MOST for share in shares) / len(shares)
    yield (
        f"{name:>9}  {mean(shares):.3f} [{low:.3f}, {high:.3f}]  {enough:.3f}  "
        f"{mean(one.whole for one in found):.3f}  {mean(tokens):6.0f} {median(tokens):6.0f}  "
        f"{1_000 * mean(tokens) * price / _MILLION:.2f}"
    )


async def _measured(
    services: Services, rows: Sequence[GoldQuestion], budgets: Sequence[int]
) -> dict[str, list[Held]]:
    found: dict[str, list[Held]] = {"excerpts": [], **{f"{b:,}": [] for b in budgets}}
    for row in rows:
        asked = RetrievalToolInput(query_text=row.question[:MAX_QUESTION])
        retrieval = await services.retriever.retrieve(ECONOMICS, asked)
        found["excerpts"].append(held(row, retrieval.evidence, retrieval.encode_terms))
        for budget in budgets:
            evidence = await services.retriever.widened(ECONOMICS, retrieval, budget)
            found[f"{budget:,}"].append(held(row, evidence, retrieval.encode_terms))
    return found


async def _run(corpus: Corpus, options: Namespace) -> None:
    rows = [row for row in corpus.questions if row.answers and row.kind == options.kind]
    async with opened(options.data) as services:
        await ingest(services, corpus)
        await services.local.warm_up()
        found = await _measured(services, rows, options.budgets)
    print(f"{len(rows)} questions of kind {options.kind} with a reference answer")
    print("   tokens  share of its words beyond the question's; >= .6; all its words; mean, median")
    print(f"           of tokens; price of 1,000 questions at {options.price} a million")
    for name, ones in found.items():
        print("\n".join(lines(name, ones, options.price)))


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = arguments("tests.bench.writing.evidence", __doc__)
    add = parser.add_argument
    add("--budgets", type=int, nargs="+", default=[1_000, 2_000, 4_000, 6_000])
    add("--kind", default="free", help="of the questions (default: free)")
    add("--price", type=float, default=0.3, help="of a million tokens that a model reads")
    options = parser.parse_args()
    corpora = corpora_of(options)
    if corpora is not None:
        asyncio.run(_run(corpora[ECONOMICS], options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
