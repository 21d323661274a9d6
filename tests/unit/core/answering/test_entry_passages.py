"""A term or option is shown with all that is said of it, and without what is said of others."""

from collections.abc import Sequence
from uuid import uuid4

import pytest

from core.answering.writers.base import Claim, GenerationTask
from core.answering.writers.extractive import ExtractiveGenerator
from core.answering.writers.scoring import terms_of_entry
from core.domain import ChunkBlock, RetrievedChunk
from core.index.terms import Bm25Encoder, TermStatistics
from tests.embedding import HashingEmbedder

_BM25 = Bm25Encoder()
OPTIONS = (
    "`-C DIR, --chdir DIR`: Run as if started in DIR.",
    "`-q, --quiet`: Print errors only.",
    "`-j N, --jobs N`: Use N threads. The default is the number of cores.",
    "`--no-color`: Print without colours. The variable `NO_COLOR` does the same.",
)
KEYS = (
    "`hash`: `blake3` or `sha256`. The default is `blake3`.",
    "`cache_size`: Memory for the cache. The default is `256M`.",
    "`umask`: Permissions of restored files. The default is `022`.",
)


def page(*entries: str, before: str = "") -> RetrievedChunk:
    """Return a chunk of entries, below a sentence if there is one."""
    text, blocks = before, list[ChunkBlock]()
    for entry in entries:
        start = len(text) + 2 * bool(text)
        text = f"{text}\n\n{entry}" if text else entry
        blocks.append(ChunkBlock("entry", start, len(text)))
    return RetrievedChunk(
        chunk_id=uuid4(),
        course_id="tool",
        document_id=uuid4(),
        generation=uuid4(),
        content_text=text,
        source_file="cli.rst",
        page_title="Commands",
        headings=("Commands", "Keys"),
        chunk_index=0,
        total_chunks=1,
        token_count=len(text) // 4,
        char_start=0,
        char_end=len(text),
        similarity_score=0.6,
        blocks=tuple(blocks),
    )


def encode_terms(text: str) -> Sequence[int]:
    return _BM25.terms(text)


async def shown(question: str, *chunks: RetrievedChunk) -> list[str]:
    """Return the paragraphs of the answer."""
    generator = ExtractiveGenerator(embedder=HashingEmbedder())
    statistics = TermStatistics.count(encode_terms(c.content_text) for c in chunks)
    task = GenerationTask(question, chunks, statistics=statistics, encode_terms=encode_terms)
    claims = [part async for part in generator.generate(task) if isinstance(part, Claim)]
    return [paragraph for claim in claims for paragraph in claim.text.split("\n\n")]


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What does -q do?", 1),
        ("What does --quiet do?", 1),
        ("What is -j?", 2),
        ("What is the option --no-color for?", 3),
    ],
)
async def test_an_option_is_shown_first_and_with_all_that_is_said_of_it(
    question: str, number: int
) -> None:
    best, *others = await shown(question, page(*OPTIONS))
    assert best.strip("*") == OPTIONS[number]
    assert all(text.strip("*") in OPTIONS for text in others)


@pytest.mark.parametrize(
    ("question", "entry"),
    [("What does umask mean?", KEYS[2]), ("What is the default hash?", KEYS[0])],
)
async def test_an_entry_comes_without_what_stands_around_it(question: str, entry: str) -> None:
    assert await shown(question, page(*KEYS)) == [entry]


async def test_what_stands_before_entries_may_answer_by_itself() -> None:
    lead = "Quarry reads its keys from one file in the home directory."
    assert lead in (await shown("Which file has the keys?", page(*KEYS, before=lead)))[0]


@pytest.mark.parametrize(
    ("entry", "terms"),
    [
        ("`-j N, --jobs N`: Use N threads.", ["-j", "--jobs"]),
        ("`-s`, `--sample=PERCENT`: Read a part.", ["-s", "--sample"]),
        ("`--color[=WHEN]`: Print colours.", ["--color"]),
        ("- Ebb tide: The water falls: slowly.", ["Ebb tide"]),
        ("`open(file, mode, encoding)`: Open a file.", ["open"]),
        ("Fern, Bracken:\n\n- a plant", ["Fern", "Bracken"]),
        ("No term here", []),
    ],
)
def test_the_terms_of_an_entry_stand_before_its_colon(entry: str, terms: list[str]) -> None:
    assert terms_of_entry(entry) == terms


async def test_entries_that_meet_are_one_passage() -> None:
    options = page(
        "`-n`: Show which files it would add.",
        "`-f`: Add files that are ignored, too.",
        "`-a`: Add all files below the vault.",
        "`-l`: Add files that links lead to.",
    )
    prose = page(before="When you add files, a checksum of each is computed.")
    answer = await shown("Which files does it add?", options, prose)
    assert any("checksum" in text for text in answer)
    assert sum("`" in text for text in answer) >= 3
