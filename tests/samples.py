"""Valid models to begin from; a test names only the fields that it is about."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from core.answering.writers.base import Claim, QuotedWords
from core.domain import (
    AgentRequest,
    AgentResponse,
    AgentToolCall,
    ChunkState,
    Citation,
    Outcome,
    ResponseState,
    RetrievalToolInput,
    RetrievalToolOutput,
    RetrievedChunk,
    source_urls,
)

EARLIER = datetime(2026, 3, 1, 9, 30, 15, 123_456, tzinfo=UTC)
"""A moment that is past for every test."""
TEXT = "A heap is a complete binary tree. Its root is the largest key."
URL = "https://book.example.org/heaps#definition"


def chunk_fields(**changes: Any) -> dict[str, Any]:
    """Return the fields of a valid `RetrievedChunk`."""
    fields = {
        "chunk_id": uuid4(),
        "course_id": "algorithms",
        "document_id": UUID(int=1),
        "generation": UUID(int=2),
        "content_text": TEXT,
        "source_file": "heaps.md",
        "source_url": URL,
        "page_title": "Heaps",
        "module_name": "Trees",
        "section_heading": "Definition",
        "headings": ("Heaps", "Definition"),
        "chunk_index": 0,
        "total_chunks": 3,
        "token_count": 15,
        "char_start": 0,
        "char_end": len(TEXT),
        "metadata": {"line_start": 3, "line_end": 4},
        "similarity_score": 0.73,
        "retrieved_at": EARLIER,
    }
    return {**fields, **changes}


def chunk(**changes: Any) -> RetrievedChunk:
    """Return a retrieved chunk of the course `algorithms`."""
    return RetrievedChunk(**chunk_fields(**changes))


def resting_on(text: str, quote: str, chunk_number: int = 0, content: str = TEXT) -> Claim:
    """Return a claim with a quote of `content`; one that stands nowhere where it has none."""
    return Claim(text, (QuotedWords(chunk_number, quote, content.find(quote)),))


def citation(cited: RetrievedChunk, marker: int = 1, quote: str | None = None) -> Citation:
    """Return a citation of the chunk's first sentence, or of `quote`."""
    quote = quote or cited.content_text.partition(". ")[0]
    start = cited.content_text.index(quote)
    return Citation(
        marker=marker,
        chunk_id=cited.chunk_id,
        quote=quote,
        char_start=start,
        char_end=start + len(quote),
    )


def tool_call(**changes: Any) -> AgentToolCall:
    """Return a search that found one chunk."""
    fields = {
        "tool_name": "retrieve",
        "parameters": RetrievalToolInput(query_text="What is a heap?"),
        "result": RetrievalToolOutput(
            retrieved_chunks=(chunk(),),
            query_embedding=(0.1, -0.25, 1 / 3),
            search_time_ms=1.5,
            total_candidates=40,
            success=True,
        ),
        "timestamp": EARLIER,
    }
    return AgentToolCall(**{**fields, **changes})


def request(**changes: Any) -> AgentRequest:
    """Return a question for the course `algorithms`."""
    fields = {
        "course_id": "algorithms",
        "query_text": "What is a heap?",
        "user_id": "reader-1",
        "created_at": EARLIER,
    }
    return AgentRequest(**{**fields, **changes})


def response_fields(**changes: Any) -> dict[str, Any]:
    """Return the fields of a finished `AgentResponse` with one citation."""
    cited = changes.pop("cited", None) or chunk(state=ChunkState.RETURNED)
    citations = (citation(cited),)
    fields = {
        "query_id": uuid4(),
        "query_text": "What is a heap?",
        "response_text": "A complete binary tree [1].",
        "outcome": Outcome.ANSWERED,
        "state": ResponseState.COMPLETED,
        "retrieved_chunks": (cited, chunk(source_url=None, chunk_index=1)),
        "grounding_chunks": (cited,),
        "citations": citations,
        "sources": source_urls((cited,), citations),
        "confidence": 0.8,
        "located": 0.8,
        "context_used": cited.content_text,
        "conversation_id": uuid4(),
        "course_id": "algorithms",
        "generation": cited.generation,
        "model_name": "extractive",
        "requested_at": EARLIER,
        "generated_at": EARLIER,
    }
    return {**fields, **changes}


def response(**changes: Any) -> AgentResponse:
    """Return a finished answer; `cited` replaces the one chunk that it cites."""
    return AgentResponse(**response_fields(**changes))


def response_to(question: AgentRequest, session_id: UUID, **changes: Any) -> AgentResponse:
    """Return a finished answer to `question`."""
    return response(
        query_id=question.request_id,
        query_text=question.query_text,
        conversation_id=session_id,
        course_id=question.course_id,
        **changes,
    )
