"""Whether a question finds its place in the same book in Markdown, Quarto, rst, LaTeX and EPUB.

Run `python -m tests.bench.formats`. The book is read as Markdown and written in each of the other
formats, page by page, by a converter of these tests; each is ingested, which takes minutes the
first time.
"""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from core.domain import MAX_QUESTION, RetrievalToolInput
from core.ingestion.formats.markdown import parse_markdown
from core.teaching.evaluation.report import hit_at
from tests.bench.asked import arguments, corpora_of
from tests.bench.books import opened
from tests.bench.corpora import ECONOMICS, Corpus, ingest
from tests.bench.format_writers import WRITERS
from tests.bench.shares import line

FORMATS = (".md", ".qmd", *WRITERS)
AIM = 0.02
"""How far below Markdown's the share of another format may be."""


def write_book(book: Path, suffix: str, folder: Path) -> Path:
    """Write every page of a book of Markdown in the format of a suffix, and return the folder."""
    for path in sorted(book.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if suffix in {".md", ".qmd"}:
            written: str | bytes = text
        else:
            page = parse_markdown(text, dialect="markdown", read_include=lambda _: None)
            written = WRITERS[suffix](page.blocks)
        content = written.encode() if isinstance(written, str) else written
        (folder / path.with_suffix(suffix).name).write_bytes(content)
    return folder


async def _places(corpus: Corpus, suffix: str, data: Path) -> Mapping[int, int]:
    """Return how many questions have a page that answers them among the first one and five."""
    name = f"{corpus.name}-{suffix[1:]}"
    with tempfile.TemporaryDirectory() as folder:
        book = write_book(corpus.book, suffix, Path(folder))
        async with opened(data) as services:
            await ingest(services, replace(corpus, name=name, book=book))
            await services.local.warm_up()
            hits = dict.fromkeys((1, 5), 0)
            for row in corpus.questions:
                asked = RetrievalToolInput(query_text=row.question[:MAX_QUESTION])
                found = await services.retriever.retrieve(name, asked)
                relevant = {Path(page).with_suffix(suffix).name for page in row.relevant}
                for at in hits:
                    hits[at] += bool(hit_at(found.documents, relevant, at))
    return hits


async def _run(corpus: Corpus, data: Path, suffixes: Sequence[str]) -> bool:
    """Print hit@1 and hit@5 of each format; return whether none is far below Markdown."""
    markdown, holds = 0.0, True
    for suffix in suffixes:
        hits, count = await _places(corpus, suffix, data), len(corpus.questions)
        for at, number in hits.items():
            print(line(f"{suffix} hit@{at}", number, count), flush=True)
        share = hits[5] / count
        markdown = share if suffix == ".md" else markdown
        holds = holds and share >= markdown - AIM
    print(
        "all within 2 points of Markdown" if holds else "missed: more than 2 points below Markdown"
    )
    return holds


def main() -> int:
    """Print the figures, and return the exit code: 1 where a format is far below Markdown."""
    parser = arguments("tests.bench.formats", __doc__)
    parser.add_argument("--only", nargs="*", choices=FORMATS, default=FORMATS, help="these formats")
    options = parser.parse_args()
    corpora = corpora_of(options)
    if corpora is None:
        return 0
    chosen = [suffix for suffix in FORMATS if suffix in options.only]
    return 0 if asyncio.run(_run(corpora[ECONOMICS], options.data, chosen)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
