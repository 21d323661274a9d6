"""Answers written by hand, for tests of what is measured about answers."""

from typing import Any

from core.domain import AgentResponse, ChunkState, Outcome, RetrievedChunk
from tests.samples import chunk, citation, response

HEAP = "A heap is a complete binary tree. Its root is the largest key of the heap."
TRIE = "A trie stores strings letter by letter. Looking one up takes 5 steps at most."


def passage(text: str = HEAP, source_file: str = "heaps.md") -> RetrievedChunk:
    """Return a chunk that an answer cites."""
    return chunk(
        content_text=text, source_file=source_file, char_end=len(text), state=ChunkState.RETURNED
    )


def answer(
    text: str, *quoted: tuple[RetrievedChunk, str], outcome: Outcome = Outcome.ANSWERED, **more: Any
) -> AgentResponse:
    """Return an answer whose markers stand for the quotes, in order."""
    cited = {known.chunk_id: known for known, _ in quoted}
    fields = {
        "response_text": text,
        "outcome": outcome,
        "retrieved_chunks": tuple(cited.values()),
        "grounding_chunks": tuple(cited.values()),
        "citations": tuple(
            citation(known, marker, quote) for marker, (known, quote) in enumerate(quoted, 1)
        ),
        "sources": tuple(dict.fromkeys(known.source_url for known in cited.values())),
    }
    return response(**{**fields, **more})


def abstention() -> AgentResponse:
    """Return an answer that says that the book does not say."""
    return answer("The book doesn't cover this.", outcome=Outcome.ABSTAINED)
