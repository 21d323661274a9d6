"""Whether two questions in one are answered both, and ordinary ones are left whole.

The questions in two parts are made of the economics book's own, two at a time; the ordinary ones
are those of all three books. Run `python -m tests.bench.parts`. The first run ingests the books.
"""

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from core.retrieval.parts import parts_of
from core.teaching.evaluation.report import GoldQuestion
from tests.bench.asked import Asked, arguments, ask_all, corpora_of
from tests.bench.corpora import ECONOMICS, Corpus
from tests.bench.shares import line

_PAIRS = 100
_SEED = 20
_MOST_WORDS = 16
"""Of a question that is joined with another."""


def _bare(question: str) -> str:
    return question.rstrip("?").removeprefix("What is ")


_FORMS: dict[str, Callable[[str, str], str]] = {
    "compared": lambda a, b: f"Compare {_bare(a)} and {_bare(b)}.",
    "joined": lambda a, b: f"{a.rstrip('?')} and {b[:1].lower()}{b[1:]}",
    "numbered": lambda a, b: f"1. {a}\n2. {b}",
    "one after another": lambda a, b: f"{a} {b}",
}


def in_two(questions: Sequence[GoldQuestion]) -> Iterator[tuple[str, GoldQuestion, GoldQuestion]]:
    """Yield pairs of questions that other files answer, with the form that they are joined in."""
    chance = random.Random(_SEED)
    terms = [row for row in questions if row.kind == "term"]
    short = [row for row in questions if len(row.question.split()) <= _MOST_WORDS]
    for form in _FORMS:
        pool = terms if form == "compared" else [r for r in short if parts_of(r.question) is None]
        for _ in range(_PAIRS):
            first, second = chance.sample(pool, 2)
            if not set(first.relevant) & set(second.relevant):
                yield form, first, second


def _made(
    questions: Sequence[GoldQuestion],
) -> list[tuple[GoldQuestion, GoldQuestion, GoldQuestion]]:
    return [
        (
            GoldQuestion(
                id=f"{first.id}+{second.id}",
                question=_FORMS[form](first.question, second.question),
                relevant=(*first.relevant, *second.relevant),
                kind=form,
            ),
            first,
            second,
        )
        for form, first, second in in_two(questions)
    ]


def _cites(asked: Asked, row: GoldQuestion) -> bool:
    files = {chunk.source_file for chunk in asked.response.grounding_chunks}
    return bool(files & set(row.relevant))


def is_split(asked: Asked) -> bool:
    """Return whether an answer stands in parts."""
    return "\n## " in f"\n{asked.response.response_text}"


def report(
    made: Sequence[tuple[Asked, GoldQuestion, GoldQuestion]], ordinary: Sequence[Asked]
) -> Iterator[str]:
    """Yield how often the parts are told apart and answered, then what becomes of the others."""
    for form in _FORMS:
        those = [one for one in made if one[0].row.kind == form]
        both = [_cites(one, first) and _cites(one, second) for one, first, second in those]
        yield line(f"{form}: in parts", sum(is_split(one) for one, _, _ in those), len(those))
        yield line(f"{form}: cites a file of each", sum(both), len(those))
    for course in dict.fromkeys(one.course for one in ordinary):
        asked = [one for one in ordinary if one.course == course]
        yield line(f"{course}, ordinary: in parts", sum(map(is_split, asked)), len(asked))


async def _run(corpora: Mapping[str, Corpus], data: Path, *, told: bool) -> None:
    made = _made(corpora[ECONOMICS].questions)
    ordinary = [
        (name, row)
        for name, corpus in corpora.items()
        for row in corpus.questions
        if parts_of(row.question) is not None
    ]
    rows = [*((ECONOMICS, row) for row, _, _ in made), *ordinary]
    asked = [one async for one in ask_all(data, corpora.values(), rows)]
    answered = [(one, a, b) for one, (_, a, b) in zip(asked, made, strict=False)]
    print("\n".join(report(answered, asked[len(made) :])))
    for one in asked:
        if told and is_split(one):
            print(f"\n{one.row.question}\n{one.response.response_text}")


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = arguments("tests.bench.parts", __doc__)
    parser.add_argument("--told", action="store_true", help="show each answer in parts")
    options = parser.parse_args()
    corpora = corpora_of(options)
    if corpora is not None:
        asyncio.run(_run(corpora, options.data, told=options.told))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
