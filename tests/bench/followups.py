"""Whether follow-up questions find their place, on two-turn conversations about economics.

Run `python -m tests.bench.followups`. The first run ingests the book, which takes minutes; each
later one asks 524 questions in about a minute.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from core.domain import Outcome
from core.teaching.evaluation.report import hit_at
from tests.bench.asked import Asked, Marked, arguments, ask_all, corpora_of, marked_rows
from tests.bench.corpora import ECONOMICS, Corpus
from tests.bench.shares import line

ROWS = Path(__file__).with_name("followups.jsonl")
_FIGURES: dict[str, Callable[[Asked], bool]] = {
    "hit@1": lambda asked: bool(hit_at(asked.retrieval.documents, asked.row.relevant, 1)),
    "hit@5": lambda asked: bool(hit_at(asked.retrieval.documents, asked.row.relevant, 5)),
    "shown from the right file": lambda asked: _files(asked) & set(asked.row.relevant) != set(),
    "shown from the right section": lambda asked: _shows_a_place(asked),
    "refused": lambda asked: asked.response.outcome is Outcome.ABSTAINED,
}


def _files(asked: Asked) -> set[str]:
    return {chunk.source_file for chunk in asked.response.grounding_chunks}


def _shows_a_place(asked: Asked) -> bool:
    """Return whether something cited stands in one of the sections that answer."""
    assert isinstance(asked.row, Marked)
    chunks = {chunk.chunk_id: chunk for chunk in asked.response.grounding_chunks}
    for citation in asked.response.citations:
        chunk = chunks[citation.chunk_id]
        start = chunk.char_start + citation.char_start
        for place in asked.row.places:
            if chunk.source_file == place.file and place.start <= start < place.end:
                return True
    return False


def report(asked: Sequence[Asked], split: str) -> Iterator[str]:
    """Yield the figures of one part of the set: all of it, then each kind."""
    part = [one for one in asked if isinstance(one.row, Marked) and one.row.split == split]
    yield f"{split}: {len(part)} conversations"
    for name, holds in _FIGURES.items():
        yield line(f"  {name}", sum(map(holds, part)), len(part))
    for kind in sorted({one.row.kind for one in part}):
        those = [one for one in part if one.row.kind == kind]
        for name in ("hit@1", "hit@5"):
            yield line(f"  {kind}, {name}", sum(map(_FIGURES[name], those)), len(those))


async def _run(corpus: Corpus, data: Path, splits: Sequence[str], *, misses: bool) -> None:
    rows = [row for row in marked_rows(ROWS) if row.split in splits]
    asked = [one async for one in ask_all(data, [corpus], [(ECONOMICS, row) for row in rows])]
    for split in splits:
        print("\n".join(report(asked, split)))
    for one in asked:
        if misses and not _FIGURES["hit@1"](one):
            found = ", ".join(one.retrieval.documents[:3])
            said = " / ".join([*one.row.earlier_questions, one.row.question])
            print(f"{one.row.id} {said} -> {found}; wanted {', '.join(one.row.relevant)}")


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = arguments("tests.bench.followups", __doc__)
    parser.add_argument("--split", choices=["fit", "untouched"], help="only this part")
    parser.add_argument("--misses", action="store_true", help="name what misses at the first place")
    options = parser.parse_args()
    corpora = corpora_of(options)
    if corpora is not None:
        splits = [options.split] if options.split else ["fit", "untouched"]
        asyncio.run(_run(corpora[ECONOMICS], options.data, splits, misses=options.misses))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
